"""Which pair a person is offered next: one for the study, or a hidden repeat or check."""

import json
import random
import time
from collections import OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Max, OuterRef, QuerySet, Subquery, Sum
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce
from django.utils import timezone

from arena.models import Assignment, Comparison, Completion, Pair, Purpose, Rater, Study
from arena.models.comparisons import new_seed
from arena.models.compiled import Compiled, given
from arena.models.querysets import MAY_COME_LATE, AssignmentQuerySet, left_out_raters
from arena.rating import pairing, possible_pairs, scales
from arena.rating.disagreeing import disagreement
from arena.rating.possible_pairs import BoolArray, Candidates, FloatArray, IntArray, Text

# Reading all pairs of a study at every claim would take long. So each process keeps them, and reads what
# others did since from time to time. What is kept only chooses: a pair is counted anew, with its row locked,
# before it is offered.

MOST_PAIRS = 400_000  # possible pairs kept of one study; a larger one keeps those of its least rated prompts
MOST_KEPT = 2_000_000  # possible pairs kept of all studies together
MOST_NEW = 20_000  # new comparisons above which everything is read again
FRESH = 1.0  # seconds for which a claim does not read again what others did
OLDEST = 60.0  # seconds after which everything is read again, or 50 times as long as that takes


class PairPool:
    """The possible pairs of a study.

    By pair: how many people rated it, how many hold it, and the id of its row; 0 if it has none yet.
    """

    def __init__(self, study: Study) -> None:
        started = time.monotonic()
        self._study = study.pk
        self._newest = _newest(study)
        texts, count = _texts(study)
        self.is_part = count > MOST_PAIRS
        pairs = Pair.objects.filter(prompt__study=study).order_by()
        elsewhere = pairs.exclude(use=Pair.Use.RATE).values_list("first", "second")
        self.possible = possible_pairs.possible_pairs(texts, without=set(elsewhere))
        size = len(self.possible)
        self.ratings, self.claims = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        self.pair = np.zeros(size, dtype=np.int64)
        self._place_of: dict[int, int] = {}
        self._elsewhere: set[int] = set()
        self._read_claims()
        self._note(pairs.values_list(*_OF_A_PAIR))
        self._lock = Lock()
        self._tally: Tally | None = None
        self._disagreement: FloatArray | None = None
        self._read_at = now = time.monotonic()
        self._best_before = now + max(OLDEST, 50 * (now - started))

    def refresh(self, behind: float = 0.0) -> bool:
        """Read what was rated since the last read, unless that is less than ``behind`` seconds ago.

        False if everything should be read again.
        """
        with self._lock:
            now = time.monotonic()
            if now > self._best_before:
                return False
            if now < self._read_at + behind:
                return True
            # Claims before ratings: one that is answered in between is counted in both, and its pair is not
            # offered once too often.
            self._read_claims()
            new = Comparison.objects.filter(study=self._study, pk__gt=self._newest - MAY_COME_LATE)
            columns = ("pair", "pair__first", "pair__second", "pair__people_ratings")
            rows = list(new.order_by("pk").values_list("pk", *columns)[:MOST_NEW])
            if len(rows) == MOST_NEW:
                return False
            self._note(row[1:] for row in rows)
            self._newest = max([self._newest, *(row[0] for row in rows)])
            self._read_at = now
            return True

    def places(self, pairs: Collection[int]) -> list[int]:
        """The indices of those of these pairs, named by their ids, that are possible."""
        self.learn(pairs)
        return [self._place_of[pair] for pair in pairs if pair in self._place_of]

    def learn(self, pairs: Collection[int]) -> None:
        """Look up the pairs that other processes made since."""
        unknown = {pair for pair in pairs if pair not in self._place_of}.difference(self._elsewhere)
        if unknown:
            self._note(Pair.objects.filter(pk__in=unknown).values_list(*_OF_A_PAIR))
            self._elsewhere |= unknown.difference(self._place_of)

    def row(self, place: int) -> Pair:
        """The pair, without an id if it has no row yet."""
        possible = self.possible
        return Pair(
            pk=int(self.pair[place]) or None,
            prompt_id=possible.prompts[possible.prompt[place]],
            first_id=int(possible.first[place]),
            second_id=int(possible.second[place]),
        )

    def sharing_prompts(self, pairs: Collection[int]) -> BoolArray:
        """Which possible pairs are of a prompt of these: whoever knows two authors may infer the others."""
        places = self.places(pairs)
        own = {self.possible.prompts[number] for number in self.possible.prompt[places].tolist()}
        return self.possible.about(own.union(_prompts_of(self._elsewhere.intersection(pairs))))

    def lease(self, place: int, pair: Pair) -> None:
        """Note that somebody holds a pair."""
        self.claims[place] += 1
        self.pair[place] = pair.pk
        self._place_of[pair.pk] = place

    def worth(self) -> FloatArray:
        with self._lock:
            if self._tally is None:
                self._tally = Tally(self._study, self.possible.contestants)
            return self._tally.worth()

    def disagreement(self) -> FloatArray:
        """Read once: it changes with imports and judge runs, and waits until everything is read again."""
        with self._lock:
            if self._disagreement is None:
                self._disagreement = disagreement(self._study, self.possible)
            return self._disagreement

    def _read_claims(self) -> None:
        # Those of all studies, of which there are few: by its study SQLite would look at all assignments.
        held = _claims(timezone.now()).filter(pair__isnull=False)
        claims = held.values_list("pair", "pair__first", "pair__second", "study")
        rows = [claim[:3] for claim in claims if claim[3] == self._study]
        self.claims = np.bincount(self._place(rows)[0], minlength=len(self.possible))

    def _note(self, rows: Iterable[tuple[int, int, int, int]]) -> None:
        known = list({row[0]: row for row in rows}.values())
        places, possible = self._place([row[:3] for row in known])
        ratings = np.fromiter((row[3] for row in known), dtype=np.int64, count=len(known))
        self.ratings[places] = ratings[possible]

    def _place(self, rows: list[tuple[int, int, int]]) -> tuple[IntArray, BoolArray]:
        """The indices of the possible ones of these pairs, told by id and texts, and which ones these are."""
        places = self.possible.places([(first, second) for _, first, second in rows])
        possible = places >= 0
        ids = np.array([pair for pair, *_ in rows], dtype=np.int64)[possible]
        self.pair[places[possible]] = ids
        self._place_of.update(zip(ids.tolist(), places[possible].tolist(), strict=True))
        return places[possible], possible


