"""What figures share: names, axes, legends and the layout."""

import html
import textwrap
from collections.abc import Sequence
from typing import Any, Final

Figure = dict[str, Any]

SERIES: Final = ("--series-1", "--series-2", "--series-3", "--series-4", "--series-5", "--series-6")
LONGEST_LABEL: Final = 22
_LONGEST_END: Final = 9
MOST_NUMBERS: Final = 16
"""Most contestants of a matrix whose figure fits a screen."""

MOST_ON_A_PHONE: Final = 6
"""Most columns of a matrix whose numbers can be read on a phone."""

MOST_SERIES: Final = len(SERIES)


def label(name: str, longest: int = LONGEST_LABEL) -> str:
    """A name for Plotly: one line of at most ``longest`` characters, escaped."""
    line = " ".join(name.split())
    return html.escape(line if len(line) <= longest else _shortened(line, longest), quote=False)


def _shortened(line: str, longest: int) -> str:
    """The name cut in the middle if its last word is short: models of a family often differ only there."""
    start, _, end = line.rpartition(" ")
    kept = f" {end}" if start and len(end) <= min(_LONGEST_END, longest // 2) else ""
    return line[: longest - 1 - len(kept)].rstrip() + "…" + kept


def full(name: str) -> str:
    return label(name, 80)


def legend(series: int) -> Figure:
    """A legend along the upper edge, for more than one series."""
    edge = {"yref": "container", "y": 1, "yanchor": "top", "xref": "container", "x": 0, "xanchor": "left"}
    place = {"orientation": "h", **edge}
    return {"showlegend": series > 1, "legend": place}


def title(text: str) -> Figure:
    return {"text": text, "font": {"size": 13}}


def names_axis(names: Sequence[str]) -> Figure:
    """An axis with a place for each name. Places are numbers, so no name is read as a number or a date."""
    return {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [label(name) for name in names],
        "automargin": True,
        "zeroline": False,
    }


def over_columns(axis: Figure) -> Figure:
    return axis | {"side": "top", "autotickangles": [0, -90], "showgrid": False}


def layout(**more: Any) -> Figure:
    for axis in ("xaxis", "yaxis"):
        more[axis] = {
            "fixedrange": True,
            "automargin": True,
            "gridcolor": "--line",
            "linecolor": "--line",
            **more[axis],
        }
    return {
        "autosize": True,
        "dragmode": False,
        "font": {"color": "--text", "family": "--font", "size": 13},
        "paper_bgcolor": "--surface",
        "plot_bgcolor": "--surface",
        "hoverlabel": {"align": "left"},
        "margin": {"l": 10, "r": 10, "t": 30, "b": 40},
        **more,
    }


# Names of kinds of raters in figures: judges often differ in their last words, so these must show.


_LINE: Final = 20
_LINES: Final = 3
_IN_LEGEND: Final = 48


def legend_name(name: str) -> str:
    return label(name, _IN_LEGEND)


def wrapped(name: str) -> str:
    lines = textwrap.wrap(" ".join(name.split()), _LINE, max_lines=_LINES, placeholder=" …") or [""]
    return "<br>".join(label(line, _LINE) for line in lines)


def kinds_axis(names: Sequence[str]) -> Figure:
    return names_axis(names) | {"ticktext": [wrapped(name) for name in names]}
