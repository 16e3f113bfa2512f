"""Small drawings of ratings and intervals in the rows of a table, as SVG. Pure.

They are for the eye alone: the numbers stand in cells of their own. Shapes have classes in place of colours,
so they follow the style sheet.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor, log10
from typing import Final

from leaderboard.pages.format import number

HEIGHT: Final = 20
ROW: Final = 300
"""Grid lines are this long, both ways: the cell cuts them, so that they run through every row."""
_EDGE: Final = 6
"""Percent of the width that stay empty on either side."""


@dataclass(frozen=True)
class Axis:
    """A shared scale of ratings from ``low`` to ``high``, with a dashed line at ``chance``."""

    low: float
    high: float
    chance: float | None = None

    @classmethod
    def around(
        cls, values: Iterable[float], chance: float | None = None, *, least: float = 1.0
    ) -> "Axis | None":
        """With room on both sides, ``least`` at least; None without values."""
        held = [*values, *(() if chance is None else (chance,))]
        if not held:
            return None
        low, high = min(held), max(held)
        room = max((high - low) * 0.03, least)
        return cls(low - room, high + room, chance)

    def place(self, rating: float) -> str:
        """Where a rating is, in percent of the width; one beyond the axis is at its end."""
        share = (min(max(rating, self.low), self.high) - self.low) / (self.high - self.low)
        return f"{_EDGE + share * (100 - 2 * _EDGE):.2f}%"

    @cached_property
    def ticks(self) -> list[float]:
        """Round numbers, evenly spaced, as many as fit: at most four, or three if written with four signs."""
        step = (self.high - self.low) / 5
        while True:
            step = _step(step)
            found = [number * step for number in range(ceil(self.low / step), floor(self.high / step) + 1)]
            longest = max((len(number(tick, ".10g")) for tick in found), default=0)
            if len(found) <= (4 if longest < 4 else 3):
                return found
            step *= 1.01

    def heading(self) -> str:
        named = {tick: number(tick, ".10g") for tick in self.ticks if self._is_clear(tick)}
        if self.chance is not None:
            named[self.chance] = "chance"
        return _svg("".join(self._mark(value, text) for value, text in named.items()), "dots-axis")

    def _is_clear(self, tick: float) -> bool:
        """Whether its number has room beside the word "chance"."""
        return self.chance is None or abs(tick - self.chance) > (self.high - self.low) / 4

    def _mark(self, value: float, text: str) -> str:
        place = self.place(value)
        line = _line(place, 16, place, HEIGHT)
        return f'<text x="{place}" y="12" text-anchor="middle">{text}</text>{line}'

    def row(self, rating: float | None, low: float | None, high: float | None) -> str:
        """A dot on the line of its interval, as SVG; what leaves the axis ends in an arrow."""
        if rating is None:
            return ""
        shapes = self._grid
        if low is not None and high is not None:
            shapes += self._arms(low, high)
        if self.low <= rating <= self.high:
            shapes += f'<circle cx="{self.place(rating)}" cy="10" r="4"/>'
        elif low is None or high is None:
            beyond = _arrow(self.place(rating), 5 if rating < self.low else -5)
            shapes += f'<g class="dots-arms">{beyond}</g>'
        return _svg(shapes, "dots")

    @cached_property
    def _grid(self) -> str:
        lines = (_line(self.place(tick), -ROW, self.place(tick), ROW) for tick in self.ticks)
        drawn = f'<g class="dots-grid">{"".join(lines)}</g>'
        if self.chance is None:
            return drawn
        place = self.place(self.chance)
        return f'{drawn}<g class="dots-chance">{_line(place, -ROW, place, ROW)}</g>'

    def _arms(self, low: float, high: float) -> str:
        start, end = self.place(low), self.place(high)
        drawn = _line(start, 10, end, 10)
        drawn += _line(start, 7, start, 13) if low >= self.low else _arrow(start, 5)
        drawn += _line(end, 7, end, 13) if high <= self.high else _arrow(end, -5)
        return f'<g class="dots-arms">{drawn}</g>'


def _line(x: str, y: int, to_x: str, to_y: int) -> str:
    return f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}"/>'


def _arrow(x: str, back: int) -> str:
    return f'<svg x="{x}" overflow="visible"><path d="M{back} 6L0 10L{back} 14"/></svg>'


def _step(wide: float) -> float:
    """The least of ... 1, 2, 2.5, 5, 10 ... that is at least ``wide``."""
    power = 10.0 ** floor(log10(wide)) if wide > 0 else 1.0
    return next((factor * power for factor in (1, 2, 2.5, 5) if factor * power >= wide), 10 * power)


def _svg(shapes: str, name: str) -> str:
    # As wide as its cell: places are in percent.
    size = f'width="100%" height="{HEIGHT}"'
    return f'<svg class="{name}" {size} aria-hidden="true" focusable="false">{shapes}</svg>'
