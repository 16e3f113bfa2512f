"""Figures of ratings with their intervals, and matrices of contestants as heat maps."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from leaderboard.pages.figure import (
    MOST_SERIES,
    TEXT_SIZE,
    Figure,
    arms,
    colour_bar,
    dots,
    full,
    heat_map,
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
)
from leaderboard.pages.format import counted
from leaderboard.pages.table import Matrix


def intervals(order: Sequence[str], boards: Sequence[tuple[str, Mapping[str, Any]]]) -> Figure:
    """Rating and interval of each contestant as dots on one axis, best on top.

    ``boards`` are labels and standings; the first MOST_SERIES are drawn.
    """
    drawn = boards[:MOST_SERIES]
    traces = [
        _dots(order, name, content, number, row_offset(number, len(drawn), 0.5))
        for number, (name, content) in enumerate(drawn)
    ]
    drawn_on = layout(
        # Small level numbers: on a phone, turned ones would run into the title.
        xaxis={
            "title": title(_rating_axis(drawn)),
            "zeroline": False,
            "tickangle": 0,
            "tickfont": {"size": TEXT_SIZE},
        },
        yaxis=rows_axis(names_axis(order)),
        **legend(len(drawn)),
        margin={"l": 10, "r": 10, "t": 40, "b": 40},
    )
    return {"data": traces, "layout": drawn_on}


def has_intervals(boards: Sequence[tuple[str, Mapping[str, Any]]]) -> bool:
    """None has any with one prompt."""
    return any(row["low"] is not None for _, content in boards for row in content["standings"])


def _rating_axis(boards: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    level = boards[0][1]["parameters"]["interval"] if boards else None
    return f"Score with {level:g}% interval" if has_intervals(boards) else "Score"


def _dots(order: Sequence[str], name: str, content: Mapping[str, Any], number: int, offset: float) -> Figure:
    place = {contestant: index for index, contestant in enumerate(order)}
    rows = [row for row in content["standings"] if row["contestant"] in place and row["rating"] is not None]
    colour, symbol = series_look(number)
    return dots(
        {"color": colour, "size": 8, "symbol": symbol},
        name=legend_name(name),
        x=[row["rating"] for row in rows],
        y=[place[row["contestant"]] + offset for row in rows],
        text=[_dot_text(name, row, content["parameters"]["interval"]) for row in rows],
        error_x=arms([(row["rating"], row["low"], row["high"]) for row in rows], colour),
    )


def _dot_text(name: str, row: Mapping[str, Any], level: float | None) -> str:
    between = "" if row["low"] is None else f" ({level:g}%: {row['low']:.0f}–{row['high']:.0f})"
    games = f", {counted(row['games'], 'rating')}" if "games" in row else ""
    return f"{full(row['contestant'])}<br>{full(name)}: {row['rating']:.0f}{between}{games}"


MOST_IN_CELLS: Final = 20
"""In a larger matrix colours stand for the numbers, which could not be read."""


_SHARES: Final = [[0, "--heat-low"], [0.5, "--heat-mid"], [1, "--heat-high"]]


def win_rate_map(rates: Matrix, games: Matrix) -> Figure:
    return _matrix_figure(
        rates,
        games,
        "win share %{z:.0%} in %{customdata} ratings",
        ":.0%",
        zmin=0,
        zmid=0.5,
        zmax=1,
        colorscale=_SHARES,
        colorbar=colour_bar("Win share"),
    )


def above_map(shares: Matrix) -> Figure:
    return _matrix_figure(
        shares,
        None,
        "ranks above with probability %{z:.3f}",
        ":.2f",
        zmin=0,
        zmid=0.5,
        zmax=1,
        colorscale=_SHARES,
        colorbar=colour_bar("Probability"),
    )


def count_map(counted: Matrix, games: Matrix, noun: str) -> Figure:
    text = "%{z} ratings" if noun == "games" else "%{z} " + noun + " in %{customdata} ratings"
    return _matrix_figure(
        counted,
        games,
        text,
        "",
        zmin=0,
        zmax=max((value for row in counted.values for value in row if value is not None), default=0) or 1,
        colorscale=[[0, "--heat-mid"], [1, "--heat-high"]],
        colorbar=colour_bar("Ratings" if noun == "games" else noun.capitalize()),
    )


def _matrix_figure(matrix: Matrix, games: Matrix | None, text: str, form: str, **colours: Any) -> Figure:
    """A cell for every two contestants; the page's script makes hover texts from ``meta``."""
    trace = heat_map(
        [[None if value is None else round(value, 4) for value in row] for row in matrix.values],
        meta={"names": [full(name) for name in matrix.names]},
        hovertemplate=f"%{{hovertext}}<br>{text}<extra></extra>",
        **colours,
    )
    if games:
        trace["customdata"] = [list(row) for row in games.values]
    if len(matrix.names) <= MOST_IN_CELLS:
        trace |= numbered(form)
    axis = names_axis(matrix.names)
    narrow = numbers_for_names(matrix.names)
    return {"data": [trace], "layout": matrix_layout(axis, axis), "narrow": narrow}
