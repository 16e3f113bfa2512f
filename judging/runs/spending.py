"""What runs spend, held within their budgets.

The most a call can cost is reserved before it is made and replaced by its cost at its end, by single updates
of the run's row in the transactions that commit the call. So no number of workers passes a budget together,
and a dead one leaves no reservation behind. They lock the row until the transaction ends, so call them last.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Round

from arena.audit.recording import Kind, record
from arena.pages.permissions import Visitor
from judging.endpoints import costs
from judging.endpoints.costs import Prices
from judging.judges.asked import AskedModel, all_asked_by
from judging.judges.rights import check_may_ask
from judging.judges.services import JudgeError
from judging.models import Judge, JudgeCall, JudgeRun, Price

ZERO = Decimal(0)


def prices_of(asked: Iterable[AskedModel]) -> list[Prices | None]:
    """The price of each model at its endpoint; None where it is not known."""
    asked = list(asked)
    rows = Price.objects.filter(model__in={each.model for each in asked})
    known = {(row.model, row.base_url.rstrip("/")): row for row in rows}
    found = (known.get((each.model, each.base_url)) or known.get((each.model, "")) for each in asked)
    return [row.prices if row else None for row in found]


def check_budget(judge: Judge, budget: Decimal) -> str:
    """The currency of a budget for this judge; raises JudgeError if it cannot be kept.

    Every model that is asked needs a price and a longest reply, or no call has an upper bound.
    """
    if budget <= 0:
        raise JudgeError("The budget must be more than 0.")
    if judge.is_simulated:
        raise JudgeError(f"{judge.name} is a simulated judge. It asks no model, so it has nothing to spend.")
    asked = all_asked_by(judge)
    prices = prices_of(asked)
    for each, price in zip(asked, prices, strict=True):
        if price is None:
            raise JudgeError(
                f"A budget needs a price for {each.model} at {each.base_url}. Enter it in the "
                "judge's "
                "settings."
            )
        if each.reply_limit is None:
            raise JudgeError(
                f"A budget needs the longest reply of {each.model}. Enter max tokens in the judge's settings."
            )
    currencies = sorted({price.currency for price in prices if price})
    if len(currencies) > 1:
        raise JudgeError(
            f"The models that {judge.name} asks have prices in {' and '.join(currencies)}. A budget needs "
            "one currency."
        )
    return currencies[0]


def reserve(run: JudgeRun, calls: Sequence[JudgeCall], asked: Sequence[AskedModel]) -> int:
    """Reserve the most that calls can cost; returns how many of them, from the first on, may be made.

    For the transaction that writes the calls: sets their prices and ``reserved``. asked: the model of
    each. If the next call can never fit into the budget the run is paused; calls in flight may still free
    enough.
    """
    prices = [price if price and run.currency in ("", price.currency) else None for price in prices_of(asked)]
    bounds = [_bound(call, model, price) for call, model, price in zip(calls, asked, prices, strict=True)]
    currency = run.currency or next((price.currency for price in prices if price), "")
    fitting = _reserve(run.pk, bounds, currency)
    for call, price, bound in zip(calls[:fitting], prices, bounds, strict=False):
        if price:
            call.prompt_price, call.completion_price = price.prompt, price.completion
        call.reserved = bound or ZERO
    return fitting


def _bound(call: JudgeCall, model: AskedModel, price: Prices | None) -> Decimal | None:
    if price is None or model.reply_limit is None:
        return None
    sent = costs.most_prompt_tokens(call.messages) + costs.most_option_tokens(model.options)
    return price.of(sent, model.reply_limit)


def _reserve(run: int, bounds: Sequence[Decimal | None], currency: str) -> int:
    """Reserve as many bounds as fit, from the first on; pause the run if none ever will."""
    together = sum((bound or ZERO for bound in bounds), ZERO)
    fits = Q(budget=None)
    if None not in bounds:
        fits |= Q(budget__gte=Round(F("spent") + F("reserved") + together, precision=8))
    running = JudgeRun.objects.filter(pk=run, state=JudgeRun.State.RUNNING)
    if running.filter(fits).update(**_changed("reserved", together), currency=currency):
        return len(bounds)
    locked = running.select_for_update(no_key=True).first()
    if locked is None or locked.budget is None:
        return 0
    room = locked.budget - locked.spent - locked.reserved
    known = bounds[: bounds.index(None)] if None in bounds else bounds
    sums = [total for total in accumulate(bound or ZERO for bound in known) if total <= room]
    if sums:
        running.update(**_changed("reserved", sums[-1]))
    elif not locked.reserved:
        running.update(state=JudgeRun.State.PAUSED, error=_why_no_more(locked, bounds[0]))
    return len(sums)


def _why_no_more(run: JudgeRun, bound: Decimal | None) -> str:
    assert run.budget is not None  # noqa: S101 - only such runs stop
    budget, spent = costs.in_words(run.budget, run.currency), costs.in_words(run.spent, run.currency)
    if bound is None:
        return (
            "A price or the max tokens of a model was removed, so the cost of the next call is unknown. "
            "Enter "
            "it and resume the run."
        )
    if run.spent > run.budget:
        return (
            f"The calls cost {spent}, more than the budget of {budget}, because the endpoint sent longer "
            "replies "
            "or counted more tokens than expected. Raise the budget and resume the run."
        )
    return (
        f"The budget of {budget} has no room for another call: {spent} are spent, and the next call can cost "
        f"up to {costs.in_words(bound, run.currency)}. Raise the budget and resume the run."
    )


def settle(calls: Iterable[JudgeCall]) -> None:
    """Replace the reservations of ended calls by their costs; sets ``cost`` and ``reserved`` for the caller
    to store.

    For the transaction that commits the end. State, tokens and error_kind must be set.
    """
    released: dict[int, Decimal] = defaultdict(Decimal)
    spent: dict[int, Decimal] = defaultdict(Decimal)
    for call in calls:
        call.cost = _cost(call)
        released[call.run_id] += call.reserved
        spent[call.run_id] += call.cost or ZERO
        call.reserved = ZERO
    for run in sorted(released):  # in one order everywhere, so that no two wait for each other
        if released[run] or spent[run]:
            changes = {**_changed("reserved", -released[run]), **_changed("spent", spent[run])}
            JudgeRun.objects.filter(pk=run).update(**changes)


def settle_deleted() -> None:
    """Count reservations of runs without calls in flight as spent: those calls were deleted by hand."""
    in_flight = JudgeCall.objects.filter(state=JudgeCall.State.IN_FLIGHT)
    left = JudgeRun.objects.filter(reserved__gt=0).exclude(pk__in=in_flight.values("run"))
    for pk in left.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            # Locked first: who has reserved since has written the calls, too.
            run = JudgeRun.objects.select_for_update(no_key=True).filter(pk=pk).first()
            if run and not in_flight.filter(run=pk).exists():
                changes = {**_changed("spent", run.reserved), "reserved": ZERO}
                JudgeRun.objects.filter(pk=pk).update(**changes)


def _cost(call: JudgeCall) -> Decimal | None:
    """The cost of a call that has ended; None without a price."""
    # It is the most that the call can have cost if the endpoint does not tell its tokens, or may charge
    # without a reply.
    if call.cached_from_id is not None:
        return ZERO
    if call.prompt_price is None or call.completion_price is None:
        return None
    if call.state == JudgeCall.State.FAILED and not costs.may_be_charged(call.error_kind):
        return ZERO
    if call.prompt_tokens is not None and call.completion_tokens is not None:
        tokens = costs.reply_tokens(call.completion_tokens, call.reasoning_tokens)
        return Prices(call.prompt_price, call.completion_price).of(call.prompt_tokens, tokens)
    return call.reserved or None


def _changed(amount: str, by: Decimal) -> dict[str, Any]:
    """An update of an amount of a run, rounded: SQLite adds in binary."""
    return {amount: Round(F(amount) + by, precision=8)}


def _has_calls_without_bound(run: JudgeRun) -> bool:
    asked = run.calls.filter(cached_from=None)
    costs_something = Q(prompt_price__gt=0) | Q(completion_price__gt=0)
    unbounded = Q(state=JudgeCall.State.IN_FLIGHT, reserved=0) | (
        ~Q(state=JudgeCall.State.IN_FLIGHT) & Q(cost=None)
    )
    return asked.filter(Q(prompt_price=None) | (costs_something & unbounded)).exists()


@transaction.atomic
def change_budget(run: JudgeRun, budget: Decimal | None, by: Visitor | None = None) -> JudgeRun:
    """Change the budget of a run that has not ended; a paused run stays paused. Raises JudgeError.

    Everybody may lower it, or give one to a run that has none.
    """
    locked = JudgeRun.objects.select_for_update(of=("self",), no_key=True)
    current = locked.select_related("judge__rater", "judge__endpoint", "study").get(pk=run.pk)
    if not current.is_active:
        raise JudgeError(f"Run {run.pk} has ended, so its budget cannot change.")
    if budget is None or (current.budget is not None and budget > current.budget):
        check_may_ask(current.judge, by)
    if budget is not None:
        currency = check_budget(current.judge, budget)
        if current.currency not in ("", currency):
            raise JudgeError(
                f"Run {run.pk} was charged in {current.currency}, and prices are in {currency} now. Start "
                "another run."
            )
        if _has_calls_without_bound(current):
            raise JudgeError(
                f"Run {run.pk} has made calls of unknown cost, so it cannot keep a budget. Cancel it and "
                "start "
                "another run."
            )
        current.currency = currency
        taken = current.spent + current.reserved
        if budget < taken:
            raise JudgeError(
                f"Run {run.pk} has spent {costs.in_words(current.spent, currency)}, and its calls in flight "
                f"can cost up to {costs.in_words(current.reserved, currency)} more. The budget cannot be "
                "less "
                "than both together."
            )
    before, current.budget = current.budget, budget
    current.save(update_fields=["budget", "currency"])
    now, then = (
        "none" if each is None else costs.in_words(each, current.currency) for each in (budget, before)
    )
    note = f"Run {run.pk} of {current.judge.slug}, budget: {now}. Before: {then}."
    record(Kind.RUN, by, note, study=current.study)
    return current
