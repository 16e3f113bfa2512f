"""Writes comparisons that follow from others, such as a panel's from its members': nobody was asked."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from arena.models import Comparison, Rater, Study
from arena.signals import comparison_recorded

BATCH = 1000
"""Rows written in one statement."""


@dataclass(frozen=True)
class Derived:
    """What follows about one showing of a pair, in presentation order.

    rating is 1..points, or None with a ``reason`` of Comparison.Reason. revises is the id of the current
    comparison that this one takes the place of, None for the first one.
    """

    pair: int
    swapped: bool
    repeat: int
    points: int
    rating: int | None
    reason: str = ""
    expected: float | None = None
    rationale: str = ""
    revises: int | None = None


@transaction.atomic
def record_derived(study: Study, rater: Rater, derived: Sequence[Derived], source: str) -> int:
    """Store them as comparisons of ``rater``; returns how many.

    They do not count as ratings of their pairs, and closing a study does not end them: they say nothing that
    was not said. Two callers at once for one rater must be kept apart by the callers.
    """
    revised = [one.revises for one in derived if one.revises is not None]
    for start in range(0, len(revised), BATCH):
        Comparison.objects.filter(pk__in=revised[start : start + BATCH]).update(is_current=False)
    rows = Comparison.objects.bulk_create(
        (
            Comparison(
                study=study,
                rater=rater,
                pair_id=one.pair,
                swapped=one.swapped,
                repeat=one.repeat,
                points=one.points,
                status=Comparison.Status.UNSCORED if one.rating is None else Comparison.Status.SCORED,
                rating=one.rating,
                reason=one.reason,
                expected=one.expected,
                rationale=one.rationale,
                revises_id=one.revises,
                source=source,
            )
            for one in derived
        ),
        batch_size=BATCH,
    )
    if rows:
        newest = rows[-1].pk
        transaction.on_commit(
            lambda: comparison_recorded.send(sender=Comparison, study_id=study.pk, comparison_id=newest)
        )
    return len(rows)
