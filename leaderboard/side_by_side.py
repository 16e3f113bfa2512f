"""Every method on the same comparisons, side by side, as a table for a terminal and as JSON. Pure."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from leaderboard.presentation import aligned, findings, interval_line, printable
from leaderboard.stats import Method, Ratings, Standing, Standings, rank_ratings
from leaderboard.stats.errors import NoGamesError
from leaderboard.stats.ranking.rows import rounded

VARIANTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Elo": {"name": "elo"},
    "Elo, ties off": {"name": "elo", "ties": False},
    "Bradley-Terry": {"name": "bradley-terry"},
    "Davidson": {"name": "davidson"},
    "Ordinal": {"name": "ordinal"},
}
"""The methods compared, by the name of their columns."""

ORDER: Final = "Bradley-Terry"
"""The rows follow the ranking of this one."""

_NONE: Final = "-"


def side_by_side(ratings: Ratings, names: Sequence[str], method: Method) -> dict[str, Standings]:
    """The standings of every variant at the parameters of ``method``; without those that have no games.

    Raises a StatsError where nothing can be ranked.
    """
    found = {}
    for label, changes in VARIANTS.items():
        try:
            found[label] = rank_ratings(ratings, names, replace(method, **changes))
        except NoGamesError:
            if label == ORDER:
                raise
    return found


def as_json(compared: Mapping[str, Standings], about: Mapping[str, Any]) -> str:
    """Indented JSON: what it is about, then the standings of each variant by its name."""
    methods = {label: standings.as_dict() for label, standings in compared.items()}
    agreement = {label: rounded(tau) for label, tau in agreement_with_first(compared).items()}
    values = {**about, "agreement": {"with": ORDER, "kendall": agreement}, "methods": methods}
    return json.dumps(values, indent=2, allow_nan=False)


def agreement_with_first(compared: Mapping[str, Standings]) -> dict[str, float]:
    """Kendall's tau-b between the ratings of ORDER and of each variant, NaN where one rates all alike."""
    from scipy.stats import kendalltau

    rated = {
        label: {row.contestant: row.rating for row in standings.standings if row.rating is not None}
        for label, standings in compared.items()
    }
    first = rated[ORDER]
    found = {}
    for label, other in rated.items():
        names = [name for name in first if name in other]
        found[label] = float(kendalltau([first[n] for n in names], [other[n] for n in names]).statistic)
    return found


def as_table(compared: Mapping[str, Standings], about: str) -> str:
    """A table with rank, rating and interval of each contestant by each variant, and all warnings."""
    first = compared[ORDER]
    placed = {
        label: {row.contestant: row for row in standings.standings} for label, standings in compared.items()
    }
    header = ["contestant", *(part for label in compared for part in ("rank", label))]
    rows = [
        [
            printable(row.contestant),
            *(cell for own in placed.values() for cell in _cells(own[row.contestant])),
        ]
        for row in first.standings
    ]
    lines = [*([about] if about else []), *(_described(compared)), ""]
    lines.extend(aligned([header, *rows], {"contestant", *compared}))
    lines.append(f"\n{_agreement(compared)}")
    for label, standings in compared.items():
        lines.extend(f"\n{label}: {printable(found)}" for found in findings(standings.details))
    lines.extend(f"\nWarning: {printable(warning)}" for warning in _warnings(compared))
    return "\n".join(lines)


def _warnings(compared: Mapping[str, Standings]) -> list[str]:
    """Every warning once; of two that begin alike (advice that only some methods can follow) the longer."""
    found = dict.fromkeys(warning for standings in compared.values() for warning in standings.warnings)
    stems = [warning.removesuffix(".") for warning in found]
    return [
        warning
        for warning, stem in zip(found, stems, strict=True)
        if not any(other != stem and other.startswith(stem) for other in stems)
    ]


def _described(compared: Mapping[str, Standings]) -> list[str]:
    """The number of games, and what the intervals in brackets are."""
    first = compared[ORDER]
    left_out = ", ".join(
        f"{label}: {each.left_out} left out" for label, each in compared.items() if each.left_out
    )
    more = f" ({left_out})" if left_out else ""
    return [f"{first.games} games{more}. In brackets: rank ub; {interval_line(first.parameters)}."]


def _agreement(compared: Mapping[str, Standings]) -> str:
    """Kendall's tau with the ranking that orders the rows, in one line."""
    taus = (
        f"{label} {'-' if math.isnan(tau) else f'{tau:.3f}'}"
        for label, tau in agreement_with_first(compared).items()
        if label != ORDER
    )
    return f"Kendall's tau with {ORDER}: {', '.join(taus)}."


def _cells(row: Standing) -> tuple[str, str]:
    if row.rating is None:
        return _NONE, _NONE
    best = "" if row.rank_ub is None else f" ({row.rank_ub})"
    between = "" if row.low is None else f" ({row.low:.0f} to {row.high:.0f})"
    return f"{row.rank}{best}", f"{row.rating:.0f}{between}"
