"""The figure of differences between two contestants."""

from collections.abc import Sequence

from leaderboard.head_to_head.table import Line
from leaderboard.pages.figure import (
    SERIES,
    Figure,
    arms,
    dots,
    full,
    layout,
    names_axis,
    rows_axis,
    title,
    vertical_line,
    wrapped,
)


def differences(rows: Sequence[Line], level: float, margin: float) -> Figure:
    """Points by which the first is above the second, with a line at 0 and a dashed one at the margin."""
    found = [(row.label, row.decision) for row in rows if row.decision]
    values = [(each.points, *(each.ends or (None, None))) for _, each in found]
    trace = dots(
        {"color": SERIES[0], "size": 8},
        x=[value for value, _, _ in values],
        y=list(range(len(values))),
        text=[f"{full(label)}: {each.points:+.0f} points" for label, each in found],
        error_x=arms(values),
    )
    axis = names_axis([label for label, _ in found])
    axis["ticktext"] = [wrapped(label) for label, _ in found]
    drawn_on = layout(
        xaxis={
            "title": title(f"Difference in points, {level:g} % interval"),
            "zeroline": True,
            "zerolinecolor": "--text",
        },
        yaxis=rows_axis(axis),
        showlegend=False,
        margin={"l": 10, "r": 10, "t": 10, "b": 40},
        shapes=[vertical_line(-margin, SERIES[1])] if margin else [],
    )
    return {"data": [trace], "layout": drawn_on}
