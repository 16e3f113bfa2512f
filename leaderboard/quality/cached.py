"""The figures of a study's raters, kept in memory until the data change."""

from datetime import datetime
from functools import lru_cache
from typing import Final

from arena.models import Comparison, Rater, Study
from leaderboard.quality.disagreements import Disputes, disputes
from leaderboard.quality.measures import Compared, compare, votes

IN_MEMORY: Final = 4
"""Results of each kind that a process keeps; figures of 500 raters take about a megabyte."""

Mark = tuple[int, int, int, datetime]


def compared(study: Study) -> Compared:
    return _compared(study, _mark(study))


def disputed(study: Study) -> Disputes:
    return _disputed(study, _mark(study))


def _mark(study: Study) -> Mark:
    """The state of all ratings, also of those that no leaderboard counts yet.

    The time tells a study from a deleted one of the same number.
    """
    revision = Study.objects.values_list("revision", flat=True).get(pk=study.pk)
    return (revision, *Comparison.objects.filter(study=study).watermark(), study.created_at)


@lru_cache(maxsize=IN_MEMORY)
def _compared(study: Study, mark: Mark) -> Compared:
    visitors = Rater.objects.in_study(study).filter(is_visitor=True)
    return compare(votes(study), visitors.values_list("pk", flat=True))


@lru_cache(maxsize=IN_MEMORY)
def _disputed(study: Study, mark: Mark) -> Disputes:
    return disputes(study, mark[0])
