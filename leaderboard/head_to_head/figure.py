"""The figure of differences between two contestants."""

from collections.abc import Sequence

from leaderboard.head_to_head.table import Line
from leaderboard.pages.figure import Figure, by_row, full, vertical_line


def differences(rows: Sequence[Line], margin: float) -> Figure:
    """Points by which the first is above the second, with a line at 0 and a dashed one at the margin."""
    found = [(row.label, row.decision) for row in rows if row.decision]
    values = [(each.points, *(each.ends or (None, None))) for _, each in found]
    texts = [f"{full(label)}: {each.points:+.0f} points" for label, each in found]
    labels = [label for label, _ in found]
    figure = by_row(labels, values, texts, "Score difference (points)")
    figure["layout"]["xaxis"] |= {"side": "top", "zeroline": True, "zerolinecolor": "--text"}
    figure["layout"]["margin"] = {"l": 10, "r": 10, "t": 50, "b": 10}
    figure["layout"]["shapes"] = [vertical_line(-margin)] if margin else []
    return figure
