"""Queries that are built and compiled once. For a small one that takes longer than the database does."""

from collections.abc import Callable
from copy import copy
from datetime import datetime
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

RowT = TypeVar("RowT")


class Given(str):
    """The name of a value that differs from call to call."""


def given(name: str) -> RawSQL:
    """The place of a value in a compiled query."""
    return RawSQL("%s", [Given(name)])


class Compiled(Generic[RowT]):
    """The rows of a query with ``given`` places, for other values at every call. It cannot prefetch."""

    def __init__(self, build: "Callable[[], QuerySet[Any, RowT]]") -> None:
        self._build = build

    @cached_property
    def _kept(self) -> tuple[Any, Any, str, tuple[Any, ...]]:
        queryset = self._build()
        compiler = queryset.query.get_compiler(connection=connection)
        return queryset._iterable_class, compiler, *compiler.as_sql()

    def __call__(self, **values: Any) -> list[RowT]:
        rows_of, kept, sql, places = self._kept
        params = [_adapted(values[each]) if isinstance(each, Given) else each for each in places]
        compiler = copy(kept)  # with the columns found by compiling
        compiler.connection, compiler.as_sql = connection, lambda *_, **__: (sql, params)
        query = SimpleNamespace(get_compiler=lambda **_: compiler)
        return list(rows_of(SimpleNamespace(query=query, db=connection.alias, _known_related_objects={})))


def _adapted(value: Any) -> Any:
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value
