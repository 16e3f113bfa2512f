"""Words and names that say which of two answers is better, for every reader."""

from pathlib import Path

import pytest

from arena.data.formats.reading import Kind
from arena.data.formats.records import ComparisonRecord, Item, Problem
from arena.data.formats.table import ColumnMapping
from arena.data.formats.verdicts import SIDES, side
from leaderboard.terminal.votes import VoteFileError, read_votes
from tests.arena.data.formats.reading import read, write_lines

WORDS = {
    "first": (
        *("first", "left", "A", "a", "model_a", "Model A", "model-a", "1", "output_1", "Response 1", "one"),
        *("Answer A", "answer1", "The first answer", "[[A]]", "Option A", "left side", "A is better."),
        *("First response", "A wins", "response_a", '"A"'),
    ),
    "tie": (
        *("tie", "Tie", "TIE", "tie (bothbad)", "Tie (BothBad)", "bothbad", "both bad", "both_bad", "both"),
        *("tie (both good)", "draw", "equal", "same", "neither", "no preference", "both good", "a tie"),
        *("about the same", "Both are equally good", "tied", "A=B", "both responses bad", "equally bad"),
    ),
    "second": (
        *("second", "right", "B", "b", "model_b", "Model B", "2", "output_2", "Response 2", "two"),
        *("Answer B", "answer2", "The second answer", "[[B]]", "Option B", "right side", "B is better."),
    ),
}
NONE = (
    "",
    " ",
    "0",
    "3",
    "C",
    "model_c",
    "tiger",
    "bother",
    "answer",
    "left right",
    "A and B",
    "not A",
    "-1",
)


@pytest.mark.parametrize("told", SIDES)
def test_words_tell_a_side_in_any_case(told: str) -> None:
    assert {word: side(word) for word in WORDS[told]} == dict.fromkeys(WORDS[told], told)
    assert all(side(f"  {word.upper()} ") == told for word in WORDS[told])


def test_other_words_tell_nothing() -> None:
    assert [word for word in NONE if side(word, ["Heron"], ["Stork"])] == []


@pytest.mark.parametrize(
    ("value", "first", "second", "told"),
    [
        ("Heron", "Heron", "Stork", "first"),
        ("STORK", "Heron", "Stork", "second"),
        ("gpt-4", "GPT 4", "GPT_4o", "first"),
        ("Heron", "heron", "HERON", None),
        ("Crane", "Heron", "Stork", None),
        ("A", "A", "B", "first"),
        ("A", "B", "A", None),
        ("tie", "Tie", "Stork", None),
        ("tie", "Heron", "Stork", "tie"),
    ],
)
def test_a_name_of_one_side_tells_it_unless_a_word_says_otherwise(
    value: str, first: str, second: str, told: str | None
) -> None:
    assert side(value, [first], [second]) == told
    swapped = {"first": "second", "second": "first", "tie": "tie", None: None}
    if value not in ("A", "B"):
        assert side(value, [second], [first]) == swapped[told]


VOTES = (
    "Heron,Stork,Heron",
    "Stork,Heron,HERON",
    "Heron,Crane,Crane",
    "Heron,Crane,tie",
    "Stork,Crane,Both bad",
)


@pytest.mark.parametrize("header", ["model_a,model_b,winner", "left,right,winner", "m,n,best"])
@pytest.mark.parametrize(
    "rows",
    [VOTES, *([f"Heron,Stork,{word}" for word in WORDS[told]] for told in SIDES)],
    ids=["names", *SIDES],
)
def test_all_readers_read_the_same(tmp_path: Path, header: str, rows: list[str]) -> None:
    path = write_lines(tmp_path, "votes.csv", header, *(row.replace('"', "") for row in rows))
    first, second, winner = header.split(",")
    mapping = ColumnMapping(
        Kind.COMPARISONS, {"first": first, "second": second, "winner": winner}, {"rater": "crowd"}
    )
    expected = [
        {"first": 1, "tie": 2, "second": 3}[side(row.split(",")[2], *([n] for n in row.split(",")[:2]))]
        for row in rows
    ]
    readings = [ratings(read(path, mapping=mapping))]
    if first == "model_a":
        readings.append(ratings(read(path)))
    if first != "m":
        readings.append(read_votes(path).rating.tolist())
    assert readings == [expected] * len(readings)


def ratings(items: list[Item]) -> list[int | None]:
    assert not [item for item in items if isinstance(item, Problem)]
    return [item.rating for item in items if isinstance(item, ComparisonRecord)]


def test_a_name_that_is_the_word_for_the_other_side_is_asked_everywhere(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "votes.csv", "model_a,model_b,winner", "Model B,Model A,Model A")
    mapping = ColumnMapping(
        Kind.COMPARISONS, {"first": "model_a", "second": "model_b", "winner": "winner"}, {"rater": "crowd"}
    )
    for items in (read(path), read(path, mapping=mapping)):
        (problem,) = (item for item in items if isinstance(item, Problem))
        assert problem.field == "winner"
    with pytest.raises(VoteFileError, match='the winner "Model A"'):
        read_votes(path)


def test_names_of_many_models_count_beside_values_that_somebody_told(tmp_path: Path) -> None:
    rows = [f"m{number},n{number},M{number}" for number in range(40)]
    path = write_lines(tmp_path, "votes.csv", "x,y,best", *rows, "m1,n1,egal")
    mapping = ColumnMapping(
        Kind.COMPARISONS, {"first": "x", "second": "y", "winner": "best"}, {"rater": "crowd"}, {"egal": "tie"}
    )
    assert ratings(read(path, mapping=mapping)) == [1] * 40 + [2]


@pytest.mark.parametrize(
    ("columns", "values", "ratings_of"),
    [
        (("response_0", "response_1"), ("0", "1"), [1, 3]),
        (("answer1", "answer2"), ("1", "2"), [1, 3]),
        (("Answer A", "Answer B"), ("Answer A", "answer b"), [1, 3]),
        (("heron", "stork"), ("Stork", "HERON"), [3, 1]),
    ],
)
def test_a_verdict_may_name_a_column_or_its_number(
    tmp_path: Path, columns: tuple[str, str], values: tuple[str, str], ratings_of: list[int]
) -> None:
    path = write_lines(
        tmp_path, "v.csv", f"{columns[0]},{columns[1]},best", *(f"x,y,{value}" for value in values)
    )
    sides = {"first_text": columns[0], "second_text": columns[1], "winner": "best"}
    mapping = ColumnMapping(Kind.COMPARISONS, sides, {"rater": "crowd"})
    assert ratings(read(path, mapping=mapping)) == ratings_of
