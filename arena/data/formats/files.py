"""Reads CSV, Excel, JSON and Parquet row by row and names every defect by its line. Pure."""

import codecs
import csv
import gzip
import io
import json
import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeAlias

from arena.data.formats import encodings, headers, workbooks
from arena.data.formats.encodings import CHUNK
from arena.data.formats.headers import Header
from arena.data.formats.records import Note, Place, Problem
from arena.data.formats.values import UnreadableError, json_type
from arena.files import writing

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_TAIL: Final = 16  # an error this near the end may come from a value that was cut in two


class Element(NamedTuple):
    """A member of a list with number and first line, from 1."""

    number: int
    line: int
    value: Any
    fault: str = ""


class _Decoder:
    """Decodes JSON; ``fault`` names numbers such as NaN, and keys that stand twice."""

    def __init__(self) -> None:
        self.fault = ""
        self._decoder = json.JSONDecoder(parse_constant=self._constant, object_pairs_hook=self._object)

    def read(self, text: str, start: int = 0) -> tuple[Any, int]:
        """The value at ``start``, and where it ends. Raises JSONDecodeError and UnreadableError."""
        self.fault = ""
        try:
            return self._decoder.raw_decode(text, start)
        except json.JSONDecodeError:
            raise
        except RecursionError:
            raise UnreadableError("the JSON is nested too deeply") from None
        except ValueError:
            # Python refuses to make an integer of thousands of digits.
            raise UnreadableError("a number has too many digits") from None

    def _constant(self, name: str) -> None:
        self.fault = self.fault or f"{name} is not a number that can be stored"

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            times = Counter(key for key, _ in pairs)
            twice = next(key for key in times if times[key] > 1)
            self.fault = self.fault or f'the key "{twice}" appears twice in one object'
        return found


def parse_json(text: str) -> Any:
    """The one JSON value of a text without surrounding blanks. Raises UnreadableError."""
    decoder = _Decoder()
    try:
        value, end = decoder.read(text)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"not valid JSON: {error.msg} at column {error.colno}") from error
    if decoder.fault:
        raise UnreadableError(decoder.fault)
    if end < len(text):
        raise UnreadableError(f"not valid JSON: Extra data at column {end + 1}")
    return value


