"""How winning goes with being longer, as a table and in a sentence."""

from collections.abc import Sequence
from math import exp
from typing import Final

from leaderboard.tables.parts import Cell, Content, DataTable
from leaderboard.tables.wording import counted, number_range, percent, percent_range, signed

MEASURES: Final = {
    "words": "words",
    "unique_words": "different words",
    "tokens": "tokens",
    "characters": "characters",
}

PER_DOUBLING: Final = "log-odds of winning per doubling"
"""The unit of a slope that is told as a factor of the odds."""


def difference(each: Content) -> str:
    """The differences of one bin in words; an open end is None."""
    low, high = each["low"], each["high"]
    if low is None:
        return f"below {_number(high)}"
    if high is None:
        return f"{_number(low)} or more"
    return _number(low) if low == high else f"{_number(low)} to {_number(high)}"


def short_differences(bins: Sequence[Content]) -> list[str]:
    """The differences of all bins for an axis; the outermost reach as far as there are any."""
    found = [difference(each) for each in bins]
    if len(bins) > 1:
        inner, outer = bins[0]["high"], bins[-1]["low"]
        found[0] = found[0] if inner is None else f"≤ {_number(inner)}"
        found[-1] = found[-1] if outer is None else f"≥ {_number(outer)}"
    return found


def _number(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def length_table(label: str, measure: Content) -> DataTable:
    """Share of points won by difference in length (one completion minus the other, both ways entered)."""
    noun = MEASURES.get(measure["name"], measure["name"])
    rows: list[tuple[Cell, ...]] = [
        (difference(each), each["n"], *(_percent(each[name]) for name in ("win_rate", "win_low", "win_high")))
        for each in measure["bins"]
    ]
    columns = (f"More {noun} by", "Comparisons (n)", "Points won %", "Low %", "High %")
    return DataTable(f"{label}: points won by difference in {noun}", columns, tuple(rows))


def length_sentence(measure: Content, level: float) -> str:
    """How often the longer completion won and how steep the effect is; empty where it is unknown."""
    if measure.get("longer_wins") is None:
        return ""
    noun = MEASURES.get(measure["name"], measure["name"])
    ends = percent_range(measure.get("longer_low"), measure.get("longer_high"))
    interval = f" ({level:g} % interval {ends})" if ends else ""
    found = f"The completion with more {noun} won {percent(measure['longer_wins'])} of the points{interval}."
    if measure.get("slope") is None or measure.get("unit") != PER_DOUBLING:
        return found
    low, high = measure.get("slope_low"), measure.get("slope_high")
    factors = "" if low is None or high is None else number_range(exp(low), exp(high))
    between = f" ({level:g} % interval {factors})" if factors else ""
    return f"{found} Twice as many multiply the odds of winning by {signed(exp(measure['slope']))}{between}."


def unknown_sentence(content: Content) -> str:
    """How many comparisons are left out because a text is not known; empty for none."""
    unknown = content.get("unknown") or 0
    return f"{counted(unknown, 'comparison')} left out: a text is not known." if unknown else ""


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 2)
