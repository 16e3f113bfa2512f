"""What one prompt says about the gap between two contestants: its variance by source, from data."""

from dataclasses import dataclass

import numpy as np

from leaderboard.stats.bradley_terry.fit import POINTS_PER_UNIT, bradley_terry
from leaderboard.stats.bradley_terry.pair_table import PairTable
from leaderboard.stats.bradley_terry.sandwich import sandwich
from leaderboard.stats.errors import NoGamesError, ParameterError
from leaderboard.stats.games import FloatArray, Games, IntArray
from leaderboard.stats.order.influence import FittedTable
from leaderboard.stats.outcomes import distinct_outcomes
from leaderboard.stats.planning.variance import PromptVariance


@dataclass(frozen=True)
class Evidence:
    """What the data say about one gap: ``gap`` in points from ``first`` to ``second``, and its variance.

    ``prompts`` and ``raters`` are what it rests on: prompts, and the mean number of raters of a pair of
    answers.
    """

    first: int
    second: int
    gap: float
    variance: PromptVariance
    prompts: int
    raters: float


def measured(games: Games, rater: IntArray | None, first: int, second: int) -> Evidence:
    """What games clustered by prompt say about two contestants; ``rater`` numbers the rater of each game.

    A prompt's total is the sum of the influences of its games on the gap (its sandwich variance, Liang and
    Zeger 1986). The raters' part is what remains of the differences between raters of the same two answers,
    summed for each rater of a prompt, as one rater may lean the same way in all its pairs (method of
    moments). Without ``rater`` every game has its own. Raises a StatsError where the two cannot be compared
    or there is one prompt.
    """
    prompt = _prompts(games)
    found = distinct_outcomes(games)
    table = PairTable.of(found, games.contestants)
    if first == second or table.component[first] != table.component[second]:
        raise ParameterError(
            "no chain of games connects the two contestants"
            if first != second
            else "the two are one contestant"
        )
    fit = FittedTable.of(table)
    moved = (POINTS_PER_UNIT * fit.influence(first, second))[found.of_game]
    opinions = _Opinions.of(prompt, table.pair_of_outcome[found.of_game], rater, moved)
    prompts = games.units
    total = float((np.bincount(prompt, moved) ** 2).sum()) * prompts / (prompts - 1)
    within = opinions.within()
    gap = POINTS_PER_UNIT * float(fit.theta[first] - fit.theta[second])
    if within is None:
        return Evidence(first, second, gap, PromptVariance(prompts * total, None), prompts, opinions.raters)
    within = min(within, total)
    parts = PromptVariance(prompts * (total - within), prompts * within * opinions.raters)
    return Evidence(first, second, gap, parts, prompts, opinions.raters)


def typical_pair(games: Games) -> tuple[int, int]:
    """The two contestants of the largest connected group whose gap has the median variance."""
    _prompts(games)
    fit = bradley_terry(games)
    covariance = sandwich(games, fit).covariance
    own = np.flatnonzero(fit.component == 0)
    first, second = (own[side] for side in np.triu_indices(len(own), 1))
    variance = covariance[first, first] + covariance[second, second] - 2.0 * covariance[first, second]
    middle = int(np.argsort(variance, kind="stable")[(len(variance) - 1) // 2])
    return int(first[middle]), int(second[middle])


@dataclass(frozen=True, eq=False)
class _Opinions:
    """One rater's games on one pair of answers together: cell (prompt and pair), group (prompt and rater).

    ``moved`` is by how many points an opinion moves the gap.
    """

    cell: IntArray
    group: IntArray
    moved: FloatArray

    @classmethod
    def of(cls, prompt: IntArray, pair: IntArray, rater: IntArray | None, moved: FloatArray) -> "_Opinions":
        own = np.arange(len(moved)) if rater is None else rater
        pairs, raters = int(pair.max()) + 1, int(own.max()) + 1
        keys, opinion = np.unique((prompt * pairs + pair) * raters + own, return_inverse=True)
        about, who = np.divmod(keys, raters)
        cell = np.unique(about, return_inverse=True)[1]
        group = np.unique(about // pairs * raters + who, return_inverse=True)[1]
        total: FloatArray = np.bincount(opinion, moved).astype(np.float64)
        return cls(cell, group, total)

    @property
    def raters(self) -> float:
        """The mean number of raters of a pair of answers."""
        return len(self.cell) / (int(self.cell.max()) + 1)

    def within(self) -> float | None:
        """The raters' part of the variance of the gap; None where no pair of answers has two raters.

        Pairs of answers with a single rater are taken to have as much of it, in proportion, as the others.
        """
        raters = np.bincount(self.cell)[self.cell]
        several = raters > 1
        known = float((self.moved[several] ** 2).sum())
        if not known:
            return None
        centred = self.moved - (np.bincount(self.cell, self.moved) / np.bincount(self.cell))[self.cell]
        unbiased = np.where(several, centred * np.sqrt(raters / np.maximum(raters - 1, 1)), 0.0)
        found = float((np.bincount(self.group, unbiased) ** 2).sum())
        return found * float((self.moved**2).sum()) / known


def _prompts(games: Games) -> IntArray:
    """The prompt of each game; raise a StatsError where there are fewer than two."""
    if not len(games):
        raise NoGamesError("there are no games to plan from")
    if games.cluster is None:
        raise ParameterError("a plan needs the prompts of the comparisons, and none are named")
    if games.units < 2:
        raise ParameterError("there is only one prompt, which says nothing about how prompts differ")
    return games.cluster
