"""What goes over the wire of the API about judge runs."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated

from ninja import Field, Schema

from arena.api.schemas import Name, written_out
from arena.rating import planning
from judging.endpoints.costs import Range
from judging.models import JudgeCall, JudgeRun
from judging.runs.estimating import Estimate

Amount = Annotated[Decimal, Field(max_digits=12, decimal_places=6, gt=0, allow_inf_nan=False)]


class JudgeRunIn(Schema):
    """Which judge is to rate which study, and how much of it."""

    model_config = {
        "extra": "forbid",
        "json_schema_extra": {
            "examples": [{"study": "demo", "judge": "my-judge", "limit": 100, "budget": "5.00"}]
        },
    }

    study: Name = Field(max_length=80, description="Slug of the study.")
    judge: Name = Field(max_length=120, description="Slug of the judge.")
    kind: Annotated[JudgeRun.Kind, written_out(JudgeRun.Kind)] = Field(
        JudgeRun.Kind.ALL, description="What is asked: see judge runs in docs/api.md."
    )
    limit: int | None = Field(None, ge=1, le=2**31 - 1, strict=True, description="At most so many pairs.")
    both_orders: bool | None = Field(
        None, description="Ask about every pair in both orders; null: as the judge is configured."
    )
    controls: bool = Field(False, description="Ask about pairs of identical completions too, as a control.")
    budget: Amount | None = Field(
        None, description="Never to be passed, in the currency of the model's price; null: no budget."
    )
    remote: bool = Field(False, description="Judge workers on other machines ask, not this arena's workers.")

    def orders(self, judge_asks_both: bool) -> bool:
        """Whether both orders are asked, given how the judge is configured."""
        return judge_asks_both if self.both_orders is None else self.both_orders

    def wanted(self, judge_asks_both: bool) -> planning.Wanted:
        """What is to be planned."""
        which = planning.Which(self.kind.value)
        return planning.Wanted(which, self.limit, self.orders(judge_asks_both), self.controls)


class BudgetIn(Schema):
    """What a run may spend from now on."""

    model_config = {"extra": "forbid", "json_schema_extra": {"examples": [{"budget": "7.50"}]}}

    budget: Amount | None = Field(description="In all, what is spent already included; null: no budget.")


class RangeOut(Schema):
    """What is expected, and what it can be at most: null where nobody can say."""

    about: Decimal
    at_most: Decimal | None

    @classmethod
    def of(cls, numbers: Range) -> "RangeOut":
        """The range as it goes over the wire."""
        return cls(about=numbers.low, at_most=numbers.high)


class PriceOut(Schema):
    """What a million tokens of a model cost."""

    model: str
    prompt: Decimal
    completion: Decimal
    currency: str


class EstimateOut(Schema):
    """What a run would take; calls that fail and are repeated are not in it."""

    study: str
    judge: str
    simulated: bool
    pairs: int
    assignments: int
    identical: int = Field(description="Pairs of equal texts, which are recorded without asking.")
    looked_at: int = Field(description="Where this is less than all, what follows is about right.")
    calls: RangeOut
    cached: int = Field(description="First questions whose reply is there already; they are not in calls.")
    later_steps: bool = Field(
        description="Whether the protocol asks further questions, of which nobody knows beforehand whether "
        "their reply is there."
    )
    prompt_tokens: RangeOut
    reply_tokens: RangeOut = Field(description="Thinking included.")
    cost: RangeOut | None = Field(description="null where no price is known.")
    currency: str
    prices: list[PriceOut]
    unpriced: list[str] = Field(description="Models that are asked and have no price.")
    seconds: RangeOut | None = Field(description="null until the model has replied, and no rate is set.")
    habits_from: int = Field(description="Earlier replies from which lengths and times are learnt.")
    covered: int | None = Field(description="Assignments that the budget is about enough for.")

    @classmethod
    def of(cls, given: JudgeRunIn, simulated: bool, found: Estimate) -> "EstimateOut":
        """The estimate as it goes over the wire."""
        return cls(
            study=given.study,
            judge=given.judge,
            simulated=simulated,
            pairs=found.pairs,
            assignments=found.assignments,
            identical=found.identical,
            looked_at=found.looked_at,
            calls=RangeOut.of(found.calls),
            cached=found.cached,
            later_steps=found.later_steps,
            prompt_tokens=RangeOut.of(found.prompt_tokens),
            reply_tokens=RangeOut.of(found.reply_tokens),
            cost=RangeOut.of(found.cost) if found.cost else None,
            currency=found.currency,
            prices=[
                PriceOut(
                    model=name, prompt=price.prompt, completion=price.completion, currency=price.currency
                )
                for name, price in found.prices.items()
            ],
            unpriced=list(found.unpriced),
            seconds=RangeOut.of(found.seconds) if found.seconds else None,
            habits_from=found.habits_from,
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
    state: Annotated[JudgeRun.State, written_out(JudgeRun.State)]
    error: str = Field(description="Why it is paused, or ended early.")
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
    put_aside: int = Field(description="Not asked: their texts were excluded after the run was planned.")
    waiting: int
    calls: int = Field(description="Questions that were sent, whatever came of them.")
    in_flight: int = Field(description="Of them, as in what follows.")
    cached: int = Field(description="Not sent: answered by a reply that was there already.")
    retried: int = Field(description="Made although the question had been asked before.")
    attempts_failed: int
    abandoned: int
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int = Field(description="Of the completion tokens, as far as the endpoint says.")
    cost: Decimal | None = Field(description="null where no price is known.")
    reserved: Decimal = Field(description="The most that calls in flight can still cost.")
    budget: Decimal | None
    currency: str
    per_minute: float | None = Field(description="Assignments that ended in each of the last minutes.")
    seconds_left: float | None = Field(description="At that rate.")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, run: JudgeRun) -> "JudgeRunOut":
        """The run at this moment."""
        progress = JudgeCall.objects.progress(run)
        return cls(
            id=run.pk,
            study=run.study.slug,
            judge=run.judge.slug,
            simulated=run.judge.is_simulated,
            state=JudgeRun.State(run.state),
            error=run.error,
            kind=JudgeRun.Kind(run.kind),
            both_orders=run.both_orders,
            controls=run.controls,
            limit=run.limit,
            remote=run.remote,
            assigned=progress.assigned,
            scored=progress.scored,
            unscored=progress.unscored,
            identical=progress.identical,
            failed=progress.failed,
            put_aside=progress.put_aside,
            waiting=progress.waiting,
            calls=progress.calls,
            in_flight=progress.in_flight,
            cached=progress.cached,
            retried=progress.retried,
            attempts_failed=progress.attempts_failed,
            abandoned=progress.abandoned,
            prompt_tokens=progress.prompt_tokens,
            completion_tokens=progress.completion_tokens,
            reasoning_tokens=progress.reasoning_tokens,
            cost=progress.cost,
            reserved=progress.reserved,
            budget=progress.budget,
            currency=progress.currency,
            per_minute=progress.per_minute,
            seconds_left=progress.seconds_left,
            created_at=run.created_at,
            started_at=run.started_at,
            finished_at=run.finished_at,
        )
