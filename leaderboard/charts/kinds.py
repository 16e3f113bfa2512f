"""Names of kinds of raters in figures: judges often differ in their last words, so these must show."""

import textwrap
from collections.abc import Sequence
from typing import Final

from leaderboard.charts.parts import Figure, label, names_axis

_LINE: Final = 20
_LINES: Final = 3
_IN_LEGEND: Final = 48


def legend_name(name: str) -> str:
    """A name for a legend, where there is room for more of it."""
    return label(name, _IN_LEGEND)


def wrapped(name: str) -> str:
    """A name in up to three short lines."""
    lines = textwrap.wrap(" ".join(name.split()), _LINE, max_lines=_LINES, placeholder=" …") or [""]
    return "<br>".join(label(line, _LINE) for line in lines)


def kinds_axis(names: Sequence[str]) -> Figure:
    """An axis with a place for each kind of raters."""
    return names_axis(names) | {"ticktext": [wrapped(name) for name in names]}
