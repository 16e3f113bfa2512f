from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from functools import partial
from time import time
from typing import Annotated

from django.http import HttpRequest
from ninja import Field, Router, Schema, Status

from arena.api.auth import account_of, require_operator
from arena.api.schemas import ERRORS, ErrorOut, Money, Name, written_out
from arena.models import Study
from arena.rating import plans
from judging.endpoints.costs import Range
from judging.judges.rights import NotAllowedError
from judging.judges.services import JudgeError, MissingError
from judging.models import Judge, JudgeCall, JudgeRun
from judging.runs import lifecycle
from judging.runs.estimating import Estimate, estimate
from judging.runs.limiting import outage_of_run, told
from judging.spending import budgets

Amount = Annotated[Decimal, Field(max_digits=12, decimal_places=6, gt=0, allow_inf_nan=False)]


class JudgeRunIn(Schema):
    """Which judge rates which study, and how much of it."""

    model_config = {
        "extra": "forbid",
        "json_schema_extra": {
            "examples": [{"study": "demo", "judge": "my-judge", "limit": 100, "budget": "5.00"}]
        },
    }

    study: Name = Field(max_length=80, description="Slug of the study.")
    judge: Name = Field(max_length=120, description="Slug of the judge.")
    kind: Annotated[JudgeRun.Kind, written_out(JudgeRun.Kind)] = Field(
        JudgeRun.Kind.ALL, description="Which pairs or answers: see judge runs in docs/api.md."
    )
    limit: int | None = Field(
        None, ge=1, le=2**31 - 1, strict=True, description="Most pairs or answers to ask about."
    )
    both_orders: bool | None = Field(
        None, description="Ask about every pair in both orders; null uses the judge's setting."
    )
    controls: bool = Field(False, description="Ask about pairs of identical answers too, as a test.")
    budget: Amount | None = Field(
        None, description="The run pauses before it spends more, in the currency of the price; null for none."
    )
    remote: bool = Field(False, description="Judge workers on other machines ask, not this arena.")

    def orders(self, judge_asks_both: bool) -> bool:
        return judge_asks_both if self.both_orders is None else self.both_orders

    def wanted(self, judge: Judge) -> plans.Wanted:
        which = plans.Which(self.kind.value)
        orders = self.orders(judge.both_orders) and judge.compares
        return plans.Wanted(which, self.limit, orders, self.controls and judge.compares, judge.task)


class BudgetIn(Schema):
    """What a run may spend."""

    model_config = {"extra": "forbid", "json_schema_extra": {"examples": [{"budget": "7.50"}]}}

    budget: Amount | None = Field(
        description="Of the whole run, including what is spent already; null for none."
    )


class RangeOut(Schema):
    """The expected value and the upper limit, which is null if unknown."""

    about: Money
    at_most: Money | None

    @classmethod
    def of(cls, numbers: Range) -> "RangeOut":
        return cls(about=numbers.low, at_most=numbers.high)


class PriceOut(Schema):
    """What a million tokens of a model cost."""

    model: str
    prompt: Money
    completion: Money
    currency: str


class EstimateOut(Schema):
    """What a run would take, without repeated calls."""

    study: str
    judge: str
    simulated: bool
    task: str = Field(description="compare, score or check.")
    pairs: int = Field(description="Or answers, if the judge does not compare.")
    assignments: int
    identical: int = Field(description="Pairs of identical answers, recorded without asking.")
    looked_at: int = Field(
        description="Assignments the estimate is based on; if fewer than all, what follows is approximate."
    )
    calls: RangeOut
    cached: int = Field(description="First questions with a reply in the cache, not counted in calls.")
    later_steps: bool = Field(
        description="Whether the protocol asks further questions, whose replies may be in the cache."
    )
    prompt_tokens: RangeOut
    reply_tokens: RangeOut = Field(description="Including thinking.")
    cost: RangeOut | None = Field(description="null if a price is unknown.")
    currency: str
    prices: list[PriceOut]
    unpriced: list[str] = Field(description="Models without a price.")
    seconds: RangeOut | None = Field(description="null until the model has replied, unless a rate is set.")
    habits_from: int = Field(description="Earlier replies that lengths and times are based on.")
    covered: int | None = Field(description="Assignments that the budget probably covers.")

    @classmethod
    def of(cls, given: JudgeRunIn, judge: Judge, found: Estimate) -> "EstimateOut":
        ranges = {name: RangeOut.of(value) for name, value in vars(found).items() if isinstance(value, Range)}
        prices = [PriceOut(model=name, **vars(price)) for name, price in found.prices.items()]
        return cls(
            **{**vars(found), **ranges, "prices": prices},
            study=given.study,
            judge=given.judge,
            simulated=judge.is_simulated,
            task=judge.task,
            covered=found.covered(given.budget) if given.budget else None,
        )


