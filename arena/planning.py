"""A judge's plan: which pairs it is to rate, in which orders, written as open assignments in one go.

People's next pair is chosen at the moment of asking (arena.services.claim); a judge's work is known before.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from django.db import transaction

from arena import pairing
from arena.models import Assignment, Comparison, Completion, Pair, Rater, Study
from arena.models.comparisons import new_seed

BATCH = 1000
"""Rows written in one statement."""

WAITING = ("open", "failed", "expired")
"""States of an assignment that has no answer and nobody working on it: it is planned again, not anew."""


@dataclass(frozen=True)
class Showing:
    """A pair in one order with one repeat number, and the assignment it has already, if any."""

    swapped: bool
    repeat: int
    seed: int
    assignment: int | None = None


@dataclass(frozen=True)
class PlannedPair:
    """A pair to rate. pair is its id, None where nobody was offered it before."""

    prompt: int
    completions: pairing.PairKey
    pair: int | None
    showings: tuple[Showing, ...]


@dataclass(frozen=True)
class Plan:
    """What a run would ask: how many pairs, and how many assignments (a pair in both orders is two)."""

    pairs: int
    assignments: int


@dataclass(frozen=True)
class _Candidate:
    prompt: int
    completions: pairing.PairKey
    pair: int | None
    people: int
    judges: int


_Known = dict[tuple[int, int], dict[bool, tuple[int, str]]]
"""By pair and repeat: presentation order -> (assignment id or 0, state) of what the rater was offered."""


def preview(study: Study, rater: Rater, *, limit: int | None = None, both_orders: bool = False) -> Plan:
    """What ``plan`` would write, without writing it."""
    chosen = list(_choose(study, rater, limit, both_orders))
    return Plan(len(chosen), sum(len(pair.showings) for pair in chosen))


@transaction.atomic
def plan(study: Study, rater: Rater, *, limit: int | None = None, both_orders: bool = False) -> list[int]:
    """Write the open assignments of a judge's run; returns their ids in the order of asking.

    Pairs rated by people come first, so that judge and people rate the same pairs; then the least rated of
    the rest. At most ``limit`` pairs. Every pair is asked ``study.ratings_per_pair_judges`` times, in
    alternating orders; with ``both_orders`` each time in both. What the rater has answered is never planned
    again; its assignments that were left open or failed are taken up again.
    """
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    chosen = list(_choose(locked, rater, limit, both_orders))
    pairs = _make_pairs(chosen)
    reopened = [showing.assignment for each in chosen for showing in each.showings if showing.assignment]
    for start in range(0, len(reopened), BATCH):
        Assignment.objects.filter(pk__in=reopened[start : start + BATCH]).update(
            state=Assignment.State.OPEN, leased_until=None, finished_at=None
        )
    rows = [
        Assignment(
            pk=showing.assignment,
            study=locked,
            rater=rater,
            pair_id=pairs[each.completions],
            swapped=showing.swapped,
            repeat=showing.repeat,
            seed=showing.seed,
            state=Assignment.State.OPEN,
        )
        for each in chosen
        for showing in each.showings
    ]
    Assignment.objects.bulk_create([row for row in rows if row.pk is None], batch_size=BATCH)
    return [row.pk for row in rows]


def _make_pairs(chosen: list[PlannedPair]) -> dict[pairing.PairKey, int]:
    """Pair ids by completions; the missing ones are made."""
    new = [
        Pair(prompt_id=each.prompt, first_id=each.completions[0], second_id=each.completions[1])
        for each in chosen
        if each.pair is None
    ]
    made = Pair.objects.bulk_create(new, batch_size=BATCH)
    ids = {(pair.first_id, pair.second_id): pair.pk for pair in made}
    return ids | {each.completions: each.pair for each in chosen if each.pair is not None}


def _choose(study: Study, rater: Rater, limit: int | None, both_orders: bool) -> Iterator[PlannedPair]:
    """The pairs of which something is left to ask, with the orders to ask it in."""
    known = _offered(study, rater)
    imbalance = sum(
        -1 if swapped else 1 for orders in known.values() for swapped in orders
    )  # straight minus swapped, kept up to date below
    taken = 0
    for candidate in _ranked(list(_candidates(study))):
        if limit is not None and taken >= limit:
            return
        showings = []
        first_order: bool | None = None
        for repeat in range(study.ratings_per_pair_judges):
            orders = known.get((candidate.pair or 0, repeat), {})
            seed = new_seed()
            if orders:
                order = next(iter(orders))
            elif first_order is not None:
                order = first_order != bool(repeat % 2)
            else:
                order = pairing.choose_order(seed, pair_imbalance=0, rater_imbalance=imbalance)
            if first_order is None:
                first_order = order != bool(repeat % 2)
            for swapped in (order, not order) if both_orders else (order,):
                assignment, state = orders.get(swapped, (None, "open"))
                if state in WAITING:
                    showings.append(Showing(swapped, repeat, seed, assignment))
                    seed = new_seed()
                    if assignment is None:
                        imbalance += -1 if swapped else 1
        if showings:
            taken += 1
            yield PlannedPair(candidate.prompt, candidate.completions, candidate.pair, tuple(showings))


def _offered(study: Study, rater: Rater) -> _Known:
    """Everything this rater was offered or has answered, lost leases of people's kind included."""
    known: _Known = {}
    answered = Comparison.objects.current().filter(study=study, rater=rater).order_by("pk")
    for pair, repeat, swapped in answered.values_list("pair", "repeat", "swapped"):
        known.setdefault((pair, repeat), {})[swapped] = (0, "submitted")
    offered = Assignment.objects.filter(study=study, rater=rater, kind=Assignment.Kind.COMPARE).order_by("pk")
    for pk, pair_id, repeat, swapped, state in offered.values_list(
        "pk", "pair", "repeat", "swapped", "state"
    ):
        if pair_id is not None:
            known.setdefault((pair_id, repeat), {}).setdefault(swapped, (pk, state))
    return known


def _candidates(study: Study) -> Iterator[_Candidate]:
    """Every pair that can be shown: both texts and the prompt known, current and of active contestants."""
    by_prompt: dict[int, list[int]] = {}
    rateable = Completion.objects.rateable().filter(prompt__study=study).exclude(prompt__turns=[])
    for prompt, completion in rateable.order_by("prompt", "pk").values_list("prompt", "pk"):
        by_prompt.setdefault(prompt, []).append(completion)
    made = {
        (first, second): (pk, people, judges)
        for pk, first, second, people, judges in Pair.objects.filter(prompt__study=study)
        .order_by()
        .values_list("pk", "first", "second", "people_ratings", "judge_ratings")
    }
    for prompt, completions in by_prompt.items():
        for key in combinations(completions, 2):
            pk, people, judges = made.get(key, (None, 0, 0))
            yield _Candidate(prompt, key, pk, people, judges)


def _ranked(candidates: list[_Candidate]) -> list[_Candidate]:
    """In the order of asking: rated by people first, then the least rated, one of each prompt before two."""
    rng = random.Random()  # noqa: S311 - fairness, not secrecy
    rng.shuffle(candidates)
    candidates.sort(key=lambda each: (each.people == 0, each.people + each.judges))
    turn_of: dict[tuple[bool, int], int] = {}
    turns: dict[pairing.PairKey, int] = {}
    for each in candidates:
        group = (each.people == 0, each.prompt)
        turns[each.completions] = turn_of[group] = turn_of.get(group, 0) + 1
    return sorted(candidates, key=lambda each: (each.people == 0, turns[each.completions]))
