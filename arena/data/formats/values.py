"""Readers of the values of fields, and how they are written in JSON and in tables. Pure.

Each reader returns the value, or raises FieldError; the types have pydantic read by them.
"""

import json
import math
import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

from pydantic import Field, PlainValidator, StrictStr, ValidationInfo

from arena.files.writing import Type

MAX_DEPTH: Final = 32
YEARS: Final = range(1900, 2200)  # databases and time zones fail at the very first and last years
LARGEST_SCORE: Final = 1e12
MAX_SCORE: Final = Decimal(99_999)
MOST_SECONDS: Final = 1e9

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_WHOLE: Final = re.compile(r"\s*([-+]?[0-9]{1,18})(\.0+)?\s*")


class UnreadableError(Exception):
    """A file cannot be read from some line on, from 1 where it is known; the message says why."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.line = line


class FieldError(ValueError):
    """A value that a field cannot have; the message says why."""


class Written(NamedTuple):
    """How values are written: in ``cells`` all are texts; ``json_texts`` hold lists and objects."""

    cells: bool = False
    json_texts: bool = False


Reader: TypeAlias = Callable[[Any, Written], Any]


def json_type(value: object) -> str:
    """A JSON value's type in words."""
    names: dict[type, str] = {bool: "true or false", str: "a text", list: "a list", dict: "an object"}
    return "null" if value is None else names.get(type(value), "a number")