class JudgeRunOut(Schema):
    """A run and what became of its assignments.

    assigned = scored + unscored + identical + failed + put_aside + waiting.
    """

    id: int
    study: str
    judge: str
    simulated: bool
    task: str = Field(description="compare, score or check.")
    state: Annotated[JudgeRun.State, written_out(JudgeRun.State)]
    error: str = Field(description="Why it paused, ended early or brought no rating.")
    kind: Annotated[JudgeRun.Kind, written_out(JudgeRun.Kind)]
    both_orders: bool
    controls: bool
    limit: int | None
    remote: bool
    assigned: int
    scored: int
    unscored: dict[str, int]
    identical: int
    failed: int
    put_aside: int = Field(description="Not asked, because an answer was excluded after the run was planned.")
    waiting: int
    calls: int = Field(description="Questions sent, with any outcome.")
    in_flight: int = Field(description="Of these calls.")
    cached: int = Field(description="Not sent, because the reply was in the cache.")
    retried: int = Field(description="Repeated calls.")
    attempts_failed: int
    abandoned: int
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int = Field(description="Part of the completion tokens, if the endpoint reports it.")
    cost: Money | None = Field(description="null if a price is unknown.")
    reserved: Money = Field(description="The most that calls in flight can still cost.")
    budget: Money | None
    currency: str
    per_minute: float | None = Field(description="Assignments that ended per minute, lately.")
    seconds_left: float | None = Field(description="At this rate.")
    silent_seconds: float | None = Field(
        description="For how long its endpoint has not answered; null while it does."
    )
    trouble: str = Field(
        description="Why its endpoint cannot be asked now, with its last words and the time of the next try; "
        "empty if it can."
    )
    lacks_logprobs: int = Field(description="Replies without the log-probabilities that the judge asks for.")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, run: JudgeRun) -> "JudgeRunOut":
        progress = JudgeCall.objects.progress(run)
        columns = ("state", "kind", "both_orders", "controls", "limit", "remote")
        times = ("created_at", "started_at", "finished_at")
        outage = outage_of_run(run)
        return cls(
            id=run.pk,
            study=run.study.slug,
            judge=run.judge.slug,
            simulated=run.judge.is_simulated,
            task=run.judge.task,
            error=budgets.why_paused(run),
            silent_seconds=max(time() - outage.since, 0.0) if outage and not outage.is_limit else None,
            trouble=told(outage) if outage else "",
            **{name: getattr(run, name) for name in (*columns, *times)},
            **{name: getattr(progress, name) for name in cls.model_fields if hasattr(progress, name)},
        )


router = Router(tags=["judge runs"])

REFUSALS: dict[int, type] = {404: ErrorOut, 409: ErrorOut, **ERRORS}
OF_RUN = {200: JudgeRunOut, **REFUSALS}


def answer(make: Callable[[], object], field: str, status: int = 200) -> Status[object]:
    """The reply with what ``make`` returns, or why there is none; ``field`` is for errors that name none."""
    try:
        return Status(status, make())
    except NotAllowedError as error:
        return Status(403, ErrorOut(detail=str(error)))
    except JudgeError as error:
        missing = isinstance(error, MissingError)
        return Status(
            404 if missing else 409, ErrorOut(detail=str(error), field=error.field or field or None)
        )


