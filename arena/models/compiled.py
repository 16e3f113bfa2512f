"""Statements that are built and compiled once. For a small one that takes longer than the database does."""

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from datetime import datetime
from functools import cached_property, lru_cache
from types import SimpleNamespace
from typing import Any, Final, Generic, TypeVar

from django.db import connection
from django.db.models import Field, Model, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.sql import UpdateQuery

RowT = TypeVar("RowT")

KEPT: Final = 64  # statements about different numbers of things


class Given(str):
    """The name of a value that differs from call to call."""


def given(name: str, kind: "Field[Any, Any] | None" = None) -> RawSQL:
    """The place of a value in a compiled statement; ``kind``: where it is calculated with."""
    return RawSQL("%s", [Given(name)], output_field=kind)


def several(number: int) -> list[Any]:
    """The places of as many values, which ``numbered`` names."""
    return [given(str(each)) for each in range(number)]


def numbered(values: Iterable[Any]) -> dict[str, Any]:
    return {str(number): value for number, value in enumerate(values)}


class Compiled(Generic[RowT]):
    """The rows of a query with ``given`` places, for other values at every call. It cannot prefetch."""

    def __init__(self, build: "Callable[[], QuerySet[Any, RowT]]") -> None:
        self._build = build

    @cached_property
    def _kept(self) -> tuple[Any, Any, str, tuple[Any, ...]]:
        queryset = self._build()
        compiler = queryset.query.get_compiler(connection=connection)
        sql, places = compiler.as_sql()
        converters = compiler.get_converters([each for each, *_ in compiler.select[: compiler.col_count]])
        compiler.get_converters = lambda _: converters
        return queryset._iterable_class, compiler, sql, places

    def __call__(self, **values: Any) -> list[RowT]:
        rows_of, kept, sql, places = self._kept
        params = _filled(places, values)
        compiler = copy(kept)  # with the columns found by compiling
        compiler.connection, compiler.as_sql = connection, lambda *_, **__: (sql, params)
        query = SimpleNamespace(get_compiler=lambda *_, **__: compiler)
        return list(rows_of(SimpleNamespace(query=query, db=connection.alias, _known_related_objects={})))


class CompiledFor(Generic[RowT]):
    """``Compiled`` about several things, once for each number of them; ``build`` gets their places."""

    def __init__(self, build: "Callable[[list[Any]], QuerySet[Any, RowT]]") -> None:
        self._of = lru_cache(KEPT)(lambda number: Compiled(lambda: build(several(number))))

    def __call__(self, them: Collection[Any], **values: Any) -> list[RowT]:
        return self._of(len(them))(**numbered(them), **values) if them else []


class CompiledUpdate:
    """An update of some rows, both with ``given`` places."""

    def __init__(self, rows: "Callable[[], QuerySet[Any]]", **columns: Any) -> None:
        self._rows, self._columns = rows, columns

    @cached_property
    def _kept(self) -> tuple[str, tuple[Any, ...]]:
        query: Any = self._rows().query.chain(UpdateQuery)
        query.add_update_values(self._columns)
        sql, places = query.get_compiler(connection=connection).as_sql()
        return sql, places

    def __call__(self, **values: Any) -> int:
        """How many rows there were."""
        sql, places = self._kept
        with connection.cursor() as cursor:
            cursor.execute(sql, _filled(places, values))
            return int(cursor.rowcount)


class CompiledUpdateFor:
    """``CompiledUpdate`` of several rows, once for each number of them; ``rows`` gets their places."""

    def __init__(self, rows: "Callable[[list[Any]], QuerySet[Any]]", **columns: Any) -> None:
        self._of = lru_cache(KEPT)(lambda number: CompiledUpdate(lambda: rows(several(number)), **columns))

    def __call__(self, them: Collection[Any], **values: Any) -> None:
        if them:
            self._of(len(them))(**numbered(them), **values)


def save_each(rows: Sequence[Model], columns: Sequence[str]) -> None:
    """Write some columns of rows of one table. The same statement is sent for each, and all together."""
    if not rows:
        return
    meta: Any = rows[0]._meta
    quoted = connection.ops.quote_name
    fields = [meta.get_field(name) for name in columns]
    places = ", ".join(f"{quoted(field.column)} = %s" for field in fields)
    sql = f"UPDATE {quoted(meta.db_table)} SET {places} WHERE {quoted(meta.pk.column)} = %s"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.executemany(sql, [[*_columns(row, fields), row.pk] for row in rows])


def _columns(row: Model, fields: "Iterable[Field[Any, Any]]") -> Iterable[Any]:
    return (field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields)


def _filled(places: Iterable[Any], values: dict[str, Any]) -> list[Any]:
    return [_adapted(values[each]) if isinstance(each, Given) else each for each in places]


def _adapted(value: Any) -> Any:
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value
