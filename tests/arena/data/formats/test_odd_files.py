"""Files that no line of text can tell: other forms, hostile sizes, and where they lie."""

import math
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from arena.data.formats.messages import MAX_PYTHON
from arena.data.formats.ours import benchmark_faults
from arena.data.formats.records import ComparisonRecord, PromptRecord, RaterRecord
from tests.arena.data.formats.reading import ROWS, problems, read, write_lines

BATTLE = ROWS["battle"]


def test_conversations_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "battles.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([{**BATTLE, "turn": 2}]), path)
    prompt, *_, battle = read(path)
    assert (prompt.turns, battle.rating, battle.extra) == (("Hi.", "Bye."), 1, {"turn": 2})


@pytest.mark.parametrize("text", [f"['{'x' * MAX_PYTHON}']", "[" * 100_000, f"{'-' * 100_000}1"])
def test_a_text_that_no_list_can_be_made_of(tmp_path: Path, text: str) -> None:
    path = write_lines(tmp_path, "battles.jsonl", BATTLE, {**BATTLE, "conversation_a": text})
    said = (2, "conversation_a", "expected a list of turns with role and content")
    assert problems(path)[0] == said


def test_folders_of_llmbar_name_the_judge_from_wherever_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "Natural/evaluators/GPT-4/Swap_CoT"
    folder.mkdir(parents=True)
    write_lines(folder, "result.json", ROWS["told twice"])
    monkeypatch.chdir(folder)
    for path in (folder / "result.json", Path("result.json")):
        items = read(path)
        assert [item.slug for item in items if isinstance(item, RaterRecord)] == ["GPT-4-swap-cot"]
        assert {item.subset for item in items if isinstance(item, PromptRecord | ComparisonRecord)} == {
            "Natural"
        }


def test_many_cells_like_formulas_make_one_note(tmp_path: Path) -> None:
    rows = [f"p{number},A,- a bullet" for number in range(1234)]
    *_, note = read(write_lines(tmp_path, "c.csv", "prompt,contestant,text", "p,@A,-1.5", *rows))
    assert note.text == (
        '1,235 cells begin like a formula (first: row 2, column "contestant"); they are kept as text'
    )


def test_a_byte_that_is_no_text(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "c.csv", "prompt,contestant,text", "p1,A,a\0b")
    assert problems(path) == [(2, "text", "holds a NUL character, which cannot be stored")]


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ({str(n): n for n in range(20)}, None),
        ({str(n): n for n in range(21)}, "21 benchmarks; at most 20 fit"),
        ({"a": math.inf}, "inf is not a finite number"),
    ],
)
def test_twenty_benchmarks_fit_and_no_more(scores: dict[str, Any], reason: str | None) -> None:
    assert [fault.reason for fault in benchmark_faults(scores)] == ([reason] if reason else [])
