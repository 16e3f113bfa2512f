"""Figures of one contestant: its ratings in several tables, its win rates, and its rating over time."""

from collections.abc import Sequence

from leaderboard.contestants.table import Moment, Opponent, Placed
from leaderboard.pages.figure import (
    SERIES,
    Figure,
    arms,
    by_row,
    dots,
    full,
    layout,
    title,
    vertical_line,
    wrapped,
)


def places(rows: Sequence[Placed], level: float) -> Figure:
    texts = [
        f"{full(row.label)}: {row.rating:.0f}{_between(row.low, row.high, '.0f', level)}"
        f"<br>rank {row.rank} of {row.of}, {row.games} games"
        for row in rows
    ]
    values = [(row.rating, row.low, row.high) for row in rows]
    return by_row([row.label for row in rows], values, texts, f"Rating, {level:g} % interval")


def kinds_places(rows: Sequence[Placed], level: float) -> Figure:
    """Names are wrapped: those of raters often differ in their last words alone."""
    figure = places(rows, level)
    figure["layout"]["yaxis"]["ticktext"] = [wrapped(row.label) for row in rows]
    return figure


def win_rates(rows: Sequence[Opponent], level: float) -> Figure:
    texts = [
        f"{full(row.name)}: {row.rate:.2f}{_between(row.low, row.high, '.2f', level)}<br>{row.games} games"
        for row in rows
    ]
    values = [(row.rate, row.low, row.high) for row in rows]
    figure = by_row([row.name for row in rows], values, texts, f"Win rate, {level:g} % interval")
    figure["layout"]["xaxis"] |= {"range": [-0.02, 1.02], "tickformat": ".1f"}
    figure["layout"]["shapes"] = [vertical_line(0.5, "--line-strong")]
    return figure


def history(moments: Sequence[Moment], level: float) -> Figure:
    newest = moments[-1].methodology if moments else ""
    places = [moment.place for moment in moments]
    trace = dots(
        {
            "color": SERIES[0],
            "size": 8,
            "symbol": ["circle" if each.methodology == newest else "circle-open" for each in moments],
        },
        mode="lines+markers",
        line={"color": SERIES[0], "width": 1.5},
        x=[moment.at.isoformat() for moment in moments],
        y=[place.rating for place in places],
        text=[
            f"{moment.at:%Y-%m-%d %H:%M}: {moment.place.rating:.0f}"
            f"{_between(moment.place.low, moment.place.high, '.0f', level)}<br>"
            f"{moment.place.games} games, methodology {full(moment.methodology)}"
            for moment in moments
        ],
        error_y=arms([(place.rating, place.low, place.high) for place in places]),
    )
    drawn_on = layout(
        xaxis={"type": "date", "showgrid": False, "nticks": 6},
        yaxis={"title": title(f"Rating, {level:g} % interval"), "zeroline": False},
        showlegend=False,
    )
    return {"data": [trace], "layout": drawn_on}


def _between(low: float | None, high: float | None, form: str, level: float) -> str:
    return "" if low is None or high is None else f" ({level:g} %: {low:{form}} to {high:{form}})"
