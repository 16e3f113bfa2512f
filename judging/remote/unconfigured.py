"""Judges that are not configured here: what they rate is planned as they go along.

Choosing reads the whole study, so it is done for many claims at once, with nothing locked. What was chosen is
looked at again with the study locked, before it is planned.
"""

import time
from collections import OrderedDict, deque
from datetime import timedelta
from threading import Lock
from typing import Final

from django.db import transaction

from arena.models import Assignment, Rater, Study
from arena.rating import assignments as rating
from arena.rating import planning
from arena.rating.opinions import NotAllowedError
from arena.rating.plans import Wanted
from judging.runs import work

PLANNED: Final = 32  # pairs or answers at a time
CHOSEN: Final = 32 * PLANNED
OLDEST: Final = 60.0  # seconds for which a choice holds, or 50 times as long as choosing takes
MOST_KEPT: Final = 100  # judges and kinds of tasks for which a process keeps what it has chosen

_Shown = tuple[int, ...]
_kept: OrderedDict[tuple[object, ...], tuple[float, deque[_Shown]]] = OrderedDict()
_keeping = Lock()


def lease_next(rater: Rater, study: Study, lease: timedelta) -> Assignment | None:
    """Lease what is planned next, planning more if needed; the study's tasks come in order, each to its end.

    Raises NotAllowedError if the study is closed or the judge may not rate it.
    """
    for kind in study.tasks:
        leased = _lease(rater, study, kind, frozenset(), lease)
        while not leased and (shown := _take(rater, study, kind)):
            leased = _lease(rater, study, kind, shown, lease)
        if leased:
            return Assignment.objects.for_page().get(pk=leased.pk)
    return None


@transaction.atomic
def _lease(
    rater: Rater, study: Study, kind: str, shown: frozenset[_Shown], lease: timedelta
) -> Assignment | None:
    """Plan what shows these completions, as far as it is still to be planned, and lease what comes first."""
    locked = rating.lock_open(study, rater)
    if study.imported_raters.filter(kind=Rater.Kind.JUDGE, slug=rater.slug).exists():
        raise NotAllowedError(
            f"{study.name} holds imported ratings of another judge {rater.slug}. Use a judge with another "
            "slug."
        )
    work.put_planned_aside(locked, rater)
    if shown:
        planning.plan(locked, rater, Wanted(kind=kind, among=shown), points=study.points)
    return rating.lease_planned(locked, rater, kind, lease)


def _take(rater: Rater, study: Study, kind: str) -> frozenset[_Shown]:
    """The completions of what comes next, which nobody else is given."""
    # What other than opinions changes what there is to rate raises the revision.
    key = (study.pk, study.created_at, study.revision, rater.pk, kind)
    with _keeping:
        best_before, chosen = _kept.get(key, (0.0, deque()))
    if not chosen or time.monotonic() > best_before:
        chosen = _choose(key, rater, study, kind)
    with _keeping:
        return frozenset(chosen.popleft() for _ in range(min(PLANNED, len(chosen))))


def _choose(key: tuple[object, ...], rater: Rater, study: Study, kind: str) -> deque[_Shown]:
    began = time.monotonic()
    targets = planning.chosen(study, rater, Wanted(limit=CHOSEN, kind=kind))
    chosen = deque(dict.fromkeys(each.completions for each in targets))
    now = time.monotonic()
    with _keeping:
        _kept[key] = now + max(OLDEST, 50 * (now - began)), chosen
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return chosen
