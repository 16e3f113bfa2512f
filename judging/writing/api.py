"""Runs of contestants' models over the API, in the shape of judge runs."""

from datetime import datetime
from typing import Annotated, Literal

from django.http import HttpRequest
from ninja import Field, Router, Schema, Status
from pydantic import model_validator

from arena.api.auth import account_of, require_operator
from arena.api.schemas import ERRORS, ErrorOut, Money, Name, written_out
from judging.judges.services import JudgeError, MissingError
from judging.models import WritingRun
from judging.models.writing import WritingProgress, errors_of
from judging.runs.api import REFUSALS, Amount, RangeOut, answer
from judging.writing import services
from judging.writing.wanted import Kind, Wanted


class WritingRunIn(Schema):
    """Which model writes answers of which study, or reads its texts, and how many."""

    model_config = {
        "extra": "forbid",
        "json_schema_extra": {
            "examples": [{"study": "demo", "contestant": "my-model", "limit": 100, "budget": "5.00"}]
        },
    }

    study: Name = Field(max_length=80, description="Slug of the study.")
    contestant: Name = Field(max_length=120, description="Slug of the model there.")
    kind: Annotated[Kind, written_out(Kind)] = Field(
        Kind.WRITE, description="Write the answers that are missing, or read those that are there."
    )
    limit: int | None = Field(None, ge=1, le=2**31 - 1, strict=True, description="Most answers.")
    budget: Amount | None = Field(
        None, description="The run ends before it spends more, in the currency of the price; null for none."
    )
    again: bool = Field(
        False, description="If it writes: ask again where a reply was refused, filtered or empty, too."
    )
    references: bool = Field(
        False, description="If it reads: read reference answers, and answers after them, too."
    )
    weakest_by: Name = Field(
        "",
        max_length=100,
        description="If it writes: a feature; second answers to those it finds weakest, 20 without limit.",
    )

    @model_validator(mode="after")
    def _suits_its_kind(self) -> "WritingRunIn":
        if self.again and self.kind == Kind.READ:
            raise ValueError("again is for a run that writes")
        if self.weakest_by and self.kind == Kind.READ:
            raise ValueError("weakest_by is for a run that writes")
        if self.references and self.kind == Kind.WRITE:
            raise ValueError("references is for a run that reads")
        return self

    @property
    def wanted(self) -> Wanted:
        return Wanted(self.kind, self.limit, self.budget, self.again, self.references, self.weakest_by)


class WritingEstimateOut(Schema):
    """What a run would take, without repeated calls."""

    study: str
    contestant: str
    kind: Annotated[Kind, written_out(Kind)]
    wanted: int = Field(description="Answers to write, or texts to read.")
    calls: RangeOut
    prompt_tokens: RangeOut
    reply_tokens: RangeOut = Field(description="Including thinking.")
    cost: RangeOut | None = Field(description="null if the price is unknown.")
    currency: str


class ReasonOut(Schema):
    """What went wrong, and how often."""

    error: str
    count: int


class WritingRunOut(Schema):
    """A run and what became of its answers.

    wanted = written + left_out + unanswered + failed + dropped + left.
    """

    id: int
    study: str
    contestant: str
    kind: Annotated[Kind, written_out(Kind)]
    state: Literal["running", "finished", "failed", "cancelled"] = Field(
        description="failed: every call failed."
    )
    limit: int | None
    wanted: int = Field(description="Answers to write, or texts to read.")
    written: int = Field(description="Or read.")
    left_out: int = Field(description="The prompt had another answer by then.")
    unanswered: int = Field(description="The reply was refused, filtered or empty.")
    failed: int
    dropped: int = Field(description="Not asked: the run was cancelled before, or the prompt was removed.")
    left: int
    cut: int = Field(description="Written answers that were cut at the token limit.")
    errors: list[ReasonOut]
    replies: int = Field(description="Calls with a reply.")
    in_flight: int
    abandoned: int
    prompt_tokens: int
    completion_tokens: int
    cost: Money | None = Field(description="null if no price is known.")
    reserved: Money = Field(description="The most that calls in flight can still cost.")
    budget: Money | None
    currency: str
    created_at: datetime
    finished_at: datetime | None = Field(description="When its last call ended; null while it runs.")

    @classmethod
    def of(cls, run: WritingRun) -> "WritingRunOut":
        told = run.progress
        counts = {name: getattr(told, name) for name in cls.model_fields if hasattr(told, name)}
        return cls(
            **counts | {"finished_at": None if told.left else told.finished_at},
            id=run.pk,
            study=run.study.slug,
            contestant=run.author.contestant.slug,
            kind=Kind(run.kind),
            state=_state(run, told),
            limit=run.limit,
            errors=[ReasonOut(error=error, count=count) for error, count in errors_of(run)],
            created_at=run.created_at,
        )


