"""The encoding of a text file. Pure."""

import codecs
import re
from collections.abc import Callable, Iterable
from typing import Final

CHUNK: Final = 64 * 1024
WESTERN: Final = "cp1252"  # as spreadsheets on Windows save CSV in Western Europe and America

_MARKS: Final = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
"""Encodings by byte order mark, longer ones first."""

_UNMARKED: Final = {
    "utf-32-le": re.compile(rb"[\t\n\r -~]\x00\x00\x00"),
    "utf-32-be": re.compile(rb"\x00\x00\x00[\t\n\r -~]"),
    "utf-16-le": re.compile(rb"(?:[\t\n\r -~]\x00){2}"),
    "utf-16-be": re.compile(rb"(?:\x00[\t\n\r -~]){2}"),
}
"""The first four bytes of a text that begins in ASCII."""

_HIGH: Final = re.compile(rb"[\x80-\xff]+")
_UNKNOWN: Final = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # no characters of Windows-1252
_UTF8: Final = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_RUN: Final = 3  # letters beyond ASCII in a row: usual in other scripts, hardly in words of Western Europe


def told(start: bytes) -> str:
    """The encoding that the first bytes of a file tell; empty if they do not."""
    marked = next((name for mark, name in _MARKS.items() if start.startswith(mark)), "")
    return marked or next((name for name, first in _UNMARKED.items() if first.match(start)), "")


def guessed(pieces: Callable[[], Iterable[bytes]]) -> str:
    """UTF-8 or Windows-1252, by all bytes of a file whose first ones do not tell."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in pieces():
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return WESTERN if _is_western(pieces()) else "utf-8"
    return "utf-8"


def _is_western(pieces: Iterable[bytes]) -> bool:
    """Tell whether bytes that are not UTF-8 read as Windows-1252: not damaged UTF-8, nor another script."""
    alone = together = utf8 = 0
    for piece in pieces:
        if _UNKNOWN.search(piece):
            return False
        for run in _HIGH.findall(piece):
            utf8 += sum(map(len, _UTF8.findall(run)))
            if len(run) < _RUN:
                alone += len(run)
            else:
                together += len(run)
    return utf8 <= (alone + together) / 2 and together <= alone
