"""Which pair a person is offered next: one for the study, or a hidden repeat or check."""

import math
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from arena.models import Assignment, Comparison, Completion, Pair, Purpose, Rater, Study
from arena.models.comparisons import new_seed
from arena.models.querysets import AssignmentQuerySet, Length, PairQuerySet
from arena.rating import pair_queue
from arena.rating.pair_queue import QueueShortError
from arena.rating.worth import FloatArray, worth
from arena.rules import pairing, scales, turns

REPEAT_AFTER = 10  # other pairs between a pair and its repeat
TRIES = 8


@dataclass(frozen=True)
class _Draw:
    seed: int
    rng: random.Random
    purpose: Purpose
    is_random: bool


@dataclass(frozen=True)
class _Chosen:
    """A pair to lease; swapped: None if still to be drawn. turn: None if it is what the study wants next.

    after: a turn that the rater has done.
    """

    pair: int
    purpose: Purpose = Purpose.STUDY
    swapped: bool | None = None
    repeat: int = 0
    turn: int | None = None
    after: int = 0


def lease_time() -> timedelta:
    return timedelta(minutes=settings.LEASE_MINUTES)


def offer_pair(
    study: Study, rater: Rater, now: datetime, on_screen: Assignment | None = None
) -> Assignment | None:
    """Lease the next pair to a person; None if nothing is left. Raises QueueShortError and AllTakenError.

    To be called with study and rater locked. on_screen: what this person looks at, which is not offered even
    if its lease ran out.
    """
    if not pair_queue.is_current(study):
        raise QueueShortError
    offer, draw = FreePairs(study, rater, now, on_screen), _draw(study)
    if study.rated_turns == turns.Rated.EACH and (next_turn := _go_on(offer, draw)):
        return next_turn
    for _ in range(TRIES):
        pair = offer.choose(draw)
        if pair is None:
            break
        if (hidden := _hidden(offer, draw)) and (leased := _lease(offer, hidden, draw)):
            return leased
        if leased := _lease(offer, _Chosen(pair.pk), draw):
            return leased
        # Taken by somebody else, or by a late answer.
        offer = replace(offer)
    if offer.has_any:
        raise AllTakenError
    return None


def _go_on(offer: "FreePairs", draw: _Draw) -> Assignment | None:
    """Lease the next turn of a pair of which this person has rated one; None if there is none."""
    for pair, swapped, turn in offer.begun[:TRIES]:
        if leased := _lease(
            offer, _Chosen(pair, swapped=swapped, after=turn), replace(draw, is_random=False)
        ):
            return leased
    return None


def turns_follow(study: Study, on_screen: Assignment) -> bool:
    """Return True if the next turn of the pair on screen may come as soon as this one is rated."""
    if study.rated_turns != turns.Rated.EACH or on_screen.is_finished or on_screen.pair is None:
        return False
    return on_screen.purpose == Purpose.STUDY and on_screen.turn < study.turns_of(on_screen.pair.prompt)[-1]


class AllTakenError(Exception):
    """Others are being offered every free pair at this moment; some may be free for one more person."""


