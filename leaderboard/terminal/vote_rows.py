"""Records of a vote file: CSV, JSON Lines or a JSON array, recognised by content."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

# Imports read files more strictly, which takes longer for JSON Lines, and word what is wrong with
# a file differently. So rows are read here; the words for winners are those of the import formats.

_SHOWN: Final = 60
_LONGEST_FIELD: Final = 2**31 - 1
_LABEL_DIGITS: Final = 12


class VoteFileError(ValueError):
    """What is wrong with a vote file, and in which line."""


class Row(NamedTuple):
    """A record; ``place`` is "line 7" or "item 7"."""

    place: str
    values: Mapping[str, Any]


def rows(content: bytes) -> Iterator[Row]:
    """The records of a file: [ begins an array, { JSON Lines, anything else CSV.

    Raises VoteFileError, also while they are taken.
    """
    text = _decode(content)
    start = text.lstrip()[:1]
    if start == "[":
        return _array_rows(text)
    return _line_rows(text) if start == "{" else _csv_rows(text)


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise VoteFileError(f"line {line}: the text is not UTF-8") from error


def _array_rows(text: str) -> Iterator[Row]:
    for number, item in enumerate(_json(text, 1), start=1):
        yield Row(f"item {number}", _object(item, f"item {number}"))


def _line_rows(text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield Row(f"line {number}", _object(_json(line, number), f"line {number}"))


def _csv_rows(text: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    # Ignored columns may hold whole conversations, longer than the module's default limit.
    usual_limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        for fields in reader:
            if not any(field.strip() for field in fields):
                continue
            if header is None:
                header = _header(fields)
                continue
            if len(fields) != len(header):
                raise VoteFileError(
                    f"line {reader.line_num}: there are {len(fields)} fields but {len(header)} columns"
                )
            yield Row(f"line {reader.line_num}", dict(zip(header, fields, strict=True)))
    except csv.Error as error:
        raise VoteFileError(f"line {reader.line_num}: not valid CSV ({error})") from error
    finally:
        csv.field_size_limit(usual_limit)


def _header(fields: Sequence[str]) -> list[str]:
    header = [field.strip() for field in fields]
    for name, times in Counter(header).items():
        if name and times > 1:
            raise VoteFileError(f"the column {quoted(name)} appears twice")
    return header


def _json(text: str, first_line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise VoteFileError(f"line {line}: not valid JSON ({error.msg})") from error
    except (ValueError, RecursionError) as error:
        raise VoteFileError(f"line {first_line}: not valid JSON ({error})") from error


def _object(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise VoteFileError(f"{place}: not a JSON object")
    return value


def prompt_label(number: int) -> str:
    """The name of a prompt in files of games; ``labelled_number`` reads the number again."""
    return f"{number:0{_LABEL_DIGITS}d}"


def labelled_number(text: str) -> int | None:
    """The number in a label, for the board's own bootstrap draws; None for other texts."""
    return int(text) if len(text) == _LABEL_DIGITS and text.isascii() and text.isdigit() else None


def text_of(row: Row, column: str, *, needed: bool = False) -> str:
    value = row.values.get(column)
    if value is None:
        value = ""
    elif isinstance(value, bool) or not isinstance(value, str | int | float):
        raise VoteFileError(f"{row.place}: the {column} must be a text or a number")
    text = str(value).strip()
    if needed and not text:
        raise VoteFileError(f"{row.place}: the {column} is missing")
    return text


def quoted(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
