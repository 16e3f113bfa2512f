"""Budgets: of runs, of studies, and per day of their battles and of the arena. Who sets them, and how."""

from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from decimal import Decimal
from typing import Final

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from arena.audit.recording import Kind, record
from arena.models import Study
from arena.pages.permissions import Visitor
from judging.endpoints import costs
from judging.judges.asked import AskedModel, all_asked_by
from judging.judges.rights import WHOM_TO_ASK, NotAllowedError, check_may_ask, may_ask_models
from judging.judges.services import JudgeError
from judging.models import BattleCall, Judge, JudgeCall, JudgeRun, LabelCall, ProposalCall, Purse, TrialCall
from judging.protocols.protocol import UnknownProtocolError
from judging.spending.reservations import (
    ZERO,
    Granted,
    battles_purse,
    begin_day,
    lock_all,
    prices_of,
    reserved_within,
    total,
)

Scope = Purse.Scope


def check_budget(judge: Judge, budget: Decimal) -> str:
    """The currency of a budget for this judge; raises JudgeError if it cannot be kept.

    Every model that is asked needs a price and a longest reply, or no call has an upper bound.
    """
    _check_positive(budget)
    if judge.is_simulated:
        raise JudgeError(f"{judge.name} is a simulated judge. It asks no model, so it has nothing to spend.")
    return check_models(judge.name, all_asked_by(judge))


def check_models(whose: str, asked: Sequence[AskedModel]) -> str:
    """The currency of these models' prices; raises JudgeError unless each call has an upper bound."""
    prices = prices_of(asked)
    for each, price in zip(asked, prices, strict=True):
        if price is None:
            raise JudgeError(
                f"A budget needs a price for {each.model} at {each.base_url}. Enter it in the settings of "
                f"{whose}."
            )
        if each.reply_limit is None:
            raise JudgeError(
                f"A budget needs the longest reply of {each.model}. Enter max tokens in the settings of "
                f"{whose}."
            )
    currencies = sorted({price.currency for price in prices if price})
    if len(currencies) > 1:
        raise JudgeError(
            f"The models that {whose} asks have prices in {' and '.join(currencies)}. A budget needs "
            "one currency."
        )
    return currencies[0]


def check_start(judge: Judge, study: Study, budget: Decimal | None) -> str:
    """The currency of a new run with this budget, "" without one; raises JudgeError if a budget cannot be
    kept."""
    currency = check_budget(judge, budget) if budget is not None else ""
    if not judge.is_simulated:
        check_outer(study, judge.name, all_asked_by(judge))
    return currency


def check_outer(study: Study, whose: str, asked: Sequence[AskedModel]) -> None:
    """Raise JudgeError if a new run that asks these models cannot keep the budget around it."""
    outer = Purse.objects.filter(Q(study=study) | Q(scope=Scope.DAY)).order_by("-scope").first()
    if outer is None:
        return
    currency = check_models(whose, asked)
    if currency != outer.currency:
        raise JudgeError(
            f"The budget {IN_WORDS[Scope(outer.scope)]} is in {outer.currency}, and the prices of "
            f"{whose} are in {currency}."
        )


IN_WORDS: Final = {
    Scope.RUN: "of the run",
    Scope.BATTLES: "of the day's battles",
    Scope.STUDY: "of the study",
    Scope.DAY: "of the day",
}

HOW_TO_GO_ON: Final = {
    Scope.RUN: "Raise the budget and resume the run.",
    Scope.STUDY: "Raise it under Judging, Budgets, and resume the run.",
    Scope.DAY: "The run goes on by itself tomorrow. Or raise it under Judging, Budgets, and resume the run.",
}
HOW_TO_ASK_AGAIN: Final = {
    Scope.RUN: "Ask again with another budget.",
    Scope.STUDY: "Raise it under Judging, Budgets, and ask again.",
    **dict.fromkeys((Scope.BATTLES, Scope.DAY), "Ask again tomorrow. Or raise it under Judging, Budgets."),
}
"""Advice for calls that are not resumed."""


def why_no_more(granted: Granted, advice: Mapping[Scope, str] = HOW_TO_GO_ON) -> str:
    """Which budget is used up, and what to do; "" if calls in flight may free enough."""
    purse, bound = granted.empty, granted.bound
    if purse is None or purse.budget is None:
        return ""
    if bound is None:
        return NO_BOUND
    scope = Scope(purse.scope)
    of = _of(scope)
    budget, spent = costs.in_words(purse.budget, purse.currency), costs.in_words(purse.spent, purse.currency)
    if purse.spent > purse.budget:
        return (
            f"The calls cost {spent}, more than the budget{of} of {budget}, because the endpoint sent longer "
            f"replies or counted more tokens than expected. {advice[scope]}"
        )
    # Of that moment, so that it stays true where it is kept.
    return (
        f"The budget{of} of {budget} had no room for another call: {spent} were spent, and the next call "
        f"could cost up to {costs.in_words(bound, purse.currency)}. {advice[scope]}"
    )


