from datetime import UTC, datetime

from leaderboard.contestants.figure import history, places, win_rates
from leaderboard.contestants.table import Moment, Opponent, Placed
from tests.leaderboard.standings.test_table import standing

PLACES = [
    Placed.read(standing("a", 1100.0, low=1050.0, high=1160.0), label="All categories", of=3),
    Placed.read(standing("a", 1010.0, rank=2, low=None, high=None, games=4), label="<b>poems</b>", of=3),
]


def test_places_are_dots_with_arms_from_the_top():
    figure = places(PLACES, 90.0)
    (trace,) = figure["data"]
    assert trace["x"] == [1100.0, 1010.0]
    assert trace["y"] == [0, 1]
    assert trace["error_x"]["array"] == [60.0, 0.0]
    assert trace["error_x"]["arrayminus"] == [50.0, 0.0]
    assert trace["text"][0] == "All categories: 1100 (90%: 1050–1160)<br>rank 1 of 3, 40 ratings"
    assert figure["layout"]["yaxis"]["range"] == [1.6, -0.6]


def test_win_rates_stand_on_the_whole_axis_and_names_are_text():
    figure = win_rates([Opponent("b", 10, 6, 2, 0.7, 0.4, 0.9)], 95.0)
    assert figure["data"][0]["text"] == ["b: 70% (95%: 40%–90%)<br>10 ratings"]
    assert figure["layout"]["shapes"][0]["x0"] == 0.5
    assert figure["layout"]["xaxis"]["range"] == [-0.02, 1.02]
    figure = places(PLACES, 90.0)
    assert "&lt;b&gt;" in figure["data"][0]["text"][1]
    assert figure["layout"]["yaxis"]["ticktext"][1] == "&lt;b&gt;poems&lt;/b&gt;"
    hostile = win_rates([Opponent("<img>", 1, 1, 0, 1.0, 0.2, 1.0)], 95.0)
    assert "<img>" not in str(hostile)


def test_history_marks_what_other_methods_made():
    moments = [
        Moment(datetime(2026, 2, day, tzinfo=UTC), methodology, PLACES[0])
        for day, methodology in ((1, "2"), (2, "3"), (3, "3"))
    ]
    (trace,) = history(moments, 95.0)["data"]
    assert trace["marker"]["symbol"] == ["circle-open", "circle", "circle"]
    assert trace["x"][0] == "2026-02-01T00:00:00+00:00"
    assert trace["error_y"]["array"] == [60.0] * 3
