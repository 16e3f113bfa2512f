"""Lengths of texts as boxes, and bars of ratings per pair."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from leaderboard.data.table import LENGTHS, TEXTS, Spread, TextLengths, times_named
from leaderboard.pages.figure import (
    MOST_SERIES,
    SERIES,
    Figure,
    bars,
    full,
    kinds_axis,
    layout,
    legend,
    legend_name,
    names_axis,
    title,
    title_of_names,
)
from leaderboard.pages.format import counted, percent
from leaderboard.snapshots.canonical import Content

_GAP: Final = 0.27

_SHORTEST: Final = 1.0
"""A logarithmic axis has no 0: shorter texts are drawn here."""


_WIDE: Final = 100
"""From this ratio of the longest to the shortest, lines are at powers of ten, or names meet on a phone."""


def length_boxes(measure: str, lengths: Sequence[TextLengths]) -> Figure:
    known = [one for one in lengths if one.count]
    parts = list(dict.fromkeys(one.part for one in known))
    kinds = [what for what in TEXTS if any(one.what == what for one in known)]
    traces: list[Figure] = []
    for number, what in enumerate(kinds):
        own = [one for one in known if one.what == what]
        places = [parts.index(one.part) + (number - (len(kinds) - 1) / 2) * _GAP for one in own]
        traces += [_boxes(what, own, places), _medians(what, own, places)]
    shortest = min((max(_SHORTEST, one.min or 0.0) for one in known), default=_SHORTEST)
    wide = max((one.max or 0.0 for one in known), default=_SHORTEST) >= _WIDE * shortest
    ticks = [factor * 10**power for power in range(8) for factor in ((1,) if wide else (1, 2, 5))]
    drawn_on = layout(
        xaxis={
            "side": "top",
            "type": "log",
            "tickvals": ticks,
            "ticktext": [f"{tick:,}" for tick in ticks],
            "tickangle": 0,
        },
        yaxis={**names_axis(parts), "range": [len(parts) - 0.5, -0.5], "showgrid": False},
        **legend(len(kinds)),
        margin={"l": 10, "r": 10, "t": 60, "b": 10},
    )
    return {"data": traces, "layout": drawn_on}


def _boxes(what: str, own: Sequence[TextLengths], places: Sequence[float]) -> Figure:
    colour = SERIES[list(TEXTS).index(what)]
    ends = {"q1": "q1", "median": "median", "q3": "q3", "lowerfence": "min", "upperfence": "max"}
    return {
        "type": "box",
        "orientation": "h",
        "name": TEXTS[what],
        "y": list(places),
        **{key: [max(_SHORTEST, getattr(one, name)) for one in own] for key, name in ends.items()},
        "width": _GAP * 0.7,
        "line": {"color": colour, "width": 1.5},
        "hoverinfo": "skip",
    }


def _medians(what: str, own: Sequence[TextLengths], places: Sequence[float]) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "showlegend": False,
        "x": [max(_SHORTEST, one.median or 0.0) for one in own],
        "y": list(places),
        "text": [_text(one) for one in own],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"color": SERIES[list(TEXTS).index(what)], "size": 7},
    }


def _text(one: TextLengths) -> str:
    return (
        f"{full(one.part)}: {TEXTS[one.what].lower()}, n {one.count:,}<br>"
        f"median {one.median:,.6g}, half between {one.q1:,.6g} and {one.q3:,.6g}<br>"
        f"shortest {one.min:,.6g}, longest {one.max:,.6g} {LENGTHS[one.measure]}"
    )


MOST_NAMES: Final = 24


def spread_bars(spread: Spread) -> Figure:
    """Shares under each name, a series for each of the first parts."""
    traces = []
    for number, (part, own) in enumerate(groupby(spread.shares, key=attrgetter("part"))):
        shares = list(own)
        at = {"x": list(range(len(shares))), "y": [100 * each.share for each in shares]}
        texts = [
            f"{full(part)}: {each.count:,} of {counted(each.of, spread.what)} ({percent(each.share)})"
            f"<br>{spread.axis}: {full(each.name)}"
            for each in shares
        ]
        traces.append(bars(legend_name(part), {"color": SERIES[number % MOST_SERIES]}, **at, text=texts))
    traces = traces[:MOST_SERIES]
    drawn_on = layout(
        barmode="group",
        xaxis={**kinds_axis(spread.names), "title": title_of_names(spread.axis), "showgrid": False},
        yaxis={"title": title(f"{spread.what.capitalize()}s (%)"), "rangemode": "tozero"},
        **legend(len(traces)),
        margin={"l": 10, "r": 10, "t": 40 if len(traces) > 1 else 10, "b": 40},
    )
    return {"data": traces, "layout": drawn_on}


def coverage_bars(content: Content) -> Figure:
    times, shown = times_named(content), content["coverage"][:MOST_SERIES]
    traces = []
    for number, row in enumerate(shown):
        counts = [*row["pairs"], *[0] * (len(times) - len(row["pairs"]))]
        traces.append(
            {
                "type": "bar",
                "name": legend_name(row["label"]),
                "x": list(range(len(times))),
                "y": counts,
                "text": [
                    f"{full(row['label'])}: {count:,} of {counted(content['pairs'], 'pair')} with {each}"
                    for count, each in zip(counts, times, strict=True)
                ],
                "textposition": "none",
                "hovertemplate": "%{text}<extra></extra>",
                "marker": {"color": SERIES[number]},
            }
        )
    drawn_on = layout(
        barmode="group",
        xaxis={**names_axis(times), "title": title("Ratings of a pair"), "showgrid": False},
        yaxis={"title": title("Pairs"), "rangemode": "tozero"},
        **legend(len(traces)),
        margin={"l": 10, "r": 10, "t": 40, "b": 40},
    )
    return {"data": traces, "layout": drawn_on}
