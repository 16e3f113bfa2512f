"""The stamp of what public pages show, read in one query: equal marks, equal pages.

A page follows from the data of its study, its newest snapshot, and what operators did, which is in the log.
"""

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any, Final

from django.db import connection
from django.db.models import Aggregate, Case, Model, OuterRef, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce

from arena.models import Comparison, Study, StudyEvent
from arena.models.querysets import MAY_COME_LATE
from leaderboard.models import Snapshot

Mark = tuple[Any, ...]

_SLUG: Final = "slug of the study"


def summary(rows: QuerySet[Any], number: Aggregate) -> Subquery:
    """A number of all ``rows``, which may be narrowed by OuterRef to those of a study."""
    return Subquery(rows.order_by().values(all=Value(1)).annotate(number=number).values("number"))


def newest(kind: type[Model], field: str = "pk") -> Subquery:
    """The field of the newest row of a study."""
    own = kind._default_manager.filter(study=OuterRef("pk"))
    return Subquery(own.order_by("-pk").values(field)[:1])


def _acts() -> Subquery:
    """The sum of the last numbers of acts; it grows with each act that is stored after or among them.

    Acts about any study, because judges are shared.
    """
    acts = StudyEvent.objects.acts()
    before = Subquery(acts.order_by("-pk").values("pk")[MAY_COME_LATE : MAY_COME_LATE + 1])
    return summary(acts.filter(pk__gt=Coalesce(before, 0)), Sum("pk"))


def _of_studies() -> tuple[Any, ...]:
    """What every page about a study follows from; first what decides who may see it."""
    return (
        "visibility",
        newest(Snapshot),
        "revision",
        _acts(),
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
