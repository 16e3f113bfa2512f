"""What operators watch of battles: how many, how fast, what failed, what it costs, and who votes most."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Length, TruncHour
from django.utils import timezone

from arena.models import Comparison, Contestant, Membership, Rater, Study
from arena.rules import scales
from judging.battles.drawing import OPEN
from judging.endpoints import costs
from judging.models import Battle, BattleCall, Purse
from leaderboard.battles.movers import moves
from leaderboard.stats.descriptive import describe
from leaderboard.stats.one_sided import Leaning, at_least, leaning

State, Void = Battle.State, Battle.Void

HOURS: Final = 24
DAYS: Final = 7  # of speed and failures
MOST_VOTES: Final = 50_000  # the newest, that are looked at for who votes
MOST_VISITORS: Final = 20
MOST_LOOKED_AT: Final = 10
STRIKING: Final = 0.001  # a chance below is marked
FEW: Final = 10  # votes of a visitor of whom nothing is said


@dataclass(frozen=True)
class Hour:
    """Battles that began in an hour, and what has become of them; ``width``: percent of the busiest."""

    start: datetime
    begun: int
    voted: int
    void: int
    width: float


def hours(study: Study, now: datetime) -> list[Hour]:
    """The last hours, the newest first."""
    newest = now.replace(minute=0, second=0, microsecond=0)
    starts = [newest - timedelta(hours=back) for back in range(HOURS)]
    rows = Battle.objects.filter(study=study, created_at__gte=starts[-1]).order_by()
    by_state = rows.annotate(hour=TruncHour("created_at")).values_list("hour", "state")
    found = {(hour, state): n for hour, state, n in by_state.annotate(n=Count("pk"))}
    begun = Counter[datetime]()
    for (hour, _), n in found.items():
        begun[hour] += n
    most = max(begun.values(), default=0) or 1
    return [
        Hour(
            start,
            begun[start],
            found.get((start, State.VOTED), 0),
            found.get((start, State.VOID), 0),
            100 * begun[start] / most,
        )
        for start in starts
    ]


@dataclass
class Model:
    """How a model answers in battles. ``redrawn``: replaced before it was seen."""

    contestant: Contestant
    answers: int = 0
    first_words: float | None = None
    pace: float | None = None
    redrawn: Counter[str] = field(default_factory=Counter)
    void: Counter[str] = field(default_factory=Counter)

    @property
    def failures(self) -> str:
        """What failed, in words."""
        told = [f"{kind or 'other'} {n:,}" for kind, n in sorted(self.redrawn.items())]
        void = [f"{Void(kind).label.lower()} {n:,}" for kind, n in sorted(self.void.items())]
        parts = [f"replaced unseen: {', '.join(told)}"] if told else []
        return "; ".join(parts + ([f"void: {', '.join(void)}"] if void else []))


def models(study: Study, now: datetime) -> list[Model]:
    since = now - timedelta(days=DAYS)
    found = {each.pk: Model(each) for each in Contestant.objects.filter(author__battles_of__study=study)}

    def of(contestant: int) -> Model:
        if contestant not in found:
            found[contestant] = Model(Contestant.objects.get(pk=contestant))
        return found[contestant]

    calls = BattleCall.objects.filter(battle__study=study, created_at__gte=since).order_by()
    for contestant, waited, paces in _speeds(calls):
        model = of(contestant)
        model.answers, model.first_words, model.pace = len(waited), _median(waited), _median(paces)
    replaced = calls.filter(is_current=False).values_list("author__contestant", "error_kind")
    for contestant, kind, n in replaced.annotate(n=Count("pk")):
        of(contestant).redrawn[kind] += n
    battles = Battle.objects.filter(study=study, created_at__gte=since, void_by__isnull=False).order_by()
    for contestant, void, n in battles.values_list("void_by", "void").annotate(n=Count("pk")):
        of(contestant).void[void] += n
    return sorted(found.values(), key=lambda each: each.contestant.name.casefold())


def _speeds(calls: QuerySet[BattleCall]) -> Iterator[tuple[int, list[float], list[float]]]:
    """Yield by contestant the seconds to the first words, and the characters a second after those."""
    whole = calls.filter(state="replied", begun_at__isnull=False, finished_at__isnull=False)
    rows = whole.annotate(length=Length("text")).values_list(
        "author__contestant", "created_at", "begun_at", "finished_at", "length"
    )
    waited, paces = defaultdict[int, list[float]](list), defaultdict[int, list[float]](list)
    for contestant, created, begun, finished, length in rows:
        if begun is None or finished is None:  # the rows are those that have both
            continue
        waited[contestant].append((begun - created).total_seconds())
        if (took := (finished - begun).total_seconds()) > 0:
            paces[contestant].append(length / took)
    for contestant, times in waited.items():
        yield contestant, times, paces[contestant]


def _median(values: Sequence[float]) -> float | None:
    return describe(values).median


def void_of_nobody(study: Study, now: datetime) -> list[tuple[Battle.Void, int]]:
    """Battles that ended without a vote and by no model's doing, by reason."""
    since = now - timedelta(days=DAYS)
    rows = Battle.objects.filter(
        study=study, state=State.VOID, created_at__gte=since, void_by=None
    ).order_by()
    counted = rows.values_list("void").annotate(n=Count("pk")).order_by("-n", "void")
    return [(Void(void), n) for void, n in counted]


