"""Submitting comparisons, scores and answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest
from ninja import Router, Status
from pydantic import BaseModel

from arena.api.auth import rater_of
from arena.api.opinions import (
    AnswersConflictOut,
    AnswersIn,
    AnswersOut,
    BatchIn,
    BatchOut,
    CheckedTextsIn,
    CheckedTextsOut,
    ComparisonIn,
    ComparisonOut,
    ConflictOut,
    OpinionIn,
    ScoreConflictOut,
    ScoreIn,
    ScoreOut,
    ScoresIn,
    ScoresOut,
)
from arena.api.schemas import ERRORS, ErrorOut
from arena.models import Rater
from arena.rating.opinions import InvalidAnswerError, NotStoredError, RatingError
from arena.rating.recording import AlreadyAnsweredError, record_all

comparisons = Router(tags=["comparisons"])
scores = Router(tags=["scores"])
answers = Router(tags=["answers"])

Outcome = tuple[int, BaseModel]


def _replies(stored: type[BaseModel], conflict: type[BaseModel]) -> Mapping[Any, Any]:
    return {200: stored, 201: stored, 409: conflict, **ERRORS, 500: ErrorOut}


@comparisons.post("/", response=_replies(ComparisonOut, ConflictOut), summary="Submit a comparison")
def submit_comparison(request: HttpRequest, given: ComparisonIn) -> Status[object]:
    """Rate a pair. The same rating again is 200 and stores nothing new; a different one is 409."""
    return _one(request, given)


@comparisons.post("/batch/", response={200: BatchOut, **ERRORS}, summary="Submit comparisons")
def submit_comparisons(request: HttpRequest, given: BatchIn) -> object:
    """Rate up to 100 pairs in one transaction.

    Every rating is taken or refused by itself, with the status and body that it would have had as a request
    of its own.
    """
    return _several(request, given.comparisons)


@scores.post("/", response=_replies(ScoreOut, ScoreConflictOut), summary="Submit a score")
def submit_score(request: HttpRequest, given: ScoreIn) -> Status[object]:
    """Score one answer. The same score again is 200 and stores nothing new; a different one is 409."""
    return _one(request, given)


@scores.post("/batch/", response={200: ScoresOut, **ERRORS}, summary="Submit scores")
def submit_scores(request: HttpRequest, given: ScoresIn) -> object:
    """Score up to 100 answers in one transaction. Every score is taken or refused by itself."""
    return _several(request, given.scores)


@answers.post("/", response=_replies(AnswersOut, AnswersConflictOut), summary="Check an answer")
def submit_answers(request: HttpRequest, given: AnswersIn) -> Status[object]:
    """Say of each requirement of its prompt whether an answer meets it, all at once.

    The same answers again are 200 and store nothing new; different ones are 409.
    """
    return _one(request, given)


@answers.post("/batch/", response={200: CheckedTextsOut, **ERRORS}, summary="Check several answers")
def submit_answers_of_several(request: HttpRequest, given: CheckedTextsIn) -> object:
    """Check up to 100 answers in one transaction. Every check is taken or refused by itself."""
    return _several(request, given.answers)


def _one(request: HttpRequest, given: OpinionIn) -> Status[object]:
    return Status(*_outcomes(rater_of(request), [given])[0])


def _several(request: HttpRequest, given: Sequence[OpinionIn | ErrorOut]) -> object:
    outcomes = _outcomes(rater_of(request), given)
    return {"results": [{"status": status, "body": body} for status, body in outcomes]}


def _outcomes(rater: Rater, given: Sequence[OpinionIn | ErrorOut]) -> list[Outcome]:
    """The reply to each opinion, parsed or not."""
    taken = [each for each in given if isinstance(each, OpinionIn)]
    recorded = iter(record_all(rater, taken))
    outcomes: list[Outcome] = []
    for each in given:
        if isinstance(each, ErrorOut):
            outcomes.append((422, each))
            continue
        found = next(recorded)
        if isinstance(found, RatingError):
            outcomes.append(_refusal(each, found))
        else:
            outcomes.append((201 if found.is_new else 200, each.shown(found.stored)))
    return outcomes


def _refusal(given: OpinionIn, error: RatingError) -> Outcome:
    if isinstance(error, AlreadyAnsweredError):
        return 409, given.conflict(str(error), error.stored)
    if isinstance(error, InvalidAnswerError):
        return 422, ErrorOut(detail=str(error), field=given.field_of(error.field))
    status = 500 if isinstance(error, NotStoredError) else 403
    return status, ErrorOut(detail=str(error), field="assignment")