NO_BOUND: Final = (
    "A price or the max tokens of a model was removed, or the price is in another currency, so the cost "
    "of the next call is unknown. Enter it and resume the run."
)


def _of(scope: Purse.Scope) -> str:
    return "" if scope is Scope.RUN else f" {IN_WORDS[scope]}"


def why_paused(run: JudgeRun) -> str:
    """Reason why a run paused or brought nothing, with budgets and prices as they are now."""
    if run.state != JudgeRun.State.PAUSED:
        return run.error
    if run.error == NO_BOUND:
        return "The cost of the next call is known again. Resume the run." if is_priced(run) else run.error
    for scope, advice in HOW_TO_GO_ON.items():
        if run.error.endswith(f". {advice}"):
            return f"{run.error.removesuffix(advice)}{_since(run, scope) or advice}"
    return run.error


def _since(run: JudgeRun, scope: Purse.Scope) -> str:
    """Say what became of the budget that stopped a run; "" if it is as it was."""
    whose = {Scope.RUN: Q(run=run), Scope.STUDY: Q(study=run.study)}.get(scope, Q())
    purse = Purse.objects.filter(whose, scope=scope).first()
    if purse is None or purse.budget is None:
        return "There is no such budget now. Resume the run."
    budget, spent = (costs.in_words(each, purse.currency) for each in (purse.budget, purse.spent))
    if f" of {budget}" in run.error:
        return ""
    way_out = "Resume the run." if purse.budget > purse.spent + purse.reserved else HOW_TO_GO_ON[scope]
    return f"The budget{_of(scope)} is {budget} now, of which {spent} are spent. {way_out}"


def is_priced(run: JudgeRun) -> bool:
    """True where the next call of a run has a price, and one that its budget can count."""
    try:
        prices = prices_of(all_asked_by(run.judge))
    except (JudgeError, UnknownProtocolError):
        return False
    charged = {run.purse.currency} - {""}
    return all(prices) and len(charged | {each.currency for each in prices if each}) == 1


def goes_on_at(granted: Granted) -> datetime | None:
    """Time at which there is a new budget without anybody's doing."""
    if granted.empty is None or granted.empty.scope != Scope.DAY or granted.bound is None:
        return None
    return timezone.make_aware(datetime.combine(timezone.localdate() + timedelta(days=1), time()))


def _has_calls_without_bound(run: JudgeRun) -> bool:
    asked = run.calls.filter(cached_from=None)
    costs_something = Q(prompt_price__gt=0) | Q(completion_price__gt=0)
    unbounded = Q(state=JudgeCall.State.IN_FLIGHT, reserved=0) | (
        ~Q(state=JudgeCall.State.IN_FLIGHT) & Q(cost=None)
    )
    return asked.filter(Q(prompt_price=None) | (costs_something & unbounded)).exists()


@transaction.atomic
def change_budget(run: JudgeRun, budget: Decimal | None, by: Visitor | None = None) -> Purse:
    """Change the budget of a run that has not ended; a paused run stays paused. Raises JudgeError.

    Everybody may lower it, or give one to a run that has none.
    """
    purse = Purse.objects.select_for_update(no_key=True).get(run=run)
    current = JudgeRun.objects.whole().get(pk=run.pk)
    if not current.is_active:
        raise JudgeError(f"Run {run.pk} has ended, so its budget cannot change.")
    if budget is None or (purse.budget is not None and budget > purse.budget):
        check_may_ask(current.judge, by)
    if budget is not None:
        currency = check_budget(current.judge, budget)
        if purse.currency not in ("", currency):
            raise JudgeError(
                f"Run {run.pk} was charged in {purse.currency}, and prices are in {currency} now. Start "
                "another run."
            )
        if _has_calls_without_bound(current):
            raise JudgeError(
                f"Run {run.pk} has made calls of unknown cost, so it cannot keep a budget. Cancel it and "
                "start "
                "another run."
            )
        purse.currency = currency
        _check_covers(purse, budget)
    before, purse.budget = purse.budget, budget
    purse.save(update_fields=["budget", "currency"])
    now, then = (
        "none" if each is None else costs.in_words(each, purse.currency) for each in (budget, before)
    )
    note = f"Run {run.pk} of {current.judge.slug}, budget: {now}. Before: {then}."
    record(Kind.RUN, by, note, study=current.study)
    return purse


