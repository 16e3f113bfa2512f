"""Import jobs: workers check and import uploaded files, once."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, count, islice
from pathlib import Path, PurePath
from typing import Any, Final, TypeAlias

from django.core.cache import caches
from django.core.files.base import File
from django.db import OperationalError, transaction
from django.db.models import F, Sum
from django.utils import timezone
from django.utils.connection import ConnectionProxy

from arena.data.formats import table
from arena.data.formats.catalogue import (
    LEFT_OUT,
    Choice,
    Source,
    Sources,
    gather,
    is_data,
)
from arena.data.formats.columns import Known, Samples
from arena.data.formats.files import About, BrokenFileError, InputFile
from arena.data.formats.reading import Kind
from arena.data.formats.records import Place
from arena.data.formats.table import KINDS, ColumnMapping
from arena.data.importing.held import only_answers_of
from arena.data.importing.import_report import ImportReport, RowCount, storable
from arena.data.importing.imports import import_records, known_to, leaving_out
from arena.data.importing.scratch import delete_left, scratch_folder
from arena.models import Contestant, ImportChunk, ImportFile, ImportJob, Study
from arena.process import nudging
from arena.process.busy import FULL, disk_is_full, trouble

# --- The uploaded bytes, in the database, because web and workers may share no other storage.

ROWS: Final = "rows"
"""Key in a file's mapping: what its rows are, said before anybody saw its columns."""

PIECE: Final = 1024 * 1024  # bytes per row, and the most of a file in memory

cache = ConnectionProxy(caches, "progress")

Upload: TypeAlias = "File[Any]"


def store(job: ImportJob, uploads: Iterable[Upload], rows: str = "") -> None:
    """Store the files in pieces, with the kind of their ``rows`` if it is known."""
    names: set[str] = set()
    mapping = {ROWS: rows} if rows else None
    for number, upload in enumerate(uploads):
        name = _unused(Path(upload.name or "upload").name, names)
        row = ImportFile.objects.create(job=job, number=number, name=name, mapping=mapping)
        # A statement for each, so that nobody waits long.
        for position, piece in enumerate(upload.chunks(PIECE)):
            ImportChunk.objects.create(file=row, position=position, data=piece)
            row.size += len(piece)
        row.save(update_fields=["size"])


def _unused(name: str, names: set[str]) -> str:
    """A shortened and numbered name that is not among ``names``, added to them."""
    limit = ImportFile._meta.get_field("name").max_length or 0
    path = Path(name)
    numbered = (f"{path.stem} ({number}){path.suffix}" for number in count(2))
    found = next(free for each in chain([name], numbered) if (free := each[-limit:]) not in names)
    names.add(found)
    return found


@contextmanager
def unpacked(job: ImportJob) -> Iterator[list[tuple[ImportFile, InputFile]]]:
    """The job's files on disk, readable by this user only, within the context."""
    with scratch_folder() as folder:
        yield [(row, _written(row, folder)) for row in job.files.all()]


def _written(row: ImportFile, folder: Path) -> InputFile:
    path = folder / str(row.number)
    with path.open("wb") as target:
        for position in range(row.chunks.count()):
            target.write(row.chunks.values_list("data", flat=True).get(position=position))
    return InputFile(path, row.name)


def discard(job: int) -> None:
    ImportChunk.objects.filter(file__job=job).delete()


# --- Progress, in the cache, because on SQLite the transaction of an import keeps all other writers out.
# It may be lost; what counts is the state in the job's row.

logger = logging.getLogger(__name__)

BEAT_SECONDS: Final = 5
ALIVE_SECONDS: Final = 30  # silence after which a worker counts as dead
KEPT_SECONDS: Final = 24 * 3600


@dataclass(frozen=True)
class Progress:
    share: float = 0.0
    records: int = 0
    file: str = ""

    @property
    def percent(self) -> int:
        return int(100 * self.share)


def _told(method: str, job: int, what: str, *given: Any, default: Any = None) -> Any:
    """The cache's answer, or ``default`` if it fails, which must not end an import."""
    try:
        return getattr(cache, method)(f"import-{job}-{what}", *given)
    except Exception as error:
        logger.warning("The cache does not answer: %s", error)
        return default


def store_progress(job: int, progress: Progress) -> None:
    _told("set", job, "progress", progress, KEPT_SECONDS)


def progress_of(job: int) -> Progress:
    found = _told("get", job, "progress")
    return found if isinstance(found, Progress) else Progress()


def ask_to_stop(job: int) -> None:
    _told("set", job, "stop", True, KEPT_SECONDS)


def is_to_stop(job: int) -> bool:
    return bool(_told("get", job, "stop"))