def _named(given: JudgeRunIn) -> tuple[Study, Judge]:
    study = Study.objects.filter(slug=given.study).first()
    if study is None:
        raise MissingError(f'No study has the short name "{given.study}".', "study")
    judge = Judge.objects.whole().filter(rater__slug=given.judge).first()
    if judge is None:
        raise MissingError(f'No judge has the short name "{given.judge}".', "judge")
    return study, judge


def _run(run_id: int) -> JudgeRun:
    run = JudgeRun.objects.whole().select_related("purse").filter(pk=run_id).first()
    if run is None:
        raise MissingError(f"No judge run has the number {run_id}.", "run_id")
    return run


@router.post("/", response={201: JudgeRunOut, **REFUSALS}, summary="Start a judge run")
def create_run(request: HttpRequest, given: JudgeRunIn) -> Status[object]:
    """Start asking. 409 if this judge cannot rate this study now; the message says why."""
    require_operator(request)

    def started() -> JudgeRunOut:
        study, judge = _named(given)
        run = lifecycle.start_run(
            study,
            judge,
            limit=given.limit,
            both_orders=given.orders(judge.both_orders),
            remote=given.remote,
            kind=given.kind,
            controls=given.controls,
            budget=given.budget,
            created_by=account_of(request),
        )
        return JudgeRunOut.of(run)

    return answer(started, "judge", 201)


@router.post("/estimate/", response={200: EstimateOut, **REFUSALS}, summary="Estimate a judge run")
def estimate_run(request: HttpRequest, given: JudgeRunIn) -> Status[object]:
    """Pairs, calls, tokens, cost and time of the run. Starts nothing."""
    require_operator(request)

    def estimated() -> EstimateOut:
        study, judge = _named(given)
        found = estimate(study, judge, given.wanted(judge), remote=given.remote)
        if given.budget is not None:
            budgets.check_budget(judge, given.budget)
        return EstimateOut.of(given, judge, found)

    return answer(estimated, "judge")


@router.get(
    "/{int:run_id}", response={200: JudgeRunOut, 404: ErrorOut, **ERRORS}, summary="Watch a judge run"
)
def show_run(request: HttpRequest, run_id: int) -> Status[object]:
    """The state and counts of a run now."""
    require_operator(request)
    return answer(lambda: JudgeRunOut.of(_run(run_id)), "run_id")


@router.patch("/{int:run_id}", response=OF_RUN, summary="Change the budget of a judge run")
def change_budget(request: HttpRequest, run_id: int, given: BudgetIn) -> Status[object]:
    """A paused run stays paused until you resume it. 409, with the reason, if the budget cannot be kept."""
    change = partial(budgets.change_budget, budget=given.budget, by=account_of(request))
    return _changed(request, run_id, change, "")


@router.post("/{int:run_id}/pause/", response=OF_RUN, summary="Pause a judge run")
def pause_run(request: HttpRequest, run_id: int) -> Status[object]:
    """Ask nothing more for now. Calls in flight still count. 409 if the run is not queued or running."""
    return _changed(request, run_id, lifecycle.pause_run, "Run {} is not queued or running.")


@router.post("/{int:run_id}/resume/", response=OF_RUN, summary="Resume a judge run")
def resume_run(request: HttpRequest, run_id: int) -> Status[object]:
    """Continue where it stopped. 409 if it is not paused, or the judge cannot be asked now."""
    resume = partial(lifecycle.resume_run, by=account_of(request))
    return _changed(request, run_id, resume, "Run {} is not paused.")


@router.post("/{int:run_id}/cancel/", response=OF_RUN, summary="Cancel a judge run")
def cancel_run(request: HttpRequest, run_id: int) -> Status[object]:
    """Stop asking for good. Calls in flight still count. 409 if it has ended."""
    return _changed(request, run_id, lifecycle.cancel_run, "Run {} has ended.")


def _changed(
    request: HttpRequest, run_id: int, change: Callable[[JudgeRun], object], refusal: str
) -> Status[object]:
    """The run after ``change``; 409 with ``refusal`` if that returns something false."""
    require_operator(request)

    def changed() -> JudgeRunOut:
        if not change(_run(run_id)):
            raise JudgeError(refusal.format(run_id))
        return JudgeRunOut.of(_run(run_id))

    return answer(changed, "run_id")
