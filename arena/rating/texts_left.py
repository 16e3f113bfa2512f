"""How many single texts a person may still score or check."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from hashlib import sha256
from typing import Any, Final, TypeVar, cast

from django.core.cache import caches
from django.db.models import Count

from arena.models import Assignment, Completion, Rater, Study
from arena.rating.offering_texts import (
    asked_later,
    asked_texts,
    given,
    opinions,
    pairs_of,
    text_tasks,
)

BEHIND: Final = 5.0
"""Seconds by which numbers of what is left may be out of date."""

Wanted = Mapping[str, frozenset[int]]
"""The texts that lack opinions of people, by what is asked about them."""

T = TypeVar("T")


def recent(what: str, about: object, count: Callable[[], T]) -> T:
    """Return what was counted ``about`` something in the last seconds, or count it now."""
    name = f"{what}-{sha256(repr(about).encode()).hexdigest()}"
    found: Any = caches["counts"].get_or_set(name, count, BEHIND)
    return cast("T", found)


def texts_left(rater: Rater, study: Study, pairs_left: Collection[int] = ()) -> int:
    """``pairs_left``: prompts of which this person is still to be offered a pair."""
    wanted, asked = _wanted(study), text_tasks(study)
    said = {
        kind: set(opinions(kind).filter(study=study, rater=rater).values_list("completion", flat=True))
        for kind in asked
    }
    offered: dict[str, set[int]] = defaultdict(set)
    skipped: dict[str, set[int]] = defaultdict(set)
    mine = Assignment.objects.filter(study=study, rater=rater).order_by()
    texts = mine.filter(completion__isnull=False)
    for completion, kind, state in texts.values_list("completion", "kind", "state"):
        (skipped if state == Assignment.State.SKIPPED else offered)[kind].add(completion)
    named, left = _named(rater, study, pairs_left), 0
    for kind in asked:
        later = asked_later(study, kind)
        opened = [offered[each] | skipped[each] for each in later]
        put_aside = [skipped[each] for each in asked if each not in later]
        left += len(wanted[kind].difference(said[kind], named[kind], *opened, *put_aside))
    return left


def _named(rater: Rater, study: Study, pairs_left: Collection[int]) -> Mapping[str, frozenset[int]]:
    """By task the texts of prompts whose names this person has seen, or will have seen by then."""
    if not study.reveal_names:
        return defaultdict(frozenset)
    texts = Completion.objects.filter(prompt__study=study).order_by().values_list("pk", flat=True)
    seen = frozenset(texts.filter(prompt__in=pairs_of(rater).values("pair__prompt")))
    soon = seen.union(texts.filter(prompt__in=pairs_left))
    before = study.tasks[: study.tasks.index(Assignment.Kind.COMPARE)] if study.compares else study.tasks
    return {kind: seen if kind in before else soon for kind in text_tasks(study)}


def _wanted(study: Study) -> Wanted:
    # What else changes the texts raises the revision.
    places, asked = study.ratings_per_pair_people, tuple(text_tasks(study))
    key = (study.pk, study.created_at, study.revision, study.naming, study.thinking, places, asked)
    return recent("texts-left", key, lambda: {kind: _lacking(study, kind) for kind in asked})


def _lacking(study: Study, kind: str) -> frozenset[int]:
    counts = (
        given(study, kind)
        .filter(study=study)
        .values_list("completion")
        .annotate(n=Count("rater", distinct=True))
    )
    full = counts.filter(n__gte=study.ratings_per_pair_people).values_list("completion", flat=True)
    return frozenset(asked_texts(study, kind).values_list("pk", flat=True)) - frozenset(full)
