"""What a worker does for an import job: check the files, or import them, exactly once."""

import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from django.contrib.admin.models import CHANGE, LogEntry
from django.db import transaction
from django.db.models import F

from arena.data.formats import table
from arena.data.formats.catalogue import Choice, Source, Sources, gather
from arena.data.formats.files import BrokenFileError, InputFile
from arena.data.formats.mapping import ColumnMapping, suggest
from arena.data.formats.records import Item
from arena.data.importing.imports import import_records
from arena.data.importing.report import ImportReport
from arena.data.uploads import jobs, progress, storage
from arena.data.uploads.progress import Progress
from arena.models import ImportFile, ImportJob, Study
from arena.process.busy import trouble

# From stored files to what they hold, each read as the operator said.


COLUMNS: Final = 200
"""Columns of a file that are kept for its mapping."""

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def sources_of(files: Iterable[tuple[ImportFile, InputFile]]) -> Sources:
    """What the files hold, each in the format chosen for it, or else told by its content."""
    files = list(files)
    choices = {row.name: _choice(row) for row, _ in files if row.format_name}
    return gather([file for _, file in files], choices=choices)


def sources_with_suggestions(files: Iterable[tuple[ImportFile, InputFile]]) -> Sources:
    """Like ``sources_of``; a file that nothing recognises is read as the names of its columns suggest.

    The suggestion is stored with the file, as if it had been chosen, for the operator to look at.
    """
    files = list(files)
    sources = sources_of(files)
    unknown = [(row, file) for row, file in files if not row.format_name and not _source(file, sources)]
    suggested = [(row, mapping) for row, file in unknown if (mapping := suggest(_columns(file)))]
    for row, mapping in suggested:
        row.format_name, row.mapping = table.NAME, mapping.to_dict()
        row.save(update_fields=["format_name", "mapping"])
    return sources_of(files) if suggested else sources


def _choice(row: ImportFile) -> Choice:
    return Choice(row.format_name, ColumnMapping.from_dict(row.mapping) if row.mapping else None)


def describe(row: ImportFile, file: InputFile, sources: Sources) -> None:
    """Store what the file was taken for, and its columns."""
    source = _source(file, sources)
    row.found_format = source.format.name if source else ""
    row.found_kind = source.kind.name.lower() if source else ""
    row.columns = storable(_columns(file))
    row.save(update_fields=["found_format", "found_kind", "columns"])


def _source(file: InputFile, sources: Sources) -> Source | None:
    return next((source for source in sources.sources if source.file is file), None)


def _columns(file: InputFile) -> list[str]:
    """The columns, or fields; none where the file cannot be read."""
    try:
        return list(file.columns()[:COLUMNS])
    except BrokenFileError:
        return []


def storable(value: Any) -> Any:
    """JSON values as PostgreSQL takes them: what a hostile file can bring into a message is marked."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, Mapping):
        return {storable(key): storable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [storable(entry) for entry in value]
    return value


logger = logging.getLogger(__name__)

State = ImportJob.State

ATTEMPTS: Final = 3
"""A job that was begun so often without an end is given up: it may be what kills the workers."""

LOOK_EVERY: Final = 500
"""Records between two looks at whether to stop."""


class _StoppedError(Exception):
    """Somebody wants the job to end."""


def check(job: int) -> None:
    """Check the job's files and store the report; nothing else is changed."""
    _run(job, State.CHECKING, _check)


def apply(job: int) -> None:
    """Import the job's files. However often this is called, they are imported once."""
    _run(job, State.APPLYING, _apply)


def summary(report: ImportReport) -> str:
    """What an import added, as a sentence."""
    parts = [f"{counts.added:,} {kind}" for kind, counts in report.counts.items() if counts.added]
    return f"Imported: {', '.join(parts)}." if parts else "Imported: nothing was new."


def _run(pk: int, state: str, work: Callable[[ImportJob], None]) -> None:
    """Do the work of a job in this state, unless another worker is at it; settle how it ends."""
    with progress.runner(pk) as free:
        job = ImportJob.objects.filter(pk=pk, state=state).first() if free else None
        if job is None:
            return
        try:
            if _may_begin(job):
                work(job)
        except _StoppedError:
            jobs.end(pk, State.CANCELLED, "Nothing was imported.")
        except Exception as error:
            if trouble(error):
                # The database is busy or away. The job stands as it stood; the sweep asks for it again.
                logger.warning("Import %s is tried again: %s", pk, error)
                return
            logger.exception("Import %s failed", pk)
            reason = f"The arena met an error of its own ({type(error).__name__}); its log says more."
            jobs.end(pk, State.FAILED, f"{reason} Nothing was imported.")
        if not ImportJob.objects.unended().filter(pk=pk).exists():
            storage.discard(pk)


def _may_begin(job: ImportJob) -> bool:
    """Count the attempt; a job with too many ends here."""
    if job.attempts >= ATTEMPTS:
        reason = f"This was begun {ATTEMPTS} times and never came to its end; the worker's log may say why."
        jobs.end(job.pk, State.FAILED, f"{reason} Nothing was imported.")
        return False
    ImportJob.objects.filter(pk=job.pk).update(attempts=F("attempts") + 1)
    return True


def _check(job: ImportJob) -> None:
    started = time.monotonic()
    with storage.unpacked(job) as files:
        sources = sources_with_suggestions(files)
        for row, file in files:
            describe(row, file, sources)
        report = import_records(job.study.slug, _watched(job, sources), dry_run=True)
    ImportJob.objects.filter(pk=job.pk, state=State.CHECKING).update(
        state=State.CHECKED, report=storable(report.to_dict()), check_seconds=time.monotonic() - started
    )


def _apply(job: ImportJob) -> None:
    with storage.unpacked(job) as files:
        sources = sources_of(files)
        with transaction.atomic():
            # Whoever holds the row imports; that it is done becomes true together with what was imported.
            rows = ImportJob.objects.select_for_update(no_key=True, skip_locked=True)
            held = rows.filter(pk=job.pk, state=State.APPLYING).first()
            if held is None:
                return
            report = import_records(job.study.slug, _watched(job, sources))
            if progress.is_to_stop(job.pk):
                raise _StoppedError
            _settle(held, report)


def _settle(job: ImportJob, report: ImportReport) -> None:
    """Store what the import came to, as part of it."""
    job.report = storable(report.to_dict())
    job.save(update_fields=["report"])
    if report.applied:
        jobs.end(job.pk, State.APPLIED)
        _log(job, summary(report))
    else:
        error = "Nothing was imported: the study has changed since the check, and now there are errors."
        ImportJob.objects.filter(pk=job.pk).update(state=State.CHECKED, error=error)


def _log(job: ImportJob, message: str) -> None:
    """Put the import into the study's history in the admin."""
    if job.user_id is not None:
        studies = Study.objects.filter(pk=job.study_id)
        LogEntry.objects.log_actions(job.user_id, studies, CHANGE, message, single_object=True)


def _watched(job: ImportJob, sources: Sources) -> Iterator[Item]:
    """What the sources hold; tells how far it is and ends with _StoppedError where that is wanted."""
    for count, item in enumerate(sources.items()):
        if count % LOOK_EVERY == 0:
            if progress.is_to_stop(job.pk):
                raise _StoppedError
            progress.tell(job.pk, Progress(sources.progress, count, item.place.file))
        yield item
    progress.tell(job.pk, Progress(1.0, progress.progress_of(job.pk).records))
