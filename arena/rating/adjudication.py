"""Offering a pair that raters differ about to somebody who settles it, as blind as everybody was before.

An adjudication is a comparison of its own purpose: it is kept, shown to operators, and counts on no board.
"""

from typing import Any

from django.db import transaction
from django.utils import timezone

from arena.models import Assignment, Comparison, Pair, Purpose, Rater, Study
from arena.models.comparisons import new_seed
from arena.models.querysets import ComparisonQuerySet
from arena.people.joining import rater_of
from arena.rating.services import lease_time, lock_open


def adjudications(study: Study) -> ComparisonQuerySet:
    """The decisions of a study, the newest first."""
    given = Comparison.objects.current().filter(study=study, purpose=Purpose.ADJUDICATION)
    return given.exclude(rating=None).order_by("-pk")


@transaction.atomic
def offer(study: Study, user: Any, pair: Pair) -> Assignment:
    """The assignment by which this person settles a pair: the one held already, or one leased now.

    Who has settled the pair before gets the answered one. Somebody who rated the pair as a rater sees it in
    the other order. Raises NotAllowedError where the study is closed or the person's account paused.
    """
    rater = rater_of(user)
    locked = lock_open(study, rater)
    mine = Assignment.objects.filter(rater=rater, pair=pair)
    own = mine.filter(purpose=Purpose.ADJUDICATION).order_by("-pk").first()
    if own is None:
        return _new(locked, rater, pair)
    if own.state != Assignment.State.SUBMITTED:
        own.state, own.leased_until = Assignment.State.CLAIMED, timezone.now() + lease_time()
        own.save(update_fields=["state", "leased_until"])
    return own


def _new(study: Study, rater: Rater, pair: Pair) -> Assignment:
    earlier = [
        *Assignment.objects.filter(rater=rater, pair=pair).order_by("pk").values_list("repeat", "swapped"),
        *Comparison.objects.current().filter(rater=rater, pair=pair).values_list("repeat", "swapped"),
    ]
    seed = new_seed()
    swapped = not earlier[-1][1] if earlier else bool(seed & 1)
    return Assignment.objects.create(
        study=study,
        rater=rater,
        pair=pair,
        swapped=swapped,
        seed=seed,
        repeat=max(repeat for repeat, _ in earlier) + 1 if earlier else 0,
        purpose=Purpose.ADJUDICATION,
        state=Assignment.State.CLAIMED,
        leased_until=timezone.now() + lease_time(),
    )
