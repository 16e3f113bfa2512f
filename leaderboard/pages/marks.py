"""What public pages show besides a snapshot's tables, told in one query, to know whether it has changed."""

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any, Final

from django.db import connection
from django.db.models import (
    Aggregate,
    Case,
    Model,
    OuterRef,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import MD5, Cast, JSONArray

from arena.models import Comparison, Rater, Study, StudyEvent
from judging.models import Judge, Panel
from leaderboard.models import ComparisonIndex, Refresh, Release, Snapshot

Mark = tuple[Any, ...]
"""Equal marks, equal pages."""

Beyond = Callable[[], Any]
"""Makes an expression, about a study named by OuterRef("pk"), of what one page shows besides what all do."""

_SLUG: Final = "slug of the study"


_OF_JUDGES: Final = (
    *("rater__slug", "rater__name", "provider", "endpoint__model", "protocol", "form", "points"),
    *("parameters", "wording", "samples", "temperature", "max_tokens", "options"),
)
"""The columns of a judge that pages show something of."""


class _Joined(Aggregate):
    """Texts as one, in whatever order the database has them."""

    function = "GROUP_CONCAT"
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **given: Any) -> Any:
        more = {"function": "STRING_AGG", "template": "%(function)s(%(expressions)s, ',')"}
        return self.as_sql(compiler, connection, **more, **given)


def digest(*fields: str) -> MD5:
    return MD5(Cast(JSONArray(*fields), TextField()))


def digests(rows: QuerySet[Any], *fields: str) -> Subquery:
    """Of the fields of all ``rows``, which may be narrowed by OuterRef to those of a study."""
    return Subquery(
        rows.order_by().values(all=Value(1)).annotate(mark=_Joined(digest(*fields))).values("mark")
    )


def newest(kind: type[Model], field: str = "pk") -> Subquery:
    """The field of the newest row of a study."""
    own = kind._default_manager.filter(study=OuterRef("pk"))
    return Subquery(own.order_by("-pk").values(field)[:1])


def _of_studies() -> tuple[Any, ...]:
    """Of a study: what every page about it shows, or follows from; first what decides who may see it."""
    kept_apart = ("guidelines", "consent")  # for raters
    imported = Rater.objects.filter(kind=Rater.Kind.JUDGE).exclude(facts={})
    releases = Release.objects.filter(study=OuterRef("pk"))
    fields = [field.attname for field in Study._meta.concrete_fields if field.name not in kept_apart]
    return (
        "visibility",
        newest(Snapshot),
        newest(ComparisonIndex, "version"),
        newest(Refresh, "error"),
        newest(StudyEvent),  # what operators and people change in place, such as comments they remove
        # Single ratings are shown, as they are now, once rating has ended.
        Case(When(closed_at__isnull=False, then=newest(Comparison))),
        digest(*fields),
        digests(releases, "pk", "corrected_at"),
        # Of all judges, of whom there are few: an edit shows at once.
        digests(Judge.objects.all(), *_OF_JUDGES),
        digests(Panel.objects.all(), "rater__slug", "members"),
        digests(imported, "slug", "facts"),
    )


class Marks:
    """Reads the mark of a study."""

    def __init__(self, *beyond: Beyond) -> None:
        self._beyond = beyond

    @cached_property
    def _statement(self) -> tuple[str, Sequence[Any]]:
        # Compiled once: that takes longer than the query.
        more = (make() for make in self._beyond)
        rows = Study.objects.filter(slug=_SLUG).order_by().values_list(*_of_studies(), *more)
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


@cache
def marks_with(*beyond: Beyond) -> Marks:
    """One for all views that show the same, because its statement is compiled once."""
    return Marks(*beyond)


class MarksOfAll:
    """Reads what the first page shows of all public studies."""

    @cached_property
    def _statement(self) -> tuple[str, Sequence[Any]]:
        rows = Study.objects.public().order_by("pk").values_list(*_of_studies())
        sql, params = rows.query.sql_with_params()
        return sql, params

    def for_everybody(self) -> Mark:
        with connection.cursor() as cursor:
            cursor.execute(*self._statement)
            return tuple(cursor.fetchall())
