"""The stamp of what public pages show, read in one query: equal marks, equal pages.

A page follows from the data of its study, its newest snapshot, and what operators did, which is in the log.
"""

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any, Final

from django.db import connection
from django.db.models import Aggregate, Case, Count, Model, OuterRef, QuerySet, Subquery, Value, When

from arena.models import Comparison, Study, StudyEvent
from leaderboard.models import Snapshot

Mark = tuple[Any, ...]

Kind = StudyEvent.Kind

_SLUG: Final = "slug of the study"

_SIGNING_IN: Final = (Kind.SIGNED_IN, Kind.SIGN_IN_FAILED, Kind.LOCKED_OUT)
"""Lines of the log that change no page, and that anybody may cause."""

_LATE: Final = 50
"""So many of the last lines are counted: one may be stored after others with larger numbers."""


def summary(rows: QuerySet[Any], number: Aggregate) -> Subquery:
    """A number of all ``rows``, which may be narrowed by OuterRef to those of a study."""
    return Subquery(rows.order_by().values(all=Value(1)).annotate(number=number).values("number"))


def newest(kind: type[Model], field: str = "pk") -> Subquery:
    """The field of the newest row of a study."""
    own = kind._default_manager.filter(study=OuterRef("pk"))
    return Subquery(own.order_by("-pk").values(field)[:1])


def _of_studies() -> tuple[Any, ...]:
    """What every page about a study follows from; first what decides who may see it."""
    # About any study, because judges are shared.
    acts = StudyEvent.objects.exclude(kind__in=_SIGNING_IN)
    last = Subquery(acts.order_by("-pk").values("pk")[:1])
    return (
        "visibility",
        newest(Snapshot),
        "revision",
        last,
        summary(acts.filter(pk__gt=last - _LATE), Count("pk")),
        # Single ratings are shown, as they are now, once rating has ended.
        Case(When(closed_at__isnull=False, then=newest(Comparison))),
    )


class Marks:
    """Reads the mark of a study, with what pages show ``beyond`` that of all."""

    def __init__(self, *beyond: Subquery) -> None:
        self._beyond = beyond

    @cached_property
    def _statement(self) -> tuple[str, Sequence[Any]]:
        # Compiled once: that takes longer than the query.
        rows = Study.objects.filter(slug=_SLUG).order_by().values_list(*_of_studies(), *self._beyond)
        sql, params = rows.query.sql_with_params()
        return sql, params

    def of(self, slug: str) -> Mark | None:
        """None where there is no such study."""
        sql, params = self._statement
        with connection.cursor() as cursor:
            cursor.execute(sql, [slug if value == _SLUG else value for value in params])
            found: Mark | None = cursor.fetchone()
            return found

    def for_everybody(self, slug: str, **place: Any) -> Mark | None:
        """None where not everybody may see the study, or there is nothing to see yet."""
        mark = self.of(slug)
        return mark if mark and mark[0] == Study.Visibility.PUBLIC and mark[1] else None


marks_with = cache(Marks)
"""One for all views that show the same, because its statement is compiled once."""


class MarksOfAll:
    """Reads what the first page shows of all public studies."""

    @cached_property
    def _statement(self) -> tuple[str, Sequence[Any]]:
        rows = Study.objects.public().order_by("pk").values_list("pk", *_of_studies())
        sql, params = rows.query.sql_with_params()
        return sql, params

    def for_everybody(self) -> Mark:
        with connection.cursor() as cursor:
            cursor.execute(*self._statement)
            return tuple(cursor.fetchall())
