"""Purses: no call is made that could pass a budget, however many workers there are and whatever is killed.

The most a call can cost is reserved before it is made, from its purse and all around it or from none, and
replaced by its cost at its end, in the transactions that commit the call. These lock purses until they end,
those of runs and battles first, then those of studies, then that of the day, so call them last.

``lock_all`` keeps everybody out while purses are put around others, so that what was reserved before is known
when another purse begins to count it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import accumulate
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from arena.models import Study
from judging.endpoints import costs
from judging.endpoints.costs import Prices
from judging.judges.asked import AskedModel
from judging.models import (
    BattleCall,
    JudgeCall,
    JudgeRun,
    LabelCall,
    PaidCall,
    Price,
    ProposalCall,
    Purse,
    WritingCall,
    WritingRun,
)
from judging.models.purses import Payer
from judging.models.requests import LIVE

ZERO: Final = Decimal(0)
PAYERS: Final = ("run", "writing", "battles", "study")
Scope = Purse.Scope
INSIDE_OUT: Final = (Scope.RUN, Scope.BATTLES, Scope.STUDY, Scope.DAY)


@dataclass(frozen=True)
class Granted:
    """Number of calls, from the first on, that may be made; else the purse that can never pay for one.

    Without either, calls in flight may free enough. ``bound``: the most that the next call can cost.
    """

    count: int
    empty: Purse | None = None
    bound: Decimal | None = None


def prices_of(asked: Iterable[AskedModel]) -> list[Prices | None]:
    """The price of each model at its endpoint; None where it is not known."""
    asked = list(asked)
    rows = Price.objects.filter(model__in={each.model for each in asked})
    known = {(row.model, row.base_url.rstrip("/")): row for row in rows}
    found = (known.get((each.model, each.base_url)) or known.get((each.model, "")) for each in asked)
    return [row.prices if row else None for row in found]


def open_purse(run: JudgeRun | WritingRun, budget: Decimal | None = None, currency: str = "") -> Purse:
    """The purse of a new run, for the transaction that writes the run."""
    outer = purse_around(run.study_id)
    whose = {"run" if isinstance(run, JudgeRun) else "writing": run}
    return Purse.objects.create(scope=Scope.RUN, budget=budget, currency=currency, within=outer, **whose)


def battles_purse(study: Study) -> Purse:
    """The purse of a study's battles, made with its first use; for a transaction."""
    known = {"scope": Scope.BATTLES, "day": timezone.localdate(), "within": lambda: purse_around(study.pk)}
    return Purse.objects.get_or_create(battles=study, defaults=known)[0]


def purse_around(study: int) -> Purse | None:
    """Lock the purse around those of a study's runs and battles: the study's, or else the day's."""
    # Even with no purse to lock, ``lock_all`` waits for whoever has looked, and who looks waits for it.
    found = Purse.objects.select_for_update(no_key=True).filter(Q(study=study) | Q(scope=Scope.DAY))
    return found.order_by("-scope").first()  # "study" comes after "day"


def lock_all() -> None:
    """Keep everybody else from changing and locking purses until this transaction ends."""
    if connection.vendor == "postgresql":  # SQLite has one writer at a time
        with connection.cursor() as cursor:
            cursor.execute("LOCK TABLE judging_purse IN EXCLUSIVE MODE")


def reserve(
    asking: Sequence[tuple[PaidCall, AskedModel]],
    prices: Sequence[Prices | None] | None = None,
    *,
    together: bool = False,
) -> dict[Payer, Granted]:
    """Reserve the most that calls can cost; for each payer, how many of its calls may be made.

    For the transaction that writes the calls: sets their prices and ``reserved``; what a call holds already
    is taken into account. ``prices``: where they are not those that are stored. ``together``: for all calls
    of a payer or for none.
    """
    groups: dict[Payer, list[_Priced]] = defaultdict(list)
    prices = prices_of(model for _, model in asking) if prices is None else prices
    for (call, model), price in zip(asking, prices, strict=True):
        groups[call.payer].append((call, model, price))
    chains = _locked(groups)
    return {payer: _reserve(chain, groups[payer], together) for payer, chain in chains.items()}


_Priced = tuple[PaidCall, AskedModel, Prices | None]


