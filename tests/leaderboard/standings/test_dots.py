"""Drawings of intervals inside a table: they stand where the numbers say."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.standings.rows import HEIGHT, WIDTH, Axis

RATINGS = st.floats(min_value=-1e6, max_value=1e6)


def test_places_are_linear_between_the_ends():
    axis = Axis(900.0, 1100.0)
    assert axis.place(900.0) == 14
    assert axis.place(1000.0) == WIDTH / 2
    assert axis.place(1100.0) == WIDTH - 14
    assert (axis.place(0.0), axis.place(9999.0)) == (14, WIDTH - 14)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (890.0, 1110.0, [900, 1000, 1100]),
        (802.0, 1160.0, [900, 1000, 1100]),
        (0.0, 3.0, [0, 1, 2, 3]),
        (-1e5, 1e5, [-100000, -50000, 0, 50000, 100000]),
    ],
)
def test_ticks_are_round(low, high, ticks):
    assert Axis(low, high).ticks == ticks


def test_nothing_has_no_axis():
    assert Axis.around([]) is None


@given(st.lists(RATINGS, min_size=1, max_size=10))
def test_every_axis_holds_its_values_and_has_a_few_ticks(values):
    axis = Axis.around(values)
    assert axis.low < min(values) <= max(values) < axis.high
    assert 1 <= len(axis.ticks) <= 6
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)


@given(RATINGS, st.floats(0, 1e5), st.floats(0, 1e5))
def test_a_row_is_well_formed_and_inside_its_box(rating, below, above):
    text = Axis(800.0, 1200.0).row(rating, rating - below, rating + above)
    drawing = ElementTree.fromstring(text)  # noqa: S314 - made here
    assert drawing.get("aria-hidden") == "true"
    paths = [path.get("d") for path in drawing.iter("path")]
    starts = [float(x) for path in paths for x in re.findall(r"M(-?[\d.]+)", path)]
    assert all(0 <= x <= WIDTH for x in starts)
    assert "style" not in ElementTree.tostring(drawing, "unicode")
    assert drawing.get("height") == str(HEIGHT)


def test_an_arm_beyond_the_axis_ends_in_an_arrow_and_a_dot_beyond_is_not_drawn():
    axis = Axis(900.0, 1100.0)
    inside, beyond = axis.row(1000.0, 950.0, 1050.0), axis.row(1000.0, 950.0, 2000.0)
    assert "l-5 -4" in beyond
    assert "l-5 -4" not in inside
    assert "<circle" in inside
    assert "<circle" not in axis.row(3000.0, 2900.0, 3100.0)


def test_without_an_interval_there_is_a_dot_alone():
    drawing = Axis(900.0, 1100.0).row(1000.0, None, None)
    assert "dots-arms" not in drawing
    assert "<circle" in drawing
