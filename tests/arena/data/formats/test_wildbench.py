from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.catalogue import gather
from arena.data.formats.files import About, InputFile
from arena.data.formats.records import ComparisonRecord, CompletionRecord, RaterRecord, ScoreRecord
from tests.arena.data.formats.reading import problems, read, write_lines

RELEASED: dict[str, Any] = {
    "session_id": "ae00",
    "parsed_result": {"strengths": "Short.", "weaknesses": "Empty.", "score": "1"},
    "meta_data": {"error": None},
    "model_test": "google/gemma-2b-it",
    "score": "1",
    "model_output": "",
}
ROW = {"prompt": "ae00", "model": "gemma-2b-it", "judge": "gpt-4o", "score": "8", "output_characters": 3}


def test_a_released_file_takes_model_and_judge_from_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "eval=gpt-4o-2024-05-13"
    folder.mkdir()
    path = write_lines(folder, "gemma-2b-it.json", RELEASED)
    items = read(path)
    (judge,) = (item for item in items if isinstance(item, RaterRecord))
    assert (judge.slug, judge.facts) == ("gpt-4o-2024-05-13", {"model": "gpt-4o-2024-05-13"})
    (text,) = (item for item in items if isinstance(item, CompletionRecord))
    assert (text.prompt, text.contestant, text.turns) == ("ae00", "gemma-2b-it", ("",))
    (said,) = (item for item in items if isinstance(item, ScoreRecord))
    assert (said.rater, said.score, said.lowest, said.highest) == (judge.slug, 1, 1, 10)
    assert '"weaknesses": "Empty."' in said.raw_reply


def test_an_upload_has_no_folder_and_needs_a_judge(tmp_path: Path) -> None:
    file = InputFile(write_lines(tmp_path, "a.jsonl", RELEASED), name="gemma-2b-it.jsonl")
    (problem,) = gather([file]).items()
    assert problem.reason == "only its folder, such as eval=gpt-4o, says who the judge is; name the judge"
    assert ScoreRecord in map(type, gather([file], about=About(judge="jay")).items())


@pytest.mark.parametrize(
    ("score", "found"),
    [
        ("8", (8, "")),
        (7.5, (7.5, "")),
        *((none, (None, "unparsable")) for none in (-1, "-1", "N/A", None, True, "nan", [], "", 10**400)),
        *((beyond, (None, "out_of_range")) for beyond in (0, "11", "inf")),
    ],
)
def test_what_is_no_score_on_the_scale_has_a_reason(tmp_path: Path, score: Any, found: Any) -> None:
    items = read(write_lines(tmp_path, "scores.jsonl", {**ROW, "score": score}))
    (said,) = (item for item in items if isinstance(item, ScoreRecord))
    assert (said.score, said.reason) == found
    assert said.extra == {"output_characters": 3}


def test_names_are_needed(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "scores.jsonl", {**ROW, "judge": "", "model": None})
    assert problems(path) == [(1, "judge", "missing"), (1, "model", "missing")]


GRADED: dict[str, Any] = {
    "session_id": "ae00",
    "parsed_result": {"reason": "A is longer.", "choice": "A+"},
    "model_A": "heron",
    "model_B": "stork",
    "winner": "heron",
    "extent": 1,
    "model_outputs": {"heron": "The Rhine.", "stork": "A road."},
}
ASSIGNED: dict[str, Any] = {
    "session_id": "ae00",
    "generator": "stork",
    "model_output": "A road.",
    "ref_generator": "heron",
    "ref_output": "The Rhine.",
    "assignment": {"A": "heron", "B": "stork"},
    "prompt": "Compare.",
    "result": "{}",
    "parsed_result": {"choice": "A"},
    "winner": "heron",
}


@pytest.mark.parametrize(
    ("row", "points", "rating"),
    [
        *(
            ({**GRADED, "parsed_result": {"choice": choice}}, 5, rating)
            for choice, rating in {"A++": 1, "A+": 2, "A=B": 3, "B+": 4, "B++": 5, "N/A": None}.items()
        ),
        (ASSIGNED, 3, 1),
        ({**ASSIGNED, "parsed_result": {"choice": "tie"}}, 3, 2),
        ({**ASSIGNED, "parsed_result": {"choice": "N/A"}}, 5, None),
    ],
)
def test_a_grade_of_a_pair(tmp_path: Path, row: dict[str, Any], points: int, rating: int | None) -> None:
    folder = tmp_path / "eval=gpt-4o"
    folder.mkdir()
    items = read(write_lines(folder, "heron.json", row))
    (said,) = (item for item in items if isinstance(item, ComparisonRecord))
    assert (said.first, said.second, said.rater, said.points, said.rating) == (
        *("heron", "stork"),
        *("gpt-4o", points, rating),
    )
    assert said.reason == ("" if rating else "unparsable")
    texts = [item.turns for item in items if isinstance(item, CompletionRecord)]
    assert texts == [("The Rhine.",), ("A road.",)]