_OF_A_PAIR: Final = ("pk", "first", "second", "people_ratings")


class Tally:
    """How often people preferred which contestant of a study to which."""

    def __init__(self, study: int, contestants: tuple[int, ...]) -> None:
        self._study = study
        self._place = {contestant: place for place, contestant in enumerate(contestants)}
        self._wins = np.zeros((len(contestants), len(contestants)))
        self._newest = 0
        self._fitted = -1.0
        self._worth = self._wins

    def worth(self) -> FloatArray:
        self._read()
        games = float(self._wins.sum())
        if self._fitted < 0 or abs(games - self._fitted) > possible_pairs.REFIT * self._fitted:
            self._worth, self._fitted = possible_pairs.worth(self._wins), games
        return self._worth

    def _read(self) -> None:
        """Add new comparisons and subtract those that they revise."""
        given = Comparison.objects.filter(
            study=self._study,
            purpose="study",
            status=Comparison.Status.SCORED,
            rater__kind=Rater.Kind.PERSON,
            pk__gt=self._newest,
        ).exclude(rater__in=left_out_raters(Study(pk=self._study)))
        newest = given.aggregate(newest=Max("pk"))["newest"]
        if newest is None:
            return
        # At first only what stands; later all that is new, less what it revises.
        first = given.current() if self._newest == 0 else given
        self._add(first.filter(pk__lte=newest), "", 1.0)
        if self._newest:
            self._add(given.filter(pk__lte=newest, revises__isnull=False), "revises__", -1.0)
        np.maximum(self._wins, 0.0, out=self._wins)
        self._newest = newest

    def _add(self, given: "QuerySet[Comparison]", prefix: str, sign: float) -> None:
        sides = ("pair__first__contestant", "pair__second__contestant")
        said = [f"{prefix}{column}" for column in ("swapped", "points", "rating")]
        counts = given.order_by().values_list(*sides, *said).annotate(n=Count("pk"))
        for first, second, swapped, points, rating, n in counts:
            if first in self._place and second in self._place and rating is not None:
                share = scales.score(rating, points, ties=True)
                assert share is not None  # noqa: S101 - with ties every rating has a score
                a, b = self._place[first], self._place[second]
                self._wins[a, b] += sign * n * (1 - share if swapped else share)
                self._wins[b, a] += sign * n * (share if swapped else 1 - share)