def _reserve(chain: Sequence[Purse], group: Sequence[_Priced], together: bool) -> Granted:
    """Reserve for as many calls as fit into every purse of a locked chain, from the first on."""
    if chain and chain[0].run and chain[0].run.state != JudgeRun.State.RUNNING:
        return Granted(0)
    known = next((price.currency for *_, price in group if price), "")
    currency = next((purse.currency for purse in reversed(chain) if purse.currency), known)
    prices = [price if price and price.currency == currency else None for *_, price in group]
    bounds = [_bound(call, model, price) for (call, model, _), price in zip(group, prices, strict=True)]
    more = [
        None if bound is None else bound - call.reserved
        for (call, *_), bound in zip(group, bounds, strict=True)
    ]
    limited = [purse for purse in chain if purse.budget is not None]
    count, amount = _fitting(limited, more)
    if not count or (together and count < len(group)):
        wanted = range(len(group) if together else 1)
        held = sum((group[number][0].reserved for number in wanted), ZERO)
        bound = _sum([bounds[number] for number in wanted])
        return Granted(0, _empty(limited, bound, held), bound)
    for purse in chain:
        purse.reserved += amount
        purse.currency = purse.currency or currency
        purse.save(update_fields=["reserved", "currency"])
    for (call, *_), price, bound in zip(group[:count], prices, bounds, strict=False):
        call.prompt_price, call.completion_price = (price.prompt, price.completion) if price else (None, None)
        call.reserved = bound or ZERO
    return Granted(count)


def _bound(call: PaidCall, model: AskedModel, price: Prices | None) -> Decimal | None:
    """The most that a call can cost; None if that is not known."""
    if price is None or model.reply_limit is None:
        return None
    sent = costs.most_prompt_tokens(call.messages) + model.most_tokens_beside
    return price.of(sent, model.reply_limit)


def _fitting(limited: Sequence[Purse], bounds: Sequence[Decimal | None]) -> tuple[int, Decimal]:
    """Count the bounds, from the first on, that fit into all purses; and their sum."""
    sums = list(accumulate(bound or ZERO for bound in bounds))
    if limited:
        known = bounds.index(None) if None in bounds else len(bounds)
        room = min(_room(purse) for purse in limited)
        sums = [total for total in sums[:known] if total <= room]
    return len(sums), sums[-1] if sums else ZERO


def _room(purse: Purse) -> Decimal:
    assert purse.budget is not None  # noqa: S101 - only such purses limit
    return purse.budget - purse.spent - purse.reserved


def _sum(bounds: Sequence[Decimal | None]) -> Decimal | None:
    """What calls can cost together; None if that of one is not known."""
    known = [bound for bound in bounds if bound is not None]
    return sum(known, ZERO) if len(known) == len(bounds) else None


def _empty(limited: Sequence[Purse], bound: Decimal | None, held: Decimal) -> Purse | None:
    """The purse that will never pay for calls which hold so much of it, as no others can free enough."""
    if bound is None:
        return limited[0]
    return next((each for each in limited if each.reserved <= held and _room(each) + held < bound), None)


def settle(calls: Iterable[PaidCall]) -> None:
    """Replace the reservations of ended calls by their costs; sets ``cost`` and ``reserved`` for the caller
    to store. The cost of an attempt is added to that of the attempts before.

    For the transaction that commits the end. State, tokens and error_kind must be set.
    """
    released: dict[Payer, Decimal] = defaultdict(Decimal)
    spent: dict[Payer, Decimal] = defaultdict(Decimal)
    for call in calls:
        before, cost = call.cost, _cost(call)
        call.cost = cost if before is None else before + (cost or ZERO)
        released[call.payer] += call.reserved
        spent[call.payer] += cost or ZERO
        call.reserved = ZERO
    _book(released, spent)


def release(calls: Iterable[PaidCall]) -> None:
    """Give back what calls hold that are never made; sets ``reserved`` for the caller to store."""
    released: dict[Payer, Decimal] = defaultdict(Decimal)
    for call in calls:
        released[call.payer] += call.reserved
        call.reserved = ZERO
    _book(released, defaultdict(Decimal))


def _book(released: Mapping[Payer, Decimal], spent: Mapping[Payer, Decimal]) -> None:
    for payer, chain in _locked(payer for payer in released if released[payer] or spent[payer]).items():
        for purse in chain:
            purse.reserved -= released[payer]
            purse.spent += spent[payer]
            purse.save(update_fields=["reserved", "spent"])


