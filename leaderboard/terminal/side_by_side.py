"""Every method on the same comparisons, as text and JSON. Pure."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from leaderboard.pages.aligned_text import aligned, counted, printable
from leaderboard.pages.standings.sentences import findings, interval_line, ranks_written
from leaderboard.stats.checks import NoGamesError
from leaderboard.stats.coefficients import rank_coefficients_of_rows
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.ranking import Standings, rank_ratings
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ranking_rows import Standing
from leaderboard.stats.ratings import Ratings
from leaderboard.terminal.standings_text import About, ratings_line

VARIANTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Elo": {"name": "elo"},
    "Elo, ties off": {"name": "elo", "ties": False},
    "Bradley-Terry": {"name": "bradley-terry"},
    "Davidson": {"name": "davidson"},
    "Ordinal": {"name": "ordinal"},
}

ORDER: Final = "Bradley-Terry"
"""Rows follow this ranking."""

_NONE: Final = "-"


def side_by_side(ratings: Ratings, names: Sequence[str], method: Method) -> dict[str, Standings]:
    """The standings of every variant that has games. Raises StatsError where none has."""
    found = {}
    for label, changes in VARIANTS.items():
        try:
            found[label] = rank_ratings(ratings, names, replace(method, **changes))
        except NoGamesError:
            if label == ORDER:
                raise
    return found


def as_json(compared: Mapping[str, Standings], about: Mapping[str, Any]) -> str:
    return json.dumps({**about, **compared_values(compared)}, indent=2, allow_nan=False)


def compared_values(compared: Mapping[str, Standings]) -> dict[str, Any]:
    """The standings of every method, and how far each agrees with ORDER, as plain values."""
    methods = {label: standings.as_dict() for label, standings in compared.items()}
    agreement = {label: rounded(tau) for label, tau in agreement_with_first(compared).items()}
    return {"agreement": {"with": ORDER, "kendall": agreement}, "methods": methods}


def agreement_with_first(compared: Mapping[str, Standings]) -> dict[str, float]:
    """Kendall's tau-b of each variant's ratings with those of ORDER; NaN where all are equal."""
    rated = {
        label: {row.contestant: row.rating for row in standings.standings if row.rating is not None}
        for label, standings in compared.items()
    }
    first = rated[ORDER]
    found = {}
    for label, other in rated.items():
        names = [name for name in first if name in other]
        of_both = (np.array([[rated[name] for name in names]]) for rated in (first, other))
        found[label] = float(rank_coefficients_of_rows(*of_both)[1, 0])
    return found


def as_table(compared: Mapping[str, Standings], about: About | None = None) -> str:
    described = compared_line(compared, about.not_used if about else {})
    lines = [*([about.line()] if about else []), described, "", *_table(compared, _places)]
    used = compared[ORDER].parameters
    if any(row.low is not None for each in compared.values() for row in each.standings):
        lines += [f"\n{interval_line(used)}; seed {used['seed']}.\n", *_table(compared, _intervals)]
    lines.extend(f"\n{note}" for note in compared_notes(compared))
    return "\n".join(lines)


def compared_notes(compared: Mapping[str, Standings]) -> list[str]:
    """What is said below the tables."""
    level = compared[ORDER].parameters["interval"]
    found = (
        f"{label}: {printable(each)}"
        for label, standings in compared.items()
        for each in findings(standings.details, level)
    )
    return [_agreement(compared), *found, *(f"Warning: {printable(each)}" for each in _warnings(compared))]


def compared_rows(compared: Mapping[str, Standings]) -> list[Sequence[str]]:
    """Rank and score of every model by every method, under their headings."""
    return _rows(compared, _places)


def _rows(
    compared: Mapping[str, Standings], cells: Callable[[Standings], Mapping[str, str]]
) -> list[Sequence[str]]:
    placed = [cells(standings) for standings in compared.values()]
    rows = (
        (printable(row.contestant), *(own[row.contestant] for own in placed))
        for row in compared[ORDER].standings
    )
    return [("model", *compared), *rows]


def _table(compared: Mapping[str, Standings], cells: Callable[[Standings], Mapping[str, str]]) -> list[str]:
    return aligned(_rows(compared, cells), {"model"})


def _warnings(compared: Mapping[str, Standings]) -> list[str]:
    """Every warning once; of two that begin alike the longer."""
    found = dict.fromkeys(warning for standings in compared.values() for warning in standings.warnings)
    stems = [warning.removesuffix(".") for warning in found]
    return [
        warning
        for warning, stem in zip(found, stems, strict=True)
        if not any(other != stem and other.startswith(stem) for other in stems)
    ]


def compared_line(compared: Mapping[str, Standings], not_used: Mapping[str, int]) -> str:
    """What is counted, and how to read the tables."""
    first, elo = compared[ORDER], compared["Elo"].parameters
    others = ", ".join(
        f"{label}: {counted(each.left_out, 'ties')} left out"
        for label, each in compared.items()
        if each.left_out
    )
    more = f" {others}." if others else ""
    return (
        f"{ratings_line(first.games, 0, not_used)}{more} Rank (best rank by intervals) and score. Ties count "
        f"half unless off; Davidson and ordinal have their own rules. K of Elo {elo['k']:g}, scale "
        f"{elo['scale']:g}. Methodology {elo['methodology']}."
    )


def _agreement(compared: Mapping[str, Standings]) -> str:
    taus = (
        f"{label} {'-' if math.isnan(tau) else f'{tau:.3f}'}"
        for label, tau in agreement_with_first(compared).items()
        if label != ORDER
    )
    return f"Kendall's tau with {ORDER}: {', '.join(taus)}."


def _places(standings: Standings) -> dict[str, str]:
    rows = standings.standings
    ranks = ranks_written((row.component, row.rank) for row in rows)
    return {row.contestant: _place(rank, row) for rank, row in zip(ranks, rows, strict=True)}


def _place(rank: str, row: Standing) -> str:
    if row.rating is None:
        return _NONE
    best = "" if row.rank_ub is None else f" ({row.rank_ub})"
    return f"{rank}{best} {row.rating:5.0f}"


def _intervals(standings: Standings) -> dict[str, str]:
    return {
        row.contestant: _NONE if row.low is None else f"{row.low:.0f} to {row.high:.0f}"
        for row in standings.standings
    }
