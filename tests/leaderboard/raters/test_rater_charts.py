import pytest

from leaderboard.pages.table import Matrix
from leaderboard.raters.agreement.figure import confusion, correlations, kinds_map, preferences
from leaderboard.raters.agreement.table import correlated
from leaderboard.raters.bias.figure import (
    histogram,
    length_effect,
    mirrored_histogram,
    position_dots,
    score_differences,
)
from leaderboard.raters.bias.table import Shown, ratings_table, shown_by_scale
from tests.leaderboard import rater_payloads as payloads

PEOPLE = Shown("People", (6, 1, 3), {}, 2 / 3, 1.7, payloads.position(share_first=0.6))
JUDGE = Shown("Judge", (2, 0, 2), {"refused": 4}, 0.5, 2.0)


def test_the_unscored_stand_apart_from_the_ratings():
    figure = histogram(3, [PEOPLE, JUDGE])
    assert figure["data"][0]["x"] == figure["layout"]["xaxis"]["tickvals"] == [0, 1, 2, 4]
    figure = mirrored_histogram(Shown("Judge", (6, 1, 3), {"empty": 10}, 2 / 3, 1.7))
    given, mirrored = figure["data"]
    assert given["y"] == [30, 5, 15, 50]
    assert mirrored["y"] == [15, 5, 30, None]


def test_a_seventh_kind_makes_rows_of_a_map_with_all_of_them():
    names = [f"Judge {number}" for number in range(7)]
    figure = histogram(3, [Shown(name, (2, 0, 2), {"refused": 4}, 0.5, 2.0) for name in names])
    (trace,) = figure["data"]
    assert trace["z"] == [[25, 0, 25, 50]] * 7
    assert trace["x"] == [0, 1, 2, 4]
    assert figure["layout"]["yaxis"]["ticktext"] == names


def test_dots_of_position_are_centred_on_one_half_with_their_intervals():
    figure = position_dots([PEOPLE, JUDGE])
    people, judge = figure["data"]
    assert people["x"] + judge["x"] == pytest.approx([66.6667, 50], abs=1e-3)
    assert people["error_x"]["array"] == pytest.approx([68 - 66.6667], abs=1e-3)
    low, high = figure["layout"]["xaxis"]["range"]
    assert low + high == pytest.approx(100)
    assert low < 52 < 68 < high
    figure = position_dots([Shown("Judge", (0, 5, 0), {}, None, 2.0), PEOPLE])
    assert figure["layout"]["yaxis"]["ticktext"] == ["People"]
    names = ["Simulated judge A, two scores", "Simulated judge A, warned of bias"]
    figure = position_dots([Shown(name, (6, 1, 3), {}, 0.6, 1.7) for name in names])
    assert figure["layout"]["yaxis"]["ticktext"] == [
        "Simulated judge A,<br>two scores",
        "Simulated judge A,<br>warned of bias",
    ]


def test_differences_of_scores_stand_at_the_middle_of_their_bins():
    figure = score_differences([("Judge", payloads.scores())])
    assert figure["data"][0]["x"] == [-1.5, -0.5, 0.5, 1.5, 2.5]
    assert figure["data"][0]["y"] == [10, 20, 40, 20, 10]


def test_the_effect_of_length_has_an_interval_at_every_bin_where_somebody_is():
    figure = length_effect("Judge", payloads.measure())
    (trace,) = figure["data"]
    assert trace["y"] == pytest.approx([30, 50, 70])
    assert trace["error_y"]["arrayminus"] == pytest.approx([10, 10, 10])
    assert figure["layout"]["xaxis"]["ticktext"] == ["≤ −51", "−50 to 50", "≥ 51"]
    measure = payloads.measure()
    measure["bins"][1] |= {"n": 0, "win_rate": None, "win_low": None, "win_high": None}
    figure = length_effect("Judge", measure)
    assert len(figure["data"][0]["y"]) == 2


def test_correlations_share_rows_and_axis_with_the_ceiling():
    judge = payloads.correlation(
        payloads.correlation_row(None, 0.6), payloads.correlation_row("coding", None, n=2, reason="few")
    )
    people = payloads.correlation(payloads.correlation_row("coding", 0.7, n=9))
    own, others = correlated("Judge", judge, "pearson"), correlated("People", people, "pearson")
    figure = correlations([own], others, "Agrees with people (r)")
    dots, ceiling = figure["data"]
    assert (dots["x"], [round(y) for y in dots["y"]]) == ([0.6], [0])
    assert (ceiling["x"], [round(y) for y in ceiling["y"]]) == ([0.7], [1])
    assert dots["marker"]["color"] != ceiling["marker"]["color"]
    assert figure["layout"]["yaxis"]["ticktext"] == ["All<br>45 pairs", "coding<br>2–9 pairs"]


def test_many_judges_differ_by_colour_and_symbol():
    content = payloads.correlation(payloads.correlation_row())
    kinds = [correlated(f"Judge {number}", content, "pearson") for number in range(14)]
    figure = correlations(kinds, [], "Agrees with people (r)")
    looks = {(trace["marker"]["color"], trace["marker"]["symbol"]) for trace in figure["data"]}
    assert len(looks) == 14


def test_bubbles_confusion_and_matrices():
    figure = preferences("Judge", "People", [[-1, -1, 1], [0.5, 0.25, 4]])
    marker = figure["data"][0]["marker"]
    assert (marker["size"], marker["sizemode"]) == ([1, 4], "area")
    assert marker["sizeref"] == pytest.approx(2 * 4 / 34**2)
    figure = confusion("Judge", "People", {"points_a": 2, "points_b": 3, "counts": [[4, 1, 2], [2, 1, 4]]})
    assert figure["layout"]["xaxis"]["ticktext"] == ["1", "2", "3"]
    assert figure["layout"]["yaxis"]["ticktext"] == ["1", "2"]
    assert figure["data"][0]["hovertext"][1][2] == "Judge 2, People 3: 4"
    values = Matrix(("a", "b"), ((None, -0.5), (-0.5, None)))
    pairs = Matrix(("a", "b"), ((None, 9), (9, None)))
    figure = kinds_map(values, pairs, "kappa")
    (trace,) = figure["data"]
    assert (trace["zmin"], trace["zmax"]) == (-0.8, -0.5)


def test_tables_and_figures_show_the_same_numbers():
    shown = shown_by_scale([("Judge", payloads.ratings())])[8]
    table = ratings_table(8, shown)
    counts = [row[1] for row in table.rows[:8]]
    figure = histogram(8, shown)
    assert [round(share) for share in figure["data"][0]["y"]] == counts, "of a hundred"


def test_names_are_escaped_in_figures_that_wait_for_somebody_to_ask():
    """All others are read by the crawl through every page."""
    hostile = "<img src=x>"
    figures = (
        score_differences([(hostile, payloads.scores())]),
        preferences(hostile, hostile, [[0, 0, 1]]),
        confusion(hostile, hostile, {"points_a": 1, "points_b": 1, "counts": [[1]]}),
    )
    assert [figure for figure in figures if "<img" in str(figure)] == []
