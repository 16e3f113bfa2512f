import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.pages.dots import HEIGHT, Axis

RATINGS = st.floats(min_value=-1e6, max_value=1e6)


def test_places_are_linear_between_the_ends():
    axis = Axis(900.0, 1100.0)
    assert [axis.place(rating) for rating in (900.0, 1000.0, 1100.0)] == ["6.00%", "50.00%", "94.00%"]
    assert (axis.place(0.0), axis.place(9999.0)) == ("6.00%", "94.00%")
    assert Axis.around([]) is None


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (890.0, 1110.0, [900, 1000, 1100]),
        (600.0, 1460.0, [750, 1000, 1250]),
        (0.0, 3.0, [0, 1, 2, 3]),
        (-1e5, 1e5, [-100000, 0, 100000]),
    ],
)
def test_ticks_are_round(low, high, ticks):
    assert Axis(low, high).ticks == ticks


def test_a_tick_has_the_minus_of_all_other_numbers():
    assert re.findall(">([^<]+)</text>", Axis(-0.7, 0.3).heading()) == ["−0.5", "0"]


def test_chance_is_named_and_no_number_stands_beside_it():
    axis = Axis.around([76.0, 92.0], chance=50.0)
    assert re.findall(">([^<]+)</text>", axis.heading()) == ["80", "chance"]
    near = Axis.around([51.0, 60.0], chance=50.0)
    assert near.ticks == [50, 55, 60]
    assert re.findall(">([^<]+)</text>", near.heading()) == ["55", "60", "chance"]
    assert "dots-chance" in axis.row(80.0, None, None)
    assert "dots-chance" not in Axis.around([76.0, 92.0]).row(80.0, None, None)


@given(st.lists(RATINGS, min_size=1, max_size=10))
def test_every_axis_holds_its_values_and_has_a_few_ticks(values):
    axis = Axis.around(values)
    assert axis.low < min(values) <= max(values) < axis.high
    assert 2 <= len(axis.ticks) <= 4
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)


@given(RATINGS, st.floats(0, 1e5), st.floats(0, 1e5))
def test_a_row_is_well_formed_and_inside_its_box(rating, below, above):
    text = Axis(800.0, 1200.0).row(rating, rating - below, rating + above)
    drawing = ElementTree.fromstring(text)  # noqa: S314 - made here
    assert drawing.get("aria-hidden") == "true"
    places = [line.get(end) for line in drawing.iter("line") for end in ("x1", "x2")]
    assert all(0 <= float(place.removesuffix("%")) <= 100 for place in places)
    assert "style" not in ElementTree.tostring(drawing, "unicode")
    assert drawing.get("height") == str(HEIGHT)


def test_an_arm_beyond_the_axis_ends_in_an_arrow_and_without_one_there_is_a_dot():
    axis = Axis(900.0, 1100.0)
    inside, beyond = axis.row(1000.0, 950.0, 1050.0), axis.row(1000.0, 950.0, 2000.0)
    assert '<path d="M-5 6L0 10L-5 14"/>' in beyond
    assert "<path" not in inside
    assert "<circle" in inside
    assert "<circle" not in axis.row(3000.0, 2900.0, 3100.0)
    assert axis.row(3000.0, None, None).count("<path") == axis.row(10.0, None, None).count("<path") == 1
    drawing = Axis(900.0, 1100.0).row(1000.0, None, None)
    assert "dots-arms" not in drawing
    assert "<circle" in drawing
