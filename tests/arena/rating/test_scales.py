import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rating import scales

ratings = st.sampled_from(scales.POINTS).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n)))


def test_eight_points_with_ties_makes_four_and_five_a_tie():
    assert [scales.score(r, 8, ties=True) for r in range(1, 9)] == [1, 1, 1, 0.5, 0.5, 0, 0, 0]


def test_eight_points_without_ties_gives_four_to_the_first_and_five_to_the_second():
    assert [scales.score(r, 8, ties=False) for r in range(1, 9)] == [1, 1, 1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(("points", "middle"), [(3, 2), (5, 3)])
def test_the_middle_of_an_odd_scale_is_a_tie_or_has_no_side(points, middle):
    assert scales.score(middle, points, ties=True) == 0.5
    assert scales.score(middle, points, ties=False) is None


def test_two_points_have_no_tie():
    assert [scales.score(r, 2, ties=True) for r in (1, 2)] == [1, 0]


@given(ratings, st.booleans())
def test_mirroring_exchanges_the_scores(rating_points, ties):
    rating, points = rating_points
    score = scales.score(rating, points, ties=ties)
    mirrored = scales.score(scales.mirror(rating, points), points, ties=ties)
    assert (score is None and mirrored is None) or score + mirrored == 1


@given(ratings)
def test_mirroring_negates_the_preference(rating_points):
    rating, points = rating_points
    assert scales.preference(scales.mirror(rating, points), points) == -scales.preference(rating, points)


@pytest.mark.parametrize(("rating", "points"), [(0, 8), (9, 8), (3, 2), (-1, 5)])
def test_a_rating_outside_its_scale_is_refused(rating, points):
    with pytest.raises(scales.ScaleError, match=f"rating {rating} is outside the scale 1-{points}"):
        scales.score(rating, points, ties=True)


def test_an_unknown_scale_is_refused():
    with pytest.raises(scales.ScaleError, match="no scale has 7 points"):
        scales.check_points(7)


def test_every_scale_has_a_caption_for_every_point():
    assert {points: len(captions) for points, captions in scales.CAPTIONS.items()} == {
        n: n for n in scales.POINTS
    }