@transaction.atomic
def set_budget(study: Study | None, budget: Decimal | None, currency: str, by: Visitor | None = None) -> None:
    """Set the budget of a study, or for every day of the arena; None removes it. Raises JudgeError.

    A study's budget includes what it has cost before. A day's counts from the moment it is set.
    """
    _check_may_set(by)
    lock_all()
    scope = Scope.STUDY if study else Scope.DAY
    purse = Purse.objects.filter(scope=scope, study=study).first()
    before = _in_words(purse)
    if budget is not None:
        purse = _around_others(purse or Purse(scope=scope, study=study), budget, currency)
    elif purse:
        purse.inner.update(within=purse.within)
        purse.delete()
        purse = None
    what = f"Budget of {study.slug}" if study else "Budget per day"
    record(Kind.RUN, by, f"{what}: {_in_words(purse)}. Before: {before}.", study=study)


@transaction.atomic
def set_battles_budget(
    study: Study, budget: Decimal | None, currency: str, by: Visitor | None = None
) -> None:
    """Set what a study's battles may cost every day, today with what they have cost; None removes it.

    Raises JudgeError.
    """
    _check_may_set(by)
    lock_all()
    purse = battles_purse(study)
    begin_day(purse)
    before = _in_words(purse)
    if budget is not None:
        _check_positive(budget)
        is_used = bool(purse.spent or purse.reserved)
        if is_used and purse.currency not in ("", currency):
            raise JudgeError(f"A budget needs one currency, and calls were made in {purse.currency}.")
        purse.currency = currency
        _check_covers(purse, budget)
    purse.budget = budget
    purse.save(update_fields=["budget", "currency"])
    note = f"Budget of the battles of {study.slug} per day: {_in_words(purse)}. Before: {before}."
    record(Kind.RUN, by, note, study=study)


def _check_may_set(by: Visitor | None) -> None:
    if not may_ask_models(by):
        raise NotAllowedError(f"A budget decides what may be spent. {WHOM_TO_ASK}")


def _check_positive(budget: Decimal) -> None:
    if budget <= 0:
        raise JudgeError("The budget must be more than 0.", "budget")


def _around_others(purse: Purse, budget: Decimal, currency: str) -> Purse:
    """Store a purse and put it around those it counts, with what they have reserved."""
    _check_positive(budget)
    inner = _within(purse.study) if purse.study else _outermost()
    calls = [
        rows.objects.filter(**({study: purse.study} if purse.study else {}))
        for rows, study in (
            (ProposalCall, "prompt__study"),
            (LabelCall, "prompt__study"),
            (TrialCall, "study"),
            (BattleCall, "battle__study"),
        )
    ]
    for rows, amount in ((inner, "spent"), *((each, "cost") for each in calls)):
        counts = Q(reserved__gt=0) | (Q(**{f"{amount}__gt": 0}) if purse.study else Q(pk=None))
        if other := rows.filter(counts).exclude(currency__in=["", currency]).first():
            raise JudgeError(f"A budget needs one currency, and calls were made in {other.currency}.")
    if purse.study:
        # The purse of battles counts those of one day.
        runs = total(inner.exclude(scope=Scope.BATTLES), "spent")
        purse.spent = runs + sum(total(each, "cost") for each in calls)
        purse.within = Purse.objects.filter(scope=Scope.DAY).first()
    elif (purse.day, purse.currency) != (timezone.localdate(), currency):
        purse.day, purse.spent = timezone.localdate(), ZERO
    purse.budget, purse.currency = budget, currency
    purse.save()
    inner.update(within=purse)
    purse.reserved = reserved_within(purse)
    purse.save(update_fields=["reserved"])
    _check_covers(purse, budget)
    return purse


def _check_covers(purse: Purse, budget: Decimal) -> None:
    """Raise JudgeError if a budget is less than what its purse counts already."""
    if budget < purse.spent + purse.reserved:
        spent, reserved = (costs.in_words(each, purse.currency) for each in (purse.spent, purse.reserved))
        raise JudgeError(
            f"{spent} are spent, and calls in flight can cost up to {reserved} more. The budget cannot be "
            "less than both together."
        )


def _within(study: Study) -> QuerySet[Purse]:
    return Purse.objects.filter(Q(run__study=study) | Q(writing__study=study) | Q(battles=study))


def _outermost() -> QuerySet[Purse]:
    """Purses that lie in the day's, or would."""
    return Purse.objects.filter(Q(within=None) | Q(within__scope=Scope.DAY)).exclude(scope=Scope.DAY)


def _in_words(purse: Purse | None) -> str:
    return costs.in_words(purse.budget, purse.currency) if purse and purse.budget is not None else "none"
