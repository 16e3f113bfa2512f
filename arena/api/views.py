"""Submitting comparisons."""

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Status

from arena import services
from arena.answers import AlreadyAnsweredError, Answer, InvalidAnswerError, NotAllowedError
from arena.api.auth import rater_of
from arena.api.schemas import ERRORS, ComparisonIn, ComparisonOut, ConflictOut, ErrorOut
from arena.models import Comparison

router = Router(tags=["comparisons"])


@router.post(
    "/",
    response={200: ComparisonOut, 201: ComparisonOut, 409: ConflictOut, **ERRORS},
    summary="Submit a comparison",
)
def submit_comparison(request: HttpRequest, given: ComparisonIn) -> Status[object]:
    """Answer an assignment. The same answer again is 200 and stores nothing new; a different one is 409."""
    rater = rater_of(request)
    answer = Answer(
        points=given.points,
        rating=given.rating,
        reason=given.reason or "",
        expected=given.expected,
        scores=given.scores,
        criteria=given.criteria,
        raw_reply=given.raw_reply,
        rationale=given.rationale,
        seconds=given.seconds,
        source=Comparison.Source.API,
        call=given.call.model_dump(mode="json", exclude_none=True) if given.call else None,
    )
    asked = timezone.now()
    try:
        comparison = services.record_comparison(rater, given.assignment, answer)
    except AlreadyAnsweredError as error:
        shown = _shown(given.assignment, error.comparison)
        return Status(409, ConflictOut(detail=str(error), field="rating", comparison=shown))
    except InvalidAnswerError as error:
        return Status(422, ErrorOut(detail=str(error), field=error.field))
    except NotAllowedError as error:
        return Status(403, ErrorOut(detail=str(error), field="assignment"))
    return Status(201 if comparison.created_at >= asked else 200, _shown(given.assignment, comparison))


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
