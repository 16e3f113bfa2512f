"""Figures of how often judges are right."""

from collections.abc import Sequence
from typing import Final

from leaderboard.pages.figure import (
    MOST_ON_A_PHONE,
    MOST_SERIES,
    SERIES,
    Figure,
    arms,
    bars,
    by_row,
    counts_axis,
    dashed,
    dots,
    forest,
    full,
    heat_map,
    label,
    layout,
    legend,
    legend_name,
    matrix_layout,
    names_axis,
    numbered,
    numbers_for_names,
    row_offset,
    series_look,
    title,
    title_of_names,
    vertical_line,
)
from leaderboard.pages.format import counted, percent, share_points
from leaderboard.pages.units import COEFFICIENT, SHARE, Estimate
from leaderboard.snapshots.canonical import Content
from leaderboard.trust import table
from leaderboard.trust.measures import BASE, BEST_PROTOCOL, MEAN_OF_PROTOCOLS, Measure
from leaderboard.trust.table import RIGHT, CellOf, Line, Row, bins

_ROOM = 3.0
"""Percentage points around the points of a scatter."""


def accuracies(found: Sequence[Row], chance: float | None) -> Figure:
    """Each judge and, in grey, each baseline in a row of its own."""
    known = [row for row in found if RIGHT.value(row) is not None]
    values = [RIGHT.estimate(row).times(100) for row in known]
    figure = forest(SHARE, ((row.name, RIGHT.estimate(row), "") for row in known), RIGHT.title)
    figure["layout"]["shapes"] = [] if chance is None else [vertical_line(chance)]
    (whole,) = figure["data"]
    figure["data"] = []
    for is_judge, color in ((True, SERIES[0]), (False, "--muted")):
        places = [place for place, row in enumerate(known) if bool(row.slug) is is_judge]
        figure["data"].append(
            whole
            | {
                "marker": {"size": 8, "color": color},
                "x": [values[place][0] for place in places],
                "y": places,
                "text": [whole["text"][place] for place in places],
                "error_x": arms([values[place] for place in places], color),
            }
        )
    return figure


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def matrix(
    models: Sequence[str], protocols: Sequence[str], base: str | None, found: Sequence[CellOf]
) -> Figure:
    """Accuracy by model and protocol; a star marks a sure difference from the base, which stands first."""
    by_place = {(each.model, each.protocol): each for each in found}
    grid = [[by_place.get((model, protocol)) for protocol in protocols] for model in models]
    trace = heat_map(
        [[_percent(each.accuracy) if each else None for each in row] for row in grid],
        text=[[_written(each) for each in row] for row in grid],
        hovertext=[[_told(each) for each in row] for row in grid],
        hovertemplate="%{hovertext}<extra></extra>",
        colorscale=[[0, "--heat-low"], [0.5, "--heat-mid"], [1, "--heat-high"]],
        zmid=50,
        **numbered("") | {"texttemplate": "%{text}"},
    )
    columns = [f"{protocol} (base)" if protocol == base else protocol for protocol in protocols]
    drawn_on = matrix_layout(names_axis(columns), names_axis(models))
    narrow = numbers_for_names(columns)
    numbers = narrow["xaxis"] | {"title": title("Protocols in the order of the table")}
    return {"data": [trace], "layout": drawn_on, "narrow": {"xaxis": numbers}}


def _written(each: CellOf | None) -> str:
    if each is None or each.accuracy is None:
        return ""
    return f"{100 * each.accuracy:.1f}{'*' if each.is_sure else ''}"


def _told(each: CellOf | None) -> str:
    if each is None or each.accuracy is None:
        return ""
    own = f"{full(each.model)}, {full(each.protocol)}<br>{percent(each.accuracy)}"
    apart = each.difference
    if apart is None or apart["difference"] is None:
        return own
    holm = "" if apart["p_adjusted"] is None else f", p {apart['p_adjusted']:.3f} by Holm"
    points = share_points(apart["difference"])
    return f"{own}<br>{points} points beside {full(apart['base'])}{holm}"


def by_measure(found: Sequence[Line], shown: Sequence[Measure], base: str | None, axis: str) -> Figure:
    """A row for each model or protocol, with a series for each measure; ``base``: the name of one."""
    most = max(line.others for line in found)
    names = [
        f"{line.name} (base)"
        if line.name == base
        else line.name + (f" ({line.others}/{most})" if line.others < most else "")
        for line in found
    ]
    traces = []
    for number, each in enumerate(shown):
        colour, symbol = series_look(number)
        values = [each.estimate(line.figures) for line in found]
        known = [place for place, value in enumerate(values) if value.value is not None]
        traces.append(
            dots(
                {"color": colour, "symbol": symbol, "size": 8},
                name=legend_name(each.label),
                x=[values[place].times(each.unit.scale)[0] for place in known],
                y=[place + row_offset(number, len(shown), _APART) for place in known],
                text=[
                    f"{full(found[place].name)}<br>{each.label}: {each.unit.told(values[place])}"
                    for place in known
                ],
                error_x=arms([values[place].times(each.unit.scale) for place in known], colour),
            )
        )
    drawn_on = by_row(names, [], [], axis)["layout"]
    drawn_on |= legend(len(shown))
    drawn_on["margin"] = drawn_on["margin"] | {"t": 40 if len(shown) > 1 else 10}
    return {"data": traces, "layout": drawn_on}


_APART: Final = 0.36
"""Of a row, how far the series of a row reach."""


