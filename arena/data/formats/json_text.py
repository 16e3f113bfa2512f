"""Strict JSON: one value, or one after the other the elements of a list of any length. Pure."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

CHUNK: Final = 64 * 1024
"""Characters of a list that are looked at together; more where one element is longer."""

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_TAIL: Final = 16
"""What happens this near the end of what was read may come of something that was cut in two."""


def json_type(value: object) -> str:
    """The name of a JSON value's type for messages."""
    names: dict[type, str] = {bool: "true or false", str: "a text", list: "a list", dict: "an object"}
    return "null" if value is None else names.get(type(value), "a number")


class JsonError(ValueError):
    """What is wrong with a text that is no JSON, for people; ``line`` is where, from 1."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__(reason)
        self.line = line


class Element(NamedTuple):
    """A member of a list: its number and the line it begins in, from 1; ``fault`` says what is wrong."""

    number: int
    line: int
    value: Any
    fault: str = ""


class _Decoder:
    """Reads a value as JSON; numbers that are none and keys that stand twice are told as ``fault``."""

    def __init__(self) -> None:
        self.fault = ""
        self._decoder = json.JSONDecoder(parse_constant=self._constant, object_pairs_hook=self._object)

    def read(self, text: str, start: int = 0) -> tuple[Any, int]:
        """The value that begins at ``start``, and where it ends.

        Raises JSONDecodeError, and JsonError for what Python does not take in.
        """
        self.fault = ""
        try:
            return self._decoder.raw_decode(text, start)
        except json.JSONDecodeError:
            raise
        except RecursionError:
            raise JsonError("the JSON is nested too deeply") from None
        except ValueError:
            # Python refuses to make an integer of thousands of digits.
            raise JsonError("a number has too many digits") from None

    def _constant(self, name: str) -> None:
        self.fault = self.fault or f"{name} is not a number that can be stored"

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            self.fault = self.fault or f'the key "{twice}" stands twice in one object'
        return found


def parse(text: str) -> Any:
    """The one value a text without blanks around it holds. Raises JsonError."""
    decoder = _Decoder()
    try:
        value, end = decoder.read(text)
    except json.JSONDecodeError as error:
        raise JsonError(f"not valid JSON: {error.msg} at column {error.colno}") from error
    if decoder.fault:
        raise JsonError(decoder.fault)
    if end < len(text):
        raise JsonError(f"not valid JSON: Extra data at column {end + 1}")
    return value


class ListReader:
    """The elements of a JSON list that comes in pieces; no more than about one of them is held.

    ``limit`` is the greatest length of one, in characters. Reading raises JsonError where the rest cannot
    be made out.
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
            raise JsonError("there is something after the end of the list", self._line)

    def _element(self, number: int) -> Element:
        self._peek()
        while True:
            try:
                value, end = self._decoder.read(self._text, self._at)
            except JsonError as error:
                raise JsonError(str(error), self._line) from None
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

    def _wrong(self, error: json.JSONDecodeError) -> JsonError:
        if self._is_cut(error) and len(self._text) - self._at > self._limit:
            return JsonError(f"the object is longer than {self._limit // 1024 // 1024} MiB", self._line)
        line = self._line + self._text.count("\n", self._at, error.pos)
        if not self._text[error.pos :].strip():
            return JsonError("the file ends in the middle of the list; it was cut off", line)
        return JsonError(f"not valid JSON: {error.msg} at {self._text[error.pos :][:20]!r}", line)

    def _take(self, wanted: str, name: str) -> None:
        found = self._peek()
        if not found:
            raise JsonError("the file ends in the middle of the list; it was cut off", self._line)
        if found != wanted:
            reason = f"not valid JSON: expected {name} at {self._text[self._at :][:20]!r}"
            raise JsonError(reason, self._line)
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
        """Read about as much again as is held; False at the end, and where an element gets too long."""
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
