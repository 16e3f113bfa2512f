"""The tables of a backup in their order, and the migrations that made them."""

from collections.abc import Iterable
from graphlib import TopologicalSorter
from typing import Final

from django.apps import apps
from django.db import connection, models
from django.db.migrations.loader import MigrationLoader

LEFT_OUT: Final = {"django_session"}
"""Whoever was signed in signs in again: a copy of a session would let its reader in."""


def tables() -> dict[str, type[models.Model]]:
    """Models by table, without those left out, each after the ones it refers to, which triggers look up."""
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
    return {name: there[name] for name in TopologicalSorter(refers).static_order() if name in there}


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
