"""What a panel says, given what its members said."""

from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rules import scales
from judging.panels.services import Opinion, PanelVerdict, combined

OPINIONS = st.lists(
    st.sampled_from(scales.POINTS).flatmap(
        lambda points: st.tuples(st.none() | st.integers(1, points), st.just(points))
    ),
    min_size=1,
    max_size=7,
)
RULES = st.sampled_from(["majority", "mean"])


def of_eight(*ratings: int | None) -> list[Opinion]:
    return [(rating, 8) for rating in ratings]


@pytest.mark.parametrize(
    ("ratings", "rating"),
    [
        ((1, 4, 8), 1),  # two for the first
        ((5, 6, 1), 3),
        ((1, 8), 2),  # one each
        ((1, None, None), 1),  # the others abstain
        ((1, 8, None), 2),
        ((None, None), None),
    ],
)
def test_the_majority_takes_a_side(ratings: tuple[int | None, ...], rating: int | None) -> None:
    assert combined("majority", of_eight(*ratings), middle_to_second=True) == PanelVerdict(rating, 3)


def test_ties_of_members_count_against_a_majority() -> None:
    tie = (2, 3)
    assert combined("majority", [(1, 3), tie, tie], middle_to_second=True).rating == 2
    assert combined("majority", [(1, 3), (1, 8), tie], middle_to_second=True).rating == 1


def test_a_mean_in_the_very_middle_goes_where_it_is_told_on_a_common_axis() -> None:
    ratings = of_eight(4, 5)
    assert combined("mean", ratings, middle_to_second=False) == PanelVerdict(4, 8, 4.5)
    assert combined("mean", ratings, middle_to_second=True) == PanelVerdict(5, 8, 4.5)
    opinions = [(2, 2), (2, 3), (8, 8)]  # 1, 0 and 1 on the axis from -1 to 1
    verdict = combined("mean", opinions, middle_to_second=False)
    assert verdict.mean == pytest.approx(4.5 + 3.5 * 2 / 3)


@given(OPINIONS, RULES, st.booleans())
def test_both_sides_are_treated_alike(opinions: list[Opinion], rule: str, second: bool) -> None:
    verdict = combined(rule, opinions, middle_to_second=second)
    turned = [(rating and scales.mirror(rating, points), points) for rating, points in opinions]
    other = combined(rule, turned, middle_to_second=not second)
    expected = verdict.rating and scales.mirror(verdict.rating, verdict.points)
    assert other.rating == expected


@given(OPINIONS, st.booleans())
def test_a_mean_becomes_the_nearest_point_and_a_half_the_one_further_out(
    opinions: list[Opinion], second: bool
) -> None:
    verdict = combined("mean", opinions, middle_to_second=second)
    given_ratings = [(rating, points) for rating, points in opinions if rating is not None]
    if verdict.rating is None:
        assert given_ratings == []
        return
    preferences = [scales.preference(rating, points) for rating, points in given_ratings]
    assert verdict.mean == pytest.approx(4.5 + 3.5 * fmean(preferences))
    assert abs(verdict.rating - verdict.mean) <= 0.5 + 1e-9
    assert abs(verdict.rating - 4.5) - abs(verdict.mean - 4.5) > -0.5 + 1e-9
