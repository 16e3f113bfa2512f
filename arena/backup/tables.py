"""The tables of a backup: which there are, their order, and how a value is written down."""

import base64
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from graphlib import TopologicalSorter
from typing import Any, Final
from uuid import UUID

from django.apps import apps
from django.db import connection, models
from django.db.migrations.loader import MigrationLoader
from django.utils.duration import duration_iso_string

LEFT_OUT: Final = {"django_session"}
"""Whoever was signed in signs in again: a copy of a session would let its reader in."""

MADE_BY_MIGRATIONS: Final = {"django_content_type", "auth_permission"}
"""An empty database has rows here."""

MANY: Final = 200  # rows in memory at a time
ONE: Final = 1  # of tables that hold files, in pieces of a megabyte or whole


@dataclass(frozen=True)
class Table:
    """A table and its columns. Rows are lists of values in the order of the columns."""

    model: type[models.Model]

    @property
    def name(self) -> str:
        return self.model._meta.db_table

    @property
    def fields(self) -> "list[models.Field[Any, Any]]":
        return list(self.model._meta.concrete_fields)

    @property
    def columns(self) -> list[str]:
        return [str(field.column) for field in self.fields]

    @property
    def at_a_time(self) -> int:
        return ONE if any(isinstance(field, models.BinaryField) for field in self.fields) else MANY

    def rows(self) -> Iterator[list[Any]]:
        """Every row by its key, as what JSON can say."""
        names = [field.attname for field in self.fields]
        found = self.model._base_manager.order_by("pk").values_list(*names)
        for row in found.iterator(chunk_size=self.at_a_time):
            yield [_plain(value) for value in row]

    def insertion(self) -> tuple[str, Callable[[list[Any]], list[Any]]]:
        """The statement that adds a row, and what makes its parameters of a row of ``rows``.

        Past the ORM, which would set the times of rows that are made now.
        """
        quote = connection.ops.quote_name
        places = ", ".join(["%s"] * len(self.fields))
        columns = ", ".join(quote(name) for name in self.columns)
        statement = f"INSERT INTO {quote(self.name)} ({columns}) VALUES ({places})"  # noqa: S608
        fields = self.fields

        def parameters(row: list[Any]) -> list[Any]:
            return [_stored(field, value) for field, value in zip(fields, row, strict=True)]

        return statement, parameters


def _plain(value: Any) -> Any:
    """What ``Field.to_python`` reads again."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID):
        return str(value)
    if isinstance(value, timedelta):
        return duration_iso_string(value)
    if isinstance(value, bytes | memoryview | bytearray):
        return base64.b64encode(value).decode()
    return value


def _stored(field: "models.Field[Any, Any]", value: Any) -> Any:
    if isinstance(field, models.JSONField):
        if value is None and not field.null:
            return connection.ops.adapt_json_value(None, field.encoder)
        return field.get_db_prep_save(value, connection)
    return field.get_db_prep_save(field.to_python(value), connection)


def tables() -> list[Table]:
    """All that are backed up, each after those that its rows refer to, as our triggers look those up."""
    there = {
        model._meta.db_table: model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model._meta.db_table not in LEFT_OUT
    }
    refers: dict[str, set[str]] = {}
    for name, model in sorted(there.items()):
        others = {
            field.related_model._meta.db_table
            for field in model._meta.concrete_fields
            if field.is_relation and isinstance(field.related_model, type)
        }
        refers[name] = others - {name}
    return [Table(there[name]) for name in TopologicalSorter(refers).static_order() if name in there]


class TablesError(Exception):
    """The tables are not those of this version; the message says what to do."""


def migrations() -> list[str]:
    """The migrations that made the tables. Raises TablesError unless they are all of this version's."""
    loader = MigrationLoader(connection)
    if loader.disk_migrations.keys() - loader.applied_migrations.keys():
        raise TablesError("The database lacks tables of this version. Run: python manage.py migrate")
    return sorted(map(".".join, loader.graph.nodes))


def named_as_here(made_of: Iterable[str]) -> set[str]:
    """The migrations of a backup, where one that replaces others stands for them if all are among them."""
    names = set(made_of)
    for key, migration in MigrationLoader(None).replacements.items():
        replaced = {".".join(each) for each in migration.replaces}
        if replaced <= names:
            names = names - replaced | {".".join(key)}
    return names
