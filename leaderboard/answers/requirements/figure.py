"""Figures of requirements met.

The radar is drawn with lines: the page's Plotly has no polar axes, which would make it a third larger.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import cos, pi, sin
from typing import Final

from leaderboard.pages.figure import (
    MOST_SERIES,
    SERIES,
    TEXT_SIZE,
    Figure,
    bars,
    counts_axis,
    dots,
    forest,
    full,
    heat_map,
    kinds_axis,
    layout,
    legend,
    legend_name,
    matrix_layout,
    names_axis,
    numbered,
    numbers_for_names,
    rows_axis,
    series_look,
    title,
    wrapped,
)
from leaderboard.pages.format import counted, in_percent, percent, percent_range
from leaderboard.pages.units import SHARE, Estimate
from leaderboard.snapshots.canonical import Content

RADAR: Final = (3, 8)
"""Fewest and most directions of a radar; with fewer a heat map is clearer, with more bars."""

_RINGS: Final = (25, 50, 75, 100)
_BINS: Final = 5
_LONGEST_LINE: Final = 14


def shares(content: Content) -> Figure:
    """Each model in a row of its own."""
    rows = (
        (each["contestant"], Estimate.bare(each, "drfr"), f"{each['met']:,} of {each['counted']:,}")
        for each in content["contestants"]
    )
    return forest(SHARE, rows, "Requirements met (%)")


def _told(name: str, own: Content) -> str:
    ends = percent_range(own["low"], own["high"])
    return f"{full(name)}<br>{percent(own['drfr'])} {ends}<br>{own['met']:,} of {own['counted']:,}"


def radar(content: Content, kind: str, parts: Sequence[str]) -> Figure:
    """A closed line for each of the first models; a part is a direction, the rim is 100%."""
    turns = [
        (sin(2 * pi * place / len(parts)), cos(2 * pi * place / len(parts))) for place in range(len(parts))
    ]
    traces: list[Figure] = []
    for number, each in enumerate(content["contestants"][:MOST_SERIES]):
        colour, symbol = series_look(number)
        found = [
            (part, own, turn)
            for part, turn in zip(parts, turns, strict=True)
            if (own := each[kind].get(part)) and own["drfr"] is not None
        ]
        closed = [*found, *found[:1]]
        traces.append(
            dots(
                {"color": colour, "symbol": symbol, "size": 7},
                name=legend_name(each["contestant"]),
                mode="lines+markers",
                line={"color": colour, "width": 2},
                x=[100 * own["drfr"] * x for _, own, (x, _) in closed],
                y=[100 * own["drfr"] * y for _, own, (_, y) in closed],
                text=[f"{_told(each['contestant'], own)}<br>{full(part)}" for part, own, _ in closed],
            )
        )
    axis: Figure = {"visible": False, "showgrid": False, "zeroline": False}
    drawn_on = layout(
        xaxis=axis | {"range": [-165, 165]},
        yaxis=axis | {"range": [-120, 120], "scaleanchor": "x", "scaleratio": 1},
        shapes=[*_rings(turns), *(_line((0, 0), (100 * x, 100 * y)) for x, y in turns)],
        annotations=[*_names(parts, turns), *_marks()],
        **legend(len(traces)),
        margin={"l": 10, "r": 10, "t": 50, "b": 10},
    )
    return {"data": traces, "layout": drawn_on, "narrow": {"xaxis": {"range": [-145, 145]}}}


def _rings(turns: Sequence[tuple[float, float]]) -> list[Figure]:
    closed = [*turns, turns[0]]
    return [
        _line((ring * one[0], ring * one[1]), (ring * other[0], ring * other[1]))
        for ring in _RINGS
        for one, other in pairwise(closed)
    ]


def _line(start: tuple[float, float], end: tuple[float, float]) -> Figure:
    return {
        "type": "line",
        "layer": "below",
        "line": {"color": "--line", "width": 1},
        **{"x0": start[0], "y0": start[1], "x1": end[0], "y1": end[1]},
    }


def _names(parts: Sequence[str], turns: Sequence[tuple[float, float]]) -> list[Figure]:
    return [
        {
            "x": 106 * x,
            "y": 106 * y,
            "text": wrapped(part, _LONGEST_LINE),
            "showarrow": False,
            "xanchor": "center" if abs(x) < 0.2 else "left" if x > 0 else "right",
            "yanchor": "middle" if abs(y) < 0.9 else "bottom" if y > 0 else "top",
            "font": {"size": TEXT_SIZE},
        }
        for part, (x, y) in zip(parts, turns, strict=True)
    ]


def _marks() -> list[Figure]:
    font = {"size": TEXT_SIZE, "color": "--muted"}
    return [
        {"x": 0, "y": ring, "text": f"{ring}%", "showarrow": False, "xanchor": "left", "font": font}
        for ring in _RINGS[1::2]
    ]


def part_bars(content: Content, kind: str, parts: Sequence[str]) -> Figure:
    """A row for each part, with a bar for each of the first models."""
    traces = []
    for number, each in enumerate(content["contestants"][:MOST_SERIES]):
        found = [(row, part, each[kind][part]) for row, part in enumerate(parts) if part in each[kind]]
        known = [(row, part, own) for row, part, own in found if own["drfr"] is not None]
        traces.append(
            bars(
                legend_name(each["contestant"]),
                {"color": SERIES[number]},
                orientation="h",
                x=[100 * own["drfr"] for _, _, own in known],
                y=[row for row, _, _ in known],
                text=[f"{_told(each['contestant'], own)}<br>{full(part)}" for _, part, own in known],
            )
        )
    drawn_on = layout(
        barmode="group",
        xaxis={"title": title("Requirements met (%)"), "range": [0, 103], "tickangle": 0, "zeroline": False},
        yaxis=rows_axis(kinds_axis(parts)),
        **legend(len(traces)),
        margin={"l": 10, "r": 10, "t": 50 if len(traces) > 1 else 10, "b": 40},
    )
    return {"data": traces, "layout": drawn_on}


def part_map(content: Content, kind: str, parts: Sequence[str]) -> Figure:
    """Models in rows, parts in columns, the share met in each cell."""
    models = [each["contestant"] for each in content["contestants"]]
    grid = [[each[kind].get(part) for part in parts] for each in content["contestants"]]
    trace = heat_map(
        [[in_percent(own["drfr"]) if own else None for own in row] for row in grid],
        hovertext=[
            [
                f"{_told(model, own)}<br>{full(part)}" if own else ""
                for part, own in zip(parts, row, strict=True)
            ]
            for model, row in zip(models, grid, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        colorscale=[[0, "--heat-low"], [0.5, "--heat-mid"], [1, "--heat-high"]],
        zmin=0,
        zmid=50,
        zmax=100,
        **numbered(":.0f"),
    )
    drawn_on = matrix_layout(names_axis(parts), names_axis(models))
    narrow = numbers_for_names(parts)
    numbers = narrow["xaxis"] | {"title": title("Numbered as in the table")}
    return {"data": [trace], "layout": drawn_on, "narrow": {"xaxis": numbers}}


def difficulty(content: Content) -> Figure:
    """How many requirements are met by which share of answers."""
    names = ["None", *(f"{100 * n // _BINS}–{100 * (n + 1) // _BINS}%" for n in range(_BINS)), "All"]
    counts = [0] * len(names)
    for each in content["questions"]:
        share = each["share"]
        counts[0 if share == 0 else len(names) - 1 if share == 1 else 1 + int(share * _BINS)] += 1
    trace = bars(
        "",
        {"color": SERIES[0]},
        x=list(range(len(names))),
        y=counts,
        text=[
            f"{counted(n, 'requirement')} met by {name.lower()} of the answers"
            for name, n in zip(names, counts, strict=True)
        ],
    )
    drawn_on = layout(
        xaxis=names_axis(names) | {"title": title("Answers that meet the requirement"), "showgrid": False},
        yaxis=counts_axis("Requirements", max(counts)),
        showlegend=False,
        margin={"l": 10, "r": 10, "t": 10, "b": 40},
    )
    return {"data": [trace], "layout": drawn_on}
