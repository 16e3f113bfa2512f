"""A judge's plan over single answers: which to score, or to check against requirements."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Count, QuerySet

from arena.models import Answer, Assignment, Completion, Question, Rater, Score, Study
from arena.models.comparisons import Opinion, new_seed
from arena.rating.plans import UNSCORED, WAITING, Showing, Target, Wanted, Which

_Offers = dict[int, dict[int, tuple[int, str]]]
"""By completion and repeat: assignment id, or 0, and its state or outcome."""


def chosen(study: Study, rater: Rater, wanted: Wanted) -> Iterator[Target]:
    """The answers with something left to plan, in the order of asking."""
    known = _offered(study, rater, wanted)
    taken = 0
    for prompt, completion in _ranked(study, wanted):
        if wanted.limit is not None and taken >= wanted.limit:
            return
        showings = tuple(_showings(known.get(completion, {}), study.ratings_per_pair_judges, wanted.which))
        if showings:
            taken += 1
            yield Target(prompt, (completion,), None, showings)


def _showings(offers: dict[int, tuple[int, str]], repeats: int, which: Which) -> Iterator[Showing]:
    if which in (Which.FAILURES, Which.UNSCORED):
        wanted = (UNSCORED,) if which is Which.UNSCORED else WAITING
        for repeat, (assignment, state) in sorted(offers.items()):
            if state in wanted and assignment:
                yield Showing(False, repeat, new_seed(), assignment)
        return
    if which is Which.EXTEND and offers:
        return
    for repeat in range(repeats):
        assignment, state = offers.get(repeat, (0, "open"))
        if state in WAITING:
            yield Showing(False, repeat, new_seed(), assignment or None)


def _offered(study: Study, rater: Rater, wanted: Wanted) -> _Offers:
    """What this rater was offered or has answered, by completion."""
    known: _Offers = defaultdict(dict)
    planned = Assignment.objects.filter(kind=wanted.kind).order_by("pk")
    offered = wanted.of_rater(planned, study, rater, "completion")
    for pk, completion, repeat, state in offered.values_list("pk", "completion", "repeat", "state"):
        if completion is not None:
            known[completion][repeat] = (pk, state)
    for completion, repeat, assignment, is_whole in _answered(study, rater, wanted):
        known[completion][repeat] = (assignment or 0, "submitted" if is_whole else UNSCORED)
    return known


def _answered(study: Study, rater: Rater, wanted: Wanted) -> Iterator[tuple[int, int, int | None, bool]]:
    """Completion, repeat, assignment, and whether there is a value, for each requirement in a check."""
    rows = wanted.of_rater(_opinions(wanted), study, rater, "completion")
    counted = (
        rows.order_by()
        .values_list("completion", "repeat", "assignment", "completion__prompt")
        .annotate(values=Count("value"))
    )
    if wanted.kind == Assignment.Kind.SCORE:
        for completion, repeat, assignment, _, values in counted.filter(turn=0):
            yield completion, repeat, assignment, values > 0
        return
    asked = questions(study)
    for completion, repeat, assignment, prompt, values in counted.filter(
        question__is_current=True, question__is_accepted=True
    ):
        yield completion, repeat, assignment, values >= asked[prompt]


def _opinions(wanted: Wanted) -> QuerySet[Any]:
    model: type[Opinion] = Score if wanted.kind == Assignment.Kind.SCORE else Answer
    return model._default_manager.filter(is_current=True)


def questions(study: Study) -> Counter[int]:
    """How many requirements raters are asked about, by prompt."""
    asked = Question.objects.asked().filter(prompt__study=study).order_by()
    return Counter(dict(asked.values_list("prompt").annotate(n=Count("pk"))))


def _ranked(study: Study, wanted: Wanted) -> list[tuple[int, int]]:
    """Prompt and completion in the order of asking.

    What people have answered comes first, then what judges have, one of each prompt before two.
    """
    rows = wanted.of_study(_opinions(wanted), study, "study", "completion").order_by()
    by_people, by_judges = (
        set(rows.filter(rater__kind=one).values_list("completion", flat=True))
        for one in (Rater.Kind.PERSON, Rater.Kind.JUDGE)
    )
    candidates = list(_candidates(study, wanted))
    random.Random().shuffle(candidates)  # noqa: S311 - fairness, not secrecy
    candidates.sort(key=lambda each: (each[1] not in by_people, each[1] not in by_judges))
    turns = _turns((prompt, completion in by_people) for prompt, completion in candidates)
    order = sorted(
        zip(candidates, turns, strict=True), key=lambda each: (each[0][1] not in by_people, each[1])
    )
    return [candidate for candidate, _ in order]


def _turns(groups: Iterable[tuple[int, bool]]) -> list[int]:
    """For each the how-manieth of its group it is."""
    seen: Counter[tuple[int, bool]] = Counter()
    turns = []
    for group in groups:
        seen[group] += 1
        turns.append(seen[group])
    return turns


def _candidates(study: Study, wanted: Wanted) -> Iterator[tuple[int, int]]:
    rateable = wanted.of_study(Completion.objects.comparable(), study, "prompt__study", "pk")
    every = rateable.order_by("pk").values_list("prompt", "pk")
    if wanted.kind == Assignment.Kind.SCORE:
        return iter(every)
    asked = questions(study)
    return ((prompt, completion) for prompt, completion in every if asked[prompt])