@dataclass(frozen=True)
class Money:
    """What battles have cost today; ``budget`` is None where nothing limits it."""

    spent: Decimal
    reserved: Decimal
    budget: Decimal | None
    currency: str

    @property
    def used(self) -> float | None:
        """Percent of the budget that is spent or reserved."""
        return min(100.0, float(100 * (self.spent + self.reserved) / self.budget)) if self.budget else None

    @property
    def sentence(self) -> str:
        spent, reserved = (costs.in_words(each, self.currency) for each in (self.spent, self.reserved))
        return f"{spent} spent, at most {reserved} more for what is being asked."

    @property
    def limit(self) -> str:
        """Return the budget in words; "" for none."""
        return costs.in_words(self.budget, self.currency) if self.budget else ""


def money(study: Study) -> Money | None:
    """Today's purse; None before the first battle."""
    purse = Purse.objects.filter(battles=study).first()
    if purse is None:
        return None
    spent = purse.spent if purse.day == timezone.localdate() else Decimal(0)
    return Money(spent, purse.reserved, purse.budget, purse.currency)


def votes(study: Study) -> dict[str, int]:
    """Votes in all, and how many of them are of each kind."""
    rows = Battle.objects.filter(study=study, state=State.VOTED)
    return rows.aggregate(
        all=Count("pk"),
        with_account=Count("pk", filter=Q(rater__is_visitor=False)),
        without_account=Count("pk", filter=Q(rater__is_visitor=True)),
        early=Count("pk", filter=Q(is_early=True)),
        fast=Count("pk", filter=Q(is_fast=True)),
        neither=Count("pk", filter=Q(comparison__neither=True)),
        chosen=Count("pk", filter=Q(is_chosen=True)),
    )


def queue(study: Study) -> dict[str, Any]:
    """Battles that are open now, by state, and since when the first one waits."""
    rows = Battle.objects.filter(study=study, state__in=OPEN)
    found = Counter(dict(rows.order_by().values_list("state").annotate(n=Count("pk"))))
    oldest = rows.filter(state=State.WAITING).order_by("created_at").values_list("created_at", flat=True)
    return {**{state: found[state] for state in ("waiting", "answering", "ready")}, "since": oldest.first()}


def removed(study: Study) -> int:
    return Battle.objects.filter(study=study, void=Void.REMOVED).count()


