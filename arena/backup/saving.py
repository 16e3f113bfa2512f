"""Saving the whole arena as it was at one moment, while people go on rating."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import IO, Any

from django.conf import settings
from django.core.serializers import serialize
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, models, transaction
from django.utils import timezone

from arena.backup.archive import MANIFEST, Manifest, member_of, migrations, tables
from arena.files.output import NewZip


class _Exact(DjangoJSONEncoder):
    """Django's, but for the microseconds of times, which it leaves out."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if isinstance(o, datetime) else super().default(o)


def save(file: IO[bytes]) -> Manifest:
    """Write all tables. Raises BackupError before anything is written."""
    made_of = migrations()
    target, counts = NewZip(file), {}
    with _one_moment():
        made_at = timezone.now().isoformat()
        for name, table in tables().items():
            with target.open(member_of(name), "w", force_zip64=True) as member:
                _write(table, member)
            counts[name] = table._base_manager.count()
    manifest = Manifest(settings.VERSION, made_at, made_of, counts)
    target.writestr(MANIFEST, manifest.as_json())
    target.close()
    return manifest


def _write(table: type[models.Model], member: IO[bytes]) -> None:
    """Write every row by its key; a few are in memory at a time, of files only one."""
    fields = table._meta.concrete_fields
    has_files = any(isinstance(field, models.BinaryField) for field in fields)
    rows = table._base_manager.order_by("pk").iterator(chunk_size=1 if has_files else 200)
    with io.TextIOWrapper(member, encoding="utf-8") as text:
        serialize("jsonl", rows, stream=text, fields=[field.name for field in fields], cls=_Exact)


@contextmanager
def _one_moment() -> Iterator[None]:
    """Read the database as of the first query, in nobody's way."""
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