def has_runner(job: int) -> bool:
    return bool(_told("get", job, "runner"))


def first_nudge(job: int) -> bool:
    """Tell whether nobody asked workers for this job lately; records that somebody does now."""
    return bool(_told("add", job, "nudged", True, ALIVE_SECONDS, default=True))


@contextmanager
def runner(job: int) -> Iterator[bool]:
    """Tell whether no other worker has this job; within the context this one has it."""
    if not _told("add", job, "runner", True, ALIVE_SECONDS, default=True):
        yield False
        return
    done = threading.Event()

    def beat() -> None:
        while not done.wait(BEAT_SECONDS):
            _told("set", job, "runner", True, ALIVE_SECONDS)

    thread = threading.Thread(target=beat, name=f"import-{job}", daemon=True)
    thread.start()
    try:
        yield True
    finally:
        done.set()
        thread.join()
        _told("delete", job, "runner")
        _told("delete", job, "nudged")


# --- What operators ask for. Tasks are named as strings, because arena.tasks imports this module.

State = ImportJob.State
TASKS: Final[dict[str, str]] = {
    State.CHECKING: "arena.tasks.check_import",
    State.APPLYING: "arena.tasks.apply_import",
}


def nudge(job: int, state: str) -> None:
    """Ask a worker to do the job's next step; a lost or doubled message does no harm."""
    nudging.nudge(TASKS[state], [job])


def start(study: Study, user: Any, uploads: Iterable[Upload], rows: str = "") -> ImportJob:
    """Store the files as a new job and request their check."""
    job = ImportJob.objects.create(study=study, user=user)
    store(job, uploads, rows)
    request_check(job)
    return job


def hold(job: ImportJob) -> None:
    """Let the files of a job wait, read by nobody, until they are released."""
    ImportJob.objects.filter(pk=job.pk, state=State.UPLOADING).update(state=State.HELD)


def release(job: ImportJob, contestant: Contestant, by: Any) -> bool:
    """Request the check of held files, which may bring answers of this contestant; False if too late."""
    ImportJob.objects.filter(pk=job.pk, state=State.HELD).update(answers_of=contestant, user=by)
    return _request(job, [State.HELD], State.CHECKING)


def held_bytes() -> int:
    held = ImportFile.objects.filter(job__state=State.HELD)
    return int(held.aggregate(sum=Sum("size", default=0))["sum"])


def request_check(job: ImportJob, files: Iterable[ImportFile] = ()) -> bool:
    """Save how ``files`` are to be read and request a check; False if it is too late."""
    return _request(job, [State.UPLOADING, State.CHECKED], State.CHECKING, files)


def request_apply(job: ImportJob, *, leave_out: bool = False) -> bool:
    """Request the import of files without errors, or without the rows that have some; False if too late.

    ``job`` is as the operator saw it: after a newer check the request has no effect.
    """
    report = job.report or {}
    if report.get("error_count") != 0 and not (leave_out and report.get("to_leave_out")):
        return False
    return _request(job, [State.CHECKED], State.APPLYING, leaves_out=leave_out)


CHECKED_AGAIN: Final = "The files were checked again in the meantime. Look at the new report first."


def request_seen(job: ImportJob, seen: str, *, leave_out: bool = False) -> str:
    """Request the import that an operator saw the check of; why not, where there is a newer check.

    ``seen`` is the ``touched_at`` of the job on the operator's page.
    """
    if job.state == State.CHECKED and seen != job.touched_at.isoformat():
        return CHECKED_AGAIN
    request_apply(job, leave_out=leave_out)
    return ""


def _request(
    job: ImportJob,
    before: list[str],
    state: str,
    files: Iterable[ImportFile] = (),
    *,
    leaves_out: bool = False,
) -> bool:
    with transaction.atomic():
        # On condition of the state before, so that of two requests one has an effect.
        rows = ImportJob.objects.filter(pk=job.pk, state__in=before, touched_at=job.touched_at)
        now = timezone.now()
        changed = rows.update(state=state, leaves_out=leaves_out, attempts=0, error="", touched_at=now)
        if not changed:
            return False
        for file in files:
            file.save(update_fields=["format_name", "mapping"])
        for what in ("progress", "stop"):  # of before
            _told("delete", job.pk, what)
        transaction.on_commit(lambda: nudge(job.pk, state))
    return True


