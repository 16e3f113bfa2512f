import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rules import scales

ratings = st.sampled_from(scales.POINTS).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n)))


@pytest.mark.parametrize(
    ("points", "with_ties", "without"),
    [
        (8, [1, 1, 1, 0.5, 0.5, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0]),
        (5, [1, 1, 0.5, 0, 0], [1, 1, None, 0, 0]),
        (3, [1, 0.5, 0], [1, None, 0]),
        (2, [1, 0], [1, 0]),
    ],
)
def test_scores_of_every_scale(points, with_ties, without):
    for ties, expected in ((True, with_ties), (False, without)):
        assert [scales.score(rating, points, ties=ties) for rating in range(1, points + 1)] == expected


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


def test_an_unknown_scale_is_refused_and_every_known_one_has_a_caption_for_every_point():
    with pytest.raises(scales.ScaleError, match="no scale has 7 points"):
        scales.check_points(7)
    captions = {points: len(captions) for points, captions in scales.CAPTIONS.items()}
    assert captions == {points: points for points in scales.POINTS}