def _claims(now: datetime | RawSQL) -> AssignmentQuerySet:
    """What people hold for studies themselves."""
    held = Assignment.objects.holding(now).filter(rater__kind=Rater.Kind.PERSON)
    return held.filter(purpose=Purpose.STUDY).order_by()


def _newest(study: Study) -> int:
    newest = Comparison.objects.filter(study=study).aggregate(newest=Max("pk"))["newest"]
    return int(newest or 0)


def _texts(study: Study) -> tuple[list[Text], int]:
    """The texts to pair, in a very large study only some, and how many pairs all of them make."""
    rows = Completion.objects.rateable_in(study).order_by()
    reserved = _reserved(study)
    texts: dict[int, list[Text]] = {}
    for pk, prompt, category, contestant in rows.values_list(
        "pk", "prompt", "prompt__category", "contestant"
    ):
        texts.setdefault(prompt, []).append(Text(pk, prompt, category, contestant))
    for prompt, some in texts.items():
        texts[prompt] = _combined(some, reserved)
    pairs = {prompt: len(some) * (len(some) - 1) // 2 for prompt, some in texts.items()}
    total = sum(pairs.values())
    if total > MOST_PAIRS:
        counted = Pair.objects.filter(prompt__study=study).order_by().values_list("prompt")
        ratings = dict(counted.annotate(n=Sum("people_ratings")))
        rng = random.Random(study.pk)  # noqa: S311 - fairness, not secrecy
        window = possible_pairs.choose_window(pairs, ratings, MOST_PAIRS, rng)
        texts = {prompt: texts[prompt] for prompt in window}
    return [text for some in texts.values() for text in some], total


def _reserved(study: Study) -> set[int]:
    pairs = list(Pair.objects.filter(prompt__study=study).exclude(use="rate").values_list("first", "second"))
    apart = {completion for pair in pairs for completion in pair}
    if apart:
        for side in ("first", "second"):
            rated = Pair.objects.filter(**{f"{side}__in": apart}, use="rate")
            apart -= set(rated.values_list(side, flat=True))
    return apart


def _combined(texts: list[Text], reserved: set[int]) -> list[Text]:
    """The texts of one prompt that make new pairs.

    Reserved ones do only if a contestant wrote them and the prompt has others.
    """
    if all(text.pk in reserved for text in texts):
        return []
    return [text for text in texts if text.pk not in reserved or text.contestant is not None]


_kept: "OrderedDict[tuple[object, ...], PairPool]" = OrderedDict()
_keeping = Lock()


def pool_of(study: Study, *, anew: bool = False, behind: float = 0.0) -> PairPool:
    """The pool of a study, at most ``behind`` seconds old; ``anew`` reads it in full."""
    # What other than comparisons changes the pairs raises the revision.
    key = (study.pk, study.created_at, study.revision, study.naming, study.thinking)
    with _keeping:
        found = None if anew else _kept.get(key)
    if found is None or not found.refresh(behind):
        found = PairPool(study)
    with _keeping:
        for other in [known for known in _kept if known[0] == study.pk]:
            del _kept[other]
        _kept[key] = found
        while len(_kept) > 1 and sum(len(each.possible) for each in _kept.values()) > MOST_KEPT:
            _kept.popitem(last=False)
    return found


REPEAT_AFTER = 10  # other pairs between a pair and its repeat
TRIES = 8


class Offered(NamedTuple):
    """An assignment of a rater: what a claim reads of it."""

    pk: int
    public_id: str
    kind: str
    pair_id: int | None
    completion_id: int | None
    repeat: int
    purpose: str
    state: str
    is_shown: bool
    was_finished: bool

    @property
    def is_finished(self) -> bool:
        return self.state in (Assignment.State.SUBMITTED, Assignment.State.SKIPPED)

    @property
    def is_reopened(self) -> bool:
        return self.state == Assignment.State.CLAIMED and self.was_finished


@dataclass
class History:
    """What a rater was offered in a study, pairs by their ids; ``done``: answered or skipped.

    answered counts pairs, skipped all tasks. held: neither done nor lost by an expired lease.
    """

    done: list[int]
    answered: int
    skipped: int
    held: list[int] = field(default_factory=list)
    lost: dict[tuple[int, int], int] = field(default_factory=dict)
    """Ids of expired assignments, by pair and number of the repeat."""
    claimed: list[Offered] = field(default_factory=list)
    """Of any kind, whether or not the lease has run out; without adjudications."""
    on_screen: Offered | None = None

    @property
    def pairs(self) -> list[int]:
        return self.done + self.held


@dataclass(frozen=True)
class _Draw:
    seed: int
    rng: random.Random
    purpose: Purpose
    is_random: bool


@dataclass(frozen=True)
class _Chosen:
    """A pair to lease. pair: without an id if it has no row yet; swapped: None if still to be drawn."""

    pair: Pair
    purpose: Purpose = Purpose.STUDY
    swapped: bool | None = None
    repeat: int = 0


def lease_time() -> timedelta:
    return timedelta(minutes=settings.LEASE_MINUTES)


def offer_pair(study: Study, rater: Rater, now: datetime, history: History) -> Assignment | None:
    """Lease the next pair to a person, made if need be; None if nothing is left.

    To be called with study and rater locked.
    """
    draw, pool, found_none = _draw(study), pool_of(study, behind=FRESH), 0
    for _ in range(TRIES):
        place = _choose(study, pool, history, draw)
        if place is not None:
            hidden = _hidden(study, rater, history, draw)
            if hidden and (leased := _lease(study, rater, hidden, draw, history, now)):
                return leased
            pool.learn([pair for pair, _ in history.lost])
            chosen = _Chosen(pool.row(place))
            if leased := _lease(study, rater, chosen, draw, history, now):
                # Of a claim that is not stored, as on a full disk, nothing may be kept.
                transaction.on_commit(partial(pool.lease, place, chosen.pair))
                return leased
            # Taken by somebody else, or by a late answer.
            history = history_of(study, rater, history.on_screen.public_id if history.on_screen else None)
        elif (found_none := found_none + 1) == 3:
            return None
        # A place may have become free; what was counted twice may be; and of a very large study only a part
        # was looked at.
        pool = pool_of(study, anew=place is None and pool.is_part)
    return None


# Written by hand: one row for the database to send, however much a rater has done, and no query to build.
_HISTORY: Final = """
    SELECT CAST({object}(
        'done', {list}(pair_id) FILTER (WHERE state IN ('submitted', 'skipped') AND pair_id IS NOT NULL),
        'answered', COUNT(pair_id) FILTER (WHERE state = 'submitted' AND purpose <> 'adjudication'),
        'skipped', COUNT(*) FILTER (WHERE state = 'skipped' AND purpose <> 'adjudication'),
        'live', {list}({array}(
            id, public_id, kind, pair_id, completion_id, repeat, purpose, state,
            shown_at IS NOT NULL, finished_at IS NOT NULL
        )) FILTER (WHERE state NOT IN ('submitted', 'skipped') OR public_id = %s)
    ) AS TEXT) FROM arena_assignment WHERE study_id = %s AND rater_id = %s"""
_JSON: Final = {
    "postgresql": {"object": "json_build_object", "list": "json_agg", "array": "json_build_array"},
    "sqlite": {"object": "json_object", "list": "json_group_array", "array": "json_array"},
}


def history_of(study: Study, rater: Rater, on_screen: str | None = None) -> History:
    """What a rater was offered, with what came by import; a query whose answer is one row.

    on_screen: public id of what this person looks at, which counts even if its lease ran out.
    """
    # PostgreSQL refuses to look for a NUL.
    name = on_screen if on_screen and "\0" not in on_screen else ""
    with connection.cursor() as cursor:
        cursor.execute(_HISTORY.format(**_JSON[connection.vendor]), [name, study.pk, rater.pk])
        said = json.loads(cursor.fetchone()[0])
    history = History(said["done"] or [], said["answered"], said["skipped"])
    offered = [Offered(*row) for row in said["live"] or ()]
    history.on_screen = next((each for each in offered if each.public_id == on_screen), None)
    for each in offered:
        if not each.is_finished:
            _remember(history, each)
    if rater.study_id is not None:  # who came with an import has comparisons without an assignment
        imported = Comparison.objects.current().filter(study=study, rater=rater, assignment=None).order_by()
        history.done += imported.values_list("pair", flat=True)
        history.answered += imported.exclude(purpose=Purpose.ADJUDICATION).count()
    return history


def _remember(history: History, offered: Offered) -> None:
    shown = history.on_screen
    if offered.state == Assignment.State.CLAIMED and offered.purpose != Purpose.ADJUDICATION:
        history.claimed.append(offered)
    if offered.pair_id is None:
        return
    is_lost = offered.state == Assignment.State.EXPIRED
    if is_lost and not (shown and shown.pair_id == offered.pair_id):
        history.lost[offered.pair_id, offered.repeat] = offered.pk
    else:
        history.held.append(offered.pair_id)


def _draw(study: Study) -> _Draw:
    seed = new_seed()
    rng = random.Random(seed)  # noqa: S311 - fairness, not secrecy
    kind, control = rng.random(), rng.random()
    purpose = Purpose.STUDY
    if kind < study.repeat_share:
        purpose = Purpose.REPEAT
    elif kind < study.repeat_share + study.gold_share:
        purpose = Purpose.CHECK
    has_control = pairing.STRATEGIES[study.pairing].has_control
    return _Draw(seed, rng, purpose, has_control and control < study.control_share)


def _choose(study: Study, pool: PairPool, history: History, draw: _Draw) -> int | None:
    """The index of a pair that lacks ratings and is new to this rater, chosen by the study's strategy."""
    load = pool.ratings + pool.claims
    free = load < study.ratings_per_pair_people
    free[pool.places(history.pairs)] = False
    if study.reveal_names:
        # An answer may still come from the page of a lost pair: of its prompt nothing else is offered.
        lost = [pair for pair, _ in history.lost]
        again = [place for place in pool.places(lost) if free[place]]
        free[pool.sharing_prompts(lost)] = False
        free[again] = True
        free[pool.sharing_prompts(history.pairs)] = False
    if not free.any():
        return None
    candidates = Candidates(pool.possible, load, free, pool.worth, pool.disagreement)
    if draw.is_random:
        return candidates.draw(draw.rng)
    return pairing.STRATEGIES[study.pairing].choose(candidates, draw.rng)


def _prompts_of(pairs: Iterable[int]) -> "QuerySet[Pair, int]":
    return Pair.objects.filter(pk__in=pairs).order_by().values_list("prompt", flat=True)


def _hidden(study: Study, rater: Rater, history: History, draw: _Draw) -> _Chosen | None:
    """The repeat or check that was drawn, if there is one for this rater."""
    if draw.purpose == Purpose.REPEAT and not study.reveal_names:
        return _to_repeat(study, rater, draw.rng)
    if draw.purpose == Purpose.CHECK:
        return _to_check(study, history, draw.rng)
    return None


def _to_repeat(study: Study, rater: Rater, rng: random.Random) -> _Chosen | None:
    """A pair this rater rated for the study and saw once, in the other order."""
    mine = Assignment.objects.filter(study=study, rater=rater, pair__isnull=False)
    done = list(
        mine.filter(state__in=["submitted", "skipped"])
        .order_by("-finished_at", "-pk")
        .values_list("pair", "swapped", "state", "purpose", "pair__use")[REPEAT_AFTER:]
    )
    again = set(mine.filter(repeat__gt=0).exclude(state="expired").values_list("pair", flat=True))
    rated = [
        (pair, swapped)
        for pair, swapped, state, purpose, use in done
        if (state, purpose, use) == ("submitted", Purpose.STUDY, Pair.Use.RATE) and pair not in again
    ]
    if not rated:
        return None
    pair, swapped = rng.choice(rated)
    rateable = Completion.objects.rateable_in(study)
    found = Pair.objects.filter(pk=pair, first__in=rateable, second__in=rateable)
    repeat = _Chosen(Pair(pk=pair), Purpose.REPEAT, swapped=not swapped, repeat=1)
    return repeat if found.exists() else None


def _to_check(study: Study, history: History, rng: random.Random) -> _Chosen | None:
    """A pair with a known answer that is new to this rater, preferably made for checks."""
    known = Pair.objects.filter(prompt__study=study).exclude(gold="").order_by("pk")
    offered = Completion.objects.offered().filter(prompt__study=study)
    seen = set(history.pairs)
    told = set(_prompts_of(seen)) if study.reveal_names else set()
    rateable = Completion.objects.rateable_in(study)
    for pairs in (
        known.filter(use=Pair.Use.CHECK, first__in=offered, second__in=offered),
        known.filter(use=Pair.Use.RATE, first__in=rateable, second__in=rateable),
    ):
        new = [
            pk for pk, prompt in pairs.values_list("pk", "prompt") if pk not in seen and prompt not in told
        ]
        if new:
            return _Chosen(Pair(pk=rng.choice(new)), Purpose.CHECK)
    return None


def _lease(
    study: Study, rater: Rater, chosen: _Chosen, draw: _Draw, history: History, now: datetime
) -> Assignment | None:
    """Claim what was chosen; None if it can no longer be offered."""
    lost, is_random = None, draw.is_random and chosen.purpose == Purpose.STUDY
    if (number := history.lost.get((chosen.pair.pk, chosen.repeat))) is not None:
        # Assignments are locked before pairs, by those who answer as well.
        lost = Assignment.objects.select_for_update(no_key=True).get(pk=number)
        if lost.state != Assignment.State.EXPIRED:
            return None
    # Read with the row locked: whoever held it before has claimed or answered by now.
    pair, claims = _counted(_lock_pair(chosen.pair), now)
    load = pair.people_ratings + claims
    if chosen.purpose == Purpose.STUDY and (
        pair.use != Pair.Use.RATE or load >= study.ratings_per_pair_people
    ):
        return None
    if lost:
        # The same assignment in the same order: an answer still to come from its old page is then this one.
        # What it is for is decided anew, so that it is counted as what it was chosen for.
        lost.state, lost.leased_until = Assignment.State.CLAIMED, now + lease_time()
        lost.purpose, lost.is_random, lost.shown_at = chosen.purpose, is_random, None
        lost.save(update_fields=["state", "leased_until", "purpose", "is_random", "shown_at"])
        lost.pair = pair
        return lost
    return Assignment.objects.create(
        study=study,
        rater=rater,
        pair=pair,
        swapped=pairing.choose_order(draw.seed) if chosen.swapped is None else chosen.swapped,
        repeat=chosen.repeat,
        purpose=chosen.purpose,
        is_random=is_random,
        seed=draw.seed,
        state=Assignment.State.CLAIMED,
        leased_until=now + lease_time(),
    )


def _lock_pair(pair: Pair) -> int:
    """The id of the pair, made if need be, with its row locked so that other claims and answers wait."""
    if pair.pk is None:
        # One that somebody made a moment ago is locked by writing what it has.
        Pair.objects.bulk_create(
            [pair], update_conflicts=True, unique_fields=["first", "second"], update_fields=["prompt"]
        )
        return pair.pk
    return Pair.objects.select_for_update(no_key=True).values_list("pk", flat=True).get(pk=pair.pk)


def _counted(pk: int, now: datetime) -> tuple[Pair, int]:
    """The pair with its texts, and how many people hold it."""
    [pair] = _COUNTED(pair=pk, now=now)
    return pair, pair.claims


def _to_count() -> "QuerySet[Any]":
    held = _claims(given("now")).filter(pair=OuterRef("pk")).values("pair")
    claims = Coalesce(Subquery(held.annotate(n=Count("pk")).values("n")), 0)
    pairs = Pair.objects.select_related("prompt", "first", "second").annotate(claims=claims)
    return pairs.filter(pk=given("pair"))


_COUNTED: Final = Compiled(_to_count)
