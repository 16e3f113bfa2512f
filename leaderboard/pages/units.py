"""Units: how pages, files and terminals write numbers of each kind. Pure."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from leaderboard.pages.format import (
    NONE,
    number,
    number_range,
    percent,
    percent_range,
    probability,
    share_points,
    signed,
)
from leaderboard.stats.plain_values import Estimate as Estimate

Cell = str | int | float | None


def _no_range(low: float | None, high: float | None) -> str:
    return ""


@dataclass(frozen=True)
class Unit:
    """A kind of numbers.

    ``text`` and ``range`` write a number and an interval for readers, ``printed`` a number in a terminal,
    where headings name the unit. ``cell`` gives the number in files. ``suffix`` stands behind the names of
    their columns. In figures numbers are ``scale`` times as large.

    In tables of pages numbers are ``times`` as large as in files, and have ``places`` decimals below 10, None
    for as many as they need, or are as ``shown``.
    """

    text: Callable[[float | None], str]
    printed: Callable[[float | None], str]
    range: Callable[[float | None, float | None], str] = _no_range
    suffix: str = ""
    cell: Callable[[Any], Cell] = lambda value: value
    scale: float = 1
    times: int = 1
    places: int | None = None
    shown: Callable[[float], str] | None = None

    def told(self, found: Estimate, noun: str = "") -> str:
        """Write a number with its interval for readers, ``noun`` behind the number."""
        ends = self.range(found.low, found.high)
        return self.text(found.value) + noun + (f" ({ends})" if ends else "")

    def told_at(self, level: float, found: Estimate, noun: str = "") -> str:
        """The same with the level of the interval."""
        ends = self.range(found.low, found.high)
        return self.text(found.value) + noun + (f" ({level:g}% interval {ends})" if ends else "")

    def with_ends(self, found: Estimate, noun: str = "") -> str:
        """Write a number with its interval in a terminal, ``noun`` behind the number."""
        ends = self.ends(found)
        return self.printed(found.value) + noun + (f" ({ends})" if ends else "")

    def ends(self, found: Estimate) -> str:
        """Write an interval in a terminal; empty without one."""
        return "" if found.low is None else f"{self.printed(found.low)} to {self.printed(found.high)}"


def percent_cell(share: float | None) -> float | None:
    """A share in percent, as exact as shares are stored: a page rounds it once more; None stays."""
    return None if share is None else round(100 * share, 4)


def _printed(form: str, scale: int = 1) -> Callable[[float | None], str]:
    """Write a number in a format of Python's, with a plain minus sign."""
    return lambda value: NONE if value is None else f"{scale * value:{form}}"


def _known(write: Callable[[float], str]) -> Callable[[float | None], str]:
    return lambda value: NONE if value is None else write(value)


def _in_tenths(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def _in_hundredths(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _points_range(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{share_points(low)} to {share_points(high)}"


def _whole(value: float) -> str:
    return number(value, ",.0f")


def _whole_range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f"{_whole(low)}{' to ' if low < 0 or high < 0 else '–'}{_whole(high)}"


SHARE: Final = Unit(percent, _printed(".1f", 100), percent_range, " (%)", percent_cell, 100, places=1)
PERCENT: Final = Unit(_known("{:.0f}%".format), _printed(".0f"), suffix=" (%)", cell=_in_hundredths, places=1)
"""Numbers that are in percent already."""
FRACTION: Final = replace(SHARE, cell=lambda share: share, times=100)
"""Shares that files do not give in percent."""
POINTS: Final = Unit(_known(share_points), _printed("+.1f", 100), _points_range, " (points)", percent_cell)
COEFFICIENT: Final = Unit(_known(signed), _printed(".3f"), number_range)
COUNT: Final = Unit(_known(lambda value: number(value, ",")), _printed(","))
SCORE: Final = Unit(_known(lambda value: number(value, ".0f")), _printed(".0f"))
WHOLE: Final = Unit(_known(_whole), _printed(",.0f"), _whole_range)
TENTHS: Final = Unit(_known("{:,.1f}".format), _printed(",.1f"), cell=_in_tenths)
HUNDREDTHS: Final = Unit(
    _known("{:,.2f}".format), _printed(",.2f"), cell=_in_hundredths, shown="{:,.2f}".format
)
P: Final = Unit(probability, _printed(".3f"), shown=probability)
PLAIN: Final = Unit(_known(str), _known(str))
"""Texts, and numbers that need no other word."""
