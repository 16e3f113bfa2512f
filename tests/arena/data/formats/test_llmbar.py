import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.catalogue import gather
from arena.data.formats.files import About, InputFile
from arena.data.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    Problem,
    PromptRecord,
    RaterRecord,
)
from tests.arena.data.formats.reading import problems, read, write_lines


def make_item(**overrides: Any) -> dict[str, Any]:
    return {"input": "Name a wader.", "output_1": "Dunlin", "output_2": "A duck", "label": 1, **overrides}


def make_results(first: str | None, second: str | None, reply: str = "Output (a)", **more: Any) -> list[Any]:
    """The results of one item: the winner said in the given and in the swapped order."""
    winners = {"swap = False": first, "swap = True": second}
    orders = {order: {"completion": [reply, "stop"], "winner": winner} for order, winner in winners.items()}
    return [{**orders, **more}]


def write(
    tmp_path: Path, *items: dict[str, Any], folder: str = "Natural", name: str = "dataset.jsonl"
) -> Path:
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    return write_lines(tmp_path / folder, name, *map(json.dumps, items))


def test_an_item_is_a_prompt_with_two_completions_and_a_label(tmp_path: Path) -> None:
    prompt, one, two, gold = read(write(tmp_path, make_item(label=2)))
    assert (prompt.turns, prompt.implied) == (("Name a wader.",), False)
    assert (prompt.category, prompt.subset) == ("Natural", "Natural")
    for completion, own_id, text in ((one, "1", "Dunlin"), (two, "2", "A duck")):
        assert (completion.prompt, completion.id, completion.contestant) == (prompt.id, own_id, None)
        assert completion.turns == (text,)
    assert (gold.prompt, gold.first_id, gold.second_id) == (prompt.id, "1", "2")
    assert (gold.gold, gold.source) == ("second", "LLMBar")


def test_results_are_comparisons_in_the_order_shown(tmp_path: Path) -> None:
    # The winner is given by the outputs' own numbers; shown second, output 1 wins with a 2.
    path = write(
        tmp_path, make_item(results=make_results("1", "1")), folder="gpt-4", name="Vanilla_1shot.jsonl"
    )
    items = read(path)
    (judge,) = (item for item in items if isinstance(item, RaterRecord))
    assert (judge.slug, judge.name, judge.facts) == (
        "gpt-4-vanilla-1shot",
        "gpt-4 Vanilla 1shot",
        {"model": "gpt-4", "protocol": "Vanilla_1shot"},
    )
    given, swapped = (item for item in items if isinstance(item, ComparisonRecord))
    assert (given.first_id, given.second_id, given.rating, given.points) == ("1", "2", 1, 2)
    assert (swapped.first_id, swapped.second_id, swapped.rating) == ("2", "1", 2)
    assert (given.rater, given.rater_kind, given.raw_reply) == ("gpt-4-vanilla-1shot", "judge", "Output (a)")


def test_in_the_folders_of_llmbar_two_of_them_name_the_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = make_item(results=make_results("1", "1"))
    folders = "Natural/evaluators/GPT-4/Swap_CoT"
    path = write(tmp_path, item, folder=folders, name="result.json")
    monkeypatch.chdir(path.parent)
    for one in (path, Path("result.json")):
        items = read(one)
        assert [item.slug for item in items if isinstance(item, RaterRecord)] == ["GPT-4-swap-cot"]
        assert {item.subset for item in items if isinstance(item, PromptRecord | ComparisonRecord)} == {
            "Natural"
        }
    upload = gather([InputFile(path, "result.json")])
    assert [item.field for item in upload.items() if isinstance(item, Problem)] == ["results"]


def test_results_name_the_same_prompt_as_the_labels(tmp_path: Path) -> None:
    labels = read(write(tmp_path, make_item()))
    results = read(write(tmp_path, make_item(results=make_results("1", "2")), folder="gpt-4"))
    ids = {item.id for item in [*labels, *results] if isinstance(item, PromptRecord)}
    assert len(ids) == 1
    assert all(item.implied for item in results if isinstance(item, PromptRecord | CompletionRecord))


def test_no_winner_is_unscored_with_its_reason(tmp_path: Path) -> None:
    results = [
        make_results(None, "1", "Neither."),
        make_results(None, "1", " "),
        [{**make_results("1", "1")[0], "swap = False": {"completion": ["Out", "length"], "winner": None}}],
    ]
    items = [make_item(input=str(number), results=result) for number, result in enumerate(results)]
    said = [item for item in read(write(tmp_path, *items)) if isinstance(item, ComparisonRecord)]
    assert [item.rating for item in said[::2]] == [None] * 3
    assert [item.reason for item in said[::2]] == ["unparsable", "empty", "truncated"]


