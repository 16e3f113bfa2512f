"""The forms that take files to import, and the limit of their size."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from tempfile import SpooledTemporaryFile
from typing import Any, Final, TypeAlias

from django import forms
from django.conf import settings
from django.core.files.base import File
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.forms import BoundField

from arena.data.formats import archives, headers, table
from arena.data.formats.catalogue import CATALOGUE, LEFT_OUT, NO_DATA, is_data
from arena.data.formats.columns import Known, Question, Samples, guess, is_no_answer
from arena.data.formats.reading import OPINIONS, Kind
from arena.data.formats.records import in_words
from arena.data.formats.table import KINDS, MAPPABLE, ColumnMapping, MappingError, parts_of
from arena.data.formats.values import UnreadableError
from arena.data.importing.import_report import ImportReport
from arena.data.uploads.jobs import Upload, rows_of
from arena.models import ImportFile
from arena.rules.verdicts import REASONS
from arena.texts.visible import visible

MIB: Final = 1024 * 1024


def max_bytes() -> int:
    return int(settings.IMPORT_MAX_MB) * MIB


def too_much() -> str:
    return (
        f"You can upload at most {settings.IMPORT_MAX_MB} MB at a time. "
        f"Send larger files gzipped or in parts, or run: {settings.COMMAND} import_data STUDY PATH"
    )


class QuotaHandler(FileUploadHandler):
    """Stops storing an upload above the limit."""

    def __init__(self) -> None:
        super().__init__()
        self.received = 0

    @property
    def exceeded(self) -> bool:
        return self.received > max_bytes()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.received += len(raw_data)
        if self.exceeded:
            raise StopUpload(connection_reset=False)  # the rest is read, so that we can answer
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


class FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    def __init__(self, **options: Any) -> None:
        super().__init__(widget=FilesInput(), required=False, allow_empty_file=True, **options)

    def clean(self, data: Any, initial: Any = None) -> list[Upload]:
        uploads = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(upload, initial) for upload in uploads if upload]


class UploadForm(forms.Form):
    uploads = FilesField(label="Files")
    pasted = forms.CharField(
        label="Or paste text",
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 6, "spellcheck": "false", "wrap": "off"}),
    )

    def clean(self) -> dict[str, Any]:
        """Adds the pasted text to ``uploads`` as one more file."""
        data = self.cleaned_data
        uploads = list(data.get("uploads") or [])
        if data.get("pasted", "").strip():
            uploads.append(as_file(data["pasted"]))
        if not uploads:
            raise forms.ValidationError("Choose at least one file, or paste text.")
        return {**data, "uploads": within_bounds(uploads)}


def within_bounds(uploads: Sequence[Upload]) -> list[Upload]:
    """The files, with those of archives in place of these. Raises ValidationError."""
    if sum(upload.size for upload in uploads) > max_bytes():
        raise forms.ValidationError(too_much())
    return [file for upload in uploads for file in _unpacked(upload)]


def _unpacked(upload: Upload) -> list[Upload]:
    """The file, or the data files of a zip archive. Raises ValidationError."""
    packed = upload.file
    if packed is None or not archives.is_archive(packed):
        return [upload]
    files: list[Upload] = []
    try:
        with archives.opened(packed, max_bytes()) as archive:
            inside = archives.members(archive)
            for name in filter(is_data, inside):
                content = SpooledTemporaryFile(MIB)  # noqa: SIM115 - closed with the request
                archives.copy(archive, inside[name], content)
                files.append(File(content, name=name.name))
                files[-1].size = content.tell()
    except UnreadableError as error:
        raise forms.ValidationError(f"{upload.name}: {error}.") from error
    if not files:
        raise forms.ValidationError(f"{upload.name}: the archive {NO_DATA}.")
    return files


def as_file(text: str) -> Upload:
    ending = "jsonl" if text.lstrip().startswith(("{", "[")) else "csv"
    return File(BytesIO(text.encode("utf-8", "replace")), name=f"pasted.{ending}")


TABLE: Final = table.NAME
SHOWN_HEADER: Final = 50  # characters of a row that may be the header
TWO_ROWS: Final = 5  # rows of which two in turn may be the header
JOINED: Final = ("prompt", "id")  # fields that several columns make up
OWN_COLUMN: Final = "own"  # a column that is a model, and holds its answers
INPUTS: Final = 900  # of all files of a page together: a form takes 1,000
SHOWN_CELLS: Final = 5
SHOWN_VALUES: Final = 3
MOST_ASKED: Final = 20  # raters of whom a page asks what they are
USUAL: Final = 7  # fields of a kind that a list of them begins with
_SETTABLE: Final = (
    *("contestant", "rater", "rater_kind", "points", "winner", "gold", "gold_source", "first", "second"),
    *("category", "subset", "domain"),
    *("lowest", "highest"),
    *("kind", "family", "organisation", "licence"),
)
"""Fields that may have one value for all rows."""

_WITH_MODELS: Final = (Kind.COMPLETIONS, Kind.PROMPTS)
"""Kinds of rows of which a column may be a model."""

JUDGE: Final = ("judge", "model", "protocol")
TOLD: Final = {"contestant": "Model that wrote the answers", "model": "Model of the judge"}
"""Labels of what is told of a file, where they are not the name."""

ROWS: Final = {
    Kind.COMPLETIONS: "a prompt with answers",
    Kind.COMPARISONS: "a rating of two answers",
    Kind.PROMPTS: "a prompt without answers",
    Kind.CONTESTANTS: "a model",
    Kind.PAIRS: "a pair and the better answer (gold label)",
    Kind.RATERS: "a rater",
    Kind.QUESTIONS: "a requirement of a prompt",
    Kind.SCORES: "a score of one answer",
    Kind.ANSWERS: "a check: whether an answer meets a requirement",
}


class FieldOfFile(BoundField):
    template_name = "uploads/_field.html"


class FileForm(forms.Form):
    """The choices for one file, with what its columns mean if it may be a spreadsheet of any form."""

    bound_field_class = FieldOfFile

    format_name = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[
            ("", "Detect"),
            (TABLE, CATALOGUE[TABLE].title),
            (LEFT_OUT, "Leave this file out"),
            ("Formats", [(entry.name, entry.title) for entry in CATALOGUE.values() if entry.name != TABLE]),
        ],
    )

    def __init__(self, row: ImportFile, report: ImportReport | None, data: Any = None) -> None:
        self.row = row
        report = report or ImportReport("", dry_run=True)
        look = report.looks.get(row.name, {})
        self.samples: Samples = look.get("samples", {})
        self.sheets: list[str] = look.get("sheets", [])
        self.left_out = row.format_name == LEFT_OUT
        self.unused = [one for one in report.unused if one.place.file == row.name]
        self._values = report.values.get(row.name, {})
        self.recognised = bool(row.found_format)
        self._known = Known(*look.get("known", ()))
        self._reading = guess(row.columns, self.samples, rows_of(row), self._known)
        chosen = _mapping(row)
        self._mapping = chosen or self._reading.mapping
        asks = not (chosen or self.recognised or self.left_out)
        self.question = self._reading.question if asks else None
        format_name = row.format_name or ("" if self.recognised or not row.columns else TABLE)
        super().__init__(data, prefix=f"file{row.number}", initial={"format_name": format_name})
        self.is_guess = row.format_name == TABLE and self._mapping == self._reading.mapping
        self.wants_mapping = bool(row.columns and not self.left_out) and (
            not self.recognised
            or bool(self.unused)
            or TABLE in (row.format_name, self["format_name"].value())
        )
        self.takes_mapping = False
        before = row.mapping or {}
        about = before.get("about", {})
        if len(self.sheets) > 1 and not self.left_out:
            names = [(name, name) for name in self.sheets]
            self._add("sheet", "Sheet", before.get("sheet") or self.sheets[0], names)
        if (top := look.get("top")) and not self.left_out:
            self._add("header", "Names of columns", look.get("header") or top[0][0], _headers(top))
        for name in self.told:
            self._add(name, TOLD.get(name, name.capitalize()), about.get(name, ""), max_length=100)
        self._raters = list(report.rater_kinds.get(row.name, {}))[:MOST_ASKED]
        kinds = [("", "–"), ("person", "a person"), ("judge", "a judge (LLM)")]
        for number, name in enumerate(self._raters):
            self._add(f"rater-{number}", f"What {name} is", about.get("raters", {}).get(name, ""), kinds)

    def _add(self, name: str, label: str, initial: Any, choices: Any = None, **more: Any) -> None:
        """A field that may be left empty: with choices, one of them."""
        kind = forms.CharField if choices is None else forms.ChoiceField
        more |= {} if choices is None else {"choices": choices}
        self.fields[name] = kind(label=label, initial=initial, required=False, **more)

    def rater_rows(self) -> list[tuple[str, BoundField]]:
        """The raters of whom nothing says what they are, each with the field that says it."""
        return [(name, self[f"rater-{number}"]) for number, name in enumerate(self._raters)]

    @property
    def told(self) -> tuple[str, ...]:
        """Return the facts that no file of this format says of itself."""
        known = CATALOGUE[self.row.found_format].told if self.recognised else ()
        judged = "judge" in known and self.row.found_kind in [kind.name.lower() for kind in OPINIONS]
        plain = [name for name in ("subset", "contestant") if name in known]
        return (*plain, *(JUDGE if judged else ()))

    def told_rows(self) -> list[BoundField]:
        return [self[name] for name in self.told]

    def take_mapping(self) -> None:
        """Offer the columns to be mapped."""
        self.takes_mapping = True
        self._add_columns()
        self._add_meanings()
        if self.question:
            self._ask(self.question)

    @property
    def found(self) -> str:
        """Return what a recognised file was taken for."""
        return f"{CATALOGUE[self.row.found_format].title}: {in_words(self.row.found_kind)}"

    @property
    def guesses(self) -> dict[str, list[str]]:
        """Return the guessed field of each column, by kind of rows, for the page's script."""
        columns, found = self.row.columns, {}
        for name, kind in KINDS.items():
            by_column = _by_column(guess(columns, self.samples, kind, self._known).mapping, columns)
            found[name] = [by_column.get(column, "") for column in columns]
        return found

    @property
    def models(self) -> Sequence[str]:
        """The columns that are read as models because their names and values suggest it."""
        mapping = self._mapping
        return mapping.spread_columns if self.is_guess and mapping.kind is Kind.COMPLETIONS else ()

    @property
    def unlike_answers(self) -> list[str]:
        """Why columns beside those of prompts were not taken for models: their cells that are no answers."""
        if not self.is_guess or self._mapping.kind is not Kind.PROMPTS:
            return []
        columns = [column for one in self.unused for column in one.columns]
        values = [value for column in columns for value in self.samples.get(column, ())]
        return [value for value in dict.fromkeys(values) if is_no_answer(value)][:SHOWN_CELLS]

    @property
    def unmatched(self) -> list[str]:
        """The columns of an unknown file whose meaning nobody could guess."""
        return [name for name, _, meaning in self.column_rows() if not meaning.value()]

    def column_rows(self) -> list[tuple[str, list[str], BoundField]]:
        """Each column with some of its values and the field of its meaning."""
        return [
            (name, list(dict.fromkeys(self.samples.get(name, ())))[:SHOWN_VALUES], self[f"column-{number}"])
            for number, name in enumerate(self.row.columns)
        ]

    def constant_rows(self) -> list[BoundField]:
        return [self[f"value-{name}"] for name in _SETTABLE]

    @property
    def has_constants(self) -> bool:
        return any(row.value() for row in self.constant_rows())

    def meaning_rows(self) -> list[tuple[str, int, BoundField]]:
        """Each value of the verdict with the number of its rows and the field of its meaning."""
        rows = enumerate(self._values.items()) if "meaning-0" in self.fields else ()
        return [(value, count, self[f"meaning-{number}"]) for number, (value, count) in rows]

    def clean(self) -> dict[str, Any]:
        """Adds ``mapping`` for a table."""
        data = self.cleaned_data
        chosen: ColumnMapping | None = None
        if data.get("format_name") == LEFT_OUT:
            return {**data, "mapping": None}
        read = {name: data[name] for name in ("sheet", "header") if data.get(name)}
        changed = {name for name, value in read.items() if value != str(self[name].initial)}
        if changed:  # it has other columns
            kept = {name: value for name, value in read.items() if name in changed or name == "sheet"}
            return {**data, "format_name": "", "mapping": kept}
        before = self.row.mapping or {}
        read = {name: value for name, value in read.items() if name == "sheet" or name in before}
        if data.get("format_name") == TABLE:
            chosen = self._answered(self._mapped() if data.get("kind") else self._mapping)
            labels = {entry.name: entry.meaning for entry in MAPPABLE[chosen.kind]}
            for fault in [
                *chosen.faults(lambda name: labels.get(name, name)),
                *chosen.missing_from(self.row.columns),
            ]:
                self.add_error(None, f"{fault[:1].upper()}{fault[1:]}.")
        mapping = {**(chosen.to_dict() if chosen else {}), **read}
        about: dict[str, Any] = {name: data[name] for name in self.told if data.get(name)}
        kinds = [data.get(f"rater-{number}") for number in range(len(self._raters))]
        if raters := {name: kind for name, kind in zip(self._raters, kinds, strict=True) if kind}:
            about["raters"] = raters
        if about:
            mapping["about"] = about
        return {**data, "mapping": mapping or None}

    def chosen(self) -> ImportFile:
        """The file with the operator's choices, not saved."""
        self.row.format_name = self.cleaned_data["format_name"]
        self.row.mapping = self.cleaned_data["mapping"]
        return self.row

    def _ask(self, question: Question) -> None:
        """Add the field for the answer to the one question about the file."""
        initial, choices = "", None
        if not question.field:
            choices = [("", "Choose"), ("yes", "Yes"), ("no", "No: I say below what they are")]
        elif question.choices:
            initial = self._mapping.columns.get(question.field, question.choices[0])
            none = [("", "None of them")] if question.field == "instruction" else []
            choices = [*((name, name) for name in question.choices), *none]
        self._add("asked", question.text, initial, choices, **({} if choices else {"max_length": 100}))

    def _answered(self, mapping: ColumnMapping) -> ColumnMapping:
        """The mapping with the answer to the question."""
        answer = self.cleaned_data.get("asked")
        if self.question and not self.question.field:
            if answer != "yes" and mapping == self._mapping:
                what = "Say below what the columns are." if answer else "Answer the question with yes or no."
                self.add_error(None, what)
            return mapping
        if not answer or not self.question:
            return mapping
        if self.question.field != "instruction":
            return replace(mapping, constants={**mapping.constants, self.question.field: answer})
        if answer == self._mapping.columns.get("instruction"):
            return mapping
        return guess(self.row.columns, self.samples, None, self._known, answer).mapping

    def _mapped(self) -> ColumnMapping:
        kind = KINDS[self.cleaned_data["kind"]]
        by_field: dict[str, list[str]] = {}
        for number, column in enumerate(self.row.columns):
            if name := self.cleaned_data.get(f"column-{number}"):
                by_field.setdefault(name, []).append(column)
        own = by_field.pop(OWN_COLUMN, []) if kind in _WITH_MODELS else []
        if own and kind is Kind.PROMPTS:  # beside answers, an id is one of theirs
            kind = Kind.COMPLETIONS
            by_field.setdefault("prompt", by_field.pop("id", []))
        known = {entry.name: entry.meaning for entry in MAPPABLE[kind]}
        given = ((name, self.cleaned_data.get(f"value-{name}")) for name in _SETTABLE if name in known)
        constants: dict[str, str] = {name: value for name, value in given if value}
        columns, further = {}, tuple(own[1:])
        for name, found in by_field.items():
            if not found or name not in known:
                continue  # of another kind of rows, chosen before
            columns[name] = "+".join(found) if name in JOINED else found[0]
            if len(found) == 1:
                continue
            if name in JOINED and columns[name] in self.row.columns:
                self.add_error(
                    None, f'You cannot join these columns: another one is called "{columns[name]}".'
                )
            elif kind in OPINIONS and name in table.SPREAD:
                further = tuple(found[1:])
            elif name not in JOINED:
                self.add_error(None, f"Choose one column for {known[name]}: {' or '.join(found)}.")
        if own:
            if "text" in columns:
                self.add_error(
                    None, "Answers are in one column, or in one column for each model, not in both."
                )
            columns["text"] = own[0]
            if not further:
                constants["contestant"] = own[0]
        chosen = ColumnMapping(kind, columns, constants, {}, further)
        if _verdict(self._mapping) != _verdict(chosen):
            return chosen
        meanings = [self.cleaned_data.get(f"meaning-{number}") for number in range(len(self._values))]
        said = {value: meaning for value, meaning in zip(self._values, meanings, strict=True) if meaning}
        return replace(chosen, values=said)

    def _add_columns(self) -> None:
        mapping, columns = self._mapping, self.row.columns
        kinds = [(kind.name.lower(), label) for kind, label in ROWS.items()]
        self._add("kind", "A row is", mapping.kind.name.lower(), kinds)
        initial = _by_column(mapping, columns)
        shown = KINDS.get(self["kind"].value(), mapping.kind)
        for number, column in enumerate(columns):
            self.fields[f"column-{number}"] = _FieldOfColumn(
                label=f"What {column} is", required=False, choices=_fields(shown), initial=initial.get(column)
            )
        for name in _SETTABLE:
            self._add(f"value-{name}", in_words(name).capitalize(), mapping.constants.get(name, ""))

    def _add_meanings(self) -> None:
        """Fields for the meanings of values; a word that is known has its meaning."""
        mapping = self._mapping
        if not mapping.verdict:
            return
        said = [(meaning, _meaning_in_words(meaning, mapping)) for meaning in mapping.meanings()]
        for number, value in enumerate(self._values):
            # Of numbers nobody knows where they begin: in 0 and 1 the 1 is the second.
            known = None if value.isdigit() else mapping.meaning_of(value)
            initial = mapping.values.get(value, known)
            self._add(f"meaning-{number}", f"meaning of {value}", initial, [("", "–"), *said])


