"""A rater's figures as cells and as rows of a file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from leaderboard.pages.format import seconds, signed, whole_percent
from leaderboard.pages.units import Cell
from leaderboard.quality.measures import FEWEST, Figures
from leaderboard.stats.clustered_means import ClusteredMean
from leaderboard.stats.rater_quality import Speed, WithOthers
from leaderboard.stats.shares import Share


@dataclass(frozen=True)
class Shown:
    value: str
    note: str = ""
    sort: float | None = None


NOTHING: Final = Shown("–")

COLUMNS: Final = {
    "comparisons": "Ratings",
    "agreement": "With others",
    "repeats": "Repeats",
    "known": "Known pairs",
    "speed": "Time",
    "first": "Prefers the first",
    "ties": "Tie share",
}
"""Headings by names in addresses."""


def labelled(own: Figures) -> dict[str, Shown]:
    """The cells of a row by their headings."""
    return {COLUMNS[name]: cell for name, cell in shown(own).items()}


def beside(own: dict[str, Shown], everybody: dict[str, Shown]) -> list[tuple[str, Shown, Shown]]:
    """Each heading with a rater's cell and everybody's."""
    return [(heading, cell, everybody[heading]) for heading, cell in own.items()]


def shown(own: Figures) -> dict[str, Shown]:
    first = share(own.first)
    return {
        "comparisons": Shown(f"{own.comparisons:,}", sort=own.comparisons),
        "agreement": shown_agreement(own.agreement),
        "repeats": _repeats(own),
        "known": share(own.known),
        "speed": shown_speed(own.speed),
        # Ordered by how far from the middle: either side may be preferred.
        "first": replace(first, sort=None if own.first.value is None else abs(own.first.value - 0.5)),
        "ties": share(own.ties),
    }


def share(found: Share | ClusteredMean) -> Shown:
    if found.value is None:
        return NOTHING
    note = f"{_between(found.low, found.high)}n\u00a0{found.n:,}"
    return Shown(whole_percent(found.value), note, found.value)


def shown_agreement(agreement: WithOthers) -> Shown:
    found, kappa = share(agreement.share), agreement.kappa
    if kappa is None or found.sort is None or agreement.share.n < FEWEST:
        return found
    return replace(found, note=f"{found.note}, κ\u00a0{signed(kappa)}")


def _between(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{100 * low:.0f}–{100 * high:.0f}%, "


def _repeats(own: Figures) -> Shown:
    found, apart = share(own.consistency.same), own.consistency.apart
    return found if apart is None else replace(found, note=f"{found.note}, {apart:.1f}\u00a0points")


def shown_speed(found: Speed) -> Shown:
    if found.median is None:
        return NOTHING
    below = found.below
    fast = f"{whole_percent(below.value or 0.0)} under\u00a0{found.floor:g}\u00a0s, n\u00a0{below.n:,}"
    return Shown(seconds(found.median), fast, found.median)


_SHARES: Final = ("repeats", "checks", "gold", "first", "ties", "fast")

FILE_COLUMNS: Final = (
    "rater",
    "simulated",
    "left_out",
    "paused",
    "comparisons",
    *(f"agreement{end}" for end in ("", "_low", "_high", "_n", "_kappa")),
    *(f"{name}{end}" for name in _SHARES for end in ("", "_low", "_high", "_n")),
    "repeats_points_apart",
    "seconds_median",
    "outlier_votes",
    "outlier_most",
    "outlier_flagged",
    "remarks",
)


def file_row(own: Figures, who: Sequence[Cell], remarks: Sequence[str]) -> tuple[Cell, ...]:
    """``who`` are the first four of FILE_COLUMNS."""
    agreement, bets = own.agreement.share, own.outlier
    shares = (own.consistency.same, own.checks, own.gold, own.first, own.ties, own.speed.below)
    return (
        *who,
        own.comparisons,
        *(_rounded(each) for each in (agreement.value, agreement.low, agreement.high)),
        agreement.n,
        _rounded(own.agreement.kappa),
        *(cell for each in shares for cell in (*map(_rounded, (each.value, each.low, each.high)), each.n)),
        _rounded(own.consistency.apart),
        _rounded(own.speed.median),
        bets.votes if bets else 0,
        _rounded(bets.most) if bets else None,
        bool(bets and bets.flagged),
        "; ".join(remarks),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
