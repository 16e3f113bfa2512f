"""Figures of what features are worth."""

from collections.abc import Sequence
from typing import Final

from leaderboard.answers.features.table import rows_of
from leaderboard.pages.figure import (
    MOST_SERIES,
    SERIES,
    Figure,
    arms,
    by_row,
    dots,
    forest,
    full,
    layout,
    legend,
    legend_name,
    series_look,
    title,
    vertical_line,
)
from leaderboard.pages.format import counted, number_range, percent, signed
from leaderboard.pages.units import COEFFICIENT, SHARE, Estimate
from leaderboard.snapshots.canonical import Content

OTHERS: Final = "Other models"


def coefficients(found: Sequence[tuple[str, Content]]) -> Figure:
    """Spearman's correlation of each row, and a line where there is none; not of those without one."""
    rows = ((name, Estimate.of(own, "spearman"), counted(own["n"], "answer")) for name, own in found)
    figure = forest(COEFFICIENT, rows, "Spearman’s correlation")
    figure["layout"]["xaxis"]["range"] = [-1.05, 1.05]
    figure["layout"]["shapes"] = [vertical_line(0)]
    return figure


def pairs(content: Content) -> Figure:
    """How often each feature, and length, picks the preferred answer; a line at chance."""
    known = [(name, each["pairs"]) for name, each in rows_of(content) if has_pairs(each)]
    rows = (
        (name, Estimate.bare(found["feature"]), counted(found["feature"]["n"], "pair"))
        for name, found in known
    )
    figure = forest(SHARE, rows, "Pairs picked right (%)")
    figure["data"][0]["name"] = "Feature"
    figure["data"].append(
        dots(
            {"color": SERIES[1], "symbol": series_look(1)[1], "size": 9},
            name="The longer answer",
            x=[100 * found["length"]["value"] for _, found in known],
            y=list(range(len(known))),
            text=[
                f"{full(name)}<br>The longer answer: {percent(found['length']['value'])}"
                for name, found in known
            ],
        )
    )
    figure["layout"] |= {"shapes": [vertical_line(50)], "showlegend": True, **legend(2)}
    return figure


def has_pairs(summary: Content) -> bool:
    return bool(summary["pairs"] and summary["pairs"]["feature"]["n"])


def scatter(content: Content) -> Figure:
    """Each dot is an answer, in the colour of its model; the feature to the right, quality upwards."""
    names: list[str] = content["models"]
    most = len(names) if len(names) <= MOST_SERIES else MOST_SERIES - 1
    label, traces = content["feature"]["label"], []
    for number in range(min(len(names), most + 1)):
        own = [each for each in content["points"] if min(each[2], most) == number]
        colour, symbol = series_look(number)
        traces.append(
            dots(
                {"color": colour, "symbol": symbol, "size": 7, "opacity": 0.7},
                name=legend_name(names[number] if number < most else OTHERS),
                x=[value for value, _, _ in own],
                y=[quality for _, quality, _ in own],
                text=[
                    f"{full(names[model])}<br>{full(label)} {value:.4g}<br>Quality {signed(quality)}"
                    for value, quality, model in own
                ],
            )
        )
    drawn_on = layout(
        xaxis={"title": title(label), "zeroline": False},
        yaxis={"title": title("Quality"), "zeroline": False},
        **legend(len(traces)),
    )
    return {"data": traces, "layout": drawn_on}


def deciles(content: Content) -> Figure:
    """Mean quality of each part, at the middle of its values."""
    found = content["deciles"]
    middle = [(each["low"] + each["high"]) / 2 for each in found]
    quality = [each["quality"] for each in found]
    trace = dots(
        {"color": SERIES[0], "size": 9},
        x=middle,
        y=[own["value"] for own in quality],
        text=[
            f"{each['low']:.4g} to {each['high']:.4g}<br>Quality {signed(own['value'])} "
            f"{number_range(own['low'], own['high'])}<br>{counted(own['n'], 'answer')}"
            for each, own in zip(found, quality, strict=True)
        ],
        error_y=arms([Estimate.bare(own) for own in quality]),
    )
    drawn_on = layout(
        xaxis={"title": title(content["feature"]["label"]), "zeroline": False},
        yaxis={"title": title("Mean quality"), "zeroline": False},
        showlegend=False,
    )
    return {"data": [trace], "layout": drawn_on}


def standings(content: Content) -> Figure:
    rows = content["standings"]
    return by_row(
        [each["contestant"] for each in rows],
        [Estimate.of(each, "mean") for each in rows],
        [
            f"{full(each['contestant'])}<br>{each['mean']:.4g}<br>{counted(each['n'], 'answer')}"
            for each in rows
        ],
        content["feature"]["label"],
    )