class _FieldOfColumn(forms.ChoiceField):
    """The field of a column: one of those shown, or of another kind of rows."""

    def valid_value(self, value: Any) -> bool:
        return value == OWN_COLUMN or any(value == entry.name for kind in MAPPABLE.values() for entry in kind)


def _headers(top: Sequence[tuple[int, str]]) -> list[tuple[str, str]]:
    """Which rows of a table may name its columns."""
    one = [(str(number), f"Row {number}: {visible(text[:SHOWN_HEADER])}") for number, text in top]
    two = [
        (f"{upper}-{lower}", f"Rows {upper} and {lower} together")
        for (upper, _), (lower, _) in pairwise(top[:TWO_ROWS])
    ]
    return [*one, *two, (headers.NONE, "No row")]


def file_forms(rows: Iterable[ImportFile], report: ImportReport | None, data: Any = None) -> list[FileForm]:
    """A form for each file; the columns can be mapped of as many as a form has room for."""
    made, room = [], INPUTS
    for row in rows:
        form = FileForm(row, report, data)
        room -= len(form.fields)
        needed = len(row.columns) + len(_SETTABLE) + 1 + table.MOST_VALUES
        if form.wants_mapping and needed <= room:
            form.take_mapping()
            room -= needed
        made.append(form)
    return made


