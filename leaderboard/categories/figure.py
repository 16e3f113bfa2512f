"""Ranks by category as a heat map."""

from leaderboard.categories.table import ALL, CategoryMatrix
from leaderboard.pages.figure import Figure, full, heat_map, matrix_layout, names_axis, numbered
from leaderboard.standings.table import Row


def rank_map(matrix: CategoryMatrix, level: str) -> Figure:
    names, categories = matrix.contestants, matrix.categories
    cells = [[matrix.standings.get((name, category)) for category in categories] for name in names]
    shown = [category or ALL for category in categories]
    trace = heat_map(
        [[found and found.rank for found in row] for row in cells],
        hovertext=[
            [_text(name, category, found, level) for category, found in zip(shown, row, strict=True)]
            for name, row in zip(names, cells, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        zmin=1,
        zmax=max(len(names), 2),
        colorscale=[[0, "--heat-high"], [1, "--heat-mid"]],
        **numbered(""),
    )
    return {"data": [trace], "layout": matrix_layout(names_axis(shown), names_axis(names))}


def _text(name: str, category: str, found: Row | None, level: str) -> str:
    place = f"{full(name)}<br>{full(category)}: "
    if found is None:
        return place + "no games"
    between = "" if found.low is None else f" ({level}: {found.low:.0f} to {found.high:.0f})"
    return f"{place}rank {found.rank}, rating {found.rating:.0f}{between}, {found.games} games"
