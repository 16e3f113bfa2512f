import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from leaderboard.pages.standings.table import (
    count_matrix,
    moves,
    provisional,
    rank_table,
    ranks_shown,
    raters_table,
    side_sentence,
    standing_rows,
    standings_table,
    win_rates,
    win_rates_table,
)
from leaderboard.pages.table import DataTable
from leaderboard.raters.agreement.table import correlation_table
from leaderboard.raters.bias.table import ratings_table, shown_by_scale
from tests.leaderboard.rows import standing, standings

MATRIX = {
    "contestants": ["a", "b", "c"],
    "wins": [[0, 3, 0], [1, 0, 0], [0, 0, 0]],
    "ties": [[0, 2, 0], [2, 0, 0], [0, 0, 0]],
    "games": [[0, 6, 0], [6, 0, 0], [0, 0, 0]],
}


def test_ranks_side_by_side_are_among_the_models_that_all_rated():
    people = standings(standing("a", 1100.0, group="a"), standing("b", 1000.0, group="b"))
    judge = standings(
        *(standing(name, 1500.0 - place, group=name) for place, name in enumerate("xba")),
    )
    groups = {"groups": [["a"], ["b"], ["x"]]}
    shown = rank_table(["a", "b"], [("People", people | groups), ("Judge", judge | groups)])
    assert [[(cell.rank, cell.tone) for cell in cells] for _, cells in shown.rows] == [
        [(1, ""), (2, "down")],
        [(2, ""), (1, "up")],
    ]
    assert side_sentence(shown).startswith(
        "Ranks among the 2 models that all of them rated. 2 models clearly"
    )
    unsure = rank_table(
        ["a", "b"], [("People", people | groups), ("Judge", judge | {"groups": [["a", "b"]]})]
    )
    assert side_sentence(unsure).endswith("No rank clearly differs from that by People.")
    no_intervals = standings(standing("a", 1100.0, group=None), standing("b", 1000.0, group=None))
    unknown = rank_table(["a", "b"], [("People", no_intervals), ("Judge", judge | groups)])
    assert side_sentence(unknown).endswith("Without intervals nothing shows if by more than chance.")
    alone = rank_table(["a"], [("People", people | groups), ("Judge", judge | groups)])
    assert side_sentence(alone) == "No two models are ranked by all of them."


def test_equal_scores_share_a_rank_beside_each_other_too():
    people = standings(standing("a", 1100.0), standing("b", 1100.0), standing("c", 1000.0, rank=3))
    judge = standings(standing("c", 1100.4), standing("b", 1100.0, rank=2), standing("a", 900.0, rank=3))
    shown = rank_table(["a", "b", "c"], [("People", people), ("Judge", judge)])
    written = [[cell.text for cell in cells] for _, cells in shown.rows]
    assert written == [["1=", "3"], ["1=", "2"], ["3", "1"]]


def test_a_rank_is_written_as_the_standings_have_it():
    """Scores that look the same have ranks of their own."""
    rows = [standing("a", 1100.0), standing("b", 1100.0), standing("c", 1000.4, rank=3)]
    apart = standing("e", 1000.0, component=1)
    rows += [standing("d", 999.6, rank=4), apart]
    shown = ranks_shown(standing_rows(standings(*rows), None))
    assert shown == {"a": "1=", "b": "1=", "c": "3", "d": "4", "e": "1"}


def test_rows_of_standings():
    (row,) = standing_rows(standings(standing("a", 1100.0)), standings(standing("a", 1080.0)))
    assert (row.win_percent, row.tie_percent) == (50.0, 25.0)
    assert (row.plus, row.minus) == (20.0, 10.0)
    assert row.beside == 1080.0
    assert row.provisional == ""
    assert standing_rows(standings({**standing("a", 1000.0), "rating": None, "games": 0}), None) == ()
    (row,) = standing_rows(standings(standing("a", 1100.0)), None)
    assert (row.rank_ub, row.group, row.first_percent, row.rank_range) == (None, "", None, "1")


