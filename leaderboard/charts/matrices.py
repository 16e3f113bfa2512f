"""Matrices of contestants as heat maps."""

from typing import Final

from leaderboard.charts.parts import Figure, full, layout, names_axis, over_columns, title
from leaderboard.tables.matrices import Matrix

MOST_IN_CELLS: Final = 20
"""A larger matrix has a scale of colours instead of numbers in its cells: they would not be readable."""


def win_rate_map(rates: Matrix, games: Matrix) -> Figure:
    """Share of points of the row against the column, coloured from 0 through 0.5 to 1."""
    trace = _heat_map(rates, games, "%{z:.2f} of the points in %{customdata} games") | {
        "zmin": 0,
        "zmid": 0.5,
        "zmax": 1,
        "colorscale": [[0, "--heat-low"], [0.5, "--heat-mid"], [1, "--heat-high"]],
        "colorbar": {"title": title("Win rate"), "thickness": 12},
    }
    return _matrix_figure(rates, trace, "%{z:.2f}")


def count_map(counted: Matrix, games: Matrix, noun: str) -> Figure:
    """Counts of the row against the column, darker for more; ``noun`` says what is counted."""
    text = "%{z} games" if noun == "games" else "%{z} " + noun + " in %{customdata} games"
    trace = _heat_map(counted, games, text) | {
        "zmin": 0,
        "zmax": max((value for row in counted.values for value in row if value is not None), default=0) or 1,
        "colorscale": [[0, "--heat-mid"], [1, "--heat-high"]],
        "colorbar": {"title": title(noun.capitalize()), "thickness": 12},
    }
    return _matrix_figure(counted, trace, "%{z}")


def _heat_map(matrix: Matrix, games: Matrix, text: str) -> Figure:
    """One cell for each two contestants; the script joins the names of ``meta`` to a hover text per cell."""
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
