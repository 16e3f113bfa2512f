"""The rows of a ranking: one for each contestant, with its interval, its ranks and its counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from leaderboard.stats.checks import BoolArray, FloatArray, IntArray
from leaderboard.stats.choices import LEVELS
from leaderboard.stats.games import Games
from leaderboard.stats.intervals import KEPT_PERCENTILES, bounds
from leaderboard.stats.plain_values import DECIMALS, rounded
from leaderboard.stats.ranking_estimates import Strengths
from leaderboard.stats.separation import (
    Groups,
    groups_not_told_apart,
    probability_first,
    rank_upper_bound,
    ranks,
)


@dataclass(frozen=True)
class Standing:
    """One contestant; what comes from intervals is None without them."""

    contestant: str
    rating: float | None = None  # its strength, None without a game
    low: float | None = None
    high: float | None = None
    rank: int | None = None  # 1 + the number above it in the component, to 1e-6
    rank_ub: int | None = None  # the best possible: 1 + the number whose lower end exceeds its upper end
    p_first: float | None = None  # share of rounds in which it is first
    group: str | None = None  # letters
    games: int = 0
    wins: int = 0
    losses: int = 0
    ties: int = 0
    component: int | None = None
    unbounded: str | None = None  # "above" or "below" where nothing limits the strength
    quantiles: Mapping[str, float] | None = None  # kept percentiles, by number
    groups_at: Mapping[str, str] | None = None  # by level
    rank_ub_at: Mapping[str, int] | None = None  # by level

    def as_dict(self, decimals: int = DECIMALS) -> dict[str, Any]:
        # Not by asdict, which copies every mapping in depth: a tenth of the time of a small study's refresh.
        return {name: rounded(value, decimals) for name, value in vars(self).items()}


@dataclass(frozen=True, eq=False)
class Tally:
    """Games of each contestant, and how many it had more, less or just half of, (contestants,)."""

    games: IntArray
    wins: IntArray
    losses: IntArray
    ties: IntArray

    @classmethod
    def of(cls, games: Games) -> "Tally":
        lead = np.sign(games.score - 0.5)
        wins, losses, ties = (
            _appearances(games, games.a, lead == side) + _appearances(games, games.b, lead == -side)
            for side in (1.0, -1.0, 0.0)
        )
        return cls(wins + losses + ties, wins, losses, ties)


def _appearances(games: Games, side: IntArray, chosen: BoolArray) -> IntArray:
    return np.bincount(side[chosen], minlength=games.contestants)


@dataclass(frozen=True, eq=False)
class Certainty:
    """What the intervals say of each contestant, in arrays (contestants,)."""

    low: FloatArray
    high: FloatArray
    quantiles: FloatArray
    rank_ub: IntArray
    first: FloatArray
    groups: Groups
    groups_at: Mapping[str, Groups]
    rank_ub_at: Mapping[str, IntArray]

    @classmethod
    def of(cls, found: Strengths, level: float) -> "Certainty | None":
        both = found.quantiles((*bounds(level), *KEPT_PERCENTILES))
        if both is None or found.samples is None or found.difference_error is None:
            return None
        ends, kept = both[:2], both[2:]
        levels = tuple(dict.fromkeys((*LEVELS, level)))
        known = (found.rating, found.difference_error, found.units)
        groups = {each: groups_not_told_apart(*known, each, found.component) for each in levels}
        return cls(
            ends[0],
            ends[1],
            kept,
            rank_upper_bound(ends[0], ends[1], found.component),
            probability_first(found.samples, found.component),
            groups[level],
            {f"{each:g}": groups[each] for each in LEVELS},
            {f"{each:g}": _best_ranks(kept, each, found.component) for each in LEVELS},
        )


def _best_ranks(kept: FloatArray, level: float, component: IntArray) -> IntArray:
    """The best ranks at a level whose ends are among the kept percentiles."""
    low, high = (kept[KEPT_PERCENTILES.index(end)] for end in bounds(level))
    return rank_upper_bound(low, high, component)


def rows(
    names: tuple[str, ...], found: Strengths, tally: Tally, sure: Certainty | None
) -> tuple[Standing, ...]:
    """The rows by component, then strength, best first, then name; those without games last."""
    rating = np.round(found.rating, DECIMALS)
    rank = ranks(found.rating, found.component)

    def row(i: int) -> Standing:
        if not tally.games[i]:
            return Standing(names[i])
        return Standing(
            names[i],
            rating=float(found.rating[i]),
            rank=int(rank[i]),
            component=int(found.component[i]),
            unbounded=found.unbounded[i] if found.unbounded else None,
            games=int(tally.games[i]),
            wins=int(tally.wins[i]),
            losses=int(tally.losses[i]),
            ties=int(tally.ties[i]),
            **({} if sure is None else _certain(i, sure)),
        )

    order = sorted(range(len(names)), key=lambda i: (found.component[i], -rating[i], names[i]))
    return tuple(row(i) for i in sorted(order, key=lambda i: tally.games[i] == 0))


def _certain(i: int, sure: Certainty) -> dict[str, Any]:
    kept = zip(KEPT_PERCENTILES, sure.quantiles[:, i], strict=True)
    return {
        "low": float(sure.low[i]),
        "high": float(sure.high[i]),
        "rank_ub": int(sure.rank_ub[i]),
        "p_first": float(sure.first[i]),
        "group": sure.groups.letters[i],
        "quantiles": {f"{percentile:g}": float(value) for percentile, value in kept},
        "groups_at": {level: groups.letters[i] for level, groups in sure.groups_at.items()},
        "rank_ub_at": {level: int(ranks[i]) for level, ranks in sure.rank_ub_at.items()},
    }
