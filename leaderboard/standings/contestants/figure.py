"""Figures of one contestant: its ratings in several tables, its win rates, and its rating over time."""

from collections.abc import Sequence

from leaderboard.pages.figure import (
    SERIES,
    Figure,
    Value,
    arms,
    axis_on_top,
    by_row,
    dots,
    full,
    layout,
    title,
    vertical_line,
)
from leaderboard.pages.format import counted
from leaderboard.pages.standings.table import Opponent
from leaderboard.standings.contestants.table import FEWEST_MET, Moment, Placed


def places(rows: Sequence[Placed], level: float) -> Figure:
    return axis_on_top(by_row([row.label for row in rows], *_placed(rows, level)))


def _placed(rows: Sequence[Placed], level: float) -> tuple[list[Value], list[str], str]:
    texts = [
        f"{full(row.label)}: {row.rating:.0f}{_between(row.low, row.high, '.0f', level)}"
        f"<br>rank {row.rank} of {row.of}, {counted(row.games, 'rating')}"
        for row in rows
    ]
    values: list[Value] = [(row.rating, row.low, row.high) for row in rows]
    return values, texts, f"Score with {level:g}% interval"


def win_rates(rows: Sequence[Opponent], level: float) -> Figure:
    texts = [
        f"{full(row.name)}: {row.rate:.0%}{_between(row.low, row.high, '.0%', level)}"
        f"<br>{counted(row.games, 'rating')}"
        for row in rows
    ]
    values = [(row.rate, row.low, row.high) for row in rows]
    figure = by_row([row.name for row in rows], values, texts, f"Win share, {level:g}% interval")
    figure["data"][0]["marker"]["symbol"] = [
        "circle-open" if row.games < FEWEST_MET else "circle" for row in rows
    ]
    figure["layout"]["xaxis"] |= {"range": [-0.02, 1.02], "tickformat": ".0%"}
    figure["layout"]["yaxis"] |= {"showline": False}
    figure["layout"]["shapes"] = [vertical_line(0.5, "--line-strong")]
    return axis_on_top(figure)


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
            f"{moment.at.day} {moment.at:%b %Y, %H:%M} UTC: {moment.place.rating:.0f}"
            f"{_between(moment.place.low, moment.place.high, '.0f', level)}<br>"
            f"{counted(moment.place.games, 'rating')}, methodology {full(moment.methodology)}"
            for moment in moments
        ],
        error_y=arms([(place.rating, place.low, place.high) for place in places]),
    )
    drawn_on = layout(
        xaxis={"type": "date", "showgrid": False, "nticks": 6},
        yaxis={"title": title(f"Score with {level:g}% interval"), "zeroline": False},
        showlegend=False,
    )
    return {"data": [trace], "layout": drawn_on}


def _between(low: float | None, high: float | None, form: str, level: float) -> str:
    return "" if low is None or high is None else f" ({level:g}%: {low:{form}}–{high:{form}})"
