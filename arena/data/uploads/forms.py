"""The forms that take files to import, and the limit of their size."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any, Final, NamedTuple

from django import forms
from django.conf import settings
from django.core.files.base import File
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.forms import BoundField

from arena.data.formats import table
from arena.data.formats.catalogue import CATALOGUE
from arena.data.formats.ours import REASONS
from arena.data.formats.reading import Kind
from arena.data.formats.table import KINDS, MAPPABLE, NEEDED, ColumnMapping, MappingError, parts_of, suggest
from arena.data.uploads.jobs import Upload
from arena.models import ImportFile

MIB: Final = 1024 * 1024


def max_bytes() -> int:
    return int(settings.IMPORT_MAX_MB) * MIB


def too_much() -> str:
    return (
        f"At most {settings.IMPORT_MAX_MB} MB can be uploaded at a time. "
        "Please send larger files gzipped or in parts, or use: python manage.py import_data STUDY PATH"
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
            uploads.append(_as_file(data["pasted"]))
        if not uploads:
            raise forms.ValidationError("Choose at least one file, or paste text.")
        if sum(upload.size for upload in uploads) > max_bytes():
            raise forms.ValidationError(too_much())
        return {**data, "uploads": uploads}


def _as_file(text: str) -> Upload:
    ending = "jsonl" if text.lstrip().startswith(("{", "[")) else "csv"
    return File(BytesIO(text.encode("utf-8", "replace")), name=f"pasted.{ending}")


TABLE: Final = table.NAME
JOINED: Final = ("prompt", "id")  # fields for which the page offers a second column
MAPPED: Final = 5  # files whose columns can be mapped: each has up to 170 inputs, a form at most 1,000


class MappingRow(NamedTuple):
    name: str
    meaning: str
    needed: bool
    column: BoundField
    second: BoundField | None
    constant: BoundField


class MappingPart(NamedTuple):
    kind: str
    chosen: bool
    rows: list[MappingRow]


class MeaningRow(NamedTuple):
    value: str
    rows: int
    meaning: BoundField


class FileForm(forms.Form):
    """The choices for one file, with a mapping if it may be a foreign table."""

    format_name = forms.ChoiceField(
        label="Format",
        required=False,
        choices=[("", "Told by content"), *((entry.name, entry.title) for entry in CATALOGUE.values())],
    )

    def __init__(self, row: ImportFile, data: Any = None, values: Mapping[str, int] | None = None) -> None:
        """``values``: rows by value of the verdict, where meanings are to be chosen."""
        self.row = row
        self._values = values or {}
        self.recognised = bool(row.found_format)
        mapping = _mapping(row)
        self._unasked = mapping if row.number >= MAPPED else suggest(row.columns)
        super().__init__(data, prefix=f"file{row.number}", initial={"format_name": row.format_name})
        self.is_guess = row.format_name == TABLE and mapping == suggest(row.columns)
        wants_mapping = bool(row.columns) and (
            not self.recognised or TABLE in (row.format_name, self["format_name"].value())
        )
        self.takes_mapping = wants_mapping and row.number < MAPPED
        self.is_beyond_mapping = wants_mapping and not self.takes_mapping
        if self.takes_mapping:
            self._add_mapping(mapping)
            self._add_meanings(mapping)

    @property
    def found(self) -> str:
        return f"{CATALOGUE[self.row.found_format].title}: {self.row.found_kind}" if self.recognised else ""

    @property
    def is_table(self) -> bool:
        return bool(self["format_name"].value() == TABLE)

    def mapping_parts(self) -> Iterator[MappingPart]:
        chosen = self["kind"].value()
        for kind, entries in MAPPABLE.items():
            name = kind.name.lower()
            needed = {field for group in NEEDED[kind] for field in group if len(group) == 1}
            rows = [
                MappingRow(
                    entry.name,
                    entry.meaning,
                    entry.name in needed,
                    self[_column(kind, entry.name)],
                    self[_second(kind, entry.name)] if entry.name in JOINED else None,
                    self[_constant(kind, entry.name)],
                )
                for entry in entries
            ]
            yield MappingPart(name, name == chosen, rows)

    def meaning_rows(self) -> list[MeaningRow]:
        rows = enumerate(self._values.items()) if "meaning-0" in self.fields else ()
        return [MeaningRow(value, count, self[f"meaning-{number}"]) for number, (value, count) in rows]

    def clean(self) -> dict[str, Any]:
        """Adds ``mapping`` for a table."""
        data = self.cleaned_data
        mapping = None
        if data.get("format_name") == TABLE:
            chosen = self._mapped() if data.get("kind") else self._unasked
            if chosen is None:
                raise forms.ValidationError("Say what the file's columns mean.")
            for fault in [*chosen.faults(), *chosen.missing_from(self.row.columns)]:
                self.add_error(None, f"{fault[:1].upper()}{fault[1:]}.")
            mapping = chosen.to_dict()
        return {**data, "mapping": mapping}

    def chosen(self) -> ImportFile:
        """The file with the operator's choices, not saved."""
        self.row.format_name = self.cleaned_data["format_name"]
        self.row.mapping = self.cleaned_data["mapping"]
        return self.row

    def _mapped(self) -> ColumnMapping:
        kind = KINDS[self.cleaned_data["kind"]]
        columns, constants = {}, {}
        for entry in MAPPABLE[kind]:
            parts = [self.cleaned_data.get(name(kind, entry.name)) for name in (_column, _second)]
            if column := "+".join(filter(None, parts)):
                columns[entry.name] = column
            if all(parts) and column in self.row.columns:
                self.add_error(None, f'These columns cannot be joined, because another is called "{column}".')
            if constant := self.cleaned_data.get(_constant(kind, entry.name)):
                constants[entry.name] = constant
        chosen = ColumnMapping(kind, columns, constants)
        if kind is Kind.COMPARISONS:
            verdict = columns.get(chosen.verdict)
            further = tuple(column for column in self.cleaned_data.get("further", ()) if column != verdict)
            chosen = replace(chosen, further=further)
        if self._verdict != _verdict(chosen):
            return chosen
        meanings = [self.cleaned_data.get(f"meaning-{number}") for number in range(len(self._values))]
        said = {value: meaning for value, meaning in zip(self._values, meanings, strict=True) if meaning}
        return replace(chosen, values=said)

    def _add_mapping(self, mapping: ColumnMapping | None) -> None:
        columns = [("", "–"), *((name, name) for name in self.row.columns)]
        kinds = [(name, name.capitalize() if name != "pairs" else "Gold labels of pairs") for name in KINDS]
        self.fields["kind"] = forms.ChoiceField(
            label="A row is one of", choices=kinds, required=False, initial=_name(mapping)
        )
        self.fields["further"] = forms.MultipleChoiceField(
            label="Further columns with verdicts",
            required=False,
            choices=columns[1:],
            widget=forms.CheckboxSelectMultiple,
            initial=mapping.further if mapping else (),
        )
        for kind, entries in MAPPABLE.items():
            known = mapping if mapping and mapping.kind is kind else ColumnMapping(kind)
            for entry in entries:
                parts = [*parts_of(known.columns.get(entry.name, ""), self.row.columns), ""]
                self.fields[_column(kind, entry.name)] = forms.ChoiceField(
                    label=f"column for {entry.name}", required=False, choices=columns, initial=parts[0]
                )
                if entry.name in JOINED:
                    self.fields[_second(kind, entry.name)] = forms.ChoiceField(
                        label=f"second column for {entry.name}",
                        required=False,
                        choices=[("", "+ a second column"), *columns[1:]],
                        initial=parts[1],
                    )
                self.fields[_constant(kind, entry.name)] = forms.CharField(
                    label=f"value of {entry.name} in every row",
                    required=False,
                    initial=known.constants.get(entry.name, ""),
                )

    def _add_meanings(self, mapping: ColumnMapping | None) -> None:
        """Fields for the meanings of values; a word that is known has its meaning."""
        self._verdict = _verdict(mapping)
        if mapping is None or not mapping.verdict:
            return
        meanings = [("", "–"), *((meaning, _in_words(meaning, mapping)) for meaning in mapping.meanings())]
        for number, value in enumerate(self._values):
            # Of numbers nobody knows where they begin: in 0 and 1 the 1 is the second.
            known = None if value.isdigit() else mapping.meaning_of(value)
            self.fields[f"meaning-{number}"] = forms.ChoiceField(
                label=f"meaning of {value}",
                required=False,
                choices=meanings,
                initial=mapping.values.get(value, known),
            )


