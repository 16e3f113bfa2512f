from dataclasses import replace
from datetime import UTC, datetime

import pytest

from leaderboard.pages.standings.table import opponents
from leaderboard.standings.contestants.figure import history
from leaderboard.standings.contestants.table import (
    Moment,
    extremes,
    history_table,
    opponents_table,
    placed,
    placed_table,
)
from tests.leaderboard.rows import standing

FEW = {"rank": 2, "low": None, "high": None, "games": 4, "wins": 1, "losses": 2, "ties": 1}
STANDINGS = {
    "standings": [
        standing("a", 1100.0, low=1050.0, high=1150.0),
        standing("b", 900.0, **FEW),
        {"contestant": "c", "rank": None, "rating": None},
    ]
}
MATRICES = {
    "contestants": ["a", "b", "c", "d"],
    "wins": [[0, 6, 1, 0], [2, 0, 0, 0], [9, 0, 0, 0], [0, 0, 0, 0]],
    "ties": [[0, 2, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
    "games": [[0, 10, 10, 0], [10, 0, 0, 0], [10, 0, 0, 0], [0, 0, 0, 0]],
}


def test_a_place_among_those_with_a_rating():
    first, second = (placed("All", STANDINGS, name) for name in "ab")
    assert first is not None
    assert second is not None
    assert (first.rank, first.of, first.provisional) == (1, 2, "")
    assert (first.win_percent, first.tie_percent) == (50, 25)
    assert second.provisional == "fewer than 30 ratings"
    table = placed_table("Caption", "Category", [first, second], 90.0)
    assert table.columns[4] == "Low (90 % interval)"
    assert table.rows[0] == ("All", 1, 2, 1100.0, 1050.0, 1150.0, 40, 50.0, 25.0, "")
    assert table.rows[1][4] is None
    apart = {**STANDINGS["standings"][1], "contestant": "d", "rank": 1, "component": 1}
    found = [placed("All", {"standings": [*STANDINGS["standings"], apart]}, name) for name in "abd"]
    assert [(each.rank, each.of) for each in found if each] == [(1, 2), (2, 2), (1, 1)]


@pytest.mark.parametrize("name", ["c", "nobody"])
def test_no_place_without_a_rating(name):
    assert placed("All", STANDINGS, name) is None
    assert placed("All", None, name) is None


def test_opponents_with_their_games_best_first():
    found = opponents(MATRICES, "a", 95.0)
    assert [(each.name, each.games, each.wins, each.ties, each.losses, each.rate) for each in found] == [
        ("b", 10, 6, 2, 2, 0.7),
        ("c", 10, 1, 0, 9, 0.1),
    ]
    assert list(extremes(found)) == [("easiest", found[0]), ("hardest", found[1])]
    assert list(extremes(found, fewest=11)) == []
    equal = replace(found[0], name="d")
    assert list(extremes([found[0], equal, found[1]])) == [("hardest", found[1])]
    assert list(extremes([found[0], equal])) == []
    assert opponents(MATRICES, "d", 95.0) == []
    assert opponents(MATRICES, "nobody", 95.0) == []
    assert opponents(None, "a", 95.0) == []
    assert opponents_table("a", found, 95.0).rows[0][:6] == ("b", 10, 6, 2, 2, 0.7)


def test_history_is_a_row_for_each_snapshot():
    place = placed("", STANDINGS, "a")
    assert place is not None
    table = history_table([Moment(datetime(2026, 2, 3, 4, 5, tzinfo=UTC), "3", place)], 95.0)
    assert table.rows == (("2026-02-03 04:05", 1100.0, 1050.0, 1150.0, 1, 2, 40, "3"),)


def test_the_figure_of_the_history_marks_what_other_methods_made():
    place = placed("", STANDINGS, "a")
    assert place is not None
    moments = [
        Moment(datetime(2026, 2, day, tzinfo=UTC), methodology, place)
        for day, methodology in ((1, "2"), (2, "3"), (3, "3"))
    ]
    (trace,) = history(moments, 95.0)["data"]
    assert trace["marker"]["symbol"] == ["circle-open", "circle", "circle"]
    assert trace["x"][0] == "2026-02-01T00:00:00+00:00"
    assert trace["error_y"]["array"] == [50.0] * 3
