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


def rate_all(study: Study, rater: Rater, rating: int = 3) -> list[Assignment]:
    """Everything there is for this rater, in the order it came in."""
    done = []
    while assignment := assignments.claim(study, rater):
        answer(rater, assignment, rating)
        done.append(assignment)
    return done
