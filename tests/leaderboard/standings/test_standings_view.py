"""Columns of the standings: what they sort by, and how far contestants moved."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.standings.rows import About, Entry, StandingsView, TableQuery, moved_text, moves
from leaderboard.standings.table import standing_rows
from tests.leaderboard.pages.test_tables import standing, standings


def view(*names, asked=TableQuery(), intervals=True, **more):  # noqa: B008 - Asked is frozen
    """A board of contestants 100 points apart, the first named the best."""
    rows = [standing(name, 1100.0 - 100 * place, rank=place + 1, **more) for place, name in enumerate(names)]
    entries = [Entry(row, About()) for row in standing_rows(standings(*rows), None)]
    return StandingsView(
        entries, asked, "?raters=people", other_ties="", other_method="Elo", intervals=intervals
    )


def shown(table):
    return [line.entry.row.contestant for line in table.lines]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("", ["b", "A", "c"]),
        ("rank", ["b", "A", "c"]),
        ("-rank", ["c", "A", "b"]),
        ("contestant", ["A", "b", "c"]),
        ("-contestant", ["c", "b", "A"]),
        ("rating", ["b", "A", "c"]),
        ("-rating", ["c", "A", "b"]),
        ("nothing", ["b", "A", "c"]),
        ("-nothing", ["b", "A", "c"]),
    ],
)
def test_rows_come_in_the_order_that_was_asked_for(sort, order):
    assert shown(view("b", "A", "c", asked=TableQuery(sort))) == order


def test_a_heading_turns_its_own_order_around():
    table = view("a", "b", asked=TableQuery("contestant"))
    assert (table.contestant.sorted, table.contestant.address) == (
        "ascending",
        "?raters=people&sort=-contestant",
    )
    assert (table.rating.sorted, table.rating.address) == ("", "?raters=people&sort=rating")
    assert (table.rank.sorted, table.rank.address) == ("", "?raters=people")
    table = view("a", "b", asked=TableQuery("-rating", "a"))
    assert (table.rating.sorted, table.rating.address) == (
        "ascending",
        "?raters=people&sort=rating&search=a",
    )
    assert view("a").rank.sorted == "ascending"


def test_those_without_a_value_come_last_in_both_directions():
    row = standing_rows(standings(standing("x", 1000.0)), None)[0]
    entries = [
        Entry(row, About("one", benchmarks={"MMLU": 1.0})),
        Entry(row, About("none")),
        Entry(row, About("two", benchmarks={"MMLU": 2.0})),
    ]
    for sort, order in (
        ("benchmark-MMLU", ["two", "one", "none"]),
        ("-benchmark-MMLU", ["one", "two", "none"]),
    ):
        table = StandingsView(
            entries, TableQuery(sort), "", other_ties="", other_method="Elo", intervals=True
        )
        assert [line.entry.about.organisation for line in table.lines] == order


def test_columns_without_anything_to_say_are_left_out():
    labels = [head.column.label for head in view("a").headings]
    assert labels == ["Group", "First %", "Games", "Win %", "Tie %", "Elo"]


def test_columns_of_benchmarks_words_changes_and_the_other_tie_rule():
    row = standing_rows(standings(standing("x", 1000.0)), None)[0]
    about = About("Heron Labs", "MIT", benchmarks={"MMLU": 70.25, "GSM8K": 50.0})
    entry = Entry(row, about, moved=-2, other_rank=3, other_rating=900.4, other_moved=1)
    table = StandingsView(
        [entry], TableQuery(), "", other_ties="Ties off", other_method="Elo", intervals=True
    )
    cells = dict(zip([head.column.label for head in table.headings], table.lines[0].cells, strict=True))
    assert cells["Δ rank"] == ("num down", "↓−2")
    assert cells["Ties off: rank"] == ("num nowrap up", "3 ↑+1")
    assert cells["Ties off: rating"] == ("num", "900")
    assert (cells["MMLU"][1], cells["GSM8K"][1]) == ("70.25", "50")
    assert (cells["Organisation"][1], cells["Licence"][1]) == ("Heron Labs", "MIT")


def test_a_search_needs_every_word_in_name_or_organisation():
    row = standing_rows(standings(standing("Heron 70B", 1000.0)), None)[0]
    for search, found in (("heron", 1), ("70b HERON", 1), ("labs", 1), ("heron egret", 0), ("", 1)):
        table = StandingsView(
            [Entry(row, About("Bird Labs"))],
            TableQuery("", search),
            "",
            other_ties="",
            other_method="",
            intervals=True,
        )
        assert table.found == found, search


def test_the_query_keeps_sorting_and_searching():
    assert TableQuery("games", "a & b").query("?raters=people") == "?raters=people&sort=games&search=a+%26+b"
    assert TableQuery().query("?raters=people") == "?raters=people"
    assert TableQuery("games").query("") == "?sort=games"


def test_one_prompt_has_neither_arms_nor_drawings():
    table = view("a", "b", intervals=False)
    assert table.axis is None
    assert [(line.arms, line.low, line.dots) for line in table.lines] == [("", "", "")] * 2


def test_the_axis_holds_the_rows_that_can_be_relied_on():
    relied, provisional = standing("a", 1000.0), standing("b", 5000.0, games=1, wins=1, losses=0, ties=0)
    entries = [Entry(row) for row in standing_rows(standings(relied, provisional), None)]
    table = StandingsView(entries, TableQuery(), "", other_ties="", other_method="", intervals=True)
    assert table.axis.low < 990.0
    assert 1020.0 < table.axis.high < 1100.0


def ordered(names):
    """Ratings of contestants named from the best to the last; all are different."""
    return {name: -100.0 * place for place, name in enumerate(names)}


def test_moves_are_counted_among_those_in_both():
    assert moves(ordered("abc"), ordered("cxab")) == {"a": 1, "b": 1, "c": -2}
    assert moves(ordered("a"), {}) == {}
    assert [moved_text(places) for places in (2, -1, 0, None)] == ["↑+2", "↓−1", "=", "–"]


@given(st.permutations("abcdef"), st.permutations("abcdef"))
def test_moves_cancel_and_are_undone_by_turning_around(one, other):
    there = moves(ordered(one), ordered(other))
    assert sum(there.values()) == 0
    assert moves(ordered(other), ordered(one)) == {name: -places for name, places in there.items()}


def test_equal_ratings_share_a_place():
    """All three are first here; there b is first, c second and a third."""
    equal = dict.fromkeys("abc", 1000.0)
    assert moves(equal, ordered("bca")) == {"a": 2, "b": 0, "c": 1}
    assert moves(ordered("bca"), equal) == {"a": -2, "b": 0, "c": -1}
    assert moves(equal, dict.fromkeys("cab", 7.0)) == dict.fromkeys("abc", 0)
