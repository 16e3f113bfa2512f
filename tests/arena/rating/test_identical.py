"""Pairs of two equal texts: what a judge says of them is a control, what a person says a rating like any."""

from typing import Any

import pytest

from arena.models import Comparison, Pair, Rater
from arena.rating import recording
from arena.rating.opinions import Rating
from tests.factories import make_assignment, make_completion, make_prompt, make_rater

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair() -> Pair:
    prompt = make_prompt()
    first, second = (make_completion(prompt=prompt, turns=["the same"], digest="f" * 64) for _ in range(2))
    return Pair.objects.create(prompt=prompt, first=first, second=second)


@pytest.mark.parametrize(
    ("kind", "said", "status"),
    [
        ("judge", {"rating": 6}, "identical"),
        ("judge", {"reason": "refused"}, "identical"),
        ("person", {"rating": 6}, "scored"),
    ],
)
def test_an_answer_about_them(kind: str, said: dict[str, Any], status: str, pair: Pair) -> None:
    rater = make_rater(kind=kind)
    assignment = make_assignment(pair=pair, rater=rater)
    comparison = recording.record(rater, assignment.public_id, Rating(points=8, **said))
    assert (comparison.status, comparison.rating) == (status, said.get("rating"))
    assert comparison.reason == said.get("reason", "")
    again = recording.record(rater, assignment.public_id, Rating(points=8, **said))
    assert again == comparison


def test_an_answer_of_a_judge_about_two_texts_is_no_control() -> None:
    judge = make_rater(kind=Rater.Kind.JUDGE)
    assignment = make_assignment(rater=judge)
    recording.record(judge, assignment.public_id, Rating(points=8, rating=6))
    assert Comparison.objects.get().status == "scored"
