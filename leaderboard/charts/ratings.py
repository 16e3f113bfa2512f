"""Ratings as shown."""

from collections.abc import Sequence

from leaderboard.charts.parts import MOST_SERIES, SERIES, Figure, full, label, layout, legend, title
from leaderboard.tables.ratings import Shown, unscored_reasons


def histogram(points: int, shown: Sequence[Shown]) -> Figure:
    """Share of each rating as shown, one bar for each kind of rater, the unscored as bars of their own."""
    reasons = unscored_reasons(shown)
    ticks = [str(rating) for rating in range(1, points + 1)] + [label(reason) for reason in reasons]
    traces = []
    for number, one in enumerate(shown[:MOST_SERIES]):
        counts = [*one.counts, *(one.unscored.get(reason, 0) for reason in reasons)]
        shares = [100 * count / one.replies for count in counts]
        traces.append(
            {
                "type": "bar",
                "name": label(one.label),
                "x": list(range(len(ticks))),
                "y": shares,
                "text": [
                    f"{full(one.label)}: {count} of {one.replies} ({share:.1f} %)"
                    for count, share in zip(counts, shares, strict=True)
                ],
                "textposition": "none",
                "hovertemplate": "%{text}<extra></extra>",
                "marker": {"color": SERIES[number]},
            }
        )
    drawn_on = layout(
        barmode="group",
        xaxis={
            "tickmode": "array",
            "tickvals": list(range(len(ticks))),
            "ticktext": ticks,
            "title": title(f"Rating as shown: 1 favours the first, {points} the second"),
            "showgrid": False,
        },
        yaxis={"title": title("Share of replies (%)"), "rangemode": "tozero"},
        **legend(len(traces)),
        margin={"l": 10, "r": 10, "t": 40, "b": 40},
    )
    return {"data": traces, "layout": drawn_on}
