"""Who is first, and how few comparisons, removed, would change it.

To first order one solve tells how much each game, removed, shrinks a gap (Broderick, Giordano and Meager
2020; for language models Huang, Shen, Wei and Broderick 2025). The games that shrink it most are removed a
few at a time and the rest fitted again, so the answer is a verified upper bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.sparse import coo_array

from leaderboard.stats.bradley_terry import all_games
from leaderboard.stats.checks import ClusterError, FloatArray, IntArray, NoGamesError, ParameterError
from leaderboard.stats.choices import RESAMPLE
from leaderboard.stats.games import Games
from leaderboard.stats.newton import climb
from leaderboard.stats.pair_table import Outcomes, PairTable


@dataclass(frozen=True, eq=False)
class FittedTable:
    """The fit of all games of a table."""

    table: PairTable
    theta: FloatArray  # log-odds (contestants,)
    curvature: FloatArray  # minus the second derivative there

    @classmethod
    def of(cls, table: PairTable, near: FloatArray | None = None) -> "FittedTable":
        """Fit the table; ``near`` are strengths (contestants,) that the fit is near to, if any are known."""
        likelihood = all_games(table)
        start = np.zeros(table.contestants) if near is None else near
        theta = climb(likelihood, start[:, None]).x
        return cls(table, table.centred(theta)[:, 0], likelihood.curvature(theta)[0])

    @property
    def component(self) -> IntArray:
        return self.table.component

    def influence(self, first: int, second: int) -> FloatArray:
        """By how much one more game of each outcome widens the gap from ``first`` to ``second``, in log-odds.

        To first order (Hampel 1974); the two must be in one component.
        """
        contrast = np.zeros(len(self.theta))
        contrast[first], contrast[second] = 1.0, -1.0
        pull = np.linalg.solve(self.curvature, contrast)
        a, b = self.table.a[self.table.pair_of_outcome], self.table.b[self.table.pair_of_outcome]
        expected = 0.5 * (1.0 + np.tanh(0.5 * (self.theta[a] - self.theta[b])))
        return (pull[a] - pull[b]) * (self.table.score_of_outcome - expected)


# Challengers tried: those that the first linear prediction puts nearest.
_CHALLENGERS: Final = 3
# One in so many of the predicted removals is made before predicting anew.
_PART: Final = 4
# Log-odds; strengths that differ by less are equal.
_EQUAL: Final = 1e-8
# Log-odds; removals that shrink the gap by less only add up rounding errors.
_NOTHING: Final = 1e-12


class Removed(NamedTuple):
    """``games`` games in which ``a`` scored ``score`` against ``b``."""

    a: int
    b: int
    score: float
    games: int


@dataclass(frozen=True, eq=False)
class Removals:
    """The smallest removal found that changes who is first."""

    first: int  # leads the largest connected group
    instead: int | None  # leads afterwards, None where no removal was found
    removed: int | None  # 0 where two share the first place
    units: int
    unit: str  # what was removed
    # Positions of games, or numbers of clusters, the most telling first.
    picked: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    outcomes: tuple[Removed, ...] = ()  # of the games removed
    cut_off: tuple[int, ...] = ()  # contestants no longer connected to the first

    @property
    def share(self) -> float | None:
        return None if self.removed is None else self.removed / self.units

    def sentence(self, names: Sequence[str]) -> str:
        """The finding in one sentence; ``names`` are the contestants' in the order of their numbers."""
        first = names[self.first]
        what = "ratings" if self.unit == "games" else self.unit
        if self.removed is None or self.instead is None:
            return f"No removal of {what} was found that puts another model before {first}."
        if not self.removed:
            return f"{first} shares the first place, without any removal."
        cut = f", and cut off {', '.join(names[other] for other in self.cut_off)}" if self.cut_off else ""
        percent, instead = f"{100 * self.removed / self.units:.2g}%", names[self.instead]
        return (
            f"Removing {self.removed} of {self.units} {what} ({percent}) would put {instead} before "
            f"{first}{cut}; fewer might do."
        )