def text(value: Any, written: Written) -> str:
    """A text; whole numbers count, because ids may be numbers."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise FieldError(f"expected a text, found {json_type(value)}")


def name(value: Any, written: Written) -> str:
    """A text that is not blank."""
    found = text(value, written)
    if not found.strip():
        raise FieldError("missing")
    return found


def mention(value: Any, written: Written) -> str:
    """A text that names something, empty if it is blank."""
    return found if (found := text(value, written)).strip() else ""


def one_of(choices: Collection[str]) -> Reader:
    def read(value: Any, written: Written) -> str:
        found = text(value, written)
        if found not in choices:
            raise FieldError(f'"{found}" is not one of {", ".join(choices)}')
        return found

    return read


def whole_number(cell: str) -> int | None:
    """The whole number in a cell, or None."""
    whole = _WHOLE.fullmatch(cell)
    return int(whole[1]) if whole else None


def whole(least: int = 0, most: int = 2**31 - 1) -> Reader:
    def read(value: Any, written: Written) -> int:
        found = value
        if written.cells and isinstance(value, str):
            found = whole_number(value)
            if found is None:
                raise FieldError(f'"{value}" is not a whole number')
        if isinstance(found, float) and found.is_integer():
            found = int(found)
        if isinstance(found, bool) or not isinstance(found, int):
            raise FieldError(
                f"expected a whole number, found {found if type(found) is float else json_type(found)}"
            )
        if not least <= found <= most:
            raise FieldError(f"{found} is not between {least} and {most}")
        return found

    return read


def decimal(least: float, most: float) -> Callable[[Any, Written], Decimal]:
    """Return a reader of finite numbers in ``[least, most)``."""

    def read(value: Any, written: Written) -> Decimal:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise FieldError(f"expected a number, found {json_type(value)}")
        if isinstance(value, str) and not written.cells:
            raise FieldError("expected a number, found a text")
        text = str(value).strip()
        try:
            # Digits of other scripts are refused, as in whole numbers.
            number = Decimal(text.replace("_", "x") if text.isascii() else "x")
        except InvalidOperation:
            raise FieldError(f'"{value}" is not a number') from None
        if not number.is_finite():
            raise FieldError(f"{value} is not a finite number")
        if not least <= number < most:
            raise FieldError(f"{value} is not between {least:g} and {most:g}")
        return number

    return read


def number(least: float, most: float) -> Reader:
    read = decimal(least, most)
    return lambda value, written: float(read(value, written))


def flag(value: Any, written: Written) -> bool:
    if written.cells and isinstance(value, str):
        value = {"true": True, "false": False}.get(value.lower(), value)
    if not isinstance(value, bool):
        raise FieldError("expected true or false")
    return value


def moment(value: Any, written: Written) -> datetime:
    """A time in ISO 8601 (UTC without a zone) or seconds since 1970."""
    found = _moment(value)
    if found is None or found.year not in YEARS:
        raise FieldError(f"{str(value)[:40]!r} is neither an ISO 8601 time nor seconds since 1970")
    return found


def _moment(value: Any) -> datetime | None:
    try:
        if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
            found = datetime.fromisoformat(value)
            return found if found.tzinfo else found.replace(tzinfo=UTC)
        if not isinstance(value, bool):
            return datetime.fromtimestamp(float(value), UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        pass
    return None


def anything(value: Any, written: Written) -> Any:
    """A value, in a table the JSON in the cell."""
    if not written.json_texts or not isinstance(value, str):
        return value
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        raise FieldError("the cell does not hold valid JSON") from None
    if reason := unstorable(parsed):
        raise FieldError(reason)
    return parsed


def texts(value: Any, written: Written) -> tuple[str, ...]:
    found = anything(value, written)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise FieldError("expected a list of texts")
    return tuple(found)


def labels(value: Any, written: Written) -> tuple[str, ...]:
    """A list of texts, or in a cell also texts between semicolons or commas."""
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return tuple(part.strip() for part in re.split("[;,]", value) if part.strip())
    return texts(value, written)


def mapping(value: Any, written: Written) -> dict[str, Any]:
    found = anything(value, written)
    if not isinstance(found, dict):
        raise FieldError(f"expected an object, found {json_type(found)}")
    return found


def unstorable(value: Any, depth: int = 0) -> str:
    """Why a database cannot store a value, or an empty text."""
    if isinstance(value, str):
        if "\0" in value:
            return "holds a NUL character, which cannot be stored"
        if not value.isascii() and _SURROGATE.search(value):
            return "holds half of a surrogate pair, which cannot be stored"
        return ""
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"{value} is not a number that can be stored"
    if isinstance(value, list | dict):
        if depth >= MAX_DEPTH:
            return f"nested more than {MAX_DEPTH} deep"
        parts = value if isinstance(value, list) else (*value.keys(), *value.values())
        return next((reason for part in parts if (reason := unstorable(part, depth + 1))), "")
    return ""


def validator(read: Reader) -> Callable[[Any, ValidationInfo], Any]:
    """The reader for pydantic, whose context says how values are written."""
    return lambda value, info: read(value, info.context or Written())


def by(read: Reader) -> PlainValidator:
    """Have pydantic read a value by this alone."""
    return PlainValidator(validator(read))


# pydantic takes what is a text by itself, ten times as fast, and asks the reader about all else.
_FIRST: Final = Field(union_mode="left_to_right")
_NAME: Final = Field(pattern=r"[^\s\x1c-\x1f]")

Text: TypeAlias = Annotated[StrictStr | Annotated[str, by(text)], _FIRST]
Name: TypeAlias = Annotated[Annotated[StrictStr, _NAME] | Annotated[str, by(name)], _FIRST]
Mention: TypeAlias = Annotated[Annotated[StrictStr, _NAME] | Annotated[str, by(mention)], _FIRST]
Flag: TypeAlias = Annotated[bool, by(flag), Type.FLAG]
Whole: TypeAlias = Annotated[int, by(whole()), Type.INTEGER]
Seconds: TypeAlias = Annotated[float, by(number(0, MOST_SECONDS)), Type.NUMBER]
OnScale: TypeAlias = Annotated[float, by(number(-LARGEST_SCORE, LARGEST_SCORE)), Type.NUMBER]
Moment: TypeAlias = Annotated[datetime, by(moment), Type.MOMENT]
Texts: TypeAlias = Annotated[tuple[str, ...], by(texts), Type.TEXTS]