def _in_words(meaning: str, mapping: ColumnMapping) -> str:
    if meaning in REASONS:
        return f"no rating: {meaning.replace('_', ' ')}"
    if mapping.verdict != "rating":
        return {"tie": "a tie"}.get(meaning, f"the {meaning} is better")
    is_last = str(int(meaning) + 1) not in mapping.meanings()
    return meaning + (
        ", the first is much better" if meaning == "1" else ", the second is much better" * is_last
    )


def _verdict(mapping: ColumnMapping | None) -> tuple[str, ...]:
    """Field and columns of the verdict."""
    return (mapping.verdict, mapping.columns.get(mapping.verdict, ""), *mapping.further) if mapping else ()


def _mapping(row: ImportFile) -> ColumnMapping | None:
    """The chosen mapping, or the one that the column names suggest."""
    if row.mapping is None:
        return suggest(row.columns)
    try:
        return ColumnMapping.from_dict(row.mapping)
    except MappingError:
        return None


def _name(mapping: ColumnMapping | None) -> str:
    return (mapping.kind if mapping else Kind.COMPLETIONS).name.lower()


def _column(kind: Kind, name: str) -> str:
    return f"column-{kind.name.lower()}-{name}"


def _second(kind: Kind, name: str) -> str:
    return f"second-{kind.name.lower()}-{name}"


def _constant(kind: Kind, name: str) -> str:
    return f"value-{kind.name.lower()}-{name}"