def settle_again(call: PaidCall, settled_at: datetime) -> None:
    """Count a call at its cost that was settled before its reply, at the most it can cost.

    For the transaction that commits the reply, like ``settle``.
    """
    most = call.reserved = call.cost or ZERO
    call.cost, call.reserved = _cost(call), ZERO
    [chain] = _locked([call.payer]).values()
    for purse in chain:
        if purse.day in (None, timezone.localdate(settled_at)):
            # A budget that was set since does not count what was settled before.
            purse.spent = max(ZERO, purse.spent + (call.cost or ZERO) - most)
            purse.save(update_fields=["spent"])


def _locked(payers: Iterable[Payer]) -> dict[Payer, list[Purse]]:
    """The purses that each pays from, from the inside out, locked and as they are now."""
    payers = list(payers)
    rows = Purse.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
    runs, writing, battles, studies = ([pk for kind, pk in payers if kind == wanted] for wanted in PAYERS)
    inner = [*(rows.filter(run__in=runs).select_related("run") if runs else ())]
    inner += rows.filter(writing__in=writing) if writing else ()
    inner += rows.filter(battles__in=battles) if battles else ()
    for each in inner:
        begin_day(each)
    own = {_payer_of(purse): purse for purse in inner}
    found: dict[int | None, Purse] = {}
    day = None
    if (outer := {purse.within_id for purse in inner} - {None}) or studies:
        around = rows.filter(Q(pk__in=outer) | Q(study__in=studies), scope=Scope.STUDY)
        found = {purse.pk: purse for purse in around}
        if day := rows.filter(scope=Scope.DAY).first():
            begin_day(day)
            found[day.pk] = day
    by_study = {purse.study_id: purse for purse in found.values()}
    first = {("study", pk): by_study.get(pk, day) for pk in studies} | own
    return {payer: list(_chain(first.get(payer), found)) for payer in payers}


def _payer_of(purse: Purse) -> Payer:
    ids = {"writing": purse.writing_id, "battles": purse.battles_id}
    return next(((kind, pk) for kind, pk in ids.items() if pk), ("run", purse.run_id or 0))


def _chain(purse: Purse | None, found: Mapping[int | None, Purse]) -> Iterator[Purse]:
    while purse:
        yield purse
        purse = found.get(purse.within_id)


def begin_day(purse: Purse) -> None:
    """Empty a purse of a day on a new one; calls in flight will be costs of the day on which they end."""
    today = timezone.localdate()
    if purse.day not in (None, today):
        purse.day, purse.spent = today, ZERO
        purse.save(update_fields=["day", "spent"])


def settle_deleted() -> None:
    """Count what is reserved for no call in flight as spent: those calls were deleted."""
    for scope in INSIDE_OUT:
        left = Purse.objects.filter(scope=scope, reserved__gt=0).order_by("pk")
        for pk in left.values_list("pk", flat=True):
            _settle_deleted_of(pk)


@transaction.atomic
def _settle_deleted_of(pk: int) -> None:
    # Locked first: who has reserved since has written the calls, too.
    purse = Purse.objects.select_for_update(no_key=True).filter(pk=pk).first()
    if purse and (lost := purse.reserved - reserved_within(purse)) > 0:
        purse.reserved -= lost
        purse.spent += lost
        purse.save(update_fields=["reserved", "spent"])


def reserved_within(purse: Purse) -> Decimal:
    """Sum of the reservations of the calls that a purse pays first, and of the purses within it.

    Those of calls in flight; calls of battles hold theirs from before they are asked.
    """
    whose: dict[str, Any] = {"state": JudgeCall.State.IN_FLIGHT}
    if purse.run_id:
        return total(JudgeCall.objects.filter(run=purse.run_id, **whose), "reserved")
    if purse.writing_id:
        return total(WritingCall.objects.filter(run=purse.writing_id, **whose), "reserved")
    if purse.battles_id:
        return total(BattleCall.objects.filter(LIVE, battle__study=purse.battles_id), "reserved")
    whose |= {"prompt__study": purse.study} if purse.study else {"prompt__study__purse": None}
    own = (kind._default_manager.filter(**whose) for kind in (ProposalCall, LabelCall))
    return total(purse.inner.all(), "reserved") + sum((total(each, "reserved") for each in own), ZERO)


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
