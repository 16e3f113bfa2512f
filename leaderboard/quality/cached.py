"""The figures of a study's raters, kept in memory until the data change."""

from collections import OrderedDict
from datetime import datetime
from threading import Lock
from typing import Final

from arena.models import Study
from leaderboard.models.querysets import data_mark
from leaderboard.quality.disagreements import Disputes, disputes
from leaderboard.quality.measures import Compared, compare, votes

IN_MEMORY: Final = 8
"""Results that a process keeps; figures of 500 raters take about a megabyte."""

Mark = tuple[int, int, int, datetime]

_kept: OrderedDict[tuple[str, int], tuple[Mark, object]] = OrderedDict()
_lock: Final = Lock()


def compared(study: Study) -> Compared:
    mark = _mark(study)
    found = _get("raters", study.pk, mark)
    if not isinstance(found, Compared):
        found = compare(votes(study))
        _put("raters", study.pk, mark, found)
    return found


def disputed(study: Study) -> Disputes:
    mark = _mark(study)
    found = _get("pairs", study.pk, mark)
    if not isinstance(found, Disputes):
        found = disputes(study, mark[0])
        _put("pairs", study.pk, mark, found)
    return found


def _mark(study: Study) -> Mark:
    """The state of the data; the time tells a study from a deleted one of the same number."""
    return (*data_mark(study), study.created_at)


def _get(what: str, study: int, mark: Mark) -> object:
    with _lock:
        kept = _kept.get((what, study))
        return kept[1] if kept and kept[0] == mark else None


def _put(what: str, study: int, mark: Mark, found: object) -> None:
    with _lock:
        _kept[what, study] = (mark, found)
        _kept.move_to_end((what, study))
        while len(_kept) > IN_MEMORY:
            _kept.popitem(last=False)
