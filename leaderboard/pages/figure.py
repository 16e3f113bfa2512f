"""What figures share: names, axes, legends and the layout."""

import html
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from leaderboard.pages.units import Estimate, Unit

Figure = dict[str, Any]
Value = tuple[float | None, float | None, float | None]
"""A number and the ends of its interval."""

SERIES: Final = ("--series-1", "--series-2", "--series-3", "--series-4", "--series-5", "--series-6")
SYMBOLS: Final = ("circle", "diamond", "square", "triangle-up", "cross")
TEXT_SIZE: Final = 12
"""The smallest text of a figure, in pixels."""

LONGEST_LABEL: Final = 22
_LONGEST_END: Final = 9
MOST_NUMBERS: Final = 16
"""Most contestants of a matrix that fits a screen."""

MOST_ON_A_PHONE: Final = 6
"""Most columns of a matrix readable on a phone."""

MOST_SERIES: Final = len(SERIES)


def label(name: str, longest: int = LONGEST_LABEL) -> str:
    """A name on one line of at most ``longest`` characters, escaped for Plotly."""
    line = " ".join(name.split())
    return html.escape(line if len(line) <= longest else _shortened(line, longest), quote=False)


def _shortened(line: str, longest: int) -> str:
    """The name cut before its last word, in which models of a family often differ."""
    start, _, end = line.rpartition(" ")
    kept = f" {end}" if start and len(end) <= min(_LONGEST_END, longest // 2) else ""
    return line[: longest - 1 - len(kept)].rstrip() + "…" + kept


def full(name: str) -> str:
    return label(name, 80)


def series_look(number: int) -> tuple[str, str]:
    """Colour and symbol of a series; both together repeat after thirty."""
    return SERIES[number % len(SERIES)], SYMBOLS[number % len(SYMBOLS)]


def painted(figure: Figure, raters: Sequence[str], whose: str = "") -> Figure:
    """The figure with every rater's series in the look of its place among the study's raters.

    ``whose``: the rater whose numbers a series without a name shows.
    """
    places = {legend_name(name): number for number, name in enumerate(raters)}
    traces = []
    for trace in figure["data"]:
        name = trace.get("name", "" if not whose else legend_name(whose))
        traces.append(_in_look(trace, *series_look(places[name])) if name in places else trace)
    return figure | {"data": traces}


def _in_look(value: Any, colour: str, symbol: str) -> Any:
    if isinstance(value, Mapping):
        return {key: _in_look(entry, colour, symbol) for key, entry in value.items()}
    if value in SYMBOLS:
        return symbol
    return colour if value in SERIES else value


def axis_on_top(figure: Figure) -> Figure:
    """The figure with its horizontal axis where the reader starts: above the rows."""
    drawn_on = figure["layout"]
    margin = drawn_on["margin"]
    if drawn_on["xaxis"].get("side") != "top":
        top = {"t": margin["t"] + 50, "b": 10}
        drawn_on = drawn_on | {"xaxis": drawn_on["xaxis"] | {"side": "top"}, "margin": margin | top}
    return figure | {"layout": drawn_on}


def legend(series: int) -> Figure:
    edge = {"yref": "container", "y": 1, "yanchor": "top", "xref": "container", "x": 0, "xanchor": "left"}
    place = {"orientation": "h", **edge}
    return {"showlegend": series > 1, "legend": place}


def title(text: str) -> Figure:
    return {"text": text, "font": {"size": 13}}


def counts_axis(text: str, most: int) -> Figure:
    """An axis of counts up to ``most``, without ticks between whole numbers."""
    return {"title": title(text), "zeroline": False} | ({"dtick": 1} if most <= _FEW_COUNTS else {})


_FEW_COUNTS: Final = 8


def title_of_names(text: str) -> Figure:
    """The title of an axis of names, below names that a phone turns upright."""
    return title(text) | {"standoff": 8}


def names_axis(names: Sequence[str]) -> Figure:
    """An axis of names whose places are numbers, so that no name is read as a number or a date."""
    return {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [label(name) for name in names],
        "automargin": True,
        "zeroline": False,
    }


def over_columns(axis: Figure) -> Figure:
    return axis | {"side": "top", "autotickangles": [0, -90], "showgrid": False}


def rows_axis(axis: Figure) -> Figure:
    """An axis of names with a row for each, from the top."""
    return axis | {"range": [len(axis["tickvals"]) - 0.4, -0.6], "showgrid": False}


def dots(marker: Figure, **more: Any) -> Figure:
    """A trace of markers, each with its ``text`` on hover."""
    return {
        "type": "scatter",
        "mode": "markers",
        "hovertemplate": "%{text}<extra></extra>",
        "marker": marker,
        **more,
    }


def bars(name: str, marker: Figure, **more: Any) -> Figure:
    """A trace of bars, each with its ``text`` on hover."""
    return {
        "type": "bar",
        "name": name,
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "marker": marker,
        **more,
    }


def arms(values: Sequence[Value], color: str = SERIES[0]) -> Figure:
    """Error bars of values with the ends of their intervals; of no length where there is no end."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [_arm(value, high) for value, _, high in values],
        "arrayminus": [_arm(low, value) for value, low, _ in values],
        "color": color,
        "thickness": 1.5,
        "width": 3,
    }


def _arm(start: float | None, end: float | None) -> float:
    return 0.0 if start is None or end is None else max(end - start, 0.0)


def row_offset(number: int, count: int, spread: float) -> float:
    """How far below its row the dot of one of several series stands; all together reach ``spread``."""
    return 0.0 if count == 1 else (number / (count - 1) - 0.5) * spread


def dashed(color: str = "--muted", **ends: Any) -> Figure:
    """A dashed line between the data and the grid, which would cover it."""
    return {"type": "line", "layer": "between", "line": {"color": color, "width": 1, "dash": "dash"}, **ends}


def vertical_line(at: float, color: str = "--muted") -> Figure:
    return dashed(color, x0=at, x1=at, yref="paper", y0=0, y1=1)


def heat_map(cells: Sequence[Sequence[Any]], **more: Any) -> Figure:
    return {"type": "heatmap", "z": cells, "hoverongaps": False, "xgap": 1, "ygap": 1, **more}


def numbered(form: str, **font: Any) -> Figure:
    """For a heat map with a number in each cell, which needs no scale of colours."""
    text = {"color": "--text", "size": TEXT_SIZE, **font}
    return {"texttemplate": f"%{{z{form}}}", "textfont": text, "showscale": False}


def colour_bar(text: str) -> Figure:
    """Beside the first rows, so that it is seen of a folded figure, too."""
    ends = {"y": 1, "yanchor": "top", "lenmode": "pixels", "len": 260}
    return {"title": title(text) | {"side": "right"}, "thickness": 12, **ends}


def matrix_layout(columns: Figure, rows: Figure, top: int = 30) -> Figure:
    """The layout of a heat map with names on both axes."""
    return layout(
        xaxis=over_columns(columns),
        yaxis=rows | {"autorange": "reversed", "showgrid": False},
        margin={"l": 10, "r": 10, "t": top, "b": 10},
    )


def numbers_for_names(names: Sequence[str]) -> Figure:
    """What the axes of a matrix of names say on a phone: the columns have the numbers of the rows."""
    numbers = [str(number) for number, _ in enumerate(names, start=1)]
    rows = [wrapped(f"{number} {name}", _NARROW_LINE) for number, name in zip(numbers, names, strict=True)]
    return {"xaxis": {"ticktext": numbers, "tickangle": 0}, "yaxis": {"ticktext": rows}}


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


_LINE: Final = 20
_NARROW_LINE: Final = 15
_LINES: Final = 3
_IN_LEGEND: Final = 48


def legend_name(name: str) -> str:
    return label(name, _IN_LEGEND)


def wrapped(name: str, longest: int = _LINE) -> str:
    """On several lines, which a long word with underscores breaks after these."""
    words = (word if len(word) <= longest else word.replace("_", "_ ") for word in name.split())
    lines = textwrap.wrap(" ".join(words), longest, max_lines=_LINES, placeholder=" …") or [""]
    return "<br>".join(label(line.replace("_ ", "_"), longest) for line in lines)


def kinds_axis(names: Sequence[str]) -> Figure:
    return names_axis(names) | {"ticktext": [wrapped(name) for name in names]}


def by_row(names: Sequence[str], values: Sequence[Value], texts: Sequence[str], axis: str) -> Figure:
    """Values with their intervals, each in a row of its own from the top.

    Names are wrapped: they often differ in their last words only.
    """
    trace = dots(
        {"color": SERIES[0], "size": 8},
        x=[value for value, _, _ in values],
        y=list(range(len(values))),
        text=list(texts),
        error_x=arms(values),
    )
    drawn_on = layout(
        xaxis={"title": title(axis), "zeroline": False, "tickangle": 0, "tickfont": {"size": TEXT_SIZE}},
        yaxis=rows_axis(kinds_axis(names)),
        showlegend=False,
        margin={"l": 10, "r": 10, "t": 10, "b": 40},
    )
    return {"data": [trace], "layout": drawn_on}


def forest(unit: Unit, rows: Iterable[tuple[str, Estimate, str]], axis: str) -> Figure:
    """The same of rows of a name, an estimate, and what is told below it; those without one are left out."""
    known = [row for row in rows if row[1].value is not None]
    texts = [
        "<br>".join(filter(None, (full(name), f"{unit.text(found.value)} {unit.range(*found[1:])}", told)))
        for name, found, told in known
    ]
    values = [found.times(unit.scale) for _, found, _ in known]
    return by_row([name for name, _, _ in known], values, texts, axis)


def by_rater(names: Sequence[str], values: Sequence[Value], texts: Sequence[str], axis: str) -> Figure:
    """The same, with a series for each rater."""
    figure = by_row(names, values, texts, axis)
    (whole,) = figure["data"]
    figure["data"] = [
        whole
        | {
            "name": legend_name(name),
            "x": [value[0]],
            "y": [row],
            "text": [text],
            "error_x": arms([value]),
        }
        for row, (name, value, text) in enumerate(zip(names, values, texts, strict=True))
    ]
    return figure
