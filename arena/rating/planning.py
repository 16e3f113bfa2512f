"""A judge's plan: pairs to rate, in which orders, or single answers, written as open assignments in one go.

Two equal texts are recorded as identical, and asked about only as a control of the judge. A single answer has
one order.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations, groupby
from typing import Any, Final

from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from arena.models import Assignment, Comparison, Completion, Pair, Question, Rater, Study
from arena.models.comparisons import new_seed
from arena.models.querysets import Length
from arena.rating.plans import EVERYTHING, UNSCORED, WAITING, Plan, Planned, Showing, Target, Wanted, Which
from arena.rating.recorders import BATCH, batches, recount_turns, write_opinions
from arena.rating.tasks import TASKS
from arena.rules.pairing import choose_order
from arena.rules.turns import WHOLE, Rated
from arena.rules.turns import asked as turns_asked

NOT_ASKED: Final = "identical"  # outcome of a comparison that was recorded without asking


_Offers = dict[int, dict[bool, tuple[int, str]]]
"""By repeat and order: assignment id, or 0, and its state or outcome."""

_Known = dict[tuple[int, int], _Offers]
"""By pair or answer, and turn."""


def preview(study: Study, rater: Rater, wanted: Wanted = EVERYTHING) -> Plan:
    return _counted(chosen(study, rater, wanted))


def is_empty(study: Study, rater: Rater, wanted: Wanted) -> bool:
    return next(chosen(study, rater, wanted), None) is None


def outlook(
    study: Study, rater: Rater, *, both_orders: bool = False, kind: str = Assignment.Kind.COMPARE
) -> dict[Which, Plan]:
    """How much each kind of plan would hold now."""
    every = Wanted(both_orders=both_orders, kind=kind)
    known, candidates = _offered(study, rater, every), _candidates(study, every)

    def of(which: Which) -> Plan:
        showings = _Showings(known, study.ratings_per_pair_judges, replace(every, which=which))
        return _counted(_planned(candidates, showings, None))

    return {which: of(which) for which in Which}


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
    shared = {"study": locked, "rater": rater, "kind": wanted.kind}
    waiting = _assignments(shared, asked, pairs, state=Assignment.State.OPEN, finished_at=None)
    ended = _assignments(shared, unasked, pairs, state=Assignment.State.SUBMITTED, finished_at=timezone.now())
    write_opinions(
        Comparison,
        [_unrated(each, points) for each in ended],
        judge_ratings=[pairs[each.completions] for each, _ in unasked if not each.turn],
    )
    recount_turns(each for each in ended if each.turn)
    return Planned([row.pk for row in waiting], len(ended))


def _assignments(
    shared: Mapping[str, Any],
    showings: Iterable[tuple[Target, Showing]],
    pairs: Mapping[tuple[int, ...], int],
    **state: Any,
) -> list[Assignment]:
    rows = [
        Assignment(
            pk=showing.assignment,
            **shared,
            **_about(each, pairs),
            turn=each.turn,
            swapped=showing.swapped,
            repeat=showing.repeat,
            seed=showing.seed,
            **state,
        )
        for each, showing in showings
    ]
    for some in batches([row.pk for row in rows if row.pk is not None]):
        Assignment.objects.filter(pk__in=some).update(leased_until=None, **state)
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
        turn=assignment.turn,
        points=points,
        status=Comparison.Status.IDENTICAL,
        source=Comparison.Source.PLAN,
    )


def chosen(study: Study, rater: Rater, wanted: Wanted) -> Iterator[Target]:
    """The pairs, or answers, with something left to plan, in the order of asking."""
    candidates, known = _candidates(study, wanted), _offered(study, rater, wanted)
    if wanted.contestant is not None:
        own = set(Completion.objects.filter(contestant=wanted.contestant).values_list("pk", flat=True))
        candidates = [each for each in candidates if not own.isdisjoint(each.completions)]
    if wanted.which in (Which.FAILURES, Which.UNSCORED):
        candidates = [each for each in candidates if (each.row, each.turn) in known]
    showings = _Showings(known, study.ratings_per_pair_judges, wanted)
    return _planned(_ranked(candidates), showings, wanted.limit)


def _planned(candidates: Iterable[Target], showings: "_Showings", limit: int | None) -> Iterator[Target]:
    taken = 0
    for candidate in candidates:
        if limit is not None and taken >= limit:
            return
        if found := showings.of(candidate):
            asked = showings.asks(candidate)
            taken += asked
            yield replace(candidate, showings=found, asked=asked)


def _counted(found: Iterable[Target]) -> Plan:
    pairs = assignments = identical = 0
    for each in found:
        if each.asked:
            pairs, assignments = pairs + 1, assignments + len(each.showings)
        else:
            identical += len(each.showings)
    return Plan(pairs, assignments, identical)


def _make_pairs(found: list[Target]) -> dict[tuple[int, ...], int]:
    pairs = [each for each in found if len(each.completions) == 2]
    new = {each.completions: each.prompt for each in pairs if each.row is None}  # once for all its turns
    made = Pair.objects.made(
        Pair(prompt_id=prompt, first_id=first, second_id=second) for (first, second), prompt in new.items()
    )
    ids: dict[tuple[int, ...], int] = {(pair.first_id, pair.second_id): pair.pk for pair in made}
    return ids | {each.completions: each.row for each in pairs if each.row is not None}


class _Showings:
    """What is left to plan of each pair or answer."""

    def __init__(self, known: _Known, repeats: int, wanted: Wanted) -> None:
        self._known, self._repeats, self._wanted = known, repeats, wanted

    def asks(self, candidate: Target) -> bool:
        return not candidate.identical or self._wanted.controls

    def of(self, candidate: Target) -> tuple[Showing, ...]:
        """The showings to plan, in the order of their repeats."""
        offers = self._known.get((candidate.row or 0, candidate.turn), {})
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
            if self._wanted.kind != Assignment.Kind.COMPARE:
                order = False
            elif orders:
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


def _offered(study: Study, rater: Rater, wanted: Wanted) -> _Known:
    """Return what this rater was offered or has answered."""
    known: _Known = {}
    answered = _compared if wanted.kind == Assignment.Kind.COMPARE else _said_of_texts
    for target, repeat, swapped, assignment, outcome in answered(study, rater, wanted):
        known.setdefault(target, {}).setdefault(repeat, {})[swapped] = (assignment or 0, outcome)
    planned = Assignment.objects.filter(kind=wanted.kind).order_by("pk")
    offered = wanted.of_rater(planned, study, rater, *wanted.about)
    columns = ("pk", "pair", "completion", "turn", "repeat", "swapped", "state")
    for pk, pair, completion, turn, repeat, swapped, state in offered.values_list(*columns):
        orders = known.setdefault((pair or completion or 0, turn), {}).setdefault(repeat, {})
        orders.setdefault(swapped, (pk, state))
    return known


_Answered = Iterator[tuple[tuple[int, int], int, bool, int | None, str]]
"""Pair or answer with its turn, repeat, order, assignment and outcome."""


def _compared(study: Study, rater: Rater, wanted: Wanted) -> _Answered:
    given = wanted.of_rater(_opinions(wanted).order_by("pk"), study, rater, *wanted.about)
    for pair, turn, repeat, swapped, assignment, status, rating, reason in given.values_list(
        "pair", "turn", "repeat", "swapped", "assignment", "status", "rating", "reason"
    ):
        outcome = "submitted"
        if status == Comparison.Status.UNSCORED:
            outcome = UNSCORED
        elif status == Comparison.Status.IDENTICAL and rating is None and not reason:
            outcome = NOT_ASKED
        yield (pair, turn), repeat, swapped, assignment, outcome


def _said_of_texts(study: Study, rater: Rater, wanted: Wanted) -> _Answered:
    given = wanted.of_rater(_opinions(wanted), study, rater, *wanted.about).order_by()
    is_check = wanted.kind == Assignment.Kind.CHECK
    asked = questions(study) if is_check else Counter()
    current = {"question__is_current": True, "question__is_accepted": True} if is_check else {}
    for completion, repeat, assignment, prompt, rows, values in (
        given.filter(**current)
        .values_list("completion", "repeat", "assignment", "completion__prompt")
        .annotate(rows=Count("pk"), values=Count("value"))
    ):
        # Of scores each row is a turn, or all of them.
        is_whole = values >= asked[prompt] if is_check else values == rows
        yield (completion, 0), repeat, False, assignment, "submitted" if is_whole else UNSCORED


def _opinions(wanted: Wanted) -> QuerySet[Any]:
    return TASKS[wanted.kind].model._default_manager.filter(is_current=True)


def questions(study: Study) -> Counter[int]:
    """How many requirements raters are asked about, by prompt."""
    asked = Question.objects.asked().filter(prompt__study=study).order_by()
    return Counter(dict(asked.values_list("prompt").annotate(n=Count("pk"))))


def _candidates(study: Study, wanted: Wanted) -> list[Target]:
    rateable = wanted.of_study(Completion.objects.comparable(), study, "prompt__study", "pk")
    texts = list(rateable.order_by("prompt", "pk").values_list("prompt", "pk", "digest"))
    if wanted.kind == Assignment.Kind.COMPARE:
        return list(_pairs(study, wanted, texts))
    said = wanted.of_study(_opinions(wanted), study, "study", *wanted.about).order_by()
    people, judges = (
        set(said.filter(rater__kind=kind).values_list("completion", flat=True))
        for kind in (Rater.Kind.PERSON, Rater.Kind.JUDGE)
    )
    asked = questions(study) if wanted.kind == Assignment.Kind.CHECK else None
    return [
        Target(prompt, (pk,), pk, pk in people, pk in judges)
        for prompt, pk, _ in texts
        if asked is None or asked[prompt]
    ]


def _pairs(study: Study, wanted: Wanted, texts: Iterable[tuple[int, int, str]]) -> Iterator[Target]:
    made = wanted.of_study(Pair.objects.order_by(), study, "prompt__study", "first", "second")
    columns = ("first", "second", "pk", "people_ratings", "judge_ratings")
    known: dict[tuple[int, int], Any] = {(row[0], row[1]): row[2:] for row in made.values_list(*columns)}
    by_turn = _Turns(study, wanted)
    for prompt, some in groupby(texts, lambda text: text[0]):
        for (_, first, digest), (_, second, other) in combinations(some, 2):
            key = (first, second)
            if wanted.among is None or key in wanted.among:
                pk, people, judges = known.get(key, (None, 0, 0))
                for turn in by_turn.asked(prompt):
                    identical = digest == other or by_turn.are_alike(turn, key)
                    yield Target(prompt, key, pk, people, judges, identical, turn)


class _Turns:
    """Which turns of its conversations a study has rated, and where two answers are alike up to one."""

    def __init__(self, study: Study, wanted: Wanted) -> None:
        self._rated, self._turns = study.rated_turns, dict[int, int]()
        if self._rated == Rated.WHOLE:
            return
        texts = wanted.of_study(Completion.objects.comparable(), study, "prompt__study", "pk")
        several = texts.annotate(n=Length("prompt__turns")).filter(n__gt=1).order_by()
        self._turns |= several.values_list("prompt", "n")
        self._said = several.only("turns", "asides").in_bulk()

    def asked(self, prompt: int) -> tuple[int, ...]:
        return turns_asked(self._rated, self._turns.get(prompt, 1))

    def are_alike(self, turn: int, both: tuple[int, int]) -> bool:
        if turn == WHOLE:
            return False
        first, second = (self._said[pk].until(turn) for pk in both)
        return first == second


def _ranked(candidates: list[Target]) -> list[Target]:
    """In the order of asking: rated by people first, then by other judges, one of each prompt before two."""
    rng = random.Random()  # noqa: S311 - fairness, not secrecy
    rng.shuffle(candidates)
    candidates.sort(key=lambda each: (each.people == 0, -each.judges))
    turn_of: dict[tuple[bool, int], int] = {}
    turns: dict[tuple[int, ...], int] = {}
    for each in candidates:
        group = (each.people == 0, each.prompt)
        if each.completions not in turns:
            turns[each.completions] = turn_of[group] = turn_of.get(group, 0) + 1
    # The turns of a pair stay together, in their order.
    place = {completions: number for number, completions in enumerate(turns)}
    return sorted(
        candidates,
        key=lambda each: (each.people == 0, turns[each.completions], place[each.completions], each.turn),
    )
