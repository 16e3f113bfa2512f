"""Judge runs over the API, for operators."""

from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Field, Router, Schema, Status

from arena.api.auth import caller_of, require_operator
from arena.api.schemas import ERRORS, ErrorOut, Name, written_out
from arena.models import Study
from judging import services
from judging.models import Judge, JudgeCall, JudgeRun

router = Router(tags=["judge runs"])


class JudgeRunIn(Schema):
    """Which judge is to rate which study."""

    model_config = {
        "extra": "forbid",
        "json_schema_extra": {"examples": [{"study": "demo", "judge": "my-judge", "limit": 100}]},
    }

    study: Name = Field(max_length=80, description="Slug of the study.")
    judge: Name = Field(max_length=120, description="Slug of the judge.")
    limit: int | None = Field(None, ge=1, le=2**31 - 1, strict=True, description="At most so many pairs.")
    both_orders: bool = Field(False, description="Ask about every pair in both orders.")
    remote: bool = Field(False, description="Judge workers on other machines ask, not this arena's workers.")


class JudgeRunOut(Schema):
    """A run and what became of its assignments: assigned = scored + unscored + failed + waiting."""

    id: int
    study: str
    judge: str
    simulated: bool
    state: Annotated[JudgeRun.State, written_out(JudgeRun.State)]
    error: str
    both_orders: bool
    limit: int | None
    remote: bool
    assigned: int
    scored: int
    unscored: dict[str, int]
    failed: int
    waiting: int
    in_flight: int
    attempts_failed: int
    abandoned: int
    prompt_tokens: int
    completion_tokens: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@router.post(
    "/", response={201: JudgeRunOut, 404: ErrorOut, 409: ErrorOut, **ERRORS}, summary="Start a judge run"
)
def create_run(request: HttpRequest, given: JudgeRunIn) -> Status[object]:
    """Start asking. 409 where this judge cannot rate this study now; the sentence says why."""
    require_operator(request)
    study = Study.objects.filter(slug=given.study).first()
    if study is None:
        return Status(404, ErrorOut(detail=f'There is no study "{given.study}".', field="study"))
    judge = Judge.objects.select_related("rater").filter(rater__slug=given.judge).first()
    if judge is None:
        return Status(404, ErrorOut(detail=f'There is no judge "{given.judge}".', field="judge"))
    rater = caller_of(request).rater
    try:
        run = services.start_run(
            study,
            judge,
            limit=given.limit,
            both_orders=given.both_orders,
            remote=given.remote,
            created_by=rater.user if rater else None,
        )
    except services.JudgeError as error:
        return Status(409, ErrorOut(detail=str(error), field="judge"))
    return Status(201, _shown(run))


@router.get(
    "/{int:run_id}", response={200: JudgeRunOut, 404: ErrorOut, **ERRORS}, summary="Watch a judge run"
)
def show_run(request: HttpRequest, run_id: int) -> Status[object]:
    """The run's state and counts at this moment."""
    require_operator(request)
    run = JudgeRun.objects.select_related("study", "judge__rater").filter(pk=run_id).first()
    if run is None:
        return Status(404, ErrorOut(detail=f"There is no judge run {run_id}.", field="run_id"))
    return Status(200, _shown(run))


def _shown(run: JudgeRun) -> JudgeRunOut:
    progress = JudgeCall.objects.progress(run)
    return JudgeRunOut(
        id=run.pk,
        study=run.study.slug,
        judge=run.judge.slug,
        simulated=run.judge.is_simulated,
        state=JudgeRun.State(run.state),
        error=run.error,
        both_orders=run.both_orders,
        limit=run.limit,
        remote=run.remote,
        assigned=progress.assigned,
        scored=progress.scored,
        unscored=progress.unscored,
        failed=progress.failed,
        waiting=progress.waiting,
        in_flight=progress.in_flight,
        attempts_failed=progress.attempts_failed,
        abandoned=progress.abandoned,
        prompt_tokens=progress.prompt_tokens,
        completion_tokens=progress.completion_tokens,
        created_at=run.created_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
    )
