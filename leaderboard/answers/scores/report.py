"""Scores of single answers, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from leaderboard.answers.scores.table import apart
from leaderboard.pages.aligned_text import aligned, printable
from leaderboard.pages.format import NONE, counted
from leaderboard.pages.wording import on_intervals
from leaderboard.snapshots.canonical import Content

_COEFFICIENTS: Final = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall",
    "icc": "ICC",
    "alpha": "alpha",
}


def as_text(found: Content) -> str:
    return "\n\n".join(
        [_about(found), *(_rater(each) for each in found["raters"]), *_agreement(found), *_moved(found)]
    )


def _about(found: Content) -> str:
    used = found["parameters"]
    turn = "" if used["turn"] is None else f" of turn {used['turn']}"
    other = (
        f" Stretched from another scale: {counted(used['other_scales'], 'score')}."
        if used["other_scales"]
        else ""
    )
    intervals = on_intervals(
        f"Intervals of {used['level']:g}% over prompts; {used['rounds']} resamples, seed {used['seed']}.",
        found["raters"],
    )
    return (
        f"{printable(found['study'])}: scores of single answers{turn} from {used['lowest']:g} to "
        f"{used['highest']:g}.{other} {intervals}"
    )


def _rater(entry: Content) -> str:
    edges = entry["edges"]
    whole = [f"{(low + high) / 2:g}" for low, high in pairwise(edges)]
    counts = whole if edges[1] - edges[0] == 1 else []
    header = ("", "rank", "mean", "interval", "SD", "scores", "prompts", "not scored", *counts)
    rows = [("all", "", *_row(entry, counts))]
    rows += [
        (printable(each["contestant"]), str(each["rank"] or NONE), *_row(each, counts))
        for each in entry["contestants"]
    ]
    notes = map(printable, apart(entry["contestants"]))
    return "\n".join([printable(entry["rater"]), *aligned([header, *rows], {""}), *notes])


def _row(own: Content, counts: list[str]) -> tuple[str, ...]:
    return (
        _number(own["mean"], 4),
        _between(own, "mean", 2),
        _number(own["sd"], 2),
        str(own["n"]),
        str(own["prompts"]),
        str(own["unscored"]),
        *(map(str, own["counts"]) if counts else ()),
    )


def _agreement(found: Content) -> Iterator[str]:
    lines = [
        (f"{printable(each['one'])} and {printable(each['other'])}", str(each["texts"]), *_cells(each))
        for each in found["agreement"]
        if each["texts"]
    ]
    people = found["people"]
    if people and people["texts"]:
        lines.append(("one person and the others", str(people["texts"]), *_cells(people)))
    if lines:
        header = ("", "answers", *_COEFFICIENTS.values(), "difference")
        yield "Raters on the same answers.\n" + "\n".join(aligned([header, *lines], {""}))


def _cells(each: Content) -> tuple[str, ...]:
    coefficients = (
        f"{_number(each.get(name), 6)} {_bracketed(_between(each, name, 2))}".strip()
        for name in _COEFFICIENTS
    )
    return (
        *coefficients,
        f"{_number(each.get('difference'), 2)} {_bracketed(_between(each, 'difference', 2))}",
    )


def _moved(found: Content) -> Iterator[str]:
    header = ("", "longer answer", "same, alike models", "from first to last score")
    rows = [
        (
            printable(each["rater"]),
            *(
                _slope(own)
                for own in (each["length"]["within_prompt"], each["length"]["alike"], each["drift"])
            ),
        )
        for each in found["raters"]
    ]
    if any(cell != NONE for row in rows for cell in row[1:]):
        yield "Points for an answer twice as long, and over time.\n" + "\n".join(
            aligned([header, *rows], {""})
        )


def _slope(own: Content) -> str:
    if own["slope"] is None:
        return NONE
    ends = "" if own["low"] is None else f" ({own['low']:+.2f} to {own['high']:+.2f})"
    return f"{own['slope']:+.2f}{ends}"


def _between(own: Content, name: str, places: int) -> str:
    low, high = own.get(f"{name}_low"), own.get(f"{name}_high")
    return "" if low is None else f"{low:.{places}f} to {high:.{places}f}"


def _bracketed(text: str) -> str:
    return f"({text})" if text else ""


def _number(value: float | None, places: int) -> str:
    return NONE if value is None else f"{value:.{places}f}"
