"""Judge runs over the API, for operators."""

from collections.abc import Callable

from django.http import HttpRequest
from ninja import Router, Status

from arena.api.auth import caller_of, require_operator
from arena.api.schemas import ERRORS, ErrorOut
from arena.models import Study
from judging.judges.services import JudgeError
from judging.models import Judge, JudgeRun
from judging.runs.estimating import estimate
from judging.runs.lifecycle import (
    cancel_run as services_cancel_run,
)
from judging.runs.lifecycle import (
    pause_run as services_pause_run,
)
from judging.runs.lifecycle import (
    resume_run as services_resume_run,
)
from judging.runs.lifecycle import (
    start_run,
)
from judging.runs.schemas import BudgetIn, EstimateOut, JudgeRunIn, JudgeRunOut
from judging.runs.spending import change_budget as services_change_budget
from judging.runs.spending import check_budget

router = Router(tags=["judge runs"])

Replies = dict[int, type]
OF_RUN: Replies = {200: JudgeRunOut, 404: ErrorOut, 409: ErrorOut, **ERRORS}


class _MissingError(Exception):
    """What a request names does not exist."""

    def __init__(self, detail: str, field: str) -> None:
        super().__init__(detail)
        self.reply: Status[object] = Status(404, ErrorOut(detail=detail, field=field))


def _named(given: JudgeRunIn) -> tuple[Study, Judge]:
    study = Study.objects.filter(slug=given.study).first()
    if study is None:
        raise _MissingError(f'There is no study "{given.study}".', "study")
    judge = Judge.objects.select_related("rater").filter(rater__slug=given.judge).first()
    if judge is None:
        raise _MissingError(f'There is no judge "{given.judge}".', "judge")
    return study, judge


def _run(run_id: int) -> JudgeRun:
    run = JudgeRun.objects.select_related("study", "judge__rater").filter(pk=run_id).first()
    if run is None:
        raise _MissingError(f"There is no judge run {run_id}.", "run_id")
    return run


@router.post(
    "/", response={201: JudgeRunOut, 404: ErrorOut, 409: ErrorOut, **ERRORS}, summary="Start a judge run"
)
def create_run(request: HttpRequest, given: JudgeRunIn) -> Status[object]:
    """Start asking. 409 where this judge cannot rate this study now; the sentence says why."""
    require_operator(request)
    rater = caller_of(request).rater
    try:
        study, judge = _named(given)
        run = start_run(
            study,
            judge,
            limit=given.limit,
            both_orders=given.orders(judge.both_orders),
            remote=given.remote,
            kind=given.kind,
            controls=given.controls,
            budget=given.budget,
            created_by=rater.user if rater else None,
        )
    except _MissingError as error:
        return error.reply
    except JudgeError as error:
        return Status(409, ErrorOut(detail=str(error), field="judge"))
    return Status(201, JudgeRunOut.of(run))


@router.post(
    "/estimate/",
    response={200: EstimateOut, 404: ErrorOut, 409: ErrorOut, **ERRORS},
    summary="Say what a judge run would take",
)
def estimate_run(request: HttpRequest, given: JudgeRunIn) -> Status[object]:
    """Pairs, calls, tokens, cost and time of the run that this request would start. Nothing is started."""
    require_operator(request)
    try:
        study, judge = _named(given)
        found = estimate(study, judge, given.wanted(judge.both_orders), remote=given.remote)
        if given.budget is not None:
            check_budget(judge, given.budget)
    except _MissingError as error:
        return error.reply
    except JudgeError as error:
        return Status(409, ErrorOut(detail=str(error), field="judge"))
    return Status(200, EstimateOut.of(given, judge.is_simulated, found))


@router.get(
    "/{int:run_id}", response={200: JudgeRunOut, 404: ErrorOut, **ERRORS}, summary="Watch a judge run"
)
def show_run(request: HttpRequest, run_id: int) -> Status[object]:
    """The run's state and counts at this moment."""
    require_operator(request)
    try:
        return Status(200, JudgeRunOut.of(_run(run_id)))
    except _MissingError as error:
        return error.reply


@router.patch("/{int:run_id}", response=OF_RUN, summary="Change the budget of a judge run")
def change_budget(request: HttpRequest, run_id: int, given: BudgetIn) -> Status[object]:
    """A paused run goes on when it is resumed. 409 where the budget cannot be kept; the sentence says why."""
    return _changed(request, run_id, lambda run: services_change_budget(run, given.budget), "")


@router.post("/{int:run_id}/pause/", response=OF_RUN, summary="Pause a judge run")
def pause_run(request: HttpRequest, run_id: int) -> Status[object]:
    """Ask nothing more for now; calls in flight still come in. 409 where it is not queued or running."""
    return _changed(request, run_id, services_pause_run, "Run {} is not queued or running.")


@router.post("/{int:run_id}/resume/", response=OF_RUN, summary="Resume a judge run")
def resume_run(request: HttpRequest, run_id: int) -> Status[object]:
    """Go on where it stopped. 409 where it is not paused, or the judge cannot be asked now."""
    return _changed(request, run_id, services_resume_run, "Run {} is not paused.")


@router.post("/{int:run_id}/cancel/", response=OF_RUN, summary="Cancel a judge run")
def cancel_run(request: HttpRequest, run_id: int) -> Status[object]:
    """Stop asking for good; calls in flight still come in. 409 where it has ended."""
    return _changed(request, run_id, services_cancel_run, "Run {} has ended.")


def _changed(
    request: HttpRequest, run_id: int, change: Callable[[JudgeRun], object], refusal: str
) -> Status[object]:
    """The run after a change; 409 with this sentence where ``change`` says that it did nothing."""
    require_operator(request)
    try:
        done = change(_run(run_id))
        if done:
            return Status(200, JudgeRunOut.of(_run(run_id)))
    except _MissingError as error:
        return error.reply
    except JudgeError as error:
        return Status(409, ErrorOut(detail=str(error), field="run_id"))
    return Status(409, ErrorOut(detail=refusal.format(run_id), field="run_id"))
