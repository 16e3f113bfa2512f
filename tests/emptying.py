"""The database is emptied after a test that commits: only tables that hold rows, and nothing is made anew.

Django's own way empties every table and then does all that follows a migration anew, whatever the test wrote.
"""

from typing import Final

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import TransactionTestCase

from arena.models import invariants

KEPT: Final = {"django_content_type", "auth_permission"}
"""Migrations fill these, and no test writes to them."""


def tables_with_rows(connection: BaseDatabaseWrapper) -> list[str]:
    """The tables of models in which there is something, but for those that are kept."""
    quote = connection.ops.quote_name
    names = set(connection.introspection.django_table_names(only_existing=True, include_views=False)) - KEPT
    asked = [f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {quote(name)})" for name in sorted(names)]  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(asked))
        return [name for (name,) in cursor.fetchall()]


def empty(using: str) -> None:
    """Delete all rows at once: foreign keys are looked at when all are gone."""
    connection = connections[using]
    found = tables_with_rows(connection)
    with transaction.atomic(using), invariants.deletable(using), connection.cursor() as cursor:
        for name in found:
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(name)}")  # noqa: S608


def tear_down(case: TransactionTestCase) -> None:
    """In place of ``TransactionTestCase._fixture_teardown``."""
    for using in case._databases_names(include_mirrors=False):
        empty(using)