def fewest_removals(games: Games, *, unit: str = "games") -> Removals:
    """How few of the games, removed, would make Bradley-Terry put another contestant first.

    ``unit`` "prompts" or "raters" removes whole clusters instead. A removal counts where somebody still
    connected to the former first leads. Raises a StatsError without games or clusters.
    """
    pool = _Pool.of(games, unit)
    start = pool.without(np.zeros_like(pool.stock))
    first = int(np.argmax(np.where(start.component == 0, start.theta, -np.inf)))
    equal = np.flatnonzero((start.component == 0) & (start.theta > start.theta[first] - _EQUAL))
    if len(equal) > 1:
        other = int(equal[equal != first][0])
        return Removals(first, other, 0, pool.units, unit)
    path = _shortest(pool, start, first)
    if path is None:
        return Removals(first, None, None, pool.units, unit)
    gone = path.gone(path.length)
    after = pool.without(gone, start)
    lost = (start.component == 0) & (after.component != after.component[first])
    return Removals(
        first,
        _leader(after, first),
        path.length,
        pool.units,
        unit,
        pool.picked(path),
        pool.summed_up(gone),
        tuple(np.flatnonzero(lost).tolist()),
    )


def _leader(fit: FittedTable, first: int) -> int:
    """Who leads those connected to ``first``: ``first`` unless somebody is above it."""
    theta = np.where(fit.component == fit.component[first], fit.theta, -np.inf)
    best = int(np.argmax(theta))
    return best if theta[best] > theta[first] + _EQUAL else first


@dataclass(frozen=True, eq=False)
class _Pool:
    """Kinds of units that can be removed: outcomes, or single clusters."""

    table: PairTable
    found: Outcomes
    stock: IntArray  # units of each kind
    contents: Any  # games in one unit, (outcomes, kinds)
    by_game: bool

    @classmethod
    def of(cls, games: Games, unit: str) -> "_Pool":
        """The games as a pool; raises a StatsError where they have no such units."""
        if unit not in RESAMPLE:
            raise ParameterError(f"unit is {unit!r}; choose one of {', '.join(RESAMPLE)}")
        if not len(games):
            raise NoGamesError("there are no games to remove")
        found, table = games.outcomes, games.table
        if unit == "games":
            numbers = np.arange(len(found))
            same = coo_array((np.ones(len(found)), (numbers, numbers))).tocsr()
            return cls(table, found, table.count_of_outcome.astype(np.int64), same, True)
        if games.cluster is None:
            raise ClusterError(f"{unit} are to be removed, but the games have no clusters")
        places = (found.of_game, games.cluster)
        contents = coo_array((np.ones(len(games)), places), shape=(len(found), games.units)).tocsr()
        return cls(table, found, np.ones(games.units, dtype=np.int64), contents, False)

    @property
    def units(self) -> int:
        return int(self.stock.sum())

    def without(self, gone: IntArray, near: FittedTable | None = None) -> FittedTable:
        """The fit of what is left when ``gone`` (kinds,) units are removed, found sooner from one near."""
        left = self.table.left_with(self.table.count_of_outcome - self.contents @ gone)
        return FittedTable.of(left, None if near is None else near.theta)

    def picked(self, path: "_Path") -> IntArray:
        """Positions of the games on the path, or the numbers of its clusters, in its order."""
        if not self.by_game:
            return np.repeat(path.kind, path.count)
        order = np.argsort(self.found.of_game, kind="stable")
        next_one = np.cumsum(self.stock) - self.stock
        positions = []
        for kind, count in zip(path.kind.tolist(), path.count.tolist(), strict=True):
            positions.append(order[next_one[kind] : next_one[kind] + count])
            next_one[kind] += count
        return np.concatenate(positions)

    def summed_up(self, gone: IntArray) -> tuple[Removed, ...]:
        """The games of the removed units by outcome, the most frequent first."""
        count = np.rint(self.contents @ gone).astype(np.int64)
        frequent = [which for which in np.argsort(-count, kind="stable").tolist() if count[which]]
        columns = (self.found.a, self.found.b, self.found.score, count)
        return tuple(Removed(*(column[which].item() for column in columns)) for which in frequent)


