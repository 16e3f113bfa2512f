"""What a feature is worth, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from leaderboard.answers.features.content import NO_SCALE
from leaderboard.answers.features.table import FEWEST_MODELS, expected, rows_of
from leaderboard.pages.aligned_text import aligned, printable
from leaderboard.pages.format import NONE, counted
from leaderboard.pages.units import SHARE, Estimate
from leaderboard.pages.wording import on_intervals
from leaderboard.snapshots.canonical import Content

_COEFFICIENTS: Final = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall"}
_COLUMNS: Final = ("answers", "prompts", *_COEFFICIENTS.values())


def as_text(found: Content) -> str:
    used = found["parameters"]
    intervals = on_intervals(f"Intervals of {used['level']:g}% over prompts.", found["features"])
    about = (
        f"{printable(found['study'])}: {printable(used['feature'] or 'every feature')} and "
        f"{printable(found['label'])}. {intervals}"
    )
    if used["feature"] is None:
        return "\n\n".join([about, "\n".join(_every_feature(found))])
    return "\n\n".join([about, *(_feature(each) for each in found["features"])])


def _every_feature(found: Content) -> Iterator[str]:
    """A line for each feature and model, as in Tables 1 and 3 of the paper."""
    rows = [
        (printable(name), printable(one["contestant"]), *_row(one["correlation"]))
        for name, each in rows_of(found)
        for one in each["contestants"]
    ]
    yield from aligned([("feature", "model", *_COLUMNS), *rows], {"feature", "model"})


def _feature(found: Content) -> str:
    own = found["feature"]
    source = f' from "{printable(own["source"])}"' if own["source"] else ""
    lines = [f"{printable(own['label'])} ({own['variant']}{source})", *_cautions(own), *expected(found)]
    return "\n".join([*lines, "", *_correlations(found), "", *_pairs(found), "", *_standings(found)])


def _cautions(own: Content) -> Iterator[str]:
    if own["bound"]:
        yield "A bound: the value itself is not known."
    if own["computed"]:
        yield "Computed over the answers of each model: each part scaled from 0 to 1 among them."
    if own["higher_is_better"] is not None:
        yield f"Expected of better answers: {'higher' if own['higher_is_better'] else 'lower'}."


def _correlations(found: Content) -> list[str]:
    header = ("", *_COLUMNS)
    rows = [("all", *_row(found["correlation"]))]
    rows += [(printable(each["contestant"]), *_row(each["correlation"])) for each in found["contestants"]]
    caution = [f"Over all answers, {NO_SCALE}."] if len(found["contestants"]) > 1 else []
    return [*aligned([header, *rows], {""}), *caution]


def _row(own: Mapping[str, Any]) -> tuple[str, ...]:
    if own["reason"]:
        return str(own["n"]), str(own["prompts"]), NONE, NONE, own["reason"]
    return str(own["n"]), str(own["prompts"]), *(_coefficient(own, name) for name in _COEFFICIENTS)


def _coefficient(own: Mapping[str, Any], name: str) -> str:
    value, low, high = Estimate.of(own, name)
    return f"{value:+.4f}" + ("" if low is None else f" ({low:+.2f} to {high:+.2f})")


def _pairs(content: Content) -> Iterator[str]:
    found, known = content["pairs"], content["feature"]["higher_is_better"] is not None
    own = found["feature"]
    right, longer = (SHARE.with_ends(Estimate.bare(each), "%") for each in (own, found["length"]))
    if not own["n"]:
        yield "No pair has a preferred answer and both features."
        return
    yield (
        f"{'It picks the preferred answer' if known else 'The answer with the higher value is preferred'} "
        f"in {right} of {counted(own['n'], 'pair')}. "
        f"The longer answer is preferred in {longer}. Chance: 50%."
    )


def _standings(found: Content) -> Iterator[str]:
    rows = [
        (str(rank), printable(each["contestant"]), f"{each['mean']:#.4g}", _ends(each), str(each["n"]))
        for rank, each in enumerate(found["standings"], start=1)
    ]
    yield from aligned([("", "model", "mean", "interval", "answers"), *rows], {"model"})
    order = found["order"]
    if order is not None and order["kendall"] is not None and order["n"] >= FEWEST_MODELS:
        yield (
            f"Kendall's tau of this order and that of pairs by {printable(order['label'])}: "
            f"{order['kendall']:+.3f} ({counted(order['n'], 'model')})."
        )


def _ends(own: Mapping[str, Any]) -> str:
    _, low, high = Estimate.of(own, "mean")
    return "" if low is None else f"{low:#.4g} to {high:#.4g}"
