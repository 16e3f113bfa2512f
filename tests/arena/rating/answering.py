"""A rater who takes the pair that is offered, and answers it."""

from typing import Any

from arena.models import Assignment, Comparison, Rater, Study
from arena.rating import assignments, recording
from arena.rating.opinions import Rating


def claimed(study: Study, rater: Rater, ahead: str | None = None) -> Assignment:
    assignment = assignments.claim(study, rater, ahead)
    assert assignment is not None
    return assignment


def answer(rater: Rater, assignment: Assignment, rating: int = 3, **more: Any) -> Comparison:
    return recording.record(rater, assignment.public_id, Rating(points=8, rating=rating, **more))