Choices: TypeAlias = list[tuple[str, str | list[tuple[str, str]]]]


def _fields(kind: Kind) -> Choices:
    """Return the fields that rows of this kind may have, the usual ones first."""
    fields = [(entry.name, f"{entry.meaning[:1].upper()}{entry.meaning[1:]}") for entry in MAPPABLE[kind]]
    own = [(OWN_COLUMN, "A model: its answers")] if kind in _WITH_MODELS else []
    usual: Choices = [("", "Not used"), *own, *fields[:USUAL]]
    return [*usual, ("More", fields[USUAL:])] if len(fields) > USUAL else usual


def fields_by_kind() -> dict[str, Choices]:
    """Return the fields of a column by kind of rows, for the page's script."""
    return {name: _fields(kind) for name, kind in KINDS.items()}


def _meaning_in_words(meaning: str, mapping: ColumnMapping) -> str:
    if meaning in REASONS:
        return f"no rating: {meaning.replace('_', ' ')}"
    if mapping.verdict == "answer":
        return {"yes": "met", "no": "not met"}.get(meaning, "cannot tell")
    if mapping.verdict != "rating":
        return {"tie": "a tie"}.get(meaning, f"the {meaning} is better")
    is_last = str(int(meaning) + 1) not in mapping.meanings()
    return meaning + (
        ", the first is much better" if meaning == "1" else ", the second is much better" * is_last
    )


def _by_column(mapping: ColumnMapping, columns: Sequence[str]) -> dict[str, str]:
    """Return the field of each mapped column."""
    found = {part: name for name, column in mapping.columns.items() for part in parts_of(column, columns)}
    if mapping.kind is Kind.COMPLETIONS:
        is_own = mapping.constants.get("contestant") == mapping.columns.get("text", "")
        own = [mapping.columns["text"]] if is_own else mapping.spread_columns
        return found | dict.fromkeys(own, OWN_COLUMN)
    return found | dict.fromkeys(mapping.spread_columns, mapping.spread)


def _verdict(mapping: ColumnMapping) -> tuple[str, ...]:
    """Field and columns of the verdict."""
    return (mapping.verdict, mapping.columns.get(mapping.verdict, ""), *mapping.further)


def _mapping(row: ImportFile) -> ColumnMapping | None:
    """The chosen mapping."""
    try:
        return ColumnMapping.from_dict(row.mapping) if row.mapping and "kind" in row.mapping else None
    except MappingError:
        return None
