"""Pairs whose two completions have the same text: there is nothing to compare, and no judge is asked.

A judge's answer about such a pair is a control of the judge (which side does it take where there is none?)
and never a game. People are shown them like any other pair.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from arena.models import Assignment, Comparison, Pair, Rater, Study
from arena.models.signals import comparison_recorded

BATCH = 1000
"""Rows written in one statement."""


@dataclass(frozen=True)
class Unasked:
    """An identical pair in one order that a judge is not asked about; assignment: what it has already."""

    pair: int
    swapped: bool
    repeat: int
    seed: int
    assignment: int | None = None


def is_identical(pair: Pair) -> bool:
    """Whether both completions have the same text."""
    return pair.first.digest == pair.second.digest


@transaction.atomic
def record_identical(study: Study, rater: Rater, found: Sequence[Unasked], points: int) -> int:
    """Store a comparison without a rating for each, with its assignment ended; returns how many."""
    if not found:
        return 0
    assignments = _ended(study, rater, found)
    rows = Comparison.objects.bulk_create(
        [
            Comparison(
                study=study,
                assignment_id=assignment,
                pair_id=one.pair,
                rater=rater,
                swapped=one.swapped,
                repeat=one.repeat,
                points=points,
                status=Comparison.Status.IDENTICAL,
                source=Comparison.Source.PLAN,
            )
            for one, assignment in zip(found, assignments, strict=True)
        ],
        batch_size=BATCH,
    )
    # They count as every answer of a judge does.
    count_ratings((one.pair for one in found), "judge_ratings")
    newest = rows[-1].pk
    transaction.on_commit(
        lambda: comparison_recorded.send(sender=Comparison, study_id=study.pk, comparison_id=newest)
    )
    return len(rows)


def _ended(study: Study, rater: Rater, found: Sequence[Unasked]) -> list[int]:
    """The ids of their assignments, answered; the missing ones are made."""
    now = timezone.now()
    ended = {"state": Assignment.State.SUBMITTED, "leased_until": None, "finished_at": now}
    waiting = [one.assignment for one in found if one.assignment]
    for start in range(0, len(waiting), BATCH):
        Assignment.objects.filter(pk__in=waiting[start : start + BATCH]).update(**ended)
    rows = [
        Assignment(
            pk=one.assignment,
            study=study,
            rater=rater,
            pair_id=one.pair,
            swapped=one.swapped,
            repeat=one.repeat,
            seed=one.seed,
            **ended,
        )
        for one in found
    ]
    Assignment.objects.bulk_create([row for row in rows if row.pk is None], batch_size=BATCH)
    return [row.pk for row in rows]


def count_ratings(pairs: Iterable[int], counter: str) -> None:
    """Raise a counter of ratings of pairs by how often each is named."""
    pairs_of: dict[int, list[int]] = {}
    for pair, times in Counter(pairs).items():
        pairs_of.setdefault(times, []).append(pair)
    for times, some in pairs_of.items():
        for start in range(0, len(some), BATCH):
            rows = Pair.objects.filter(pk__in=some[start : start + BATCH])
            rows.update(**{counter: F(counter) + times})
