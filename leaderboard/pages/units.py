"""Units of numbers: how pages, files and terminals write those of each kind. Pure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from leaderboard.pages.format import NONE, number_range, percent, percent_range, share_points, signed
from leaderboard.pages.table import Cell, percent_cell


def _no_range(low: float | None, high: float | None) -> str:
    return ""


@dataclass(frozen=True)
class Unit:
    """A kind of numbers.

    ``text`` and ``range`` write a number and an interval for readers, ``printed`` a number in a terminal,
    where headings name the unit. In files ``cell`` gives the number, and names of columns end in ``suffix``.
    Numbers have an interval if the unit ``has_interval``.
    """

    text: Callable[[float | None], str]
    printed: Callable[[float | None], str]
    range: Callable[[float | None, float | None], str] = _no_range
    suffix: str = ""
    cell: Callable[[float | None], Cell] = lambda value: value
    has_interval: bool = True

    def cells(self, name: str, value: float | None, *ends: float | None) -> Iterator[tuple[str, Cell]]:
        """The columns of a number in files: itself, then ``ends``, those of its interval."""
        for said, number in zip(("", ": low", ": high"), (value, *ends), strict=False):
            yield f"{name}{self.suffix}{said}", self.cell(number)


def with_ends(found: Mapping[str, Any], key: str) -> list[float | None]:
    """A number and the ends of its interval, which contents keep under key_low and key_high."""
    return [found.get(f"{key}{end}") for end in ("", "_low", "_high")]


def _printed(form: str, scale: int = 1) -> Callable[[float | None], str]:
    """Write a number in a format of Python's, with a plain minus sign."""
    return lambda value: NONE if value is None else f"{scale * value:{form}}"


SHARE: Final = Unit(percent, _printed(".1f", 100), percent_range, " (%)", percent_cell)
POINTS: Final = Unit(
    lambda value: NONE if value is None else share_points(value),
    _printed("+.1f", 100),
    suffix=" (points)",
    cell=percent_cell,
)
COEFFICIENT: Final = Unit(
    lambda value: NONE if value is None else signed(value), _printed(".3f"), number_range
)
COUNT: Final = Unit(lambda value: NONE if value is None else f"{value:,}", _printed(","), has_interval=False)
