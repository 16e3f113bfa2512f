"""One verdict out of several."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rules import scales
from judging.protocols.answer_scales import answer_scale
from judging.protocols.deciding import (
    Verdicts,
    compared,
    contradict,
    debated,
    last_of,
    last_verdict,
    majority,
)
from judging.protocols.replies import Verdict

EMPTY = Verdict(None, "empty")


def make_verdicts(
    points: int = 8, parameters: dict[str, object] | None = None, **ratings: list[int | None]
) -> Verdicts:
    """Verdicts by step, each a list of ratings; None is an empty reply."""
    read = {step: [Verdict(one) if one else EMPTY for one in given] for step, given in ratings.items()}
    return Verdicts(read, answer_scale("likert", points), parameters or {})


@pytest.mark.parametrize(
    ("ratings", "points", "decided"),
    [
        ([1], 2, 1),
        ([1, 2, 2], 2, 2),
        ([1, 2], 2, None),
        ([2, 2, 1, 3], 3, 2),
        ([1, 2, 3], 3, None),
        ([6, 7, 8], 8, 7),
        ([5, 8], 8, 5),
        ([1, 2, 3, 4], 8, 3),
        ([1, 1, 8], 8, 1),
        ([4, 5], 8, None),
        ([None, 7, None], 8, 7),
        ([None, 2, 7], 8, None),
    ],
)
def test_the_majority_has_a_side_and_median(
    ratings: list[int | None], points: int, decided: int | None
) -> None:
    verdict = majority([Verdict(one) if one else EMPTY for one in ratings], points)
    assert verdict.rating == decided
    assert verdict.reason == ("" if decided else "undecided")


def test_who_casts_the_deciding_vote_lends_its_rationale() -> None:
    votes = [Verdict(8, rationale="far"), Verdict(6, rationale="near"), Verdict(7, rationale="middle")]
    assert majority(votes, 8).rationale == "middle"
    # The majority of nothing is nothing, for the first reason.
    assert majority([EMPTY, Verdict(None, "refused")], 8) == EMPTY


@given(st.sampled_from(scales.POINTS), st.data())
def test_the_majority_of_the_other_order_is_the_mirror(points: int, data: st.DataObject) -> None:
    ratings = data.draw(st.lists(st.integers(1, points), min_size=1, max_size=9))
    there = majority([Verdict(one) for one in ratings], points).rating
    back = majority([Verdict(scales.mirror(one, points)) for one in ratings], points).rating
    assert back == (there and scales.mirror(there, points))


def test_the_last_verdict_is_that_of_the_last_step_that_was_asked() -> None:
    assert last_verdict(make_verdicts(first=[1], second=[2, 7])).rating == 7
    decide = last_of("compare", "synthesise")
    assert decide(make_verdicts(compare=[3], swapped=[6])).rating == 3
    assert decide(make_verdicts(compare=[3], swapped=[6], synthesise=[8])).rating == 8


@pytest.mark.parametrize(
    ("points", "one", "other", "contradicts"),
    [
        (8, 1, 8, True),
        (8, 4, 5, True),
        (8, 1, 4, False),
        (8, None, 5, False),
        (8, None, None, False),
        (3, 2, 3, False),
    ],
)
def test_opposite_sides_contradict(
    points: int, one: int | None, other: int | None, contradicts: bool
) -> None:
    assert contradict("a", "b")(make_verdicts(points, a=[one], b=[other])) is contradicts


def test_the_higher_score_wins_and_one_alone_compares_nothing() -> None:
    scale = answer_scale("scores", 3)
    for first, second, rating in ((9, 0, 1), (4, 4, 2), (0, 1, 3)):
        decided = compared("rate")(Verdicts({"rate": [Verdict(first), Verdict(second)]}, scale))
        assert decided.rating == rating
        assert decided.scores == (Decimal(first), Decimal(second))
    for scored in ([Verdict(3), EMPTY], [EMPTY, Verdict(3)]):
        assert compared("rate")(Verdicts({"rate": scored}, scale)) == EMPTY


@pytest.mark.parametrize(
    ("decision", "said", "rating"),
    [
        ("last", [1, 1, 1, 7, 2, 6], 6),
        ("majority", [1, 1, 1, 7, 2, 6], 6),  # the last round counts
        ("majority", [7, 2, 1], 2),
    ],
)
def test_a_debate_ends_as_its_parameter_says(decision: str, said: list[int | None], rating: int) -> None:
    decide = debated("speak")
    parameters: dict[str, object] = {"roles": ("a", "b", "c"), "decision": decision}
    assert decide(make_verdicts(parameters=parameters, speak=said)).rating == rating