def _state(run: WritingRun, told: WritingProgress) -> Literal["running", "finished", "failed", "cancelled"]:
    if told.left:
        return "running"
    if run.cancelled_at:
        return "cancelled"
    return "failed" if told.failed and not told.replies else "finished"


router = Router(tags=["writing runs"])


def _run(run_id: int) -> WritingRun:
    found = WritingRun.objects.select_related("study", "author__contestant", "author__endpoint")
    run = found.filter(pk=run_id).first()
    if run is None:
        raise MissingError(f"No writing run has the number {run_id}.", "run_id")
    return run


@router.post("/", response={201: WritingRunOut, **REFUSALS}, summary="Start a writing run")
def create_writing_run(request: HttpRequest, given: WritingRunIn) -> Status[object]:
    """Start asking. 409 if this model cannot be asked now, or nothing is missing; the message says why."""
    require_operator(request)
    by = account_of(request)

    def started() -> WritingRunOut:
        author = services.author_named(given.study, given.contestant)
        return WritingRunOut.of(given.wanted.start(author, by))

    return answer(started, "contestant", 201)


@router.post("/estimate/", response={200: WritingEstimateOut, **REFUSALS}, summary="Estimate a writing run")
def estimate_writing_run(request: HttpRequest, given: WritingRunIn) -> Status[object]:
    """Answers, calls, tokens and cost of the run. Starts nothing."""
    require_operator(request)

    def estimated() -> WritingEstimateOut:
        author = services.author_named(given.study, given.contestant)
        given.wanted.check(author)
        count, taken = given.wanted.estimate(author)
        ranges = ("calls", "prompt_tokens", "reply_tokens")
        return WritingEstimateOut(
            study=given.study,
            contestant=given.contestant,
            kind=given.kind,
            wanted=count,
            cost=RangeOut.of(taken.cost) if taken.cost else None,
            currency=taken.currency,
            **{name: RangeOut.of(getattr(taken, name)) for name in ranges},
        )

    return answer(estimated, "contestant")


@router.get(
    "/{int:run_id}", response={200: WritingRunOut, 404: ErrorOut, **ERRORS}, summary="Watch a writing run"
)
def show_writing_run(request: HttpRequest, run_id: int) -> Status[object]:
    """The state and counts of a run now."""
    require_operator(request)
    return answer(lambda: WritingRunOut.of(_run(run_id)), "run_id")


@router.post(
    "/{int:run_id}/cancel/", response={200: WritingRunOut, **REFUSALS}, summary="Cancel a writing run"
)
def cancel_writing_run(request: HttpRequest, run_id: int) -> Status[object]:
    """Stop asking for good. Calls in flight still count. 409 if it has ended."""
    require_operator(request)

    def cancelled() -> WritingRunOut:
        run = _run(run_id)
        if not run.progress.left:
            raise JudgeError(f"Run {run_id} has ended.")
        services.cancel(run, account_of(request))
        return WritingRunOut.of(_run(run_id))

    return answer(cancelled, "run_id")
