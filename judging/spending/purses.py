"""Purses: no call is made that could pass a budget, however many workers there are and whatever is killed.

The most a call can cost is reserved before it is made, from its purse and all around it or from none, and
replaced by its cost at its end, in the transactions that commit the call. These lock purses until they end,
those of runs first, then those of studies, then that of the day, so call them last.

A purse that lies in no other takes one update. ``lock_all`` keeps everybody out while purses are put around
others, so that what was reserved before is known when another purse begins to count it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import CharField, Exists, F, OuterRef, Q, QuerySet, Sum, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, NullIf, Round
from django.utils import timezone

from arena.models.compiled import CompiledFor, CompiledUpdate, given
from judging.endpoints import costs
from judging.endpoints.costs import Prices
from judging.judges.asked import AskedModel
from judging.models import (
    JudgeCall,
    JudgeRun,
    PaidCall,
    Price,
    ProposalCall,
    Purse,
    TrialCall,
    WritingCall,
    WritingRun,
)
from judging.models.purses import Payer

ZERO: Final = Decimal(0)
PAYERS: Final = ("run", "writing", "study")
Scope = Purse.Scope


@dataclass(frozen=True)
class Granted:
    """How many of the calls, from the first on, may be made; else the purse that can never pay for the next.

    Without either, calls in flight may free enough. ``bound``: the most that the next call can cost.
    """

    count: int
    empty: Purse | None = None
    bound: Decimal | None = None


_PRICES: Final = CompiledFor(lambda models: Price.objects.filter(model__in=models))


def prices_of(asked: Iterable[AskedModel]) -> list[Prices | None]:
    """The price of each model at its endpoint; None where it is not known."""
    asked = list(asked)
    rows = _PRICES({each.model for each in asked})
    known = {(row.model, row.base_url.rstrip("/")): row for row in rows}
    found = (known.get((each.model, each.base_url)) or known.get((each.model, "")) for each in asked)
    return [row.prices if row else None for row in found]


def open_purse(run: JudgeRun | WritingRun, budget: Decimal | None = None, currency: str = "") -> Purse:
    """The purse of a new run, for the transaction that writes the run."""
    outer = purse_around(run.study_id)
    whose = {"run" if isinstance(run, JudgeRun) else "writing": run}
    return Purse.objects.create(scope=Scope.RUN, budget=budget, currency=currency, within=outer, **whose)


def purse_around(study: int) -> Purse | None:
    """What a purse within a study lies in: the study's purse, or else the day's. Locked."""
    # Even with no purse to lock, ``lock_all`` waits for whoever has looked, and who looks waits for it.
    found = Purse.objects.select_for_update(no_key=True).filter(Q(study=study) | Q(scope=Scope.DAY))
    return found.order_by("-scope").first()  # "study" comes after "day"


def lock_all() -> None:
    """Keep everybody else from changing and locking purses until this transaction ends."""
    if connection.vendor == "postgresql":  # SQLite has one writer at a time
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE judging_purse IN EXCLUSIVE MODE")


def reserve(
    asking: Sequence[tuple[PaidCall, AskedModel]], prices: Sequence[Prices | None] | None = None
) -> dict[Payer, Granted]:
    """Reserve the most that calls can cost; for each payer, how many of its calls may be made.

    For the transaction that writes the calls: sets their prices and ``reserved``. ``prices``: where they are
    not those that are stored.
    """
    groups: dict[Payer, list[_Priced]] = defaultdict(list)
    prices = prices_of(model for _, model in asking) if prices is None else prices
    for (call, model), price in zip(asking, prices, strict=True):
        groups[call.payer].append(_Priced(call, model, price))
    at_once = {payer for payer in sorted(groups) if _reserve_at_once(payer, groups[payer])}
    granted = {payer: Granted(len(groups[payer])) for payer in at_once}
    if left := groups.keys() - at_once:
        granted |= {payer: _reserve(chain, groups[payer]) for payer, chain in _locked(left).items()}
    return granted


@dataclass
class _Priced:
    call: PaidCall
    model: AskedModel
    price: Prices | None

    @property
    def bound(self) -> Decimal | None:
        """The most that the call can cost; None if that is not known."""
        if self.price is None or self.model.reply_limit is None:
            return None
        sent = costs.most_prompt_tokens(self.call.messages) + costs.most_option_tokens(self.model.options)
        return self.price.of(sent, self.model.reply_limit)


def _reserve_at_once(payer: Payer, group: Sequence[_Priced]) -> bool:
    """Reserve for all calls of a run whose purse lies in no other, by one update, if they fit."""
    kind, run = payer
    currencies = {each.price.currency for each in group if each.price}
    if kind != "run" or len(currencies) > 1:
        return False
    bounds = [each.bound for each in group]
    together = sum((bound or ZERO for bound in bounds), ZERO)
    at_most = None if None in bounds else together  # no budget is at least NULL
    currency = next(iter(currencies), "")
    if not _RESERVE(run=run, together=together, at_most=at_most, currency=currency):
        return False
    _note(group, bounds)
    return True


def _amount(name: str) -> RawSQL:
    return given(name, Purse._meta.get_field("reserved"))


def _that_fit() -> QuerySet[Purse]:
    """The purse of a running run, if it lies in no other and has room in the currency."""
    running = JudgeRun.objects.filter(pk=OuterRef("run"), state=JudgeRun.State.RUNNING)
    room = Q(budget=None) | Q(budget__gte=Round(F("spent") + F("reserved") + _amount("at_most"), precision=8))
    rows = Purse.objects.filter(room, Exists(running), run__pk=given("run"), within=None)
    return rows.filter(currency__in=[Value(""), _CURRENCY])


_CURRENCY: Final = Coalesce(NullIf(given("currency", CharField()), Value("")), F("currency"))
_RESERVE: Final = CompiledUpdate(
    _that_fit, reserved=Round(F("reserved") + _amount("together"), precision=8), currency=_CURRENCY
)


def _reserve(chain: Sequence[Purse], group: Sequence[_Priced]) -> Granted:
    """Reserve for as many calls as fit into every purse of a locked chain, from the first on."""
    if chain and chain[0].run and chain[0].run.state != JudgeRun.State.RUNNING:
        return Granted(0)
    known = next((each.price.currency for each in group if each.price), "")
    currency = next((purse.currency for purse in reversed(chain) if purse.currency), known)
    for each in group:
        if each.price and each.price.currency != currency:
            each.price = None
    bounds = [each.bound for each in group]
    limited = [purse for purse in chain if purse.budget is not None]
    count, together = _fitting(limited, bounds)
    if not count:
        return Granted(0, _empty(limited, bounds[0]), bounds[0])
    for purse in chain:
        purse.reserved += together
        purse.currency = purse.currency or currency
        purse.save(update_fields=["reserved", "currency"])
    _note(group[:count], bounds)
    return Granted(count)


def _fitting(limited: Sequence[Purse], bounds: Sequence[Decimal | None]) -> tuple[int, Decimal]:
    """How many bounds, from the first on, fit into all purses, and their sum."""
    sums = list(accumulate(bound or ZERO for bound in bounds))
    if limited:
        known = bounds.index(None) if None in bounds else len(bounds)
        room = min(_room(purse) for purse in limited)
        sums = [total for total in sums[:known] if total <= room]
    return len(sums), sums[-1] if sums else ZERO


def _room(purse: Purse) -> Decimal:
    assert purse.budget is not None  # noqa: S101 - only such purses limit
    return purse.budget - purse.spent - purse.reserved


def _empty(limited: Sequence[Purse], bound: Decimal | None) -> Purse | None:
    """The purse that will never pay for a call, as no call in flight can free enough."""
    if bound is None:
        return limited[0]
    return next((each for each in limited if not each.reserved and _room(each) < bound), None)


def _note(group: Sequence[_Priced], bounds: Sequence[Decimal | None]) -> None:
    for each, bound in zip(group, bounds, strict=False):
        call, price = each.call, each.price
        call.prompt_price, call.completion_price = (price.prompt, price.completion) if price else (None, None)
        call.reserved = bound or ZERO


def settle(calls: Iterable[PaidCall]) -> None:
    """Replace the reservations of ended calls by their costs; sets ``cost`` and ``reserved`` for the caller
    to store.

    For the transaction that commits the end. State, tokens and error_kind must be set.
    """
    released: dict[Payer, Decimal] = defaultdict(Decimal)
    spent: dict[Payer, Decimal] = defaultdict(Decimal)
    for call in calls:
        call.cost = _cost(call)
        released[call.payer] += call.reserved
        spent[call.payer] += call.cost or ZERO
        call.reserved = ZERO
    left = [
        payer
        for payer in sorted(released)  # in one order everywhere, so that no two wait for each other
        if (released[payer] or spent[payer])
        and not _settle_at_once(payer, _changed(reserved=-released[payer], spent=spent[payer]))
    ]
    for payer, chain in _locked(left).items() if left else ():
        for purse in chain:
            purse.reserved -= released[payer]
            purse.spent += spent[payer]
            purse.save(update_fields=["reserved", "spent"])


def settle_again(call: TrialCall) -> None:
    """Count a call at its cost that was settled before its end, at the most it can cost.

    For the transaction that commits the end, like ``settle``.
    """
    most = call.reserved = call.cost or ZERO
    call.cost, call.reserved = _cost(call), ZERO
    [chain] = _locked([call.payer]).values()
    for purse in chain:
        if purse.day in (None, timezone.localdate(call.created_at)):
            # A budget that was set since does not count what was settled before.
            purse.spent = max(ZERO, purse.spent + (call.cost or ZERO) - most)
            purse.save(update_fields=["spent"])


def _settle_at_once(payer: Payer, changes: dict[str, Any]) -> bool:
    kind, run = payer
    return kind == "run" and bool(Purse.objects.filter(run=run, within=None).update(**changes))


def _locked(payers: Iterable[Payer]) -> dict[Payer, list[Purse]]:
    """The purses that each pays from, from the inside out, locked and as they are now."""
    payers = list(payers)
    rows = Purse.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
    runs, writing, studies = ([pk for kind, pk in payers if kind == wanted] for wanted in PAYERS)
    inner = [*(rows.filter(run__in=runs).select_related("run") if runs else ())]
    inner += rows.filter(writing__in=writing) if writing else ()
    own = {_payer_of(purse): purse for purse in inner}
    outer = {purse.within_id for purse in own.values()}
    found = {
        purse.pk: purse for purse in rows.filter(Q(pk__in=outer) | Q(study__in=studies), scope=Scope.STUDY)
    }
    day = rows.filter(scope=Scope.DAY).first()
    if day:
        _begin_day(day)
        found[day.pk] = day
    by_study = {purse.study_id: purse for purse in found.values()}
    chains = {}
    for payer in payers:
        kind, pk = payer
        purse = by_study.get(pk, day) if kind == "study" else own.get(payer)
        chains[payer] = list(_chain(purse, found))
    return chains


def _payer_of(purse: Purse) -> Payer:
    return ("writing", purse.writing_id) if purse.writing_id else ("run", purse.run_id or 0)


def _chain(purse: Purse | None, found: Mapping[int, Purse]) -> Iterable[Purse]:
    while purse:
        yield purse
        purse = found.get(purse.within_id or 0)


def _begin_day(purse: Purse) -> None:
    """Empty the purse of the day on a new day; calls in flight will be costs of the day on which they end."""
    today = timezone.localdate()
    if purse.day != today:
        purse.day, purse.spent = today, ZERO
        purse.save(update_fields=["day", "spent"])


def settle_deleted() -> None:
    """Count reservations without calls in flight as spent: those calls were deleted by hand."""
    for kind, calls in (("run", JudgeCall.objects), ("writing", WritingCall.objects)):
        in_flight = calls.filter(state=JudgeCall.State.IN_FLIGHT)
        left = Purse.objects.filter(**{f"{kind}__isnull": False}, reserved__gt=0)
        left = left.exclude(**{f"{kind}__in": in_flight.values("run")})
        for run in left.order_by("pk").values_list(kind, flat=True):
            _settle_lost_of((kind, run), in_flight.filter(run=run))
    for pk in Purse.objects.exclude(scope=Scope.RUN).order_by("pk").values_list("pk", flat=True):
        _settle_lost(pk)


@transaction.atomic
def _settle_lost_of(payer: Payer, in_flight: QuerySet[Any]) -> None:
    # Locked first: who has reserved since has written the calls, too.
    [chain] = _locked([payer]).values()
    if chain and not in_flight.exists():
        lost = chain[0].reserved
        for purse in chain:
            purse.reserved -= lost
            purse.spent += lost
            purse.save(update_fields=["reserved", "spent"])


@transaction.atomic
def _settle_lost(pk: int) -> None:
    """The same for a purse around others, of which some were deleted."""
    purse = Purse.objects.select_for_update(no_key=True).filter(pk=pk, reserved__gt=0).first()
    if purse is None:
        return
    lost = purse.reserved - reserved_within(purse)
    if lost > 0:
        Purse.objects.filter(pk=pk).update(**_changed(reserved=-lost, spent=lost))


def reserved_within(purse: Purse) -> Decimal:
    """What the purses in this one have reserved, and the proposals that reserve from it first."""
    asked = ProposalCall.objects.filter(state=ProposalCall.State.IN_FLIGHT)
    own = {"prompt__study": purse.study} if purse.study else {"prompt__study__purse": None}
    return total(purse.inner.all(), "reserved") + total(asked.filter(**own), "reserved")


def total(rows: QuerySet[Any], amount: str) -> Decimal:
    found: Decimal | None = rows.aggregate(sum=Sum(amount))["sum"]
    return ZERO if found is None else found


def _cost(call: PaidCall) -> Decimal | None:
    """The cost of a call that has ended; None without a price."""
    # It is the most that the call can have cost if the endpoint does not tell its tokens, or may charge
    # without a reply.
    if call.prompt_price is None or call.completion_price is None:
        return None
    if call.state == JudgeCall.State.FAILED and not costs.may_be_charged(call.error_kind):
        return ZERO
    if call.prompt_tokens is not None and call.completion_tokens is not None:
        tokens = costs.reply_tokens(call.completion_tokens, call.reasoning_tokens)
        return Prices(call.prompt_price, call.completion_price).of(call.prompt_tokens, tokens)
    return call.reserved or None


def _changed(**by: Decimal) -> dict[str, Any]:
    """An update of amounts, rounded: SQLite adds in binary."""
    return {amount: Round(F(amount) + change, precision=8) for amount, change in by.items()}
