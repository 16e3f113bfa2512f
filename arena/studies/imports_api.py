"""Importing files over the API: upload, check, apply. Workers do the work, as for the page."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Final

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponseBase
from ninja import Field, File, Form, Router, Schema, Status
from ninja.decorators import decorate_view
from ninja.errors import HttpError
from ninja.files import UploadedFile

from arena.api.auth import account_of, operated_study
from arena.api.schemas import ErrorOut, Name, written_out
from arena.data.formats.table import KINDS, NAME
from arena.data.importing.import_report import ImportReport
from arena.data.uploads import jobs
from arena.data.uploads.forms import FileForm, QuotaHandler, file_forms, too_much, within_bounds
from arena.models import ImportFile, ImportJob
from arena.pages.filled import FormError, filled
from arena.studies.api import MISSING, REFUSALS, Slug

router = Router(tags=["importing"])
State = ImportJob.State
Kind = Annotated[Name, Field(pattern=f"^({'|'.join(KINDS)})$")]
Texts = dict[Name, Name]


class CountsOut(Schema):
    """Rows of one kind, by what an import does or did with them."""

    kind: str
    added: int
    unchanged: int
    updated: int
    versions: int = Field(description="New versions of texts that somebody rated.")
    empty: int
    failed: int


class ProblemOut(Schema):
    """What cannot be read, and where."""

    file: str
    line: int | None
    field: str
    reason: str


class NoteOut(Schema):
    file: str
    line: int | None
    text: str


class ReportOut(Schema):
    """What the last check found, or the import did."""

    records: int
    ok: bool
    counts: list[CountsOut]
    error_count: int
    errors: list[ProblemOut] = Field(description="The first thousand.")
    rows_to_leave_out: int = Field(description="That an import with leave_out would not read.")
    rows_left_out: int
    notes: list[NoteOut]
    missing: int = Field(description="Answers that models lack.")

    @classmethod
    def of(cls, report: ImportReport) -> "ReportOut":
        counted = [
            CountsOut(
                kind=kind,
                **{name: getattr(counts, name) for name in CountsOut.model_fields if name != "kind"},
            )
            for kind, counts in report.counts.items()
            if counts.written or counts.unchanged
        ]
        places = [(one.place, one.field, one.reason) for one in report.errors]
        columns = ("records", "ok", "error_count", "rows_to_leave_out", "rows_left_out")
        return cls(
            **{name: getattr(report, name) for name in columns},
            counts=counted,
            errors=[
                ProblemOut(file=place.file, line=place.line or None, field=field, reason=reason)
                for place, field, reason in places
            ],
            notes=[
                NoteOut(file=one.place.file, line=one.place.line or None, text=one.text)
                for one in report.notes
            ],
            missing=report.missing.count,
        )


class FileOut(Schema):
    """A file, what it is taken for, and how it can be read otherwise."""

    name: str
    size: int
    format: str = Field(description="Chosen; empty: detected.")
    found_format: str
    found_kind: str
    columns: list[str]
    samples: dict[str, list[str]]
    kind: str = Field(description="What a row is, of a table whose columns have to be known.")
    meanings: dict[str, str] = Field(description="Fields by column, as guessed or chosen.")
    values: dict[str, str] = Field(description="Meanings by value of the verdict, as known or chosen.")
    question: str = Field(description="The one thing that has to be said; empty if nothing.")


class ImportOut(Schema):
    """An import and its files. Nothing is stored in the study until it is applied."""

    id: int
    study: str
    state: Annotated[State, written_out(State)]
    error: str = Field(description="Why nothing was imported.")
    progress: float = Field(description="Share of the work that is done, while it runs.")
    seen: str = Field(description="Names this check: send it to apply what you have seen.")
    files: list[FileOut]
    report: ReportOut | None
    created_at: datetime
    ended_at: datetime | None

    @classmethod
    def of(cls, job: ImportJob) -> "ImportOut":
        job.refresh_from_db()
        report = ImportReport.from_dict(job.report) if job.report else None
        columns = ("id", "state", "error", "created_at", "ended_at")
        return cls(
            **{name: getattr(job, name) for name in columns},
            study=job.study.slug,
            progress=1 if job.has_ended else jobs.progress_of(job.pk).share,
            seen=job.touched_at.isoformat(),
            files=[_told(form) for form in file_forms(job.files.all(), report)],
            report=ReportOut.of(report) if report else None,
        )


def _told(form: FileForm) -> FileOut:
    row = form.row
    meanings = form.column_rows() if form.takes_mapping else ()
    return FileOut(
        name=row.name,
        size=row.size,
        format=row.format_name,
        found_format=row.found_format,
        found_kind=row.found_kind,
        columns=row.columns,
        samples={name: list(cells) for name, cells in form.samples.items()},
        kind=form["kind"].value() if form.takes_mapping else "",
        meanings={name: meaning.value() for name, _, meaning in meanings if meaning.value()},
        values={value: meaning.value() or "" for value, _, meaning in form.meaning_rows()},
        question=form.question.text if form.question else "",
    )


class ChoicesIn(Schema):
    """How one file is to be read; what is left out stays as it is."""

    model_config = {"extra": "forbid"}

    name: Name = Field(max_length=255, description="Of the file.")
    format: Name | None = Field(None, max_length=40, description='As detected: ""; of any columns: "table".')
    kind: Kind | None = Field(None, description="What a row of a table is.")
    columns: Texts = Field(
        {}, description='Fields by column; "own" is a model with its answers, "" is unused.'
    )
    constants: Texts = Field({}, description="Values that all rows have, by field.")
    values: Texts = Field({}, description="Meanings by value of the verdict.")
    raters: Texts = Field({}, description="person or judge by rater.")
    answer: Name | None = Field(None, max_length=200, description="To the question about the file.")
    sheet: Name | None = Field(None, max_length=200)
    header: Name | None = Field(None, max_length=20)
    subset: Name | None = Field(None, max_length=100)
    contestant: Name | None = Field(None, max_length=100)
    judge: Name | None = Field(None, max_length=100)
    model: Name | None = Field(None, max_length=100)
    protocol: Name | None = Field(None, max_length=100)


class CheckIn(Schema):
    """How files are to be read."""

    model_config = {
        "extra": "forbid",
        "json_schema_extra": {
            "examples": [
                {"files": [{"name": "answers.csv", "kind": "completions", "columns": {"q": "instruction"}}]}
            ]
        },
    }

    files: list[ChoicesIn] = Field([], max_length=1000)


class ApplyIn(Schema):
    """What is to be imported."""

    model_config = {"extra": "forbid", "json_schema_extra": {"examples": [{"leave_out": False}]}}

    leave_out: bool = Field(False, strict=True, description="Leave rows with errors out.")
    seen: Name | None = Field(
        None, max_length=40, description="Of the import you looked at; with it a newer check is not applied."
    )


def _limited(run: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Set the limit of an upload before anything reads it."""

    def checked(request: HttpRequest, **values: Any) -> HttpResponseBase:
        quota = QuotaHandler()
        request.upload_handlers = [quota, *request.upload_handlers]
        request.quota = quota  # type: ignore[attr-defined]
        return run(request, **values)

    return checked