def test_ranks_are_those_among_the_contestants_it_cannot_be_told_apart_from():
    groups = {"a": "a", "b": "ab", "c": "b", "d": "c", "e": "a"}
    rows = [standing(name, 1000.0 - place, group=own) for place, (name, own) in enumerate(groups.items())]
    rows[4]["component"] = 1
    content = standings(*rows) | {"groups": [["a", "b"], ["b", "c"], ["d"], ["e"]]}
    assert [row.rank_range for row in standing_rows(content, None)] == ["1–2", "1–3", "2–3", "4", "1"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"games": 29}, "fewer than 30 ratings"),
        ({"wins": 40, "losses": 0, "ties": 0}, "won every rating"),
        ({"wins": 0, "losses": 40, "ties": 0}, "lost every rating"),
        ({"component": 1}, "never compared"),
        ({"unbounded": "above"}, "no upper limit"),
        ({"unbounded": "below"}, "no lower limit"),
    ],
)
def test_a_provisional_row_says_why(change, reason):
    assert reason in provisional(standing("a", 1000.0, **change))


@pytest.mark.parametrize(
    ("method", "other"),
    [
        ("elo", "Bradley-Terry"),
        ("bradley-terry", "Elo"),
        ("davidson", "Bradley-Terry"),
        ("ordinal", "Bradley-Terry"),
    ],
)
def test_every_method_has_another_beside_it(method, other):
    drawn = {"rounds": 1000, "interval": 90.0, "intervals": "sandwich", "resample": "prompts", "units": 40}
    table = standings_table(standing_rows(standings(standing("a", 1000.0)), None), method, drawn)
    assert f"{other} rating" in table.columns
    assert table.caption.endswith(
        "90% interval for other prompts of this kind (robust covariance; 40 prompts)"
    )


def test_people_and_judges_stand_side_by_side_in_the_boards_order():
    people = standings(standing("b", 1100.0, rank=1), standing("a", 900.0, rank=2))
    judge = standings(standing("c", 1200.0, rank=1), standing("b", 1000.0, rank=2))
    table = raters_table(["b", "a"], [("People", people), ("Judge", judge)])
    assert table.columns == (
        "Contestant",
        *("People: rank", "People: rating", "People: low", "People: high"),
        *("Judge: rank", "Judge: rating", "Judge: low", "Judge: high"),
    )
    assert table.rows == (
        ("b", 1, 1100.0, 1090.0, 1120.0, 2, 1000.0, 990.0, 1020.0),
        ("a", 2, 900.0, 890.0, 920.0, None, None, None, None),
        ("c", None, None, None, None, 1, 1200.0, 1190.0, 1220.0),
    )


def test_matrices_follow_the_order_of_the_board():
    games = count_matrix(MATRIX, "games", ["b", "a", "c"])
    assert games.names == ("b", "a", "c")
    assert games.values == ((None, 6, 0), (6, None, 0), (0, 0, None))
    wins = count_matrix(MATRIX, "wins", ["b", "a"])
    assert wins.values == ((None, 1), (3, None))


def test_win_rates_count_a_tie_half_and_have_wilsons_intervals():
    rates = win_rates(MATRIX, ["a", "b", "c"])
    assert rates.values == ((None, 4 / 6, None), (2 / 6, None, None), (None, None, None))
    table = win_rates_table(rates, count_matrix(MATRIX, "games", ["a", "b", "c"]), 90.0)
    assert table.columns[:4] == ("Contestant", "a: win rate", "a: low", "a: high")
    low, high = proportion_confint(4, 6, 0.1, "wilson")
    assert table.rows[0] == (
        "a",
        None,
        None,
        None,
        pytest.approx(4 / 6),
        *map(pytest.approx, (low, high)),
        *[None] * 3,
    )
    assert table.rows[1][1:4] == pytest.approx((2 / 6, 1 - high, 1 - low))
    assert table.rows[2] == ("c", *[None] * 9)


