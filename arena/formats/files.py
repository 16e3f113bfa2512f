"""Reading files line by line: plain or gzipped, UTF-8, with every defect named by its line. Pure.

A file is streamed; at no time is more of it held than one line, and a line has a greatest length.
"""

import csv
import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final

from arena.formats.records import Place, Problem

MAX_LINE: Final = 16 * 1024 * 1024
"""Greatest length of one line in bytes."""

MAX_FILE: Final = 2 * 1024 * 1024 * 1024
"""Greatest length of a file in bytes, unpacked: a small gzip file can hold endless zeros."""

HEAD: Final = 64
"""Lines looked at to tell what a file holds."""


class BrokenFileError(Exception):
    """The rest of a file cannot be read; the problem says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass(eq=False)
class InputFile:
    """A file to import.

    ``name`` is what messages call it, by default its path; ``position`` is how far it was read, in bytes.
    """

    path: Path
    name: str = ""
    size: int = field(init=False, default=0)
    position: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.name = self.name or str(self.path)
        self.size = self.path.stat().st_size

    @property
    def stem(self) -> str:
        """The name without folders, ``.gz`` and the ending, in small letters: ``gpt4-comparisons``."""
        return Path(self.name.lower().removesuffix(".gz")).stem

    def place(self, line: int = 0) -> Place:
        return Place(self.name, line)

    def problem(self, line: int, reason: str, field: str = "") -> Problem:
        return Problem(self.place(line), field, reason)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Each line with its number, from 1, ends of line included. Raises BrokenFileError."""
        number = total = 0
        try:
            with self.path.open("rb") as raw:
                stream = self._decompressed(raw)
                while line := stream.readline(MAX_LINE + 1):
                    number += 1
                    if number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
                        raise BrokenFileError(self.problem(1, "the file is UTF-16; please save it as UTF-8"))
                    if len(line) > MAX_LINE:
                        limit = f"{MAX_LINE // 1024 // 1024} MiB"
                        raise BrokenFileError(self.problem(number, f"the line is longer than {limit}"))
                    total += len(line)
                    if total > MAX_FILE:
                        raise BrokenFileError(self.problem(number, "the file is longer than 2 GiB"))
                    self.position = raw.tell()
                    yield number, line
        except EOFError:
            reason = "the gzip file ends too early; it was cut off"
            raise BrokenFileError(self.problem(number + 1, reason)) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise BrokenFileError(self.problem(number + 1, f"the gzip file is damaged ({error})")) from error
        except OSError as error:
            raise BrokenFileError(self.problem(0, f"cannot be read ({error.strerror or error})")) from error

    @staticmethod
    def _decompressed(raw: IO[bytes]) -> IO[bytes]:
        magic = raw.read(2)
        raw.seek(0)
        # GzipFile has every method of IO[bytes] that is used here, but is not declared as one.
        return gzip.GzipFile(fileobj=raw) if magic == b"\x1f\x8b" else raw  # type: ignore[return-value]

    def decode(self, number: int, line: bytes) -> str:
        """A line as text, a byte order mark taken away. Raises BrokenFileError where it is not UTF-8."""
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as error:
            bad = f"byte 0x{line[error.start]:02x} at position {error.start + 1}"
            reason = f"not UTF-8 ({bad}); please save the file as UTF-8"
            raise BrokenFileError(self.problem(number, reason)) from error

    def text_lines(self) -> Iterator[str]:
        """The lines as text. Raises BrokenFileError at the first that is not UTF-8."""
        return (self.decode(number, line) for number, line in self.lines())

    def json_objects(self) -> Iterator[tuple[int, dict[str, Any]] | Problem]:
        """One JSON object per line, blank lines left out; a line that is none yields a Problem."""
        for number, line in self.lines():
            try:
                text = self.decode(number, line).strip()
                value = _parse(text) if text else None
            except BrokenFileError as error:
                yield error.problem
            except ValueError as error:
                yield self.problem(number, str(error))
            else:
                if isinstance(value, dict):
                    yield number, value
                elif text:
                    yield self.problem(number, f"expected a JSON object, found {json_type(value)}")

    def is_json(self) -> bool:
        """Whether the name says JSON, or the first character that is not blank opens a JSON object."""
        if self.name.lower().removesuffix(".gz").endswith((".jsonl", ".json")):
            return True
        for number, line in self.lines():
            if line.strip():
                return self.decode(number, line).lstrip().startswith("{")
        return False

    def table(self) -> "Table":
        """The file as comma-separated values. Raises BrokenFileError where there is no usable header."""
        return Table(self)


def json_type(value: object) -> str:
    """The name of a JSON value's type for messages."""
    names: dict[type, str] = {bool: "true or false", str: "a text", list: "a list", dict: "an object"}
    return "null" if value is None else names.get(type(value), "a number")


def _parse(text: str) -> Any:
    """Strict JSON. Raises ValueError with a reason for people."""
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {error.msg} at column {error.colno}") from error


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number that can be stored")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f'the key "{twice}" stands twice in one object')
    return found


class Table:
    """Rows of a CSV file under its header. Cells may hold line breaks; a row is named by its first line."""

    def __init__(self, file: InputFile) -> None:
        csv.field_size_limit(MAX_LINE)
        self.file = file
        lines = file.text_lines()
        top: list[str] = []
        for line in lines:
            top.append(line)
            if line.strip():
                break
        header = top[-1] if top else ""
        self._reader = csv.reader(chain(top, lines), delimiter=_delimiter(header), strict=True)
        try:
            self.columns = [cell.strip() for cell in next(filter(None, self._reader), [])]
        except csv.Error as error:
            raise BrokenFileError(file.problem(1, f"the header cannot be read ({error})")) from error
        doubled = {name for name in self.columns if name and self.columns.count(name) > 1}
        if doubled:
            raise BrokenFileError(file.problem(1, f"the column {min(doubled)} stands twice in the header"))

    def rows(self) -> Iterator[tuple[int, dict[str, str]] | Problem]:
        """Each row by column name; a row with too many or too few cells yields a Problem."""
        start = self._reader.line_num + 1
        while True:
            try:
                cells = next(self._reader, None)
            except csv.Error as error:
                yield self.file.problem(start, f"the row cannot be read ({error})")
                return
            if cells is None:
                return
            if any(cells) and len(cells) != len(self.columns):
                yield self.file.problem(
                    start, f"the row has {len(cells)} cells, the header has {len(self.columns)}"
                )
            elif any(cells):
                yield start, dict(zip(self.columns, cells, strict=True))
            start = self._reader.line_num + 1


def _delimiter(header: str) -> str:
    """A comma, or what spreadsheets write instead where the header has no comma."""
    if "," in header:
        return ","
    return ";" if ";" in header else "\t" if "\t" in header else ","