def _import(request: HttpRequest, slug: str, number: int) -> ImportJob:
    asked = ImportJob.objects.exclude(state=State.HELD).select_related("study")
    found = asked.filter(pk=number, study=operated_study(request, slug)).first()
    if found is None:
        raise HttpError(404, f"The study has no import {number}.")
    return found


Number = Annotated[int, Field(ge=1, le=2**63 - 1)]


@router.post("/{slug}/imports/", response={201: ImportOut, **REFUSALS}, summary="Upload files")
@decorate_view(_limited)
def create_import(
    request: HttpRequest,
    slug: Slug,
    files: File[list[UploadedFile]] = [],  # noqa: B006 - only read
    rows: Form[Kind | None] = None,
) -> Status[Any]:
    """Upload files, as multipart/form-data, and have them checked. Follow the import until it is checked."""
    study, by = operated_study(request, slug), account_of(request)
    if request.quota.exceeded:  # type: ignore[attr-defined]
        return Status(413, ErrorOut(detail=too_much(), field="files"))
    if not files:
        return Status(422, ErrorOut(detail="files: Send at least one file.", field="files"))
    try:
        uploads = within_bounds(files)
    except ValidationError as error:
        return Status(422, ErrorOut(detail=" ".join(error.messages), field="files"))
    return Status(201, ImportOut.of(jobs.start(study, by, uploads, rows or "")))


@router.get("/{slug}/imports/{number}/", response={200: ImportOut, **MISSING}, summary="Follow an import")
def show_import(request: HttpRequest, slug: Slug, number: Number) -> Any:
    """The state, the files, and what the last check found."""
    return ImportOut.of(_import(request, slug, number))


@router.post("/{slug}/imports/{number}/check/", response={200: ImportOut, **REFUSALS}, summary="Check again")
def check_import(request: HttpRequest, slug: Slug, number: Number, given: CheckIn) -> Status[Any]:
    """Have the files read another way. This stores nothing in the study."""
    job = _import(request, slug, number)
    if job.state != State.CHECKED:
        return Status(409, ErrorOut(detail=f"The import is not checked: {job.get_state_display().lower()}."))
    try:
        files = _chosen(job, given)
    except FormError as error:
        return Status(422, ErrorOut(detail=str(error), field=error.field))
    if not jobs.request_check(job, files):
        return Status(409, ErrorOut(detail=jobs.CHECKED_AGAIN))
    return Status(200, ImportOut.of(job))