def cancel(job: ImportJob) -> None:
    """End the job without an import, unless a worker is in the middle of one, who then ends it."""
    ask_to_stop(job.pk)
    try:
        with transaction.atomic():
            rows = ImportJob.objects.filter(pk=job.pk).select_for_update(no_key=True, skip_locked=True)
            free = rows.first()
            if free is None or free.has_ended:
                return
            end(job.pk, State.CANCELLED, STOPPED)
    except OperationalError:
        # On SQLite the worker holds the row; it ends the job at its next look.
        return
    discard(job.pk)


def end(job: int, state: str, error: str = "") -> None:
    """Record how the work on a job ended, unless the job had ended before."""
    ended_at = None if state == State.CHECKED else timezone.now()
    rows = ImportJob.objects.unended().filter(pk=job)
    rows.update(state=state, error=error, ended_at=ended_at)


# --- The sweep: lost messages, killed workers, forgotten uploads.

KEPT: Final = timedelta(hours=24)  # how long files wait for an operator


def sweep(now: datetime | None = None) -> int:
    """Ask again for jobs that no worker has, and delete abandoned uploads; returns how many jobs."""
    asked = 0
    for pk, state in ImportJob.objects.running().values_list("pk", "state"):
        if not has_runner(pk) and first_nudge(pk):
            nudge(pk, state)
            asked += 1
    _end_forgotten((now or timezone.now()) - KEPT)
    # A worker that is killed when a job has just ended leaves its files behind.
    ImportChunk.objects.exclude(file__job__in=ImportJob.objects.unended()).delete()
    delete_left()
    return asked


def _end_forgotten(before: datetime) -> None:
    waiting = ImportJob.objects.filter(state__in=[State.UPLOADING, State.CHECKED], touched_at__lt=before)
    for pk in waiting.values_list("pk", flat=True):
        end(pk, State.CANCELLED, "Nobody applied these files within 24 hours.")


# --- What workers do.


COLUMNS: Final = 200
TOP: Final = 8  # rows of which one can be chosen as the header


def sources_of(files: list[tuple[ImportFile, InputFile]]) -> Sources:
    """The sources in the files, each in the format chosen for it or recognised."""
    choices = {row.name: choice_of(row) for row, _ in files}
    return gather(
        [file for _, file in files], choices=choices, known=lambda samples: _known(files[0][0], samples)
    )


def choice_of(row: ImportFile) -> Choice:
    """How the file is to be read."""
    chosen = row.mapping or {}
    mapping = ColumnMapping.from_dict(chosen) if row.format_name == table.NAME and chosen else None
    told = dict(chosen.get("about", {}))
    contestant = told.pop("contestant", "")
    raters = told.pop("raters", {})
    about = About(told.pop("subset", ""), told.pop("judge", ""), told, contestant, raters)
    sheet, header = chosen.get("sheet", ""), chosen.get("header", "")
    return Choice(row.format_name, mapping, sheet, header, about, rows_of(row))


def sources_with_suggestions(files: list[tuple[ImportFile, InputFile]]) -> Sources:
    """The sources; stores what the columns suggest of files of which recognised formats read less."""
    sources = sources_of(files)
    suggested = False
    for row, file in files:
        if row.format_name:
            continue
        if mapping := sources.suggested.get(row.name):
            row.format_name, row.mapping = table.NAME, {**(row.mapping or {}), **mapping.to_dict()}
        elif len(files) > 1 and not _source(file, sources) and not is_data(PurePath(row.name)):
            row.format_name = LEFT_OUT  # such as a licence
        else:
            continue
        row.save(update_fields=["format_name", "mapping"])
        suggested = True
    return sources_of(files) if suggested else sources


def rows_of(row: ImportFile) -> Kind | None:
    """Return the kind of the rows, if it was said at the upload."""
    return KINDS.get((row.mapping or {}).get(ROWS, ""))


def _known(row: ImportFile, samples: Samples) -> Known:
    return known_to(Study.objects.filter(pk=row.job.study_id), samples)


def describe(row: ImportFile, file: InputFile, sources: Sources) -> dict[str, Any]:
    """Store what the file was taken for; its look, for the report."""
    source, samples = _source(file, sources), _samples(file)
    row.found_format = source.format.name if source else ""
    row.found_kind = source.kind.name.lower() if source else ""
    row.columns = storable(list(samples))
    row.save(update_fields=["found_format", "found_kind", "columns"])
    top = file.top()[:TOP] if samples else ()
    return {
        "samples": samples,
        "sheets": file.sheets,
        "known": _known(row, samples),
        "top": storable([(number, ", ".join(filter(None, cells))) for number, cells in top]),
        "header": file.header_read.choice if file.header_read else "",
    }


def _source(file: InputFile, sources: Sources) -> Source | None:
    return next((source for source in sources.sources if source.file is file), None)


