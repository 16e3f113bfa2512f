"""How winning goes with being longer: win rate against the difference in length."""

from typing import Any

from leaderboard.charts.parts import SERIES, Figure, full, layout, title
from leaderboard.charts.ratings import vertical_line
from leaderboard.tables.length_effect import MEASURES, difference, short_differences
from leaderboard.tables.parts import Content
from leaderboard.tables.wording import percent, percent_range


def length_effect(name: str, measure: Content) -> Figure:
    """Share of points won by difference in length, with intervals; one half without any effect."""
    bins = [each for each in measure["bins"] if each["win_rate"] is not None]
    places = list(range(len(bins)))
    rates = [100 * each["win_rate"] for each in bins]
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": places,
        "y": rates,
        "text": [_text(name, each) for each in bins],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"color": SERIES[0], "size": 8},
        "line": {"color": SERIES[0], "width": 1, "dash": "dot"},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [_arm(each["win_high"], rate) for each, rate in zip(bins, rates, strict=True)],
            "arrayminus": [-_arm(each["win_low"], rate) for each, rate in zip(bins, rates, strict=True)],
            "color": SERIES[0],
            "thickness": 1.5,
            "width": 3,
        },
    }
    noun = MEASURES.get(measure["name"], measure["name"])
    drawn_on = layout(
        xaxis={
            "title": title(f"More {noun} than the other"),
            "tickmode": "array",
            "tickvals": places,
            "ticktext": short_differences(bins),
            "tickangle": -45,
            "tickfont": {"size": 11},
            "zeroline": False,
            "showgrid": False,
        },
        yaxis={"title": title("Points won (%)"), "range": [0, 100], "zeroline": False},
        shapes=[_half(), *([vertical_line((len(bins) - 1) / 2)] if bins else [])],
        showlegend=False,
    )
    return {"data": [trace], "layout": drawn_on}


def _half() -> Figure:
    line = {"color": "--muted", "width": 1, "dash": "dash"}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 50, "y1": 50, "line": line}


def _arm(end: float | None, rate: float) -> float:
    return 0.0 if end is None else 100 * end - rate


def _text(name: str, each: dict[str, Any]) -> str:
    interval = percent_range(each["win_low"], each["win_high"])
    ends = f" ({interval})" if interval else ""
    return f"{full(name)}: {difference(each)}<br>won {percent(each['win_rate'])}{ends}, n {each['n']}"