def base_and_others(found: Sequence[Line]) -> Figure:
    """Average and best of models by their base: a model above the line gains."""
    series = []
    for number, each in enumerate((MEAN_OF_PROTOCOLS, BEST_PROTOCOL)):
        colour, symbol = series_look(number)
        known = [line for line in found if each.estimate(line.figures).value is not None]
        values = [each.estimate(line.figures).times(100) for line in known]
        trace = dots(
            {"color": colour, "symbol": symbol, "size": 9},
            name=legend_name(each.label),
            x=[100 * line.figures[BASE.key] for line in known],
            y=[value for value, _, _ in values],
            text=[_beside_base(line, each) for line in known],
            error_y=arms(values, colour),
        )
        series.append(trace)
    ends = [end for trace in series for end in (*trace["x"], *trace["y"])]
    low, high = max(0.0, min(ends) - _ROOM), min(100.0, max(ends) + _ROOM)
    axis = {"range": [low, high], "zeroline": False}
    drawn_on = layout(
        xaxis=axis | {"title": title("Right by the base protocol (%)")},
        yaxis=axis | {"title": title("Right by others (%)")},
        shapes=[dashed(x0=low, y0=low, x1=high, y1=high)],
        annotations=[_called(line, (low + high) / 2) for line in found]
        if len(found) <= MOST_ON_A_PHONE
        else [],
        **legend(len(series)),
        margin={"l": 10, "r": 10, "t": 40, "b": 40},
    )
    return {"data": series, "layout": drawn_on}


def _called(line: Line, middle: float) -> Figure:
    """The name of a model between its two dots, on the side with room."""
    own = line.figures
    place = {"x": 100 * own[BASE.key], "y": 50 * (own[MEAN_OF_PROTOCOLS.key] + own[BEST_PROTOCOL.key])}
    side = {"xanchor": "left", "xshift": 10} if place["x"] < middle else {"xanchor": "right", "xshift": -10}
    return place | side | {"text": label(line.name), "showarrow": False}


def _beside_base(line: Line, each: Measure) -> str:
    base = BASE.unit.told(BASE.estimate(line.figures))
    told = f"{each.label.lower()} {each.unit.told(each.estimate(line.figures))}"
    return f"{full(line.name)}<br>base {base}<br>{told}"


def rank_correlations(content: Content) -> Figure | None:
    """Spearman's between every two parts of the pairs; None of fewer than three."""
    known = {
        frozenset((each["one"], each["other"])): each
        for each in table.known_correlations(content)
        if each["over"] == "judges"
    }
    names = [name for name in table.parts(content) if any(name in pair for pair in known)]
    if len(names) < _FEWEST_PARTS:
        return None
    grid = [[known.get(frozenset((one, other))) for other in names] for one in names]
    trace = heat_map(
        [[each["spearman"] if each else None for each in row] for row in grid],
        hovertext=[
            [f"{full(one)}, {full(other)}<br>{_ranks(each)}" for other, each in zip(names, row, strict=True)]
            for one, row in zip(names, grid, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        colorscale=[[0, "--heat-low"], [0.5, "--heat-mid"], [1, "--heat-high"]],
        zmin=-1,
        zmax=1,
        **numbered(":.2f"),
    )
    axis = names_axis(names)
    return {"data": [trace], "layout": matrix_layout(axis, axis), "narrow": numbers_for_names(names)}


_FEWEST_PARTS: Final = 3


def _ranks(each: Content | None) -> str:
    return COEFFICIENT.told(Estimate.of(each, "spearman"))


def difficulty(content: Content) -> Figure:
    """How many pairs which share of judges gets right."""
    found = content["matrix"]["difficulty"]
    traces = []
    for number, (name, own) in enumerate(found.items()):
        colour, _ = series_look(number)
        traces.append(
            bars(
                legend_name(name),
                {"color": colour},
                x=list(range(len(own["counts"]))),
                y=own["counts"],
                text=[
                    f"{full(name)}<br>{counted(n, 'pair')} that {bin} of ratings get right"
                    for bin, n in zip(bins(own), own["counts"], strict=True)
                ],
            )
        )
    names = bins(next(iter(found.values())))
    drawn_on = layout(
        xaxis=names_axis(names)
        | {"title": title_of_names("Judges’ ratings that are right"), "showgrid": False},
        yaxis=counts_axis(
            "Pairs", max(map(sum, zip(*(own["counts"] for own in found.values()), strict=True)))
        ),
        barmode="stack",
        **legend(len(traces)),
        margin={"l": 10, "r": 10, "t": 40, "b": 40},
    )
    return {"data": traces, "layout": drawn_on}


def reliability(content: Content) -> Figure:
    """A series for each judge: mean probability to the right, share right upwards."""
    traces = []
    for number, each in enumerate(content["judges"][:MOST_SERIES]):
        colour, symbol = series_look(number)
        shares = [Estimate.bare(one["right"]).times(100) for one in each["probability"]["bins"]]
        traces.append(
            dots(
                {"color": colour, "symbol": symbol, "size": 9},
                name=legend_name(each["label"]),
                x=[100 * one["confidence"] for one in each["probability"]["bins"]],
                y=[share for share, _, _ in shares],
                text=[
                    f"{full(each['label'])}<br>{percent(one['confidence'])} sure, "
                    f"{percent(one['right']['value'])} right<br>{counted(one['right']['n'], 'verdict')}"
                    for one in each["probability"]["bins"]
                ],
                error_y=arms(shares, colour),
            )
        )
    axis = {"range": [-3, 103], "zeroline": False}
    drawn_on = layout(
        xaxis=axis | {"title": title("Probability of the verdict (%)")},
        yaxis=axis | {"title": title("Right (%)")},
        shapes=[dashed(x0=0, y0=0, x1=100, y1=100)],
        **legend(len(traces)),
    )
    return {"data": traces, "layout": drawn_on}