def test_ratings_stand_beside_the_unscored_with_the_largest_scale_first():
    scale = {"points": 3, "counts": [6, 1, 3], "share_first": 6 / 9, "mean": 1.7}
    contents = [
        ("People", {"comparisons": 10, "swapped": 5, "scales": [{**scale, "unscored": {}}]}),
        (
            "Judge",
            {
                "comparisons": 13,
                "swapped": 6,
                "scales": [{**scale, "unscored": {"out_of_range": 2, "empty": 1}}],
            },
        ),
    ]
    shown = shown_by_scale(contents)
    assert list(shown) == [3]
    table = ratings_table(3, shown[3])
    assert table.rows == (
        ("Rating 1", 6, 6),
        ("Rating 2", 1, 1),
        ("Rating 3", 3, 3),
        ("Unscored: empty", 0, 1),
        ("Unscored: out of range", 0, 2),
        ("All replies", 10, 13),
        ("Prefers the first (%), 50 without bias", 66.6667, 66.6667),
        ("Mean rating, 2 without bias", 1.7, 1.7),
    )
    scale = {"unscored": {}, "share_first": None, "mean": None}
    scales = [{**scale, "points": points, "counts": [1] * points} for points in (2, 8)]
    content = {"comparisons": 10, "swapped": 5, "scales": scales}
    assert list(shown_by_scale([("People", content)])) == [8, 2]


def test_correlations_are_listed_by_judge_and_category():
    row = {"category": None, "n": 9, "pearson": 0.5, "spearman": 0.4, "kendall": 0.3, "reason": None}
    unknown = dict.fromkeys(("pearson", "spearman", "kendall"))
    short = {**row, **unknown, "category": "poems", "n": 1, "reason": "few"}
    table = correlation_table([("Judge", {"rows": [row, short]})])
    assert table.rows == (
        ("Judge", "All", 9, None, 0.5, None, None, 0.4, None, None, 0.3, None, None, ""),
        ("Judge", "poems", 1, None, *[None] * 9, "few"),
    )


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1"])
def test_a_name_that_a_spreadsheet_would_run_is_made_text(name):
    other = 'a "b", c\nd'
    table = DataTable.plain("t", (name, "n"), ((name, -1.5), (other, 1)))
    rows = list(csv.reader(io.StringIO(table.csv(), newline="")))
    assert rows[0][0] == rows[1][0] == f"'{name}"
    assert rows[1][1] == "-1.5", "a number stays a number"
    assert rows[2][0] == other


@pytest.mark.parametrize(
    ("group", "shown"), [("", ""), ("abcd", "abcd"), ("abcdef", "abcd +2"), ("x y z aa ab", "x y z aa +1")]
)
def test_many_letters_are_cut(group, shown):
    (row,) = standing_rows(standings(standing("a", 1100.0, group=group)), None)
    assert row.group_shown == shown


def ordered(names):
    """Ratings of contestants named from the best to the last; all are different."""
    return {name: -100.0 * place for place, name in enumerate(names)}


def test_moves_are_counted_among_those_in_both():
    assert moves(ordered("abc"), ordered("cxab")) == {"a": 1, "b": 1, "c": -2}
    assert moves(ordered("a"), {}) == {}
    # All three are first here; there b is first, c second and a third.
    equal = dict.fromkeys("abc", 1000.0)
    assert moves(equal, ordered("bca")) == {"a": 2, "b": 0, "c": 1}
    assert moves(ordered("bca"), equal) == {"a": -2, "b": 0, "c": -1}
    assert moves(equal, dict.fromkeys("cab", 7.0)) == dict.fromkeys("abc", 0)


@given(st.permutations("abcdef"), st.permutations("abcdef"))
def test_moves_cancel_and_are_undone_by_turning_around(one, other):
    there = moves(ordered(one), ordered(other))
    assert sum(there.values()) == 0
    assert moves(ordered(other), ordered(one)) == {name: -places for name, places in there.items()}
