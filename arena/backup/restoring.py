"""Putting a backup into a database, all of it or nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.core.management.color import no_style
from django.db import DataError, IntegrityError, connection, transaction

from arena.audit.recording import Kind, record
from arena.backup.archive import Archive, ArchiveError, Manifest
from arena.backup.tables import LEFT_OUT, MADE_BY_MIGRATIONS, Table, migrations, named_as_here, tables
from arena.models import Comparison, Study, StudyEvent, invariants

BATCH_BYTES: Final = 4_000_000  # of rows in memory, besides the one that makes it more
_UNFIT: Final = (IntegrityError, DataError, ValidationError, ValueError, TypeError, IndexError, OverflowError)
"""What Python and a database raise of values that a column cannot hold."""


class RestoreError(Exception):
    """The backup is not restored and nothing is changed; the message says why."""


@dataclass(frozen=True)
class Content:
    """What is in a database, as far as a sentence says it."""

    studies: int
    accounts: int
    ratings: int

    def __str__(self) -> str:
        said = ((self.studies, "study", "studies"), (self.accounts, "account", "accounts"))
        counts = [f"{n:,} {one if n == 1 else many}" for n, one, many in said]
        return f"{', '.join(counts)} and {self.ratings:,} rating{'' if self.ratings == 1 else 's'} of pairs"


def content() -> Content:
    return Content(
        Study.objects.count(),
        get_user_model().objects.count(),
        Comparison.objects.filter(is_current=True).count(),
    )


def restore(archive: Archive, *, replace: bool) -> Content:
    """Fill the database with the backup; what was there before, where it is replaced.

    In one transaction: who kills it changes nothing. Raises RestoreError, ArchiveError and TablesError.
    """
    _require_same_tables(archive.manifest)
    archive.check()
    with transaction.atomic():
        _keep_others_out()
        before = content()
        if not replace and (filled := _first_filled()):
            raise RestoreError(
                f"The database is not empty: it has {before}, and rows in {filled}. Name an empty one in "
                "DATABASE_URL, or use --replace, which deletes everything in this one first."
            )
        _empty()
        for table in tables():
            with _in_words(f"A row of the table {table.name} cannot be stored"):
                _fill(table, archive)
        with _in_words("Rows of the backup refer to rows that it lacks"):
            connection.check_constraints()
        _continue_numbering()
        made_at = archive.manifest.moment
        record(Kind.BACKUP, None, f"Restored from the backup of {made_at}. Before: {before}.")
    ContentType.objects.clear_cache()
    return before


def _require_same_tables(manifest: Manifest) -> None:
    if set(migrations()) != named_as_here(manifest.migrations):
        ours = ("arena.", "judging.", "leaderboard.")
        last = {name.partition(".")[0]: name for name in sorted(manifest.migrations) if name.startswith(ours)}
        raise RestoreError(
            f"This backup was made by version {manifest.version} with migrations up to "
            f"{', '.join(last.values())}; this is version {settings.VERSION} with others. "
            "Install that version, restore, then upgrade."
        )
    theirs = {member.table: member.columns for member in manifest.tables}
    for table in tables():
        if sorted(theirs.pop(table.name, [])) != sorted(table.columns):
            raise ArchiveError(f"The backup lacks the table {table.name}, or some of its columns.")
    if theirs:
        raise ArchiveError(f"The backup has a table that this version does not know: {min(theirs)}.")


def _keep_others_out() -> None:
    """SQLite's transaction has the database for itself already."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {', '.join(map(connection.ops.quote_name, _all_names()))}")


def _all_names() -> list[str]:
    return sorted({table.name for table in tables()} | LEFT_OUT)


def _first_filled() -> str:
    """A table with rows; "" for none. A log of backups of the empty database counts as none."""
    passed_over = MADE_BY_MIGRATIONS | LEFT_OUT
    if not StudyEvent.objects.exclude(kind=Kind.BACKUP).exists():
        passed_over |= {StudyEvent._meta.db_table}
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        for name in sorted(set(_all_names()) - passed_over):
            cursor.execute(f"SELECT 1 FROM {quote(name)} LIMIT 1")  # noqa: S608
            if cursor.fetchone():
                return name
    return ""


def _empty() -> None:
    with invariants.deletable(), connection.cursor() as cursor:
        for statement in connection.ops.sql_flush(no_style(), _all_names(), reset_sequences=True):
            cursor.execute(statement)


def _fill(table: Table, archive: Archive) -> None:
    columns = next(member.columns for member in archive.manifest.tables if member.table == table.name)
    order = [columns.index(name) for name in table.columns]
    statement, parameters = table.insertion()
    with connection.cursor() as cursor:
        for rows in _batches(archive, table, lambda row: parameters([row[at] for at in order])):
            cursor.executemany(statement, rows)


def _batches(
    archive: Archive, table: Table, read: Callable[[list[Any]], list[Any]]
) -> Iterator[list[list[Any]]]:
    batch: list[list[Any]] = []
    held = 0
    for row, size in archive.rows(table.name):
        batch.append(read(row))
        held += size
        if held > BATCH_BYTES:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


@contextmanager
def _in_words(what: str) -> Iterator[None]:
    """A sentence for rows that this database cannot hold; that the database is away is none of them."""
    try:
        yield
    except _UNFIT as error:
        said = error.messages[0] if isinstance(error, ValidationError) else str(error)
        reason = (said.splitlines() or ["no reason given"])[0].rstrip(".")[:200]
        raise RestoreError(f"{what} ({reason}). Nothing was changed.") from error


def _continue_numbering() -> None:
    models = [table.model for table in tables()]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)