class ListReader:
    """The elements of a JSON list that comes in pieces; holds about one of them.

    None may have more than ``limit`` characters. Iterating raises UnreadableError.
    """

    def __init__(self, pieces: Iterator[str], limit: int) -> None:
        self._pieces = pieces
        self._limit = limit
        self._text = ""
        self._at = 0
        self._line = 1
        self._decoder = _Decoder()

    def __iter__(self) -> Iterator[Element]:
        self._take("[", "a list")
        number = 0
        if self._peek() != "]":
            while True:
                number += 1
                yield self._element(number)
                if self._peek() == "]":
                    break
                self._take(",", "a comma or the end of the list")
        self._take("]", "the end of the list")
        if self._peek():
            raise UnreadableError("text follows the end of the list", self._line)

    def _element(self, number: int) -> Element:
        self._peek()
        while True:
            try:
                value, end = self._decoder.read(self._text, self._at)
            except UnreadableError as error:
                raise UnreadableError(str(error), self._line) from None
            except json.JSONDecodeError as error:
                if self._is_cut(error) and self._more():
                    continue
                raise self._wrong(error) from error
            # A number near the end may go on in the next piece.
            if end < len(self._text) - _TAIL or not self._more():
                break
        line = self._line
        self._advance(end)
        return Element(number, line, value, self._decoder.fault)

    def _is_cut(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _TAIL

    def _wrong(self, error: json.JSONDecodeError) -> UnreadableError:
        if self._is_cut(error) and len(self._text) - self._at > self._limit:
            return UnreadableError(f"the object is longer than {self._limit // 1024 // 1024} MiB", self._line)
        line = self._line + self._text.count("\n", self._at, error.pos)
        if not self._text[error.pos :].strip():
            return UnreadableError("the file ends in the middle of the list; it was cut off", line)
        return UnreadableError(f"not valid JSON: {error.msg} at {self._text[error.pos :][:20]!r}", line)

    def _take(self, wanted: str, name: str) -> None:
        found = self._peek()
        if not found:
            raise UnreadableError("the file ends in the middle of the list; it was cut off", self._line)
        if found != wanted:
            reason = f"not valid JSON: expected {name} at {self._text[self._at :][:20]!r}"
            raise UnreadableError(reason, self._line)
        self._at += 1

    def _peek(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            blank = _BLANK.match(self._text, self._at)
            self._advance(blank.end() if blank else self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _advance(self, to: int) -> None:
        self._line += self._text.count("\n", self._at, to)
        self._at = to

    def _more(self) -> bool:
        """Read about as much again; False at the end or if an element is too long."""
        held = len(self._text) - self._at
        if held > self._limit:
            return False
        pieces, wanted = [self._text[self._at :]], max(CHUNK, held)
        while wanted > 0 and (piece := next(self._pieces, "")):
            pieces.append(piece)
            wanted -= len(piece)
        if len(pieces) == 1:
            return False
        self._text, self._at = "".join(pieces), 0
        return True


_BEGINNINGS: Final = {
    b"PK\x03\x04": (
        "the file is a zip archive or an office document; "
        "unpack the archive, or save the spreadsheet as Excel (.xlsx) or CSV (UTF-8)"
    ),
    b"\xd0\xcf\x11\xe0": (
        "the file is an office document with a password, or an old one; "
        "save the spreadsheet without a password as Excel (.xlsx) or CSV (UTF-8)"
    ),
    b"%PDF-": "the file is a PDF document, which holds no table to read",
    b"\x89PNG": "the file is a picture, which holds no table to read",
    b"\xff\xd8\xff": "the file is a picture, which holds no table to read",
    b"SQLite format 3\x00": "the file is an SQLite database; export its tables as CSV",
    b"\xfd7zXZ\x00": "the file is packed with xz; unpack it, or pack it with gzip",
    b"BZh": "the file is packed with bzip2; unpack it, or pack it with gzip",
    b"\x28\xb5\x2f\xfd": "the file is packed with Zstandard; unpack it, or pack it with gzip",
    b"7z\xbc\xaf\x27\x1c": "the file is a 7z archive; unpack it",
    b"\x1f\x8b": "the file was packed with gzip twice; unpack it once",
}
"""Messages by first bytes of unreadable files, longer ones first."""


def why_not_text(start: bytes) -> str:
    """Why a file that begins like this cannot be read; empty if it may be text."""
    found = next((said for beginning, said in _BEGINNINGS.items() if start.startswith(beginning)), "")
    if not found and b"\x00" in start[:4]:
        return "the file holds no text"
    return found


MAGIC: Final = b"PAR1"
BATCH: Final = 8  # few rows at a time, because a cell may be long
BUFFER: Final = 1024 * 1024


def parquet_columns(path: Path) -> list[str]:
    """Column names of a Parquet file. Raises UnreadableError."""
    with _file(path) as file:
        names: list[str] = file.schema_arrow.names
    if doubled := {name for name, times in Counter(names).items() if times > 1}:
        raise UnreadableError(f"the column {min(doubled)} appears twice in the file; rename one")
    return names


def parquet_rows(path: Path) -> Iterator[tuple[dict[str, Any], float]]:
    """Each row, and the share of rows read so far. Raises UnreadableError."""
    parquet_columns(path)
    done = size = 0
    with _file(path) as file:
        _check_packed(file.metadata, path.stat().st_size)
        total = file.metadata.num_rows
        if total > MAX_ROWS:
            raise UnreadableError(f"the file has {total:,} rows; at most {MAX_ROWS:,} can be read; split it")
        try:
            for batch in file.iter_batches(batch_size=BATCH):
                for row in batch.to_pylist():
                    done += 1
                    # A dictionary holds a long text once for any number of rows.
                    own = _characters(row)
                    size += own
                    if own > MAX_LINE:
                        raise UnreadableError(f"the row is longer than {MAX_LINE // 2**20} MiB")
                    if size > MAX_FILE:
                        longer = f"longer than {MAX_FILE // 2**30} GiB together"
                        raise UnreadableError(f"the rows are {longer}; split the file")
                    yield {name: _json_value(value) for name, value in row.items()}, done / total
        except (writing.pyarrow().ArrowException, OSError) as error:
            raise UnreadableError(_damage(error)) from error
        except (ValueError, OverflowError) as error:
            # Such as a time thousands of years away.
            raise UnreadableError(f"holds a value that cannot be read ({error})") from error


def _check_packed(metadata: Any, size: int) -> None:
    unpacked = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    if unpacked > workbooks.MAX_AT_ONCE and unpacked > workbooks.MAX_RATIO * size:
        raise UnreadableError(f"the Parquet file unpacks to {unpacked // 2**20:,} MiB, which is too much")


def _characters(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_characters, value.values()))
    return sum(map(_characters, value)) if isinstance(value, list | tuple) else 0


def _file(path: Path) -> Any:
    try:
        pyarrow = writing.pyarrow()
    except ImportError:
        raise UnreadableError(writing.PARQUET_MISSING) from None
    with path.open("rb") as file:
        if file.read(2) == GZIP:
            raise UnreadableError("a Parquet file cannot be read gzipped; unpack it")
    try:
        return pyarrow.parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False)
    except (pyarrow.ArrowException, OSError) as error:
        raise UnreadableError(_damage(error)) from error


def _damage(error: Exception) -> str:
    first, *_ = str(error).strip().splitlines() or [type(error).__name__]
    return f"the Parquet file is damaged or was cut off ({first[:200]})"


def _json_value(value: Any) -> Any:
    """A cell as JSON: times in ISO 8601, durations in seconds, maps as objects."""
    if isinstance(value, list):
        # A map comes as a list of pairs.
        if value and all(isinstance(part, tuple) for part in value):
            return {str(name): _json_value(inner) for name, inner in value}
        return [_json_value(part) for part in value]
    if isinstance(value, dict):
        return {name: _json_value(inner) for name, inner in value.items()}
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        # Some writers do not say that a column of bytes is text.
        return value.decode("utf-8", "surrogateescape")
    return value


MAX_LINE: Final = 16 * 1024 * 1024  # bytes of a line, or characters of an object of a JSON list
MAX_FILE: Final = 2 * 1024 * 1024 * 1024  # unpacked bytes: a small gzip file can hold endless zeros
MAX_COLUMNS: Final = 16_384  # as many as a spreadsheet has
MAX_BLANK: Final = 10_000  # blank lines in a row: a small gzip file can hold millions
MAX_ROWS: Final = 5_000_000  # a Parquet file of 230 kB can hold ten times as many
MAX_CELLS: Final = 200_000_000
HEAD: Final = 64  # rows by which a file is known
CELLS: Final = 16  # of a column that show what it holds
CELL: Final = 120  # characters of each

GZIP: Final = b"\x1f\x8b"

Row: TypeAlias = tuple[int, dict[str, Any]]  # number and fields of an object or row


class Form(Enum):
    JSON = "JSON Lines or a JSON list"
    CELLS = "CSV or Excel"
    PARQUET = "Parquet"


class BrokenFileError(Exception):
    """The rest of a file cannot be read; ``problem`` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass(frozen=True)
class About:
    """Facts that whoever imports a file says of it; they override those of its path.

    ``subset`` holds all its prompts; ``judge`` gave its ratings, and has ``facts``; ``contestant`` wrote its
    texts; ``raters`` are people or judges.
    """

    subset: str = ""
    judge: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    contestant: str = ""
    raters: Mapping[str, str] = field(default_factory=dict)


_SAVE: Final = "save the file as UTF-8"


def _is_json(name: str, start: bytes) -> bool:
    """Tell whether a text is JSON, by its file's name or its first character."""
    return name.lower().removesuffix(".gz").endswith((".jsonl", ".json")) or start.lstrip()[:1] in (
        b"{",
        b"[",
    )


@dataclass(eq=False)
class InputFile:
    """A file to import.

    ``name`` is used in messages, ``position`` counts the bytes read, ``unit`` is what places count. Of a
    workbook one ``sheet`` is read, the first with a table unless one is named; ``sheets`` are the names of
    all, that one first. ``header`` says which rows name the columns of a table, as ``headers.find`` takes it.
    Rows ``left_out`` are not read. ``beside`` are the files of its format in the same import, by kind.
    """

    path: Path
    name: str = ""
    sheet: str = ""
    header: str = ""
    about: About = field(default_factory=About)
    size: int = field(init=False, default=0)
    position: int = field(init=False, default=0)
    unit: str = field(init=False, default="line")
    sheets: list[str] = field(init=False, default_factory=list)
    left_out: Collection[int] = field(init=False, default=())
    beside: Mapping[int, Sequence["InputFile"]] = field(init=False, default_factory=dict)
    header_read: Header | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.name = self.name or str(self.path)
        self.size = self.path.stat().st_size

    @property
    def stem(self) -> str:
        """The lower-case file name without ``.gz`` and ending: ``gpt4-comparisons``."""
        return self.cased_stem.lower()

    @property
    def cased_stem(self) -> str:
        """The stem as it is written."""
        name = Path(self.name).name
        return Path(name[:-3] if name.lower().endswith(".gz") else name).stem

    @property
    def folders(self) -> tuple[str, ...]:
        """The names of the folders it is in, the innermost first; none are known of an upload."""
        known = Path(os.path.abspath(self.path) if self.name == str(self.path) else self.name)
        return tuple(folder.name for folder in known.parents if folder.name)

    def place(self, line: int = 0) -> Place:
        return Place(self.name, line, self.unit if line else "line")

    def problem(self, line: int, reason: str, field: str = "") -> Problem:
        return Problem(self.place(line), field, reason)

    def broken(self, line: int, reason: str) -> BrokenFileError:
        return BrokenFileError(self.problem(line, reason))

    def _fault(self, line: int, reason: str) -> BrokenFileError:
        """An error in a line, whatever else places count."""
        return BrokenFileError(Problem(Place(self.name, line), "", reason))

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Each line with its number and line end. Raises BrokenFileError."""
        pieces = self._pieces(lambda stream: stream.readline(MAX_LINE + 1))
        blank = 0
        for number, line in enumerate(pieces, start=1):
            blank = blank + 1 if line.isspace() else 0
            if blank > MAX_BLANK:
                reason = f"more than {MAX_BLANK:,} blank lines in a row"
                raise self._fault(number, reason)
            if len(line) > MAX_LINE:
                limit = f"{MAX_LINE // 1024 // 1024} MiB"
                raise self._fault(number, f"the line is longer than {limit}")
            yield number, line

    def _pieces(
        self, read: Callable[[IO[Any]], Any] = lambda stream: stream.read(CHUNK), *, raw: bool = False
    ) -> Iterator[bytes]:
        """The unpacked file piece by piece, as UTF-8 unless ``raw``. Raises BrokenFileError."""
        encoding = "utf-8" if raw else self.encoding
        line, total = 1, 0
        try:
            with self.path.open("rb") as packed:
                stream: IO[Any] = self._decompressed(packed)
                if encoding != "utf-8":
                    stream = io.TextIOWrapper(stream, encoding, newline="\n")
                while piece := read(stream):
                    piece = piece if encoding == "utf-8" else piece.encode()
                    total += len(piece)
                    if total > MAX_FILE:
                        raise self._fault(line, "the file is longer than 2 GiB")
                    self.position = packed.tell()
                    yield piece
                    line += piece.count(b"\n")
        except EOFError:
            reason = "the gzip file ends too early; it was cut off"
            raise self._fault(line, reason) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise self._fault(line, f"the gzip file is damaged ({error})") from error
        except UnicodeDecodeError as error:
            raise self._fault(line, f"not {error.encoding.upper()}; {_SAVE}") from error
        except OSError as error:
            raise self.broken(0, f"cannot be read ({error.strerror or error})") from error

    @cached_property
    def _start(self) -> bytes:
        """The first bytes, unpacked. Raises BrokenFileError."""
        return next(self._pieces(raw=True), b"")

    @cached_property
    def encoding(self) -> str:
        """The encoding of the text: as its first bytes tell, or UTF-8, or Windows-1252 for a table."""
        if found := encodings.told(self._start):
            return found
        if reason := why_not_text(self._start):
            raise self._fault(1, reason)
        # JSON is UTF-8 wherever it comes from; a program that saves tables may choose another.
        if _is_json(self.name, self._start.removeprefix(codecs.BOM_UTF8)):
            return "utf-8"
        return encodings.guessed(lambda: self._pieces(raw=True))

    @staticmethod
    def _decompressed(raw: IO[bytes]) -> IO[bytes]:
        magic = raw.read(2)
        raw.seek(0)
        # GzipFile has every method of IO[bytes] that is used here, but is not declared as one.
        return gzip.GzipFile(fileobj=raw) if magic == GZIP else raw  # type: ignore[return-value]

    def decode(self, number: int, line: bytes) -> str:
        """A line as text without byte order mark. Raises BrokenFileError."""
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            bad = f"byte 0x{line[error.start]:02x} at position {error.start + 1}"
            reason = f"not UTF-8 ({bad}); {_SAVE}"
            raise self._fault(number, reason) from error

    def _texts(self) -> Iterator[str]:
        """The file as pieces of text without byte order mark. Raises BrokenFileError."""
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        line = 1
        try:
            for piece in self._pieces():
                text = decoder.decode(piece)
                line += text.count("\n")
                # A text can be empty in the middle of a file: a piece may end within a character.
                if text:
                    yield text
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            line += error.object.count(b"\n", 0, error.start)
            reason = f"not UTF-8 (byte 0x{error.object[error.start]:02x}); {_SAVE}"
            raise self._fault(line, reason) from error

    @cached_property
    def opening(self) -> str:
        """The first character that is not blank, or an empty text. Raises BrokenFileError."""
        for piece in self._pieces():
            if rest := piece.removeprefix(codecs.BOM_UTF8).lstrip():
                return chr(rest[0])
        return ""

    def json_objects(self) -> Iterator[Row | Problem]:
        """The objects of JSON Lines or a JSON list; a Problem for anything else."""
        return self._list_objects() if self.opening == "[" else self._line_objects()

    def _line_objects(self) -> Iterator[Row | Problem]:
        for number, line in self.lines():
            try:
                text = self.decode(number, line).strip()
                value = parse_json(text) if text else None
            except BrokenFileError as error:
                yield error.problem
            except UnreadableError as error:
                yield self.problem(number, str(error))
            else:
                if isinstance(value, dict):
                    yield number, value
                elif text:
                    yield self.problem(number, f"expected a JSON object, found {json_type(value)}")

    def _list_objects(self) -> Iterator[Row | Problem]:
        """The objects by first line, or by number if all are in one line."""
        self.unit = "line"
        try:
            for element in ListReader(self._texts(), MAX_LINE):
                number = element.line
                if number == 1 and element.number > 1:
                    number, self.unit = element.number, "object"
                if element.fault:
                    yield self.problem(number, element.fault)
                elif isinstance(element.value, dict):
                    yield number, element.value
                else:
                    found = json_type(element.value)
                    yield self.problem(number, f"expected a JSON object, found {found}")
        except UnreadableError as error:
            self.unit = "line"
            raise self.broken(error.line, str(error)) from error

    def _check_line_ends(self, start: bytes) -> None:
        """Raise BrokenFileError for lines that end in CR alone: they would read as one."""
        if b"\r" in start.rstrip() and b"\n" not in start:
            reason = "the lines end in CR; save the file with LF or CRLF"
            raise self.broken(1, reason)

    @cached_property
    def form(self) -> Form:
        """How the file is written, by its content. Raises BrokenFileError."""
        if self.is_workbook:
            return Form.CELLS
        if self.name.lower().endswith(".xlsx"):
            reason = "the file is no Excel workbook, whatever its name says; give it the ending of what it is"
            raise self.broken(0, reason)
        if self._start.startswith(MAGIC):
            return Form.PARQUET
        if self.opening != "[":
            self._check_line_ends(next(self._pieces(), b""))
        return Form.JSON if _is_json(self.name, self.opening.encode()) else Form.CELLS

    @cached_property
    def is_workbook(self) -> bool:
        """Tell whether the file is an Excel workbook, perhaps a damaged one. Raises BrokenFileError."""
        try:
            return workbooks.is_workbook(self.path)
        except zipfile.BadZipFile:
            return self.name.lower().endswith(".xlsx")
        except OSError as error:
            raise self.broken(0, f"cannot be read ({error.strerror or error})") from error

    def columns(self) -> tuple[str, ...]:
        """The fields in file order. Raises BrokenFileError."""
        return tuple(self._look.samples)

    @cached_property
    def _look(self) -> "_Look":
        """First rows as they are, and samples by column; where the file breaks off, reading it says so."""
        table = Table(self) if self.form is Form.CELLS else None
        named = table.columns if table else self._parquet_columns() if self.form is Form.PARQUET else []
        top = [(line, [cell[:CELL] for cell in cells]) for line, cells in table.top] if table else []
        found: dict[str, list[str]] = {column: [] for column in named}
        try:
            for row in islice(table.rows() if table else self.rows(), HEAD):
                if len(found) > MAX_COLUMNS:
                    break
                for column, value in () if isinstance(row, Problem) else row[1].items():
                    text = json.dumps(value) if isinstance(value, list | dict) else workbooks.cell_text(value)
                    cells = found.setdefault(column, [])
                    if len(cells) < CELLS and (text := text.strip()):
                        cells.append(text[:CELL])
        except BrokenFileError:
            pass
        return _Look(top, found)

    def notes(self) -> Iterator[Note]:
        """How the file was read, where there was a choice."""
        if len(self.sheets) > 1:
            read, *others = self.sheets
            names = ", ".join(f'"{name}"' for name in others)
            yield Note(self.place(), f'the sheet "{read}" is read, not {names}')
        if self.header_read and self.header_read.note:
            yield Note(self.place(), self.header_read.note)
        if self.form is Form.CELLS and not self.is_workbook and self.encoding == encodings.WESTERN:
            yield Note(self.place(), "the file is not UTF-8; it is read as Windows-1252 (Western Europe)")

    def samples(self) -> dict[str, list[str]]:
        """Each column's first cells that are not empty, shortened. Raises BrokenFileError for the header."""
        return self._look.samples

    def top(self) -> list[tuple[int, list[str]]]:
        """The first rows of a table as they are, with their numbers. Raises BrokenFileError."""
        return self._look.top

    def rows(self) -> Iterator[Row | Problem]:
        """Objects or rows of any form, as many as an import takes. Raises BrokenFileError."""
        cells = 0
        for count, row in enumerate(self._all_rows(), start=1):
            line, values = (row.place.line, {}) if isinstance(row, Problem) else row
            cells += len(values)
            if count > MAX_ROWS:
                raise self.broken(line, f"more than {MAX_ROWS:,} rows; split the file")
            if cells > MAX_CELLS:
                raise self.broken(line, f"more than {MAX_CELLS:,} cells; split the file")
            yield row

    def _all_rows(self) -> Iterator[Row | Problem]:
        if self.form is Form.PARQUET:
            return self._parquet_rows()
        return self.json_objects() if self.form is Form.JSON else Table(self).rows()

    def _parquet_columns(self) -> list[str]:
        try:
            return parquet_columns(self.path)
        except UnreadableError as error:
            raise self.broken(0, str(error)) from error

    def _parquet_rows(self) -> Iterator[Row | Problem]:
        self.unit, number = "row", 0
        try:
            for number, (row, share) in enumerate(parquet_rows(self.path), start=1):
                self.position = int(share * self.size)
                yield number, row
        except UnreadableError as error:
            raise self.broken(number + 1, str(error)) from error


class _Look(NamedTuple):
    top: list[tuple[int, list[str]]]
    samples: dict[str, list[str]]


class Table:
    """A table with a header; rows are numbered as a spreadsheet does."""

    def __init__(self, file: InputFile) -> None:
        self.file = file
        file.unit = "row"
        self._rows = _sheet_rows(file) if file.is_workbook else _csv_rows(file)
        self._broken: BrokenFileError | None = None
        self.top = list(self._first())
        self._last = 0
        self.columns = self._header() if self.top else []

    def _first(self) -> Iterator[tuple[int, list[str]]]:
        """Some first rows with cells; a file that breaks off within them does so after them."""
        size = found = 0
        try:
            for line, cells in self._rows:
                size += sum(map(len, cells))
                found += bool(cells)
                if cells:
                    yield line, cells
                if found == HEAD or size > MAX_LINE:
                    break
        except BrokenFileError as error:
            if not found:
                raise
            self._broken = error

    def _header(self) -> list[str]:
        line = self.top[0][0]
        if not any(cell.strip() for _, cells in self.top for cell in cells):
            raise self.file.broken(line, "the first row names no column; write the names there")
        try:
            header = headers.find(self.top, self.file.header)
        except UnreadableError as error:
            raise self.file.broken(0, str(error)) from error
        line, self._last = header.last, header.end
        self.file.header_read = header
        if len(header.names) > MAX_COLUMNS:
            reason = f"the header has {len(header.names):,} columns; at most {MAX_COLUMNS:,} can be read"
            raise self.file.broken(line, reason)
        # A column without a name gets one: under the same name, the last such cell would hide the others.
        columns = [name or f"column {number}" for number, name in enumerate(header.names, start=1)]
        if doubled := {name for name, count in Counter(columns).items() if count > 1}:
            reason = f"the column {min(doubled)} appears twice in the header; rename one"
            raise self.file.broken(line, reason)
        return columns

    def rows(self) -> Iterator[Row | Problem]:
        """Each row by column name; a Problem for a wrong number of cells. Raises BrokenFileError."""
        width = len(self.columns)
        for line, cells in chain(self.top, self._rows):
            if line <= self._last or not any(cells):
                continue
            if self.file.is_workbook:
                cells += [""] * (width - len(cells))  # a sheet has no end of a row
            if len(cells) == width:
                yield line, dict(zip(self.columns, cells, strict=True))
            else:
                reason = f"the row has {len(cells)} cells, the header has {width}; {_CELLS}"
                yield self.file.problem(line, reason)
        if self._broken:
            raise self._broken


def _csv_rows(file: InputFile) -> Iterator[tuple[int, list[str]]]:
    """Each row with its number. Raises BrokenFileError."""
    csv.field_size_limit(MAX_LINE)
    lines = (file.decode(number, line) for number, line in file.lines())
    top: list[str] = []
    said: re.Match[str] | None = None
    for line in lines:
        if not top and not said and (said := _SEPARATOR.fullmatch(line.strip())):
            continue  # a spreadsheet hides this line
        top.append(line)
        if len(top) == HEAD or sum(map(len, top)) > MAX_LINE:
            break
    delimiter = said[1] if said else _delimiter(top)
    reader = csv.reader(chain(top, lines), delimiter=delimiter, strict=True)
    number = 0
    try:
        for number, cells in enumerate(reader, start=1):
            yield number, cells
    except csv.Error as error:
        raise file.broken(number + 1, f"the row cannot be read ({error})") from error


def _sheet_rows(file: InputFile) -> Iterator[tuple[int, list[str]]]:
    """Each row of a workbook's sheet with its number. Raises BrokenFileError."""
    file.unit, number = "row", 0
    try:
        for number, cells, share in workbooks.rows(file.path, MAX_FILE, file.sheets, file.sheet):
            file.position = int(share * file.size)
            if sum(map(len, cells)) > MAX_LINE:
                raise file.broken(number, f"the row is longer than {MAX_LINE // 2**20} MiB")
            yield number, cells
    except UnreadableError as error:
        raise file.broken(number and number + 1, str(error)) from error


_CELLS: Final = "name every column, and put text that holds a separator in quotes"
_MOST: Final = 0.8  # of the first lines that a table has, below titles
_SEPARATOR: Final = re.compile('"?sep=([,;\t|])"?')  # a first line in which spreadsheets name the separator


def _delimiter(lines: Sequence[str]) -> str:
    """The separator with which most of the first lines have as many cells, among those of the first line."""
    found: dict[str, tuple[float, int]] = {}
    first = next((line for line in lines if line.strip()), "")
    for delimiter in ",;\t|":
        widths: Counter[int] = Counter()
        with suppress(csv.Error):  # as in a text whose quotes are none with this separator
            widths.update(len(cells) for cells in csv.reader(lines, delimiter=delimiter) if cells)
        width, times = widths.most_common(1)[0] if widths else (0, 0)
        share = times / (widths.total() or 1)
        # A title stands above a table without separators; so does the one name above a column of texts.
        if width > 1 and (delimiter in first or (width > 2 and share >= _MOST)):
            found[delimiter] = (share, width)
    return max(found, key=found.__getitem__, default=",")