@dataclass(frozen=True)
class FreePairs:
    """The pairs of a study that lack ratings and are new to a rater: see ``pairing.Free``.

    Rows that others have locked are passed over, so that nobody waits for anybody, or in a circle.
    """

    study: Study
    rater: Rater
    now: datetime
    on_screen: Assignment | None

    @cached_property
    def offered(self) -> AssignmentQuerySet:
        """The rater's assignments of pairs, without those that were lost and may come again."""
        kept = ~Q(state=Assignment.State.EXPIRED)
        if self.on_screen and self.on_screen.pair_id:
            kept |= Q(pair=self.on_screen.pair_id)
        return self._mine.filter(kept)

    @property
    def _mine(self) -> AssignmentQuerySet:
        return Assignment.objects.filter(study=self.study, rater=self.rater, pair__isnull=False).order_by()

    def new(self, pairs: PairQuerySet) -> PairQuerySet:
        """Leave out pairs that the rater was offered, and those of prompts whose names they know."""
        of, known = ("prompt", "pair__prompt") if self.study.reveal_names else ("pk", "pair")
        pairs = pairs.exclude(**{f"{of}__in": self.offered.values(known)})
        if self.rater.study_id is not None:  # who came with an import has comparisons without an assignment
            said = Comparison.objects.current().filter(study=self.study, rater=self.rater, assignment=None)
            pairs = pairs.exclude(**{f"{of}__in": said.order_by().values(known)})
        return pairs

    @property
    def begun(self) -> QuerySet[Any, Any]:
        """Pairs of which the rater has rated a turn and was offered no later one, with order and turn."""
        later = self.offered.filter(pair=OuterRef("pair"), turn__gt=OuterRef("turn"))
        done = self._mine.filter(state=Assignment.State.SUBMITTED, purpose=Purpose.STUDY, turn__gt=0)
        queued = {
            "pair__queued_in": self.study,
            "pair__people_ratings__lt": self.study.ratings_per_pair_people,
        }
        left = done.filter(turn__lt=Length("pair__prompt__turns"), **queued).exclude(Exists(later))
        return left.order_by("-finished_at", "-pk").values_list("pair", "swapped", "turn")

    @cached_property
    def _claims(self) -> Mapping[int, int]:
        """How many people hold each pair, of all studies: by its study SQLite would read all assignments."""
        return Counter(
            Assignment.objects.places(self.now).filter(pair__isnull=False).values_list("pair", flat=True)
        )

    @cached_property
    def _load(self) -> Mapping[int, int]:
        """Ratings and claims of each pair of the study that people hold."""
        held = Pair.rows.filter(pk__in=self._claims, queued_in=self.study).order_by()
        return {pk: given + self._claims[pk] for pk, given in held.values_list("pk", "people_ratings")}

    @cached_property
    def _free(self) -> PairQuerySet:
        wanted = self.study.ratings_per_pair_people
        pairs = self.new(Pair.rows.filter(queued_in=self.study, people_ratings__lt=wanted))
        if self.study.reveal_names:
            # An answer may still come from the page of a lost pair: of its prompt nothing else is offered.
            lost = self._mine.filter(state=Assignment.State.EXPIRED)
            others = Q(prompt__in=lost.values("pair__prompt")) & ~Q(pk__in=lost.values("pair"))
            pairs = pairs.exclude(others)
        return pairs.exclude(pk__in=[pk for pk, load in self._load.items() if load >= wanted])

    @property
    def has_any(self) -> bool:
        """True if a pair is free, whoever has locked it."""
        return self._free.exists()

    def choose(self, draw: _Draw) -> Pair | None:
        """Return a free pair, locked, by the study's strategy or at random. Raises QueueShortError."""
        if draw.is_random and (drawn := self.at_random(draw.rng)):
            return drawn
        chosen: Pair | None = pairing.STRATEGIES[self.study.pairing].choose(self, draw.rng)
        if self.study.queue_lacks and (chosen is None or self._rated(chosen)):
            raise QueueShortError
        return chosen

    def _rated(self, pair: Pair) -> int:
        return self._load.get(pair.pk, pair.people_ratings)

    def least_rated(self, contestants: tuple[int, int] | None = None) -> Pair | None:
        pairs = self._free
        if contestants:
            pairs = pairs.filter(first__contestant__in=contestants, second__contestant__in=contestants)
        first = _locked(pairs.exclude(pk__in=self._load).order_by("people_ratings", "turn"))
        if first is not None and first.people_ratings == 0:
            return first
        held = pairs.filter(pk__in=self._load).values_list("pk", "turn")
        best = min(((self._load[pk], turn, pk) for pk, turn in held), default=None)
        if best is None or (first and (first.people_ratings, first.turn) < best):
            return first
        return _locked(pairs.filter(pk=best[-1])) or first

    def at_random(self, rng: random.Random) -> Pair | None:
        """Return a free pair, each equally likely."""
        number, pairs = self._free.count(), self._free.order_by("people_ratings", "turn")
        for _ in range(TRIES if number else 0):
            place = rng.randrange(number)
            if pair := _locked(Pair.rows.filter(pk__in=pairs.values_list("pk")[place : place + 1])):
                return pair
        return None

    def worth(self) -> Mapping[tuple[int, int], float]:
        given = Comparison.objects.filter(study=self.study).count()
        # Anew when there are 1 % more.
        return _worth(self.study.pk, self.study.queue_of, int(100 * math.log1p(given)))


def _locked(pairs: PairQuerySet) -> Pair | None:
    return pairs.select_for_update(no_key=True, skip_locked=True, of=("self",)).first()


@lru_cache(maxsize=50)
def _worth(study: int, queue_of: str, given: int) -> Mapping[tuple[int, int], float]:
    """Return what another comparison of two contestants is worth. The arguments change when that may have."""
    row = Study.objects.get(pk=study)
    texts = Completion.objects.rateable_in(row).exclude(contestant=None)
    contestants = sorted(texts.order_by().values_list("contestant", flat=True).distinct())
    if not contestants:
        return {}
    found = worth(_wins(row, contestants))
    return {
        (a, b): float(found[i, j])
        for i, a in enumerate(contestants)
        for j, b in enumerate(contestants)
        if i < j
    }


def _wins(study: Study, contestants: list[int]) -> FloatArray:
    """How often people preferred each of these contestants to each other, ties as halves."""
    place = {contestant: number for number, contestant in enumerate(contestants)}
    wins = np.zeros((len(place), len(place)))
    given = Comparison.objects.counted(study).filter(
        status=Comparison.Status.SCORED, rater__kind=Rater.Kind.PERSON
    )
    columns = ("pair__first__contestant", "pair__second__contestant", "swapped", "points", "rating")
    for first, second, swapped, points, rating, n in (
        given.order_by().values_list(*columns).annotate(n=Count("pk"))
    ):
        if first in place and second in place and rating is not None:
            share = scales.score(rating, points, ties=True)
            assert share is not None  # noqa: S101 - with ties every rating has a score
            a, b = place[first], place[second]
            wins[a, b] += n * (1 - share if swapped else share)
            wins[b, a] += n * (share if swapped else 1 - share)
    return wins


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


