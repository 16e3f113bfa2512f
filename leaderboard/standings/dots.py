"""Ratings and their intervals inside the rows of a table: small SVG drawings on one shared axis.

They are for the eye alone; the numbers stand in cells of their own. Shapes have classes instead of colours,
so they follow the style sheet. Nothing but numbers goes into them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor, log10
from typing import Final

WIDTH: Final = 150
HEIGHT: Final = 20
_EDGE: Final = 14
_MOST_TICKS: Final = 4


@dataclass(frozen=True)
class Axis:
    """A shared scale of ratings from ``low`` to ``high`` with round numbers as ticks."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[float]) -> "Axis | None":
        """The axis that holds these values; None without any."""
        held = list(values)
        if not held:
            return None
        low, high = min(held), max(held)
        room = max((high - low) * 0.03, 1.0)
        return cls(low - room, high + room)

    def place(self, rating: float) -> float:
        """Where a rating is, in units of the drawing; ratings beyond the axis are at its ends."""
        share = (min(max(rating, self.low), self.high) - self.low) / (self.high - self.low)
        return round(_EDGE + share * (WIDTH - 2 * _EDGE), 1)

    @cached_property
    def ticks(self) -> list[int]:
        """Two to five whole numbers, evenly spaced by 1, 2 or 5 times a power of ten."""
        step = _step((self.high - self.low) / _MOST_TICKS)
        return list(range(ceil(self.low / step) * step, floor(self.high / step) * step + 1, step))

    def heading(self) -> str:
        """The axis with its numbers, for the head of the column."""
        marks = "".join(
            f'<text x="{self.place(tick)}" y="12" text-anchor="middle">{tick}</text>'
            f'<path d="M{self.place(tick)} 16V20"/>'
            for tick in self.ticks
        )
        return _svg(marks, "dots-axis")

    def row(self, rating: float, low: float | None, high: float | None) -> str:
        """A dot at the rating on the line of its interval; an arm that leaves the axis ends in an arrow."""
        shapes = self._grid
        if low is not None and high is not None:
            shapes += self._arms(low, high)
        if self.low <= rating <= self.high:
            shapes += f'<circle cx="{self.place(rating)}" cy="10" r="4"/>'
        return _svg(shapes, "dots")

    @cached_property
    def _grid(self) -> str:
        """A line for every tick, the same in all rows."""
        lines = "".join(f"M{self.place(tick)} 0V{HEIGHT}" for tick in self.ticks)
        return f'<path class="dots-grid" d="{lines}"/>'

    def _arms(self, low: float, high: float) -> str:
        start, end = self.place(low), self.place(high)
        drawn = f"M{start} 10H{end}"
        drawn += f"M{start} 7V13" if low >= self.low else f"M{start} 10l5 -4M{start} 10l5 4"
        drawn += f"M{end} 7V13" if high <= self.high else f"M{end} 10l-5 -4M{end} 10l-5 4"
        return f'<path class="dots-arms" d="{drawn}"/>'


def _step(wide: float) -> int:
    """The next of 1, 2, 5, 10, 20 ... that is at least so wide."""
    power: int = 10 ** max(floor(log10(wide)), 0) if wide > 0 else 1
    return next((factor * power for factor in (1, 2, 5) if factor * power >= wide), 10 * power)


def _svg(shapes: str, name: str) -> str:
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg class="{name}" {size} aria-hidden="true" focusable="false">{shapes}</svg>'