def _samples(file: InputFile) -> dict[str, list[str]]:
    """The first cells by column; none if the file cannot be read."""
    try:
        return dict(islice(file.samples().items(), COLUMNS))
    except BrokenFileError:
        return {}


ATTEMPTS: Final = 3  # a job begun so often without an end is given up: it may be what kills the workers


STOPPED: Final = "Nothing was imported."
CHANGED: Final = "Nothing was imported: the study changed after the check, and now the files have errors."
OTHER_ROWS: Final = (
    "Nothing was imported: now other rows cannot be read than at the check; check the files again."
)


class _EndError(Exception):
    """The work on a job ends without a change: the job's state, and why."""


def check(job: int) -> None:
    """Check the job's files and store the report."""
    _run(job, State.CHECKING, _check)


def apply(job: int) -> None:
    """Import the job's files, once however often this is called."""
    _run(job, State.APPLYING, _apply)


def _run(pk: int, state: str, work: Callable[[ImportJob], None]) -> None:
    """Do the work of a job in this state unless another worker has it, and record its end."""
    with runner(pk) as free:
        job = ImportJob.objects.filter(pk=pk, state=state).first() if free else None
        if job is None:
            return
        try:
            _count_attempt(job)
            work(job)
        except _EndError as error:
            end(pk, *error.args)
        except Exception as error:
            if trouble(error):
                # The database is busy or away. The job keeps its state; the sweep asks for it again.
                logger.warning("Import %s is tried again: %s", pk, error)
                return
            logger.exception("Import %s failed", pk)
            reason = (
                FULL
                if disk_is_full(error)
                else f"An error in the arena stopped the import ({type(error).__name__}). Its log says more."
            )
            end(pk, State.FAILED, f"{reason} {STOPPED}")
        if not ImportJob.objects.unended().filter(pk=pk).exists():
            discard(pk)


def _count_attempt(job: ImportJob) -> None:
    """Count that the work begins. Raises _EndError after too many attempts."""
    if job.attempts >= ATTEMPTS:
        reason = f"The import was started {ATTEMPTS} times and did not finish. The worker's log may say why."
        raise _EndError(State.FAILED, f"{reason} {STOPPED}")
    ImportJob.objects.filter(pk=job.pk).update(attempts=F("attempts") + 1)


def _check(job: ImportJob) -> None:
    started = time.monotonic()
    with unpacked(job) as files:
        sources = sources_with_suggestions(files)
        looks = {row.name: describe(row, file, sources) for row, file in files}
        report = _import(job, sources, dry_run=True)
        report.looks = looks
        if report.may_leave_out:
            rest = leaving_out(sources, partial(_import, job, sources, dry_run=True), report.bad_rows)
            report.to_leave_out = rest.left_out if rest.ok else []
    ImportJob.objects.filter(pk=job.pk, state=State.CHECKING).update(
        state=State.CHECKED, report=report.to_dict(), check_seconds=time.monotonic() - started
    )


def _apply(job: ImportJob) -> None:
    with unpacked(job) as files:
        sources = sources_of(files)
        with transaction.atomic():
            # Only the holder of the row imports, and stores the end in the same transaction.
            rows = ImportJob.objects.select_for_update(no_key=True, skip_locked=True)
            held = rows.filter(pk=job.pk, state=State.APPLYING).first()
            if held is None:
                return
            report = _import(job, sources)
            if held.leaves_out and report.may_leave_out:
                report = leaving_out(sources, partial(_import, job, sources), report.bad_rows)
            if is_to_stop(job.pk):
                raise _EndError(State.CANCELLED, STOPPED)
            if report.left_out and report.left_out != ImportReport.from_dict(held.report or {}).to_leave_out:
                raise _EndError(State.CHECKED, OTHER_ROWS)
            held.report = report.to_dict()
            held.save(update_fields=["report"])
            end(held.pk, *([State.APPLIED] if report.applied else [State.CHECKED, CHANGED]))


def _import(
    job: ImportJob, sources: Sources, left_out: Sequence[RowCount] = (), *, dry_run: bool = False
) -> ImportReport:
    def look(records: int, place: Place, share: float) -> None:
        """Store the progress. Raises _EndError if somebody requested the end."""
        store_progress(job.pk, Progress(share, records, place.file))
        if is_to_stop(job.pk):
            raise _EndError(State.CANCELLED, STOPPED)

    items = sources.items()
    return import_records(
        job.study.slug,
        items if job.answers_of is None else only_answers_of(job.answers_of.name, items),
        by=job.user,
        left_out=left_out,
        dry_run=dry_run,
        progress=look,
        share=lambda: sources.progress,
    )
