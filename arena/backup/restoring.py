"""Putting a backup into a database, all of it or nothing."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.core.management.color import no_style
from django.core.serializers import deserialize
from django.core.serializers.base import DeserializationError
from django.db import DataError, IntegrityError, connection, transaction

from arena.audit.recording import Kind, record
from arena.backup.archive import (
    LEFT_OUT,
    BackupError,
    Manifest,
    checked,
    member_of,
    migrations,
    named_as_here,
    tables,
)
from arena.models import Comparison, Study, StudyEvent, invariants

MADE_BY_MIGRATIONS: Final = {"django_content_type", "auth_permission"}
"""An empty database has rows here."""

_UNFIT: Final = (
    DeserializationError,
    IntegrityError,
    DataError,
    ValidationError,
    ArithmeticError,
    ValueError,
    TypeError,
    LookupError,
)
"""Errors of Django, Python and databases about values that a column cannot hold."""


def content() -> str:
    """Tell how much is in the database."""
    studies, accounts = Study.objects.count(), get_user_model().objects.count()
    ratings = Comparison.objects.filter(is_current=True).count()
    return (
        f"{studies:,} {'study' if studies == 1 else 'studies'}, {accounts:,} account{_s(accounts)} and "
        f"{ratings:,} rating{_s(ratings)} of pairs"
    )


def _s(number: int) -> str:
    return "" if number == 1 else "s"


def restore(path: Path, *, replace: bool) -> tuple[str, Manifest]:
    """Fill the database with the backup; what was there before, where it is replaced.

    In one transaction: who kills it changes nothing. Raises BackupError.
    """
    manifest = checked(path)
    _require_same_migrations(manifest)
    with transaction.atomic():
        _keep_others_out()
        before = content()
        if not replace and (filled := _first_filled()):
            raise BackupError(
                f"The database is not empty: it has {before}, and rows in {filled}. Name an empty one in "
                "DATABASE_URL, or use --replace, which deletes everything in this one first."
            )
        _empty()
        with zipfile.ZipFile(path) as archive:
            for name in tables():
                with _in_words(f"A row of the table {name} cannot be stored"):
                    _fill(archive, member_of(name))
        with _in_words("Rows of the backup refer to rows that it lacks"):
            connection.check_constraints()
        _continue_numbering()
        record(Kind.BACKUP, None, f"Restored from the backup of {manifest.moment}. Before: {before}.")
    ContentType.objects.clear_cache()
    return before, manifest


def _require_same_migrations(manifest: Manifest) -> None:
    if set(migrations()) != named_as_here(manifest.migrations):
        ours = ("arena.", "judging.", "leaderboard.")
        last = {name.partition(".")[0]: name for name in sorted(manifest.migrations) if name.startswith(ours)}
        raise BackupError(
            f"This backup was made by version {manifest.version} with migrations up to "
            f"{', '.join(last.values())}; this is version {settings.VERSION} with others. "
            "Install that version, restore, then upgrade."
        )


def _fill(archive: zipfile.ZipFile, member: str) -> None:
    with archive.open(member) as lines:
        for row in deserialize("jsonl", lines):
            row.object.save_base(raw=True, force_insert=True)


def _keep_others_out() -> None:
    """SQLite's transaction has the database for itself already."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {', '.join(map(connection.ops.quote_name, _all_names()))}")


def _all_names() -> list[str]:
    return sorted(tables().keys() | LEFT_OUT)


def _first_filled() -> str:
    """A table with rows; "" for none. A log of backups of the empty database counts as none."""
    passed_over = set(MADE_BY_MIGRATIONS)
    if not StudyEvent.objects.exclude(kind=Kind.BACKUP).exists():
        passed_over.add(StudyEvent._meta.db_table)
    looked_at = {name: table for name, table in tables().items() if name not in passed_over}
    return next((name for name in sorted(looked_at) if looked_at[name]._base_manager.exists()), "")


def _empty() -> None:
    with invariants.deletable(), connection.cursor() as cursor:
        for statement in connection.ops.sql_flush(no_style(), _all_names(), reset_sequences=True):
            cursor.execute(statement)


@contextmanager
def _in_words(what: str) -> Iterator[None]:
    """Raise BackupError for rows that this database cannot hold, and not for a database that is away."""
    try:
        yield
    except _UNFIT as error:
        said = error.messages[0] if isinstance(error, ValidationError) else str(error)
        reason = (said.splitlines() or ["no reason given"])[0].rstrip(".")[:200]
        raise BackupError(f"{what} ({reason}). Nothing was changed.") from error


def _continue_numbering() -> None:
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), list(tables().values())):
            cursor.execute(statement)
