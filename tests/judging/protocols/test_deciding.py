"""One verdict out of several."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rating import scales
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
def test_the_majority_takes_a_side_and_its_median(
    ratings: list[int | None], points: int, decided: int | None
) -> None:
    verdict = majority([Verdict(one) if one else EMPTY for one in ratings], points)
    assert verdict.rating == decided
    assert verdict.reason == ("" if decided else "undecided")


def test_the_majority_of_nothing_is_nothing_for_the_first_reason() -> None:
    assert majority([EMPTY, Verdict(None, "refused")], 8) == EMPTY


def test_who_casts_the_deciding_vote_lends_its_rationale() -> None:
    votes = [Verdict(8, rationale="far"), Verdict(6, rationale="near"), Verdict(7, rationale="middle")]
    assert majority(votes, 8).rationale == "middle"


@given(st.sampled_from(scales.POINTS), st.data())
def test_the_majority_of_the_other_order_is_the_mirror(points: int, data: st.DataObject) -> None:
    ratings = data.draw(st.lists(st.integers(1, points), min_size=1, max_size=9))
    there = majority([Verdict(one) for one in ratings], points).rating
    back = majority([Verdict(scales.mirror(one, points)) for one in ratings], points).rating
    assert back == (there and scales.mirror(there, points))


def test_the_last_verdict_is_that_of_the_last_step() -> None:
    assert last_verdict(make_verdicts(first=[1], second=[2, 7])).rating == 7


def test_of_named_steps_the_last_that_was_asked_counts() -> None:
    decide = last_of("compare", "synthesise")
    assert decide(make_verdicts(compare=[3], swapped=[6])).rating == 3
    assert decide(make_verdicts(compare=[3], swapped=[6], synthesise=[8])).rating == 8


@pytest.mark.parametrize(
    ("one", "other", "contradicts"),
    [(1, 8, True), (4, 5, True), (1, 4, False), (None, 5, False), (None, None, False)],
)
def test_opposite_sides_contradict_each_other(one: int | None, other: int | None, contradicts: bool) -> None:
    assert contradict("a", "b")(make_verdicts(a=[one], b=[other])) is contradicts


def test_the_middle_contradicts_nobody() -> None:
    assert not contradict("a", "b")(make_verdicts(points=3, a=[2], b=[3]))


@pytest.mark.parametrize(("first", "second", "rating"), [(9, 0, 1), (4, 4, 2), (0, 1, 3)])
def test_the_higher_score_wins(first: int, second: int, rating: int) -> None:
    verdicts = Verdicts({"rate": [Verdict(first), Verdict(second)]}, answer_scale("scores", 3))
    decided = compared("rate")(verdicts)
    assert decided.rating == rating
    assert decided.scores == (Decimal(first), Decimal(second))


@pytest.mark.parametrize("scored", [[Verdict(3), EMPTY], [EMPTY, Verdict(3)]])
def test_one_score_alone_compares_nothing(scored: list[Verdict]) -> None:
    assert compared("rate")(Verdicts({"rate": scored}, answer_scale("scores", 3))) == EMPTY


@pytest.mark.parametrize(
    ("decision", "said", "rating"),
    [
        ("last", [1, 1, 1, 7, 2, 6], 6),
        ("majority", [1, 1, 1, 7, 2, 6], 6),  # the last round counts
        ("majority", [7, 2, 1], 2),
    ],
)
def test_a_debate_ends_as_its_parameter_says(decision: str, said: list[int | None], rating: int) -> None:
    decide = debated("speak", roles="roles", decision="decision")
    parameters: dict[str, object] = {"roles": ("a", "b", "c"), "decision": decision}
    assert decide(make_verdicts(parameters=parameters, speak=said)).rating == rating