def _chosen(job: ImportJob, given: CheckIn) -> list[ImportFile]:
    """The files with these choices, not saved. Raises FormError."""
    report = ImportReport.from_dict(job.report) if job.report else None
    rows = list(job.files.all())
    numbers = {row.name: place for place, row in enumerate(rows)}
    choices: dict[int, tuple[int, ChoicesIn]] = {}
    for place, each in enumerate(given.files):
        if each.name not in numbers:
            raise FormError(f"files.{place}.name", f'The import has no file "{each.name}".')
        choices[numbers[each.name]] = place, each
    formats = {f"file{rows[at].number}-format_name": _format(each) for at, (_, each) in choices.items()}
    shown = {name: form for name, form in formats.items() if form is not None}
    blank = file_forms(rows, report, shown or None)
    sent: dict[str, Any] = {}
    for at, form in enumerate(blank):
        form.is_bound = False  # so that fields have what is known
        chosen = choices.get(at)
        sent |= filled(form, _by_field(form, *chosen) if chosen else {})
    forms = file_forms(rows, report, sent | shown)
    for at, form in enumerate(forms):
        if form.errors:
            place, _ = choices.get(at, (0, None))
            name, said = next(iter(form.errors.items()))
            raise FormError(f"files.{place}.{_part(name)}", f"{form.row.name}: {said[0]}")
    return [form.chosen() for form in forms]


def _format(given: ChoicesIn) -> str | None:
    is_table = given.kind or given.columns or given.constants or given.values or given.answer
    return given.format if given.format is not None else (NAME if is_table else None)


PLAIN: Final = ("kind", "sheet", "header", "subset", "contestant", "judge", "model", "protocol")
LISTED: Final[Mapping[str, str]] = {"columns": "column", "values": "meaning", "raters": "rater"}


def _by_field(form: FileForm, place: int, given: ChoicesIn) -> dict[str, Any]:
    """The choices by the fields of the page's form. Raises FormError for what it does not have."""
    known = {
        "columns": [name for name, _, _ in form.column_rows()] if form.takes_mapping else [],
        "values": [value for value, _, _ in form.meaning_rows()],
        "raters": [name for name, _ in form.rater_rows()],
    }
    found = {name: value for name in PLAIN if (value := getattr(given, name)) is not None}
    found |= {f"value-{name}": value for name, value in given.constants.items()}
    if given.answer is not None:
        found["asked"] = given.answer
    for part, prefix in LISTED.items():
        for name, meaning in getattr(given, part).items():
            if name not in known[part]:
                raise FormError(f"files.{place}.{part}", f'{form.row.name} has no "{name}" here.')
            found[f"{prefix}-{known[part].index(name)}"] = meaning
    for name in found:
        if name not in form.fields:
            raise FormError(f"files.{place}.{_part(name)}", f"{form.row.name} has no such choice.")
    return found


def _part(field: str) -> str:
    """The part of the body that a field of the form is made of."""
    parts = {"format_name": "format", "asked": "answer", "__all__": "columns", "value": "constants"}
    parts |= {prefix: part for part, prefix in LISTED.items()}
    return parts.get(field.split("-")[0], field)


@router.post("/{slug}/imports/{number}/apply/", response={200: ImportOut, **REFUSALS}, summary="Import")
def apply_import(request: HttpRequest, slug: Slug, number: Number, given: ApplyIn) -> Status[Any]:
    """Import what was checked. 409 if it has errors and leave_out is not set, or was checked again since."""
    job = _import(request, slug, number)
    seen = job.touched_at.isoformat() if given.seen is None else given.seen
    why = jobs.request_seen(job, seen, leave_out=given.leave_out)
    state = job.state
    job.refresh_from_db()
    if why or state != State.CHECKED or job.state != State.APPLYING:
        return Status(409, ErrorOut(detail=why or _why_not(job, state), field="seen" if why else None))
    return Status(200, ImportOut.of(job))


def _why_not(job: ImportJob, state: str) -> str:
    if state != State.CHECKED:
        return f"The import is not checked: {State(state).label.lower()}."
    return "The files have errors. Correct them, choose how they are to be read, or leave these rows out."


@router.post(
    "/{slug}/imports/{number}/cancel/", response={200: ImportOut, **REFUSALS}, summary="Cancel an import"
)
def cancel_import(request: HttpRequest, slug: Slug, number: Number) -> Status[Any]:
    """Drop the files, or stop the work on them. 409 if it has ended."""
    job = _import(request, slug, number)
    if job.has_ended:
        return Status(409, ErrorOut(detail=f"The import has ended: {job.get_state_display().lower()}."))
    jobs.cancel(job)
    return Status(200, ImportOut.of(job))