@dataclass(frozen=True, eq=False)
class _Path:
    """Removals in order; a kind may come more than once."""

    kind: IntArray
    count: IntArray  # units of each kind
    kinds: int

    @property
    def length(self) -> int:
        return int(self.count.sum())

    def cut(self, length: int) -> "_Path":
        before = np.cumsum(self.count) - self.count
        count = np.clip(length - before, 0, self.count)
        return _Path(self.kind[count > 0], count[count > 0], self.kinds)

    def gone(self, length: int) -> IntArray:
        """How many of each kind the first ``length`` removals take."""
        cut = self.cut(length)
        return np.bincount(cut.kind, weights=cut.count, minlength=self.kinds).astype(np.int64)

    def and_then(self, other: "_Path") -> "_Path":
        kind, count = np.concatenate((self.kind, other.kind)), np.concatenate((self.count, other.count))
        return _Path(kind, count, self.kinds)


def _shortest(pool: _Pool, start: FittedTable, first: int) -> _Path | None:
    """The shortest of the paths against the nearest challengers, cut to what is needed; None without any."""
    nothing = _Path(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), len(pool.stock))
    rivals = np.flatnonzero((start.component == 0) & (np.arange(len(start.theta)) != first)).tolist()
    predicted = {rival: _predicted(pool, start, nothing, first, rival).length for rival in rivals}
    best: _Path | None = None
    reachable = [rival for rival in sorted(rivals, key=predicted.__getitem__) if predicted[rival]]
    for rival in reachable[:_CHALLENGERS]:
        path = _path(pool, start, nothing, first, rival)
        if path is not None and (best is None or path.length < best.length):
            best = path
    return best


def _path(pool: _Pool, fit: FittedTable, path: _Path, first: int, rival: int) -> _Path | None:
    """Removals, a part of the predicted ones at a time, until another leads; None where they run out."""
    while _leader(fit, first) == first:
        ahead = _predicted(pool, fit, path, first, rival)
        if not ahead.length:
            return None
        path = path.and_then(ahead.cut(max(1, ahead.length // _PART)))
        fit = pool.without(path.gone(path.length), fit)
    return path.cut(_fewest(pool, path, fit, first))


def _fewest(pool: _Pool, path: _Path, end: FittedTable, first: int) -> int:
    """The length after which another leads, but not by one removal less: by bisection."""
    not_enough, enough = 0, path.length
    while enough - not_enough > 1:
        middle = (not_enough + enough) // 2
        if _leader(pool.without(path.gone(middle), end), first) == first:
            not_enough = middle
        else:
            enough = middle
    return enough


def _predicted(pool: _Pool, fit: FittedTable, path: _Path, first: int, rival: int) -> _Path:
    """The removals that close the gap to first order, the most telling first; none without a connection."""
    gain = pool.contents.T @ fit.influence(first, rival) * (fit.component[first] == fit.component[rival])
    left = pool.stock - path.gone(path.length)
    order = np.argsort(-gain, kind="stable")
    order = order[(gain[order] > _NOTHING) & (left[order] > 0)]
    shrunk = np.cumsum(left[order] * gain[order])
    gap = fit.theta[first] - fit.theta[rival] + 2 * _EQUAL
    whole = int(np.searchsorted(shrunk, gap))
    count = left[order]
    if whole < len(order):
        rest = gap - (shrunk[whole] - left[order[whole]] * gain[order[whole]])
        count = np.append(count[:whole], min(count[whole], int(np.ceil(rest / gain[order[whole]]))))
    return _Path(order[: whole + 1], count, len(pool.stock))
