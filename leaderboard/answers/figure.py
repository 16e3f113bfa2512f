"""Figures of models by opinions about their single answers."""

from collections.abc import Mapping
from typing import Any

from leaderboard.pages.figure import SERIES, Figure, dots, full, label, layout, title


def beside(own: Mapping[str, float], scores: Mapping[str, float], name: str, other: str) -> Figure:
    """Each dot is a model: ``other`` to the right, ``name`` upwards."""
    x, y = list(scores.values()), [own[model] for model in scores]
    trace = dots(
        {"color": SERIES[0], "size": 9},
        x=x,
        y=y,
        text=[
            f"{full(model)}<br>{name} {up:.4g}<br>{other} {right:.4g}"
            for model, up, right in zip(scores, y, x, strict=True)
        ],
    )
    names: list[Any] = [
        {"x": right, "y": up, "text": label(model), "showarrow": False, "yshift": 14}
        for model, up, right in zip(scores, y, x, strict=True)
    ]
    room = (max(y) - min(y)) * 0.1 or 1.0
    drawn_on = layout(
        xaxis={"title": title(other), "zeroline": False},
        yaxis={"title": title(name), "zeroline": False, "range": [min(y) - room, max(y) + 2 * room]},
        annotations=names,
        showlegend=False,
        margin={"l": 10, "r": 10, "t": 20, "b": 40},
    )
    return {"data": [trace], "layout": drawn_on}