def looked_at(study: Study) -> list[Battle]:
    """The newest battles that were stopped, or whose answer named its author."""
    kinds = [Void.PROMPT, Void.FLAGGED, Void.NAMED, Void.FAILED, Void.CUT, Void.HUNG]
    rows = Battle.objects.filter(study=study, void__in=kinds).select_related("rater", "void_by")
    return list(rows.order_by("-pk")[:MOST_LOOKED_AT])


@dataclass(frozen=True)
class Visitor:
    """Somebody who votes much: how many of all votes, how one-sidedly, and how fast."""

    rater: Rater
    ratings: int
    share: float
    leaning: Leaning | None
    model: str
    for_first: int
    decided: int
    side_chance: float
    seconds: float | None
    fast: float
    left_out: bool
    moves: float | None = None

    @property
    def is_striking(self) -> bool:
        chance = min(self.side_chance, self.leaning.chance if self.leaning else 1.0)
        return self.ratings >= FEW and (chance < STRIKING or self.fast > 0.5)


@dataclass
class _Own:
    votes: int = 0
    fast: int = 0
    seconds: list[float] = field(default_factory=list)
    models: dict[int, tuple[int, int]] = field(default_factory=dict)
    for_first: int = 0
    decided: int = 0

    def add(self, vote: _Vote) -> None:
        self.votes += 1
        self.fast += vote.is_fast
        if vote.seconds is not None:
            self.seconds.append(vote.seconds)
        if vote.for_first in (0.0, 1.0):
            self.decided += 1
            self.for_first += vote.for_first == 1.0
            better, worse = vote.sides if vote.for_first else vote.sides[::-1]
            for model, won in ((better, 1), (worse, 0)):
                wins, n = self.models.get(model, (0, 0))
                self.models[model] = (wins + won, n + 1)


@dataclass(frozen=True)
class _Vote:
    """``for_first``: 1 where A was better, 0 where B was, else 0.5 or None."""

    rater: int
    sides: tuple[int, int]
    for_first: float | None
    seconds: float | None
    is_fast: bool


def _votes(study: Study) -> Iterator[_Vote]:
    rows = Comparison.objects.current().filter(study=study, battle__isnull=False).order_by("-pk")
    columns = ("rater", "battle__first", "battle__second", "rating", "points", "seconds", "battle__is_fast")
    for rater, first, second, rating, points, seconds, is_fast in rows.values_list(*columns)[:MOST_VOTES]:
        said = None if rating is None else scales.score(rating, points, ties=True)
        yield _Vote(rater, (first, second), said, seconds, is_fast)


def visitors(study: Study) -> list[Visitor]:
    """Those with the most votes: bots and friends of a model are seen here.

    ``moves``: by how many points the lead of the first model is larger without them.
    """
    everybody, own = _Own(), defaultdict[int, _Own](_Own)
    for vote in _votes(study):
        everybody.add(vote)
        own[vote.rater].add(vote)
    busiest = sorted(own, key=lambda pk: (-own[pk].votes, pk))[:MOST_VISITORS]
    raters = Rater.objects.in_bulk(busiest)
    names = dict(study.contestants.values_list("pk", "name"))
    members = Membership.objects.filter(study=study, left_out_at__isnull=False)
    out = set(members.values_list("rater", flat=True))
    moved = moves(study, busiest) if own else {}
    found = [_visitor(raters[pk], own[pk], everybody, names, left_out=pk in out) for pk in busiest]
    return [replace(each, moves=moved.get(each.rater.pk)) for each in found]


def _visitor(rater: Rater, own: _Own, everybody: _Own, names: dict[int, str], *, left_out: bool) -> Visitor:
    found = leaning(own.models, everybody.models)
    one_side = max(own.for_first, own.decided - own.for_first)
    return Visitor(
        rater,
        own.votes,
        own.votes / everybody.votes,
        found,
        names.get(found.model, "") if found else "",
        own.for_first,
        own.decided,
        min(1.0, 2 * at_least(one_side, own.decided, 0.5)),
        _median(own.seconds),
        own.fast / own.votes,
        left_out,
    )
