"""A judge's plan: pairs to rate, in which orders, or single answers, written as open assignments in one go.

Two equal texts are recorded as identical, and asked about only as a control of the judge.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from arena.models import Assignment, Comparison, Completion, Pair, Rater, Study
from arena.models.comparisons import new_seed
from arena.rating import text_planning
from arena.rating.pairing import choose_order
from arena.rating.plans import EVERYTHING, UNSCORED, WAITING, Plan, Planned, Showing, Target, Wanted, Which
from arena.rating.possible_pairs import PairKey
from arena.rating.recorders import BATCH, write_opinions

NOT_ASKED: Final = "identical"  # outcome of a comparison that was recorded without asking


@dataclass(frozen=True)
class _Candidate:
    prompt: int
    completions: PairKey
    pair: int | None
    people: int
    judges: int
    identical: bool


_Offers = dict[int, dict[bool, tuple[int, str]]]
"""By repeat and order: assignment id, or 0, and its state or outcome."""


def preview(study: Study, rater: Rater, wanted: Wanted = EVERYTHING) -> Plan:
    return _counted(chosen(study, rater, wanted))


def is_empty(study: Study, rater: Rater, wanted: Wanted) -> bool:
    if wanted.kind != Assignment.Kind.COMPARE:
        return next(text_planning.chosen(study, rater, wanted), None) is None
    candidates, showings = _open_to(study, rater, wanted)
    return not any(showings.of(each) for each in candidates)


def outlook(
    study: Study, rater: Rater, *, both_orders: bool = False, kind: str = Assignment.Kind.COMPARE
) -> dict[Which, Plan]:
    """How much each kind of plan would hold now."""
    if kind != Assignment.Kind.COMPARE:
        return {which: preview(study, rater, Wanted(which, kind=kind)) for which in Which}
    known, candidates = _offered(study, rater, EVERYTHING), _candidates(study, EVERYTHING)
    found = {}
    for which in Which:
        showings = _Showings(known, study.ratings_per_pair_judges, Wanted(which, both_orders=both_orders))
        found[which] = _counted(_planned(candidates, showings, None))
    return found


@transaction.atomic
def plan(study: Study, rater: Rater, wanted: Wanted = EVERYTHING, *, points: int = 8) -> Planned:
    """Write the open assignments of a judge's run, of one kind.

    Pairs rated by people come first, then by judges, so that all rate the same. Each is asked
    ``study.ratings_per_pair_judges`` times in alternating orders, with ``both_orders`` each time in both.
    ``points``: the scale of identical pairs, which do not count towards the limit.
    """
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    found = list(chosen(locked, rater, wanted))
    pairs = _make_pairs(found)
    asked = [(each, showing) for each in found if each.asked for showing in each.showings]
    unasked = [(each, showing) for each in found if not each.asked for showing in each.showings]
    ids = {"study_id": locked.pk, "rater_id": rater.pk, "kind": wanted.kind}
    waiting = _assignments(ids, asked, pairs, state=Assignment.State.OPEN, finished_at=None)
    ended = _assignments(ids, unasked, pairs, state=Assignment.State.SUBMITTED, finished_at=timezone.now())
    write_opinions(
        Comparison,
        [_unrated(each, points) for each in ended],
        judge_ratings=[pairs[each.completions] for each, _ in unasked],
    )
    return Planned([row.pk for row in waiting], len(ended))


def _assignments(
    ids: Mapping[str, Any],
    showings: Iterable[tuple[Target, Showing]],
    pairs: Mapping[tuple[int, ...], int],
    **state: Any,
) -> list[Assignment]:
    rows = [
        Assignment(
            pk=showing.assignment,
            **ids,
            **_about(each, pairs),
            swapped=showing.swapped,
            repeat=showing.repeat,
            seed=showing.seed,
            **state,
        )
        for each, showing in showings
    ]
    known = [row.pk for row in rows if row.pk is not None]
    for start in range(0, len(known), BATCH):
        some = Assignment.objects.filter(pk__in=known[start : start + BATCH])
        some.update(leased_until=None, **state)
    Assignment.objects.bulk_create([row for row in rows if row.pk is None], batch_size=BATCH)
    return rows


def _about(target: Target, pairs: Mapping[tuple[int, ...], int]) -> dict[str, int]:
    if len(target.completions) == 1:
        return {"completion_id": target.completions[0]}
    return {"pair_id": pairs[target.completions]}


def _unrated(assignment: Assignment, points: int) -> Comparison:
    assert assignment.pair_id is not None  # noqa: S101 - it was planned for a pair
    return Comparison(
        study_id=assignment.study_id,
        assignment=assignment,
        pair_id=assignment.pair_id,
        rater_id=assignment.rater_id,
        swapped=assignment.swapped,
        repeat=assignment.repeat,
        points=points,
        status=Comparison.Status.IDENTICAL,
        source=Comparison.Source.PLAN,
    )


def chosen(study: Study, rater: Rater, wanted: Wanted) -> Iterator[Target]:
    """The pairs, or answers, with something left to plan, in the order of asking."""
    if wanted.kind != Assignment.Kind.COMPARE:
        return text_planning.chosen(study, rater, wanted)
    candidates, showings = _open_to(study, rater, wanted)
    return _planned(_ranked(candidates), showings, wanted.limit)


def _open_to(study: Study, rater: Rater, wanted: Wanted) -> "tuple[list[_Candidate], _Showings]":
    candidates, known = _candidates(study, wanted), _offered(study, rater, wanted)
    if wanted.which in (Which.FAILURES, Which.UNSCORED):
        candidates = [each for each in candidates if each.pair in known]
    return candidates, _Showings(known, study.ratings_per_pair_judges, wanted)


def _planned(candidates: Iterable[_Candidate], showings: "_Showings", limit: int | None) -> Iterator[Target]:
    taken = 0
    for candidate in candidates:
        if limit is not None and taken >= limit:
            return
        found, asked = showings.of(candidate), showings.asks(candidate)
        if found:
            taken += asked
            yield Target(candidate.prompt, candidate.completions, candidate.pair, found, asked)


def _counted(found: Iterable[Target]) -> Plan:
    pairs = assignments = identical = 0
    for each in found:
        if each.asked:
            pairs, assignments = pairs + 1, assignments + len(each.showings)
        else:
            identical += len(each.showings)
    return Plan(pairs, assignments, identical)


def _make_pairs(found: list[Target]) -> dict[tuple[int, ...], int]:
    new = [
        Pair(prompt_id=each.prompt, first_id=each.completions[0], second_id=each.completions[1])
        for each in found
        if each.pair is None and len(each.completions) == 2
    ]
    made = Pair.objects.bulk_create(new, batch_size=BATCH)
    ids: dict[tuple[int, ...], int] = {(pair.first_id, pair.second_id): pair.pk for pair in made}
    return ids | {each.completions: each.pair for each in found if each.pair is not None}


class _Showings:
    """What is left to plan of each pair."""

    def __init__(self, known: dict[int, _Offers], repeats: int, wanted: Wanted) -> None:
        self._known, self._repeats, self._wanted = known, repeats, wanted

    def asks(self, candidate: _Candidate) -> bool:
        return not candidate.identical or self._wanted.controls

    def of(self, candidate: _Candidate) -> tuple[Showing, ...]:
        """The showings of a pair to plan, in the order of their repeats."""
        offers = self._known.get(candidate.pair or 0, {})
        which = self._wanted.which
        if which is Which.UNSCORED:
            return _those(offers, (UNSCORED,)) if self.asks(candidate) else ()
        if which is Which.FAILURES:
            return _those(offers, WAITING)
        if which is Which.EXTEND and any(
            state != NOT_ASKED for orders in offers.values() for _, state in orders.values()
        ):
            return ()
        states = (*WAITING, NOT_ASKED) if candidate.identical and self._wanted.controls else WAITING
        return tuple(self._left(offers, states))

    def _left(self, offers: _Offers, states: tuple[str, ...]) -> Iterator[Showing]:
        """Every repeat that was not offered or is in one of ``states``."""
        first_order: bool | None = None
        for repeat in range(self._repeats):
            orders = offers.get(repeat, {})
            seed = new_seed()
            if orders:
                order = next(iter(orders))
            elif first_order is not None:
                order = first_order != bool(repeat % 2)
            else:
                order = choose_order(seed)
            if first_order is None:
                first_order = order != bool(repeat % 2)
            for swapped in (order, not order) if self._wanted.both_orders else (order,):
                assignment, state = orders.get(swapped, (None, "open"))
                if state in states:
                    yield Showing(swapped, repeat, seed, assignment)
                    seed = new_seed()


def _those(offers: _Offers, states: tuple[str, ...]) -> tuple[Showing, ...]:
    return tuple(
        Showing(swapped, repeat, new_seed(), assignment)
        for repeat, orders in sorted(offers.items())
        for swapped, (assignment, state) in orders.items()
        if state in states and assignment
    )


def _offered(study: Study, rater: Rater, wanted: Wanted) -> dict[int, _Offers]:
    """What this rater was offered or has answered, by pair."""
    known: dict[int, _Offers] = {}
    given = Comparison.objects.current().order_by("pk")
    answered = wanted.of_rater(given, study, rater, "pair__first", "pair__second")
    for pair, repeat, swapped, assignment, status, rating, reason in answered.values_list(
        "pair", "repeat", "swapped", "assignment", "status", "rating", "reason"
    ):
        outcome = _outcome(status, asked=rating is not None or bool(reason))
        known.setdefault(pair, {}).setdefault(repeat, {})[swapped] = (assignment or 0, outcome)
    planned = Assignment.objects.filter(kind=Assignment.Kind.COMPARE).order_by("pk")
    offered = wanted.of_rater(planned, study, rater, "pair__first", "pair__second")
    for pk, pair_id, repeat, swapped, state in offered.values_list(
        "pk", "pair", "repeat", "swapped", "state"
    ):
        if pair_id is not None:
            orders = known.setdefault(pair_id, {}).setdefault(repeat, {})
            orders.setdefault(swapped, (pk, state))
    return known


def _outcome(status: str, *, asked: bool) -> str:
    if status == Comparison.Status.UNSCORED:
        return UNSCORED
    return NOT_ASKED if status == Comparison.Status.IDENTICAL and not asked else "submitted"


def _candidates(study: Study, wanted: Wanted) -> list[_Candidate]:
    by_prompt: dict[int, list[int]] = {}
    digests: dict[int, str] = {}
    rateable = wanted.of_study(Completion.objects.comparable(), study, "prompt__study", "pk")
    for prompt, completion, digest in rateable.order_by("prompt", "pk").values_list("prompt", "pk", "digest"):
        by_prompt.setdefault(prompt, []).append(completion)
        digests[completion] = digest
    pairs = wanted.of_study(Pair.objects.order_by(), study, "prompt__study", "first", "second")
    made = {
        (first, second): (pk, people, judges)
        for pk, first, second, people, judges in pairs.values_list(
            "pk", "first", "second", "people_ratings", "judge_ratings"
        )
    }
    found = []
    for prompt, completions in by_prompt.items():
        for key in combinations(completions, 2):
            if wanted.among is None or key in wanted.among:
                pk, people, judges = made.get(key, (None, 0, 0))
                identical = digests[key[0]] == digests[key[1]]
                found.append(_Candidate(prompt, key, pk, people, judges, identical))
    return found


def _ranked(candidates: list[_Candidate]) -> list[_Candidate]:
    """In the order of asking: rated by people first, then by other judges, one of each prompt before two."""
    rng = random.Random()  # noqa: S311 - fairness, not secrecy
    rng.shuffle(candidates)
    candidates.sort(key=lambda each: (each.people == 0, -each.judges))
    turn_of: dict[tuple[bool, int], int] = {}
    turns: dict[PairKey, int] = {}
    for each in candidates:
        group = (each.people == 0, each.prompt)
        turns[each.completions] = turn_of[group] = turn_of.get(group, 0) + 1
    return sorted(candidates, key=lambda each: (each.people == 0, turns[each.completions]))
