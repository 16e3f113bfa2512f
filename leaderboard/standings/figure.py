"""Figures of ratings with their intervals, and matrices of contestants as heat maps."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from leaderboard.pages.figure import (
    MOST_NUMBERS,
    MOST_SERIES,
    SERIES,
    Figure,
    full,
    layout,
    legend,
    legend_name,
    names_axis,
    over_columns,
    title,
)
from leaderboard.standings.table import Matrix


def intervals(order: Sequence[str], boards: Sequence[tuple[str, Mapping[str, Any]]]) -> Figure:
    """Rating and interval of each contestant as dots on one axis, best on top.

    ``boards`` are labels and standings; the first MOST_SERIES are drawn.
    """
    drawn = boards[:MOST_SERIES]
    traces = [
        _dots(order, name, content, number, _offset(number, len(drawn)))
        for number, (name, content) in enumerate(drawn)
    ]
    # Tall figures carry their axis on top, where the reader starts.
    side = "top" if len(order) > MOST_NUMBERS else "bottom"
    drawn_on = layout(
        # Small level numbers: on a phone, turned ones would run into the title.
        xaxis={
            "title": title(_rating_axis(drawn)),
            "zeroline": False,
            "side": side,
            "tickangle": 0,
            "tickfont": {"size": 11},
        },
        yaxis=names_axis(order) | {"range": [len(order) - 0.4, -0.6], "showgrid": False},
        **legend(len(drawn)),
        margin={"l": 10, "r": 10, "t": 90 if side == "top" else 40, "b": 40 if side == "bottom" else 10},
    )
    return {"data": traces, "layout": drawn_on}


def _rating_axis(boards: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    level = boards[0][1]["parameters"]["interval"] if boards else None
    return "Rating" if level is None else f"Rating, {level:g} % interval"


def _offset(number: int, count: int) -> float:
    """How far below the first the dots of a board stand."""
    return 0.0 if count == 1 else (number / (count - 1) - 0.5) * 0.5


def _dots(order: Sequence[str], name: str, content: Mapping[str, Any], number: int, offset: float) -> Figure:
    place = {contestant: index for index, contestant in enumerate(order)}
    rows = [row for row in content["standings"] if row["contestant"] in place and row["rating"] is not None]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": legend_name(name),
        "x": [row["rating"] for row in rows],
        "y": [place[row["contestant"]] + offset for row in rows],
        "text": [_dot_text(name, row, content["parameters"]["interval"]) for row in rows],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"color": SERIES[number], "size": 8, "symbol": ("circle", "diamond", "square")[number % 3]},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [_arm(row["high"], row["rating"]) for row in rows],
            "arrayminus": [_arm(row["rating"], row["low"]) for row in rows],
            "color": SERIES[number],
            "thickness": 1.5,
            "width": 3,
        },
    }


def _arm(upper: float | None, lower: float | None) -> float:
    return 0.0 if upper is None or lower is None else max(upper - lower, 0.0)


def _dot_text(name: str, row: Mapping[str, Any], level: float | None) -> str:
    between = "" if row["low"] is None else f" ({level:g} %: {row['low']:.0f} to {row['high']:.0f})"
    return f"{full(row['contestant'])}<br>{full(name)}: {row['rating']:.0f}{between}, {row['games']} games"


# Matrices of contestants as heat maps.


MOST_IN_CELLS: Final = 20
"""In a larger matrix colours stand for the numbers, which could not be read."""


def win_rate_map(rates: Matrix, games: Matrix) -> Figure:
    trace = _heat_map(rates, games, "%{z:.2f} of the points in %{customdata} games") | {
        "zmin": 0,
        "zmid": 0.5,
        "zmax": 1,
        "colorscale": [[0, "--heat-low"], [0.5, "--heat-mid"], [1, "--heat-high"]],
        "colorbar": {"title": title("Win rate"), "thickness": 12},
    }
    return _matrix_figure(rates, trace, "%{z:.2f}")


def count_map(counted: Matrix, games: Matrix, noun: str) -> Figure:
    text = "%{z} games" if noun == "games" else "%{z} " + noun + " in %{customdata} games"
    trace = _heat_map(counted, games, text) | {
        "zmin": 0,
        "zmax": max((value for row in counted.values for value in row if value is not None), default=0) or 1,
        "colorscale": [[0, "--heat-mid"], [1, "--heat-high"]],
        "colorbar": {"title": title(noun.capitalize()), "thickness": 12},
    }
    return _matrix_figure(counted, trace, "%{z}")


def _heat_map(matrix: Matrix, games: Matrix, text: str) -> Figure:
    """A cell for every two contestants; the page's script makes hover texts from ``meta``."""
    return {
        "type": "heatmap",
        "z": [[None if value is None else round(value, 4) for value in row] for row in matrix.values],
        "customdata": [list(row) for row in games.values],
        "meta": {"names": [full(name) for name in matrix.names]},
        "hovertemplate": "%{hovertext}<br>" + text + "<extra></extra>",
        "hoverongaps": False,
        "xgap": 1,
        "ygap": 1,
    }


def _matrix_figure(matrix: Matrix, trace: Figure, number: str) -> Figure:
    if len(matrix.names) <= MOST_IN_CELLS:
        trace |= {"texttemplate": number, "textfont": {"size": 11, "color": "--text"}, "showscale": False}
    drawn_on = layout(
        xaxis=over_columns(names_axis(matrix.names)),
        yaxis=names_axis(matrix.names) | {"autorange": "reversed", "showgrid": False},
        margin={"l": 10, "r": 10, "t": 30, "b": 10},
    )
    return {"data": [trace], "layout": drawn_on}
