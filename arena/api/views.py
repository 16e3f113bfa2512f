"""Submitting comparisons."""

from collections.abc import Sequence

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema, Status

from arena.api.auth import rater_of
from arena.api.schemas import ERRORS, BatchIn, BatchOut, ComparisonIn, ComparisonOut, ConflictOut, ErrorOut
from arena.models import Comparison, Rater
from arena.rating.recording import (
    AlreadyAnsweredError,
    Answer,
    InvalidAnswerError,
    NotStoredError,
    RatingError,
    Submission,
    record_comparisons,
)

router = Router(tags=["comparisons"])


@router.post(
    "/",
    response={200: ComparisonOut, 201: ComparisonOut, 409: ConflictOut, **ERRORS, 500: ErrorOut},
    summary="Submit a comparison",
)
def submit_comparison(request: HttpRequest, given: ComparisonIn) -> Status[object]:
    """Answer an assignment. The same answer again is 200 and stores nothing new; a different one is 409."""
    return Status(*_outcomes(rater_of(request), [given])[0])


@router.post("/batch/", response={200: BatchOut, **ERRORS}, summary="Submit comparisons")
def submit_comparisons(request: HttpRequest, given: BatchIn) -> object:
    """Answer up to 100 assignments in one transaction.

    Every answer is taken or refused by itself, with the status and body that it would have had as a request
    of its own.
    """
    outcomes = _outcomes(rater_of(request), given.comparisons)
    return {"results": [{"status": status, "body": body} for status, body in outcomes]}


Outcome = tuple[int, Schema]


def _outcomes(rater: Rater, given: Sequence[ComparisonIn | ErrorOut]) -> list[Outcome]:
    """The reply to each answer, parsed or not."""
    asked = timezone.now()
    taken = [each for each in given if isinstance(each, ComparisonIn)]
    stored = iter(record_comparisons(rater, [_submission(each) for each in taken]))
    outcomes: list[Outcome] = []
    before: set[int] = set()  # what the same batch has stored already
    for each in given:
        if isinstance(each, ErrorOut):
            outcomes.append((422, each))
            continue
        found = next(stored)
        if isinstance(found, Comparison):
            is_new = found.created_at >= asked and found.pk not in before
            before.add(found.pk)
            outcomes.append((201 if is_new else 200, _shown(each.assignment, found)))
        else:
            outcomes.append(_refusal(each.assignment, found))
    return outcomes


def _submission(given: ComparisonIn) -> Submission:
    answer = Answer(
        points=given.points,
        rating=given.rating,
        reason=given.reason or "",
        expected=given.expected,
        scores=given.scores,
        criteria=given.criteria,
        raw_reply=given.raw_reply,
        rationale=given.rationale,
        reasons=tuple(given.reasons),
        seconds=given.seconds,
        source=Comparison.Source.API,
        call=given.call.model_dump(mode="json", exclude_none=True) if given.call else None,
    )
    return Submission(given.assignment, answer)


def _refusal(assignment: str, error: RatingError) -> Outcome:
    if isinstance(error, AlreadyAnsweredError):
        shown = _shown(assignment, error.comparison)
        return 409, ConflictOut(detail=str(error), field="rating", comparison=shown)
    if isinstance(error, InvalidAnswerError):
        return 422, ErrorOut(detail=str(error), field=error.field)
    status = 500 if isinstance(error, NotStoredError) else 403
    return status, ErrorOut(detail=str(error), field="assignment")


def _shown(assignment: str, comparison: Comparison) -> ComparisonOut:
    return ComparisonOut.model_validate(
        {
            "assignment": assignment,
            "status": comparison.status,
            "rating": comparison.rating,
            "reason": comparison.reason or None,
            "points": comparison.points,
        }
    )
