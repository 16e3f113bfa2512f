"""Figures of text scores."""

from collections.abc import Mapping, Sequence
from typing import Final

from leaderboard.answers.scores.table import bins, pairs_of_raters
from leaderboard.pages.figure import (
    MOST_ON_A_PHONE,
    MOST_SERIES,
    SERIES,
    Figure,
    arms,
    bars,
    colour_bar,
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
    row_offset,
    rows_axis,
    series_look,
    title,
    vertical_line,
    wrapped,
)
from leaderboard.pages.format import counted, number_range, signed
from leaderboard.pages.units import COEFFICIENT, Estimate
from leaderboard.snapshots.canonical import Content

MOST_NUMBERED: Final = 12
"""Scores of a scale whose shares are written into a heat map."""


def means(content: Content) -> Figure:
    """Each model in a row of its own."""
    rows = (
        (each["contestant"], Estimate.of(each, "mean"), counted(each["n"], "score"))
        for each in content["contestants"]
    )
    return forest(COEFFICIENT, rows, "Mean text score")


def distribution(content: Content) -> Figure:
    """How often each kind of raters gives each score."""
    traces = []
    for number, each in enumerate(content["raters"][:MOST_SERIES]):
        shares = [100 * n / max(each["n"], 1) for n in each["counts"]]
        traces.append(
            bars(
                legend_name(each["label"]),
                {"color": series_look(number)[0]},
                x=list(range(len(shares))),
                y=shares,
                text=[
                    f"{full(each['label'])}<br>{_part(n, each['n'], share)} are {name}"
                    for name, n, share in zip(bins(each["edges"]), each["counts"], shares, strict=True)
                ],
            )
        )
    names = bins(content["raters"][0]["edges"])
    drawn_on = layout(
        xaxis=names_axis(names) | {"title": title("Score"), "showgrid": False},
        yaxis={"title": title("Share of scores (%)"), "zeroline": False},
        **legend(len(traces)),
    )
    return {"data": traces, "layout": drawn_on}


def by_model(content: Content, edges: list[float]) -> Figure:
    """Models in rows, scores in columns, the share of the model's scores in each cell."""
    names, rows = bins(edges), content["contestants"]
    shares = [[100 * n / max(each["n"], 1) for n in each["counts"]] for each in rows]
    look = numbered(":.0f") if len(names) <= MOST_NUMBERED else {"colorbar": colour_bar("% of scores")}
    trace = heat_map(
        shares,
        hovertext=[
            [
                f"{full(each['contestant'])}<br>{_part(n, each['n'], share)} are {name}"
                for name, n, share in zip(names, each["counts"], own, strict=True)
            ]
            for each, own in zip(rows, shares, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        colorscale=[[0, "--heat-mid"], [1, "--heat-high"]],
        zmin=0,
        **look,
    )
    drawn_on = matrix_layout(names_axis(names), names_axis([each["contestant"] for each in rows]))
    return {"data": [trace], "layout": drawn_on}


def agreement(content: Content, ceiling: float | None) -> Figure:
    """Pearson's correlation of every two kinds of raters, and a line where people agree with each other."""
    known = [(name, each) for name, each in pairs_of_raters(content) if each["pearson"] is not None]
    names = [name for name, _ in known]
    rows = [(name, Estimate.of(each, "pearson"), counted(each["texts"], "answer")) for name, each in known]
    figure = forest(COEFFICIENT, rows, "Pearson’s correlation")
    lows = (end for _, each in known for end in (each["pearson"], each["pearson_low"]) if end is not None)
    figure["layout"]["xaxis"]["range"] = [min(0.0, *lows) - 0.05, 1.05]
    figure["layout"]["yaxis"]["ticktext"] = kinds_axis(names)["ticktext"]
    if ceiling is not None:
        figure["layout"]["shapes"] = [vertical_line(ceiling)]
    return figure


def slopes(found: Mapping[str, Sequence[tuple[str, Content]]], axis: str) -> Figure:
    """A row for each kind of raters, a series for each kind of slope, and a line at no effect."""
    raters = list(dict.fromkeys(label for series in found.values() for label, _ in series))
    place = {label: row for row, label in enumerate(raters)}
    traces = []
    for number, (kind, series) in enumerate(found.items()):
        colour, symbol = SERIES[number], series_look(number)[1]
        offset = row_offset(number, len(found), 0.4)
        traces.append(
            dots(
                {"color": colour, "symbol": symbol, "size": 9},
                name=kind,
                x=[own["slope"] for _, own in series],
                y=[place[label] + offset for label, _ in series],
                text=[
                    f"{full(label)}<br>{kind}: {signed(own['slope'])} {number_range(own['low'], own['high'])}"
                    for label, own in series
                ],
                error_x=arms([(own["slope"], own["low"], own["high"]) for _, own in series], colour),
            )
        )
    drawn_on = layout(
        xaxis={"title": title(axis), "zeroline": False},
        yaxis=rows_axis(kinds_axis(raters)),
        shapes=[vertical_line(0)],
        **legend(len(traces)),
    )
    return {"data": traces, "layout": drawn_on, "narrow": {"xaxis": {"title": title(wrapped(axis))}}}


def width(edges: list[float]) -> str:
    """Of a heat map of these scores, which scrolls on a phone where its cells would be too narrow."""
    scores = len(edges) - 1
    return "large" if scores > MOST_NUMBERED else "matrix" if scores > MOST_ON_A_PHONE else ""


def _part(number: int, every: int, share: float) -> str:
    """As "3 of 24 scores (12.5%)"."""
    return f"{number:,} of {counted(every, 'score')} ({share:.1f}%)"
