"""Two contestants against each other: by how many points one is above the other, and what moves that."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from leaderboard.stats.bradley_terry import BradleyTerryFit, bradley_terry
from leaderboard.stats.checks import BoolArray, FloatArray, IntArray, ParameterError, check_level
from leaderboard.stats.clustered_means import ClusteredMean, jackknife_error, share_estimate
from leaderboard.stats.confidence_sequences import every_look_reach
from leaderboard.stats.davidson import davidson
from leaderboard.stats.elo_mean import mean_elo
from leaderboard.stats.games import Games
from leaderboard.stats.intervals import student_reach
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.sandwich import Sandwich, sandwich
from leaderboard.stats.separation import difference_errors

METHODS: Final = ("elo", "bradley-terry", "davidson")


@dataclass(frozen=True)
class Difference:
    """By how many points the first is above the second; from all games, those against others too."""

    points: float
    standard_error: float | None  # None for a single unit
    units: int  # prompts, or games where no prompt is known
    of_prompts: bool = True

    def reach(self, level: float, *, every_look: bool = False) -> float:
        """Standard errors from the difference to an end of its interval: Student's t, or at every look."""
        reach = every_look_reach if every_look else student_reach
        return reach(self.units, check_level(level))

    def ends(self, level: float, *, every_look: bool = False) -> tuple[float, float] | None:
        """Both ends of the interval, None for a single unit."""
        if self.standard_error is None:
            return None
        reach = self.reach(level, every_look=every_look) * self.standard_error
        return self.points - reach, self.points + reach


def difference(games: Games, first: int, second: int, method: Method) -> Difference:
    """The difference by one of METHODS, with its sandwich standard error over the games' clusters.

    Raises a StatsError where no chain of games connects the two, or they are one.
    """
    if first == second:
        raise ParameterError("choose two different models")
    fit = _fit(games, method)
    if fit.component[first] != fit.component[second]:
        raise ParameterError("no chain of ratings connects the two models")
    return _apart_by(fit, _errors(games, fit), first, second, games)


def _errors(games: Games, fit: BradleyTerryFit) -> Sandwich | None:
    return sandwich(games, fit) if games.units >= 2 else None


def _apart_by(
    fit: BradleyTerryFit, errors: Sandwich | None, first: int, second: int, games: Games
) -> Difference:
    points, of_prompts = float(fit.rating[first] - fit.rating[second]), games.cluster is not None
    if errors is None:
        return Difference(points, None, games.units, of_prompts)
    own = np.ix_([first, second], [first, second])
    error = float(difference_errors(errors.covariance[own], errors.pull[own])[0, 1])
    return Difference(points, error, games.units, of_prompts)


@dataclass(frozen=True)
class Lead:
    """The contestant in front, and the one whose interval of the difference reaches deepest."""

    first: int
    nearest: int
    apart: Difference
    level: float  # of that interval, in percent


def lead(games: Games, method: Method) -> Lead:
    """Who leads the largest group that games connect, against whoever is nearest to it at every look.

    The error of the method's level is divided by the number of others (Bonferroni): at most that share of
    studies ever shows somebody to be first who is not. Raises a StatsError where there are no two.
    """
    fit = _fit(games, method)
    own = np.flatnonzero(fit.component == 0)
    if len(own) < 2:
        raise ParameterError("no two models were compared")
    first = int(own[np.argmax(fit.rating[own])])
    others = [int(each) for each in own if each != first]
    level, errors = 100.0 - (100.0 - method.interval) / len(others), _errors(games, fit)
    found = {each: _apart_by(fit, errors, first, each, games) for each in others}
    nearest = min(others, key=lambda each: (found[each].ends(level, every_look=True) or (-math.inf,))[0])
    return Lead(first, nearest, found[nearest], level)


def _fit(games: Games, method: Method) -> BradleyTerryFit:
    if method.name == "elo":
        return mean_elo(games, method.elo)
    if method.name == "bradley-terry":
        return bradley_terry(games)
    if method.name == "davidson":
        return davidson(games)
    raise ParameterError(f"method is {method.name!r}; two models are compared by {', '.join(METHODS)}")


@dataclass(frozen=True)
class Split:
    """The share of points the first won in two parts of its games, and how far apart they are."""

    one: ClusteredMean
    other: ClusteredMean
    apart: ClusteredMean  # share in the one less share in the other


def split(score: FloatArray, prompt: IntArray, one: BoolArray, level: float) -> Split:
    """The games (n,) where ``one`` holds against the others; variances by the jackknife over prompts."""
    number = np.unique(prompt, return_inverse=True)[1]
    prompts = int(number.max(initial=-1)) + 1
    won = np.array([np.bincount(number, score * part, minlength=prompts) for part in (one, ~one)])
    count = np.array([np.bincount(number, part, minlength=prompts) for part in (one, ~one)])
    first, second = (share_estimate(won[part], count[part], level) for part in (0, 1))
    return Split(first, second, _apart(won, count, level))


def _apart(won: FloatArray, count: FloatArray, level: float) -> ClusteredMean:
    """The first row's share of points less the second's; both (2, prompts)."""
    n, prompts = round(float(count.sum())), count.shape[1]
    rest = count.sum(axis=1, keepdims=True) - count
    if not count.sum(axis=1).all():
        return ClusteredMean(n, prompts, None)
    one, other = won.sum(axis=1) / count.sum(axis=1)
    value = float(one - other)
    if not rest.all():  # all games of a part belong to one prompt
        return ClusteredMean(n, prompts, value)
    one_left, other_left = (won.sum(axis=1, keepdims=True) - won) / rest
    reach = student_reach(prompts, level) * jackknife_error(one_left - other_left)
    return ClusteredMean(n, prompts, value, value - reach, value + reach)
