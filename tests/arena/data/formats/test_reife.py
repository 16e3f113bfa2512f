from pathlib import Path
from typing import Any

from arena.data.formats.catalogue import gather
from arena.data.formats.files import About
from arena.data.formats.records import ComparisonRecord, GoldRecord, Problem, PromptRecord, RaterRecord
from tests.arena.data.formats.reading import problems, read, write_lines

PAIR = {"instruction": "Name a wader.", "output_1": "Dunlin", "output_2": "Duck"}
NAME = "llmbar_natural.jay-3.1-8b.base_pairwise.pairwise_cot{}.jsonl"


def make_result(winner: int, *texts: str, **result: Any) -> dict[str, Any]:
    response = [{"text": text, "logprobs": [{}]} for text in texts]
    return {**PAIR, "winner": winner, "response": response, "result": {"winner": winner, **result}}


def test_a_winner_is_a_label_and_the_file_a_subset(tmp_path: Path) -> None:
    items = read(write_lines(tmp_path, "llmbar_natural.json", {**PAIR, "winner": 2}))
    (gold,) = (item for item in items if isinstance(item, GoldRecord))
    assert (gold.gold, gold.source, gold.subset) == ("second", "ReIFE", "llmbar_natural")


def test_a_result_is_a_rating_in_the_order_of_its_file(tmp_path: Path) -> None:
    rows = [make_result(1, "Output (a)"), make_result(2, "x", "y")]
    given = write_lines(tmp_path, NAME.format(""), *rows)
    swapped = write_lines(tmp_path, NAME.format("_swap"), *rows)
    for path, shown, ratings in ((given, ("1", "2"), [1, 2]), (swapped, ("2", "1"), [2, 1])):
        items = read(path)
        (judge,) = (item for item in items if isinstance(item, RaterRecord))
        assert judge.slug == "jay-3.1-8b-pairwise-cot"
        assert judge.facts == {"model": "jay-3.1-8b", "protocol": "pairwise_cot"}
        said = [item for item in items if isinstance(item, ComparisonRecord)]
        assert [(one.first_id, one.second_id) for one in said] == [shown, shown]
        assert [one.rating for one in said] == ratings
        assert [one.raw_reply for one in said] == ["Output (a)", "x\n\ny"]
        assert {item.subset for item in items if isinstance(item, PromptRecord)} == {"llmbar_natural"}
    items = read(write_lines(tmp_path, NAME.format("_swap.round_2"), rows[0]))
    (judge,) = (item for item in items if isinstance(item, RaterRecord))
    assert judge.slug == "jay-3.1-8b-pairwise-cot-round-2"
    assert [item.first_id for item in items if isinstance(item, ComparisonRecord)] == ["2"]


def test_a_drawn_winner_is_no_verdict(tmp_path: Path) -> None:
    rows = [make_result(1, "Both", fail=True), make_result(2, "", fail=True), make_result(1, "a", "b", tie=1)]
    said = [
        item
        for item in read(write_lines(tmp_path, NAME.format(""), *rows))
        if isinstance(item, ComparisonRecord)
    ]
    assert [(one.rating, one.reason, one.extra) for one in said] == [
        (None, "unparsable", {"drawn winner": 1}),
        (None, "empty", {"drawn winner": 2}),
        (None, "undecided", {"drawn winner": 1}),
    ]


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "p.json", {**PAIR, "winner": 1}, {**PAIR, "winner": 3}, PAIR)
    assert problems(path) == [
        (2, "winner", "3 is not between 1 and 2"),
        (3, "winner", "missing; 1 or 2 says which output is better"),
    ]
    path = write_lines(tmp_path, NAME.format(""), {**PAIR, "result": {"winner": 3}}, {**PAIR, "result": 1})
    assert problems(path) == [
        (line, "result", "expected an object whose winner is 1 or 2") for line in (1, 2)
    ]
    path = write_lines(tmp_path, "mine.jsonl", make_result(1))
    assert [reason for _, _, reason in problems(path)] == [
        "the name of the file tells no judge; call it DATASET.MODEL.METHOD.PROTOCOL.jsonl, or name the judge"
    ]
    named = gather([path], about=About("natural", "jay")).items()
    assert not [item for item in named if isinstance(item, Problem)]