def make_scores(one: str, two: str, winners: str = "12", finish: str = "stop") -> list[Any]:
    """The results of a judge that scores outputs alone, with the winners it draws in both orders."""
    drawn = {
        f"swap = {swap}": {"winner": winner} for swap, winner in zip((False, True), winners, strict=True)
    }
    return [["a metric", "stop"], {"score_1": [one, finish], "score_2": [two, finish], **drawn}]


def test_scores_of_single_outputs_decide_on_three_points(tmp_path: Path) -> None:
    path = write(
        tmp_path, make_item(results=make_scores("6", "1.5", "11")), folder="gpt-4", name="Rating.json"
    )
    items = read(path)
    assert [item.facts for item in items if isinstance(item, RaterRecord)] == [
        {"model": "gpt-4", "protocol": "Rating", "order_free": True}
    ]
    given, swapped = (item for item in items if isinstance(item, ComparisonRecord))
    assert (given.scores, given.rating, given.points) == ((Decimal(6), Decimal("1.5")), 1, 3)
    assert (swapped.scores, swapped.rating, swapped.points) == ((Decimal("1.5"), Decimal(6)), 3, 3)
    assert (given.raw_reply, swapped.raw_reply) == ("6\n1.5", "1.5\n6")
    assert given.extra == {"steps before": [["a metric", "stop"]]}


@pytest.mark.parametrize(
    ("one", "two", "finish", "rating", "reason"),
    [
        ("7", "7.0", "stop", 2, ""),
        ("", "0", "content management policy", None, "empty"),
        ("7", "good", "stop", None, "unparsable"),
        ("7", "The out", "length", None, "truncated"),
        ("7", "1e999", "stop", None, "unparsable"),
        ("nan", "7", "stop", None, "unparsable"),
    ],
)
def test_a_drawn_winner_is_no_verdict(
    tmp_path: Path, one: str, two: str, finish: str, rating: int | None, reason: str
) -> None:
    path = write(tmp_path, make_item(results=make_scores(one, two, "21", finish)), name="Rating.json")
    given, swapped = (item for item in read(path) if isinstance(item, ComparisonRecord))
    assert {(said.points, said.rating, said.reason) for said in (given, swapped)} == {(3, rating, reason)}
    assert (given.extra["drawn winner"], swapped.extra["drawn winner"]) == ("2", "1")


def test_who_imports_may_name_subset_and_judge(tmp_path: Path) -> None:
    path = write(tmp_path, make_item(results=make_results("1", "1")), name="result.json")
    about = About("Mine", "jay", {"model": "jay-1"})
    items = list(gather([InputFile(path, "result.json")], "llmbar-replies", about=about).items())
    assert [(item.slug, item.facts) for item in items if isinstance(item, RaterRecord)] == [
        ("jay", {"model": "jay-1"})
    ]
    assert {item.rater for item in items if isinstance(item, ComparisonRecord)} == {"jay"}
    assert {item.subset for item in items if not isinstance(item, RaterRecord)} == {"Mine"}  # type: ignore[union-attr]
    pairs = gather([write(tmp_path, make_item())], about=About(judge="jay"))
    assert [problem.reason for problem in pairs.problems] == [
        "no file here holds replies whose judge can be named"
    ]


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        make_item(label=3),
        make_item(label=None),
        make_item(output_2=None),
    )
    assert problems(path) == [
        (1, "label", "3 is not between 1 and 2"),
        (2, "label", "missing; 1 or 2 says which output is better"),
        (3, "output_2", "expected a text, found null"),
    ]
    path = write(
        tmp_path,
        make_item(results=[]),
        make_item(results=make_results("3", "1")),
        make_item(results=[{"swap = False": {"winner": "1"}, "swap = True": {"winner": "1"}}]),
        make_item(results=make_results("1", "1")[0]),
        make_item(results=[{**make_scores("1", "2")[-1], "score_2": ["2"]}]),
        folder="gpt-4",
    )
    no_reply = "expected a reply and why it ended, two texts in a list, found null"
    assert problems(path) == [
        (1, "results", "expected a list whose last element is an object with the verdict"),
        (2, "results.swap = False", 'expected an object whose winner is "1", "2" or null'),
        (3, "results", no_reply),
        (3, "results", no_reply),
        (4, "results", "expected a list whose last element is an object with the verdict"),
        (5, "results", no_reply.replace("null", "a list")),
        (5, "results", no_reply.replace("null", "a list")),
    ]