def _hidden(offer: FreePairs, draw: _Draw) -> _Chosen | None:
    """The repeat or check that was drawn, if there is one for this rater."""
    if draw.purpose == Purpose.REPEAT and not offer.study.reveal_names:
        return _to_repeat(offer.study, offer.rater, draw.rng)
    if draw.purpose == Purpose.CHECK:
        return _to_check(offer, draw.rng)
    return None


def _to_repeat(study: Study, rater: Rater, rng: random.Random) -> _Chosen | None:
    """A pair this rater rated for the study and saw once, in the other order."""
    mine = Assignment.objects.filter(study=study, rater=rater, pair__isnull=False)
    done = list(
        mine.filter(state__in=["submitted", "skipped"])
        .without_battles()
        .order_by("-finished_at", "-pk")
        .values_list("pair", "swapped", "turn", "state", "purpose", "pair__use")[REPEAT_AFTER:]
    )
    again = set(mine.filter(repeat__gt=0).exclude(state="expired").values_list("pair", flat=True))
    rated = [
        (pair, swapped, turn)
        for pair, swapped, turn, state, purpose, use in done
        if (state, purpose, use) == ("submitted", Purpose.STUDY, Pair.Use.RATE) and pair not in again
    ]
    if not rated:
        return None
    pair, swapped, turn = rng.choice(rated)
    rateable = Completion.objects.rateable_in(study)
    found = Pair.objects.filter(pk=pair, first__in=rateable, second__in=rateable)
    repeat = _Chosen(pair, Purpose.REPEAT, swapped=not swapped, repeat=1, turn=turn)
    return repeat if found.exists() else None


def _to_check(offer: FreePairs, rng: random.Random) -> _Chosen | None:
    """A pair with a known answer that is new to this rater, preferably made for checks."""
    study = offer.study
    known = offer.new(Pair.objects.filter(prompt__study=study).exclude(gold="")).order_by("pk")
    offered = Completion.objects.offered().filter(prompt__study=study)
    rateable = Completion.objects.rateable_in(study)
    for pairs in (
        known.filter(use=Pair.Use.CHECK, first__in=offered, second__in=offered),
        known.filter(use=Pair.Use.RATE, first__in=rateable, second__in=rateable),
    ):
        if new := list(pairs.values_list("pk", flat=True)):
            return _Chosen(rng.choice(new), Purpose.CHECK)
    return None


def _lease(offer: FreePairs, chosen: _Chosen, draw: _Draw) -> Assignment | None:
    """Claim what was chosen; None if it can no longer be offered."""
    pair = _locked(Pair.rows.select_related("prompt", "first", "second").filter(pk=chosen.pair))
    if pair is None:
        return None
    is_for_study = chosen.purpose == Purpose.STUDY
    if is_for_study:
        turn = _wanted_turn(offer, pair, chosen.after)
    else:
        turn = offer.study.turns_of(pair.prompt)[-1] if chosen.turn is None else chosen.turn
    if turn is None:
        return None
    if pair.is_waiting:
        Pair.rows.filter(pk=pair.pk).update(is_waiting=False)
    leased = {
        "state": Assignment.State.CLAIMED,
        "leased_until": offer.now + lease_time(),
        "purpose": chosen.purpose,
        "is_random": draw.is_random and is_for_study,
    }
    own = {"rater": offer.rater, "pair": pair, "turn": turn, "repeat": chosen.repeat}
    mine = Assignment.objects.filter(**own).order_by("pk")
    if lost := list(mine.filter(state=Assignment.State.EXPIRED).values_list("pk", flat=True)):
        free = mine.filter(pk=lost[-1], state=Assignment.State.EXPIRED)
        assignment = free.select_for_update(no_key=True, skip_locked=True).first()
        if assignment is None:  # it is being answered at this moment
            return None
        # The same assignment in the same order: an answer still to come from its old page is then this one.
        # What it is for is decided anew, so that it is counted as what it was chosen for.
        Assignment.objects.filter(pk=assignment.pk).update(**leased, shown_at=None)
        assignment.refresh_from_db()
        assignment.pair = pair
        return assignment
    return Assignment.objects.create(
        study=offer.study,
        swapped=pairing.choose_order(draw.seed) if chosen.swapped is None else chosen.swapped,
        seed=draw.seed,
        **own,
        **leased,
    )


def _wanted_turn(offer: FreePairs, pair: Pair, after: int) -> int | None:
    """The first turn of a locked pair that lacks ratings, or the whole of it; None if there is none."""
    # Counted with the row locked: whoever held it before has claimed or answered by now.
    held = Counter(Assignment.objects.places(offer.now).filter(pair=pair).values_list("turn", flat=True))
    wanted, asked = offer.study.ratings_per_pair_people, offer.study.turns_of(pair.prompt)
    if pair.queued_in_id is None or pair.people_ratings + held.total() >= wanted:
        return None
    if len(asked) == 1:
        return asked[0]
    given = Comparison.objects.people_by_turn(offer.study, pair.pk)
    return next((turn for turn in asked if turn > after and given[turn] + held[turn] < wanted), None)
