"""Figures of how raters agree."""

from collections.abc import Sequence
from typing import Final

from leaderboard.pages.figure import (
    MOST_NUMBERS,
    Figure,
    arms,
    colour_bar,
    dashed,
    dots,
    full,
    heat_map,
    kinds_axis,
    label,
    layout,
    legend,
    legend_name,
    matrix_layout,
    names_axis,
    numbered,
    numbers_for_names,
    row_offset,
    rows_axis,
    series_look,
    title,
    vertical_line,
    wrapped,
)
from leaderboard.pages.format import counted, signed
from leaderboard.pages.table import Matrix
from leaderboard.pages.units import COEFFICIENT
from leaderboard.raters.agreement.table import Correlated
from leaderboard.snapshots.canonical import Content

_LEAST_RANGE: Final = 0.3
"""Coefficients that are nearly equal have nearly the same colour."""

_LARGEST: Final = 34
"""The largest bubble, in pixels across."""


def correlations(
    kinds: Sequence[Sequence[Correlated]], ceiling: Sequence[Correlated], measure: str
) -> Figure:
    """A ``measure`` by category, a colour for each kind of raters.

    ``ceiling`` is how people agree with the other people on the same pairs.
    """
    series = [*kinds, ceiling] if ceiling else list(kinds)
    order = list(dict.fromkeys(row.category for rows in series for row in rows))
    traces = [
        _dots(rows, order, _style(number), row_offset(number, len(series), 0.6))
        for number, rows in enumerate(kinds)
    ]
    if ceiling:
        style = {
            "color": "--text",
            "symbol": "line-ns-open",
            "size": 16,
            "line": {"width": 3, "color": "--text"},
        }
        traces.append(_dots(ceiling, order, style, row_offset(len(kinds), len(series), 0.6)))
    ends = [end for rows in series for row in rows for end in row.found[:2] if end is not None]
    drawn_on = layout(
        xaxis={
            "title": title(measure),
            "range": [min([0.0, *ends]) - 0.05, 1.05],
            "zeroline": False,
        },
        yaxis=rows_axis(names_axis(order)) | {"ticktext": [_with_n(category, series) for category in order]},
        shapes=[vertical_line(0)],
        **legend(len(series)),
        margin={"l": 10, "r": 10, "t": 40 + 18 * (len(series) // 3), "b": 40},
    )
    return {"data": traces, "layout": drawn_on}


def _style(number: int) -> Figure:
    colour, symbol = series_look(number)
    return {"color": colour, "symbol": symbol, "size": 9}


def _with_n(category: str, series: Sequence[Sequence[Correlated]]) -> str:
    n = sorted({row.n for rows in series for row in rows if row.category == category})
    pairs = counted(n[0], "pair") if len(n) == 1 else f"{n[0]:,}–{n[-1]:,} pairs"
    return f"{wrapped(category)}<br>{pairs}"


def _dots(rows: Sequence[Correlated], order: Sequence[str], style: Figure, offset: float) -> Figure:
    place = {category: index for index, category in enumerate(order)}
    known = [row for row in rows if row.found.value is not None]
    return dots(
        style,
        name=legend_name(rows[0].label) if rows else "",
        x=[row.found.value for row in known],
        y=[place[row.category] + offset for row in known],
        text=[_dot_text(row) for row in known],
        error_x=arms([row.found for row in known], style["color"]),
    )


def _dot_text(row: Correlated) -> str:
    pairs = counted(row.n, "pair")
    return f"{full(row.label)}, {full(row.category)}<br>{COEFFICIENT.told(row.found)}, {pairs}"


def preferences(one: str, other: str, points: Sequence[Sequence[float]]) -> Figure:
    """Mean preferences of two kinds of raters for the same pairs: x, y and the number of pairs there."""
    most = max((n for _, _, n in points), default=1)
    trace = dots(
        {
            "color": "--muted",
            "opacity": 0.7,
            "size": [n for _, _, n in points],
            "sizemode": "area",
            "sizeref": 2 * most / _LARGEST**2,
            "sizemin": 2.5,
        },
        x=[x for x, _, _ in points],
        y=[y for _, y, _ in points],
        text=[
            f"{full(one)} {signed(x)}, {full(other)} {signed(y)}<br>{int(n)} pair{'' if n == 1 else 's'}"
            for x, y, n in points
        ],
    )
    drawn_on = layout(
        xaxis=_preference_axis(one),
        yaxis=_preference_axis(other),
        shapes=[dashed(x0=-1, y0=-1, x1=1, y1=1)],
        showlegend=False,
        margin={"l": 10, "r": 10, "t": 10, "b": 40},
    )
    return {"data": [trace], "layout": drawn_on}


def _preference_axis(name: str) -> Figure:
    return {
        "title": title(f"{label(name)}: mean preference"),
        "range": [-1.12, 1.12],
        "tickvals": [-1, -0.5, 0, 0.5, 1],
        "zeroline": False,
    }


def confusion(one: str, other: str, table: Content) -> Figure:
    counts = table["counts"]
    trace = heat_map(
        counts,
        hovertext=[
            [f"{full(one)} {a}, {full(other)} {b}: {n}" for b, n in enumerate(row, start=1)]
            for a, row in enumerate(counts, start=1)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        zmin=0,
        zmax=max((n for row in counts for n in row), default=0) or 1,
        colorscale=[[0, "--heat-mid"], [1, "--heat-high"]],
        **numbered(""),
    )
    drawn_on = layout(
        xaxis=_points_axis(other, table["points_b"]) | {"side": "top"},
        yaxis=_points_axis(one, table["points_a"]) | {"autorange": "reversed"},
        margin={"l": 10, "r": 10, "t": 50, "b": 10},
    )
    return {"data": [trace], "layout": drawn_on}


def _points_axis(name: str, points: int) -> Figure:
    return names_axis([str(point) for point in range(1, points + 1)]) | {
        "title": title(f"{label(name)}: rating"),
        "showgrid": False,
    }


def kinds_map(values: Matrix, pairs: Matrix, what: str) -> Figure:
    found = [value for row in values.values for value in row if value is not None]
    lowest, highest = min(found, default=0.0), max(found, default=1.0)
    trace = heat_map(
        [list(row) for row in values.values],
        customdata=[list(row) for row in pairs.values],
        meta={"names": [full(name) for name in values.names]},
        hovertemplate=f"%{{hovertext}}<br>{what} %{{z:.2f}}, %{{customdata}} pairs<extra></extra>",
        zmin=min(lowest, highest - _LEAST_RANGE),
        zmax=highest,
        colorscale=[[0, "--heat-mid"], [1, "--heat-high"]],
    )
    # Where the numbers stand in the cells, a phone has better use for the room of a colour bar.
    if len(values.names) <= MOST_NUMBERS:
        trace |= numbered(":.2f")
    else:
        trace["colorbar"] = colour_bar(what)
    axis = kinds_axis(values.names)
    narrow = numbers_for_names(values.names)
    return {"data": [trace], "layout": matrix_layout(axis, axis), "narrow": narrow}
