"""Text for terminals: columns that line up, and no control characters. Pure."""

import unicodedata
from collections.abc import Collection, Sequence

from arena.texts.visible import visible


def printable(text: str) -> str:
    """A name in one line of a table: names are not trusted."""
    return visible(text, kept="")


def counted(number: int, plural: str) -> str:
    return f"{number} {plural.removesuffix('s') if number == 1 else plural}"


def aligned(rows: Sequence[Sequence[str]], left: Collection[str]) -> list[str]:
    """Lines with aligned columns, right but for those named in ``left``; the first row is the header."""
    header = rows[0]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(header))]
    sides = [name in left for name in header]
    return ["  ".join(map(_padded, row, widths, sides)).rstrip() for row in rows]


def _padded(cell: str, width: int, left: bool) -> str:
    space = " " * (width - _width(cell))
    return cell + space if left else space + cell


def _width(text: str) -> int:
    """Columns on a terminal: wide East Asian characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )
