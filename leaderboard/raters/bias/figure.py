"""Figures of ratings as shown, of position bias, and of length bias."""

from collections.abc import Sequence
from typing import Final

from leaderboard.pages.figure import (
    MOST_SERIES,
    SERIES,
    TEXT_SIZE,
    Figure,
    arms,
    bars,
    by_rater,
    colour_bar,
    dashed,
    dots,
    full,
    heat_map,
    kinds_axis,
    label,
    layout,
    legend,
    legend_name,
    title,
    vertical_line,
)
from leaderboard.pages.format import counted
from leaderboard.pages.units import SHARE
from leaderboard.raters.bias.content import Measured
from leaderboard.raters.bias.table import (
    MEASURES,
    Shown,
    difference,
    short_differences,
    unscored_reasons,
    won,
)
from leaderboard.stats.bias_results import LengthBin, ScoreDifferences

# On a phone a bar is as wide as a few letters.
_HYPHENATED: Final = {
    "out of range": "out of<br>range",
    "unparsable": "unpar-<br>sable",
    "truncated": "trun-<br>cated",
}


def histogram(points: int, shown: Sequence[Shown]) -> Figure:
    """Share of each rating as shown and of the unscored; a heat map for more kinds than there are colours."""
    if len(shown) > MOST_SERIES:
        return _histogram_map(points, shown)
    reasons = unscored_reasons(shown)
    traces = [_bars(one, reasons, number) for number, one in enumerate(shown)]
    drawn_on = layout(
        barmode="group",
        xaxis=_rating_axis(points, reasons),
        yaxis={"title": title("Share of ratings (%)"), "rangemode": "tozero"},
        **legend(len(traces)),
        margin=_margin(traces),
    )
    return {"data": traces, "layout": drawn_on}


def _margin(traces: Sequence[Figure]) -> Figure:
    return {"l": 10, "r": 10, "t": 40 if len(traces) > 1 else 10, "b": 40}


def _counts(one: Shown, reasons: Sequence[str]) -> list[int]:
    return [*one.counts, *(one.unscored.get(reason, 0) for reason in reasons)]


def _places(points: int, reasons: Sequence[str]) -> list[int]:
    """Where the bars stand: the unscored apart, with room for their words."""
    return [*range(points), *(points + 1 + 2 * number for number in range(len(reasons)))]


def _bars(one: Shown, reasons: Sequence[str], number: int) -> Figure:
    counts = _counts(one, reasons)
    shares = [100 * count / one.replies for count in counts]
    return bars(
        legend_name(one.label),
        {"color": SERIES[number]},
        x=_places(one.points, reasons),
        y=shares,
        text=[
            f"{full(one.label)}: {count} of {one.replies} ({share:.1f}%)"
            for count, share in zip(counts, shares, strict=True)
        ],
    )


def _rating_axis(points: int, reasons: Sequence[str]) -> Figure:
    words = [_HYPHENATED.get(reason) or label(reason, 8) for reason in reasons]
    return {
        "tickmode": "array",
        "tickvals": _places(points, reasons),
        "ticktext": [*(str(rating) for rating in range(1, points + 1)), *words],
        "tickangle": 0,
        "tickfont": {"size": TEXT_SIZE},
        "title": title(f"1 favours the first, {points} the second"),
        "showgrid": False,
    }


def _histogram_map(points: int, shown: Sequence[Shown]) -> Figure:
    reasons = unscored_reasons(shown)
    counts = [_counts(one, reasons) for one in shown]
    shares = [[100 * count / one.replies for count in row] for one, row in zip(shown, counts, strict=True)]
    trace = heat_map(
        [[round(share, 2) for share in row] for row in shares],
        x=_places(points, reasons),
        hovertext=[
            [
                f"{full(one.label)}: {count} of {one.replies} ({100 * count / one.replies:.1f}%)"
                for count in row
            ]
            for one, row in zip(shown, counts, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        texttemplate="%{z:.0f}",
        textfont={"color": "--text"},
        zmin=0,
        zmax=max(max(row) for row in shares),
        colorscale=[[0, "--heat-mid"], [1, "--heat-high"]],
        colorbar=colour_bar("% of ratings"),
    )
    names = kinds_axis([one.label for one in shown]) | {"autorange": "reversed", "showgrid": False}
    return {"data": [trace], "layout": layout(xaxis=_rating_axis(points, reasons), yaxis=names)}


def mirrored_histogram(one: Shown) -> Figure:
    """How often each rating was given, and its mirror image."""
    reasons = unscored_reasons([one])
    given = _bars(one, reasons, 0)
    turned = [*reversed(one.counts), *(None for _ in reasons)]
    mirrored = bars(
        "Mirror image",
        {"color": "rgba(0,0,0,0)", "line": {"width": 2, "color": "--text"}},
        x=_places(one.points, reasons),
        y=[None if count is None else 100 * count / one.replies for count in turned],
        text=["" if count is None else f"the mirrored rating: {count} of {one.replies}" for count in turned],
    )
    drawn_on = layout(
        barmode="overlay",
        xaxis=_rating_axis(one.points, reasons),
        yaxis={"title": title("Share of ratings (%)"), "rangemode": "tozero"},
        **legend(2),
        margin={"l": 10, "r": 10, "t": 40, "b": 40},
    )
    return {"data": [given, mirrored], "layout": drawn_on}


def position_dots(shown: Sequence[Shown]) -> Figure:
    known = [one for one in shown if one.share_first is not None]
    values = [one.first.times(100) for one in known]
    texts = [_position_text(one) for one in known]
    figure = by_rater([one.label for one in known], values, texts, "Prefers the first (%)")
    reach = max([10.0, *(abs(end - 50) for value in values for end in value if end is not None)]) * 1.08
    figure["layout"]["xaxis"] |= {"range": [50 - reach, 50 + reach]}
    figure["layout"]["shapes"] = [vertical_line(50)]
    return figure


def _position_text(one: Shown) -> str:
    return f"{full(one.label)}: {SHARE.told(one.first)}, {counted(one.scored, 'rating')}"


def score_differences(found: Sequence[tuple[str, ScoreDifferences]]) -> Figure:
    traces = [_score_bars(name, scores, number) for number, (name, scores) in enumerate(found[:MOST_SERIES])]
    drawn_on = layout(
        barmode="group",
        bargap=0.05,
        xaxis={
            "title": title("First minus second score"),
            "showgrid": False,
            "zeroline": False,
        },
        yaxis={"title": title("Share of pairs (%)"), "rangemode": "tozero"},
        shapes=[vertical_line(0)],
        **legend(len(traces)),
        margin=_margin(traces),
    )
    return {"data": traces, "layout": drawn_on}


def _score_bars(name: str, scores: ScoreDifferences, number: int) -> Figure:
    width, n = scores["width"], scores["n"]
    shares = [100 * count / n for count in scores["counts"]]
    return bars(
        legend_name(name),
        {"color": SERIES[number]},
        x=[edge + width / 2 for edge in scores["bins"]],
        y=shares,
        text=[
            f"{full(name)}: {edge:g} to {edge + width:g}: {count} of {n} ({share:.1f}%)"
            for edge, count, share in zip(scores["bins"], scores["counts"], shares, strict=True)
        ],
    )


def length_effect(name: str, measure: Measured) -> Figure:
    bins = [each for each in measure["bins"] if each["win_rate"] is not None]
    places = list(range(len(bins)))
    values = [won(each).times(100) for each in bins]
    trace = dots(
        {"color": SERIES[0], "size": 8},
        mode="lines+markers",
        line={"color": SERIES[0], "width": 1, "dash": "dot"},
        x=places,
        y=[rate for rate, _, _ in values],
        text=[_text(name, each) for each in bins],
        error_y=arms(values),
    )
    noun = MEASURES.get(measure["name"], measure["name"])
    drawn_on = layout(
        xaxis={
            "title": title(f"More {noun} than the other answer"),
            "tickmode": "array",
            "tickvals": places,
            "ticktext": short_differences(bins),
            "tickangle": -45,
            "tickfont": {"size": TEXT_SIZE},
            "zeroline": False,
            "showgrid": False,
        },
        yaxis={"title": title("Points won (%)"), "range": [0, 100], "zeroline": False},
        shapes=[
            dashed(xref="paper", x0=0, x1=1, y0=50, y1=50, layer="above"),
            *([vertical_line((len(bins) - 1) / 2)] if bins else []),
        ],
        showlegend=False,
    )
    return {"data": [trace], "layout": drawn_on}


def _text(name: str, each: LengthBin) -> str:
    return f"{full(name)}: {difference(each)}<br>won {SHARE.told(won(each))}, {counted(each['n'], 'rating')}"
