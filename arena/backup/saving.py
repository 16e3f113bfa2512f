"""Saving the whole arena as it was at one moment, while people go on rating."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from arena.backup.archive import Manifest, Writer
from arena.backup.tables import migrations, tables


def save(file: IO[bytes]) -> Manifest:
    """Write all tables. Raises TablesError before anything is written."""
    made_of = migrations()
    writer = Writer(file)
    with _one_moment():
        made_at = timezone.now().isoformat()
        for table in tables():
            writer.add(table.name, table.columns, table.rows())
    return writer.close(
        version=settings.VERSION, made_at=made_at, database=connection.vendor, migrations=made_of
    )


@contextmanager
def _one_moment() -> Iterator[None]:
    """A transaction that sees the database as of its first query, and in whose way nobody stands."""
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    else:
        # Not ``atomic``: it would take SQLite's only lock for writing.
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                cursor.execute("SELECT 1 FROM django_migrations")  # begins the view; BEGIN alone does not
                yield
            finally:
                cursor.execute("ROLLBACK")
