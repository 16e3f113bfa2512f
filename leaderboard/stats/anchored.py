"""Human-anchored strengths: few human comparisons and many of a judge, without the judge's bias.

Prediction-powered inference with power tuning (Angelopoulos, Duchi and Zrnic 2023, *PPI++*) for Bradley-Terry
(Boyeau et al. 2024, *AutoEval Done Right*), with prompts as independent units. The pairs people rated must be
a random part of those the judge rated.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.anchored_pairs import RatedPairs, balance, check_pairs
from leaderboard.stats.anchored_result import NO_ERROR, Anchored, Counts, Points
from leaderboard.stats.bradley_terry import CENTRE, POINTS_PER_UNIT, BradleyTerryLikelihood
from leaderboard.stats.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    NoGamesError,
    ParameterError,
    check_level,
)
from leaderboard.stats.intervals import student_reach
from leaderboard.stats.newton import climb
from leaderboard.stats.pair_table import PairTable, connected_components

# The estimating equation. A pair between a and b has the design vector x (1 at a, -1 at b); the fit to
# outcomes s of a set of pairs solves mean(x (sigma(x theta) - s)) = 0. Here three such means are added:
# human outcomes over the pairs people rated, plus ``power`` times the judge's over all judged pairs, minus
# ``power`` times the judge's over the pairs both rated. The last two cancel on average, whatever the judge
# does.


# Log-odds from the centre (2,600 points) beyond which a solution counts as infinite.
FARTHEST: Final = 15.0
_SOLVED: Final = 1e-8
# A smaller standard error of the power is rounding.
_NO_SPREAD: Final = 1e-9


@dataclass(frozen=True, eq=False)
class Part:
    """The mean over some pairs."""

    member: BoolArray  # (pairs,)
    score: FloatArray  # (pairs,), of a, 0 outside

    @property
    def size(self) -> int:
        return int(np.count_nonzero(self.member))


@dataclass(frozen=True, eq=False)
class Solution:
    """Log-odds of the contestants, and how each prompt moves them."""

    theta: FloatArray  # (contestants,)
    influence: FloatArray  # (prompts, contestants): its outer products add up to the sandwich covariance
    bread: FloatArray  # turns scores of prompts into influence
    prior: bool  # whether each contestant got one drawn game


@dataclass(frozen=True, eq=False)
class Equation:
    """Pairs of contestants, and the parts that are averaged."""

    a: IntArray
    b: IntArray
    prompt: IntArray
    contestants: int
    component: IntArray  # of each contestant: those with a common scale
    parts: Sequence[Part]
    scale: float  # games that one unit of a mean stands for; weighs the prior

    @cached_property
    def _cells(self) -> tuple[PairTable, IntArray, BoolArray]:
        """The distinct contestant pairs, the cell of each pair, and whether its a is the cell's second."""
        low, high = np.minimum(self.a, self.b), np.maximum(self.a, self.b)
        code, cell = np.unique(low * self.contestants + high, return_inverse=True)
        a, b = np.divmod(code, self.contestants)
        nothing = np.empty(0)
        table = PairTable(a, b, self.contestants, np.empty(0, np.int64), nothing, nothing, self.component)
        return table, cell.reshape(-1), self.a > self.b

    def totals(self, weights: Sequence[float]) -> tuple[FloatArray, FloatArray]:
        """Points of the first and of the second contestant per cell, each (cells, 1), in games."""
        table, cell, turned = self._cells
        won, lost = np.zeros(len(table.a)), np.zeros(len(table.a))
        for part, weight in zip(self.parts, weights, strict=True):
            if weight:
                each = part.member * (weight * self.scale / part.size)
                first = np.where(turned, 1.0 - part.score, part.score)
                won += np.bincount(cell, each * first, len(table.a))
                lost += np.bincount(cell, each * (1.0 - first), len(table.a))
        return won[:, None], lost[:, None]

    def solve(self, weights: Sequence[float], start: FloatArray, *, prior: bool = False) -> Solution | None:
        """The solution of the weighted sum of the parts, None where there is no finite one."""
        table = self._cells[0]
        won, lost = self.totals(weights)
        everyone = np.full((self.contestants, 1), prior)
        likelihood = BradleyTerryLikelihood(table, won, lost, prior=everyone)
        with np.errstate(all="ignore"):
            try:
                theta = table.centred(climb(likelihood, start[:, None]).x)
            except np.linalg.LinAlgError:
                return None
            slope = likelihood.slope(theta)
        solved = prior or np.abs(slope).max() <= _SOLVED * self.scale
        if not (solved and np.abs(theta).max() <= FARTHEST):
            return None
        bread = table.centred(np.linalg.inv(likelihood.curvature(theta)[0])).T
        return Solution(theta[:, 0], self.weighted(weights, theta[:, 0]) @ bread, bread, prior)

    def weighted(self, weights: Sequence[float], theta: FloatArray) -> FloatArray:
        """Scores of every prompt (prompts, contestants), in games, summed over the parts."""
        return sum(
            (
                weight * self.scores(part, theta)
                for part, weight in zip(self.parts, weights, strict=True)
                if weight
            ),
            start=np.zeros((self.prompts, self.contestants)),
        )

    def scores(self, part: Part, theta: FloatArray) -> FloatArray:
        """What each prompt adds to the part's mean, (prompts, contestants), centred over the part's pairs."""
        expected = 0.5 + 0.5 * np.tanh(0.5 * (theta[self.a] - theta[self.b]))
        surplus = part.member * (part.score - expected) * (self.scale / part.size)
        places, size = self.prompt * self.contestants, self.prompts * self.contestants
        summed = np.bincount(places + self.a, surplus, size) - np.bincount(places + self.b, surplus, size)
        summed = summed.reshape(self.prompts, self.contestants)
        # Compared with as many average pairs: the number of pairs would change with the prompt.
        share = np.bincount(self.prompt, part.member, self.prompts) / part.size
        return np.asarray(summed - share[:, None] * summed.sum(axis=0))

    @cached_property
    def prompts(self) -> int:
        return int(self.prompt.max()) + 1

    def largest_power(self) -> float:
        """The largest power, at most 1, that leaves no cell with a negative number of games."""
        table, cell, _ = self._cells
        human, judged, both = (
            np.bincount(cell, part.member, len(table.a)) / part.size for part in self.parts
        )
        # Where people rated pairs that the judge did not, the pairs both rated are fewer than people's, and
        # subtracting them whole could make the equation bend the wrong way.
        excess = both - judged
        tight = excess > 1e-12
        limit = float(np.min(human[tight] / excess[tight], initial=np.inf))
        return 1.0 if limit >= 1.0 - 1e-9 else 0.9 * limit


HUMAN_ALONE: Final = (1.0, 0.0, 0.0)
JUDGE_ALONE: Final = (0.0, 1.0, 0.0)
_HALVINGS: Final = 6


def anchored(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    human: npt.ArrayLike,
    judge: npt.ArrayLike,
    contestants: int,
    *,
    prompt: npt.ArrayLike,
    category: npt.ArrayLike | None = None,
    interval: float = 95.0,
    power: float | None = None,
) -> Anchored:
    """Human-anchored strengths, from one entry per pair: two completions of one ``prompt``.

    ``human`` is the mean score people gave ``a``, from 0 to 1, NaN where nobody rated the pair; ``judge`` the
    same of the judge. ``power``, from 0 (people alone) to 1, is tuned to the smallest mean variance where it
    is None. ``category``, of the prompt, helps to test whether people rated a random part. Raises a
    StatsError for bad input and where no pair was rated by both.
    """
    pairs = check_pairs(a, b, human, judge, contestants, prompt=prompt, category=category)
    return anchor_pairs(pairs, interval=interval, power=power)


def anchor_pairs(pairs: RatedPairs, *, interval: float = 95.0, power: float | None = None) -> Anchored:
    """``anchored`` for pairs made by ``rated_pairs``."""
    check_level(interval)
    if power is not None and not 0.0 <= power <= 1.0:
        raise ParameterError(f"power is {power}; it must be between 0 and 1")
    component, kept, left_out = _within_reach(pairs)
    used = pairs.only(kept)
    if not used.both.any():
        raise NoGamesError(
            "no pair was rated by both people and the judge, so there is nothing to anchor with"
        )
    equation = _equation(used, component)
    human_fit = _people_alone(equation)
    best, error = _best_power(equation, human_fit)
    fit, used_power = _solve(equation, human_fit, min(max(best, 0.0), 1.0) if power is None else power)
    judge_fit, judged = _judge_alone(equation, used)
    each, overall = _worth(equation, fit, component >= 0)
    counts = _counts(used, left_out)
    people = _Spread(counts.human_prompts, interval, component >= 0)
    reach = error * people.reach
    judge = _Spread(counts.judged_prompts, interval, judged)
    return Anchored(
        best=people.around(CENTRE, fit),
        human=people.around(CENTRE, human_fit),
        judge=judge.around(CENTRE, judge_fit),
        bias=replace(people, shown=judged).around(0.0, _difference(judge_fit, fit)),
        power=used_power,
        power_low=best - reach,
        power_high=best + reach,
        interval=float(interval),
        effective_votes=each,
        effective_votes_overall=overall,
        component=component,
        counts=counts,
        balance=balance(used),
        influence=fit.influence * POINTS_PER_UNIT,
    )


def _counts(pairs: RatedPairs, left_out: int) -> Counts:
    return Counts(
        human_pairs=int(np.count_nonzero(pairs.rated)),
        judged_pairs=int(np.count_nonzero(pairs.judged)),
        shared_pairs=int(np.count_nonzero(pairs.both)),
        human_prompts=len(np.unique(pairs.prompt[pairs.rated])),
        judged_prompts=len(np.unique(pairs.prompt[pairs.judged])),
        left_out=left_out,
    )


@dataclass(frozen=True, eq=False)
class _Spread:
    """Turns solutions that rest on so many prompts into estimates for the contestants shown."""

    prompts: int
    level: float
    shown: BoolArray

    def around(self, centre: float, solution: Solution | None) -> Points:
        if solution is None:
            nothing = np.full(len(self.shown), np.nan)
            return Points(nothing, nothing, nothing, nothing)
        value = np.where(self.shown, solution.theta * POINTS_PER_UNIT + centre, np.nan)
        error = np.where(self.shown, self._standard_error(solution.influence), np.nan)
        reach = error * self.reach
        return Points(value, error, value - reach, value + reach, solution.prior)

    @property
    def reach(self) -> float:
        """From an estimate to an end of its interval, in standard errors."""
        return student_reach(max(self.prompts, 2), self.level)

    def _standard_error(self, influence: FloatArray) -> FloatArray:
        if self.prompts < 2:
            return np.full(influence.shape[1], np.nan)
        correction = self.prompts / (self.prompts - 1.0)
        error = np.sqrt(correction * (influence**2).sum(axis=0)) * POINTS_PER_UNIT
        return np.where(error > NO_ERROR, error, np.nan)


def _within_reach(pairs: RatedPairs) -> tuple[IntArray, BoolArray, int]:
    """Component of each contestant by human pairs, the pairs inside components, and judged pairs outside."""
    rated = pairs.rated
    if not rated.any():
        raise NoGamesError("people rated no pair, so there is nothing to anchor to")
    component = connected_components(pairs.a[rated], pairs.b[rated], pairs.contestants)
    met = np.isin(np.arange(pairs.contestants), np.concatenate((pairs.a[rated], pairs.b[rated])))
    component = np.where(met, component, -1)
    kept = (component[pairs.a] == component[pairs.b]) & (component[pairs.a] >= 0) & (rated | pairs.judged)
    return component, kept, int((pairs.judged & ~kept).sum())


def _equation(pairs: RatedPairs, component: IntArray) -> Equation:
    # A contestant that is not anchored is a group of its own, which leaves it at the centre.
    alone = component.max() + 1 + np.arange(len(component))
    parts = (
        Part(pairs.rated, np.where(pairs.rated, pairs.human, 0.0)),
        Part(pairs.judged, np.where(pairs.judged, pairs.judge, 0.0)),
        Part(pairs.both, np.where(pairs.both, pairs.judge, 0.0)),
    )
    groups = np.where(component >= 0, component, alone)
    return Equation(pairs.a, pairs.b, pairs.prompt, pairs.contestants, groups, parts, float(parts[0].size))


def _people_alone(equation: Equation) -> Solution:
    start = np.zeros(equation.contestants)
    human = equation.solve(HUMAN_ALONE, start) or equation.solve(HUMAN_ALONE, start, prior=True)
    if human is None:
        raise NoGamesError("people's verdicts have no finite Bradley-Terry fit")
    return human


def _solve(equation: Equation, human: Solution, wanted: float) -> tuple[Solution, float]:
    """The fit to people and judge, and its power: as wanted, or less where there is no finite fit."""
    power = min(wanted, equation.largest_power())
    for _ in range(_HALVINGS):
        both = equation.solve((1.0, power, -power), human.theta) if power else None
        if both is not None:
            return both, power
        power *= 0.5
    return human, 0.0


def _best_power(equation: Equation, human: Solution) -> tuple[float, float]:
    """The power that minimises the mean variance of the strengths, and its standard error.

    Where judge and people have nothing in common it is 0 on average, but in few prompts often above. The
    error is NaN where it is not known.
    """
    # With each prompt's influence h + power * r, the trace of the covariance is a parabola in the power.
    rectifier = equation.weighted((0.0, 1.0, -1.0), human.theta) @ human.bread
    curvature = float((rectifier**2).sum())
    if curvature <= 1e-12 * float((human.influence**2).sum()):
        return 0.0, np.nan
    rated = np.bincount(equation.prompt, equation.parts[0].member, equation.prompts) > 0
    product = -(human.influence * rectifier).sum(axis=1)[rated] / curvature
    error = float(np.sqrt(len(product)) * product.std(ddof=1)) if len(product) > 1 else 0.0
    return float(product.sum()), error if error > _NO_SPREAD else np.nan


def _judge_alone(equation: Equation, pairs: RatedPairs) -> tuple[Solution | None, BoolArray]:
    """The judge's own fit, and the contestants whose whole component its pairs connect."""
    connected = connected_components(pairs.a[pairs.judged], pairs.b[pairs.judged], equation.contestants)
    whole = np.array(
        [len(set(connected[equation.component == own].tolist())) == 1 for own in equation.component]
    )
    met = np.isin(np.arange(equation.contestants), np.concatenate((pairs.a, pairs.b)))
    apart = replace(equation, component=connected, scale=float(np.count_nonzero(pairs.judged)))
    start = np.zeros(equation.contestants)
    found = apart.solve(JUDGE_ALONE, start) or apart.solve(JUDGE_ALONE, start, prior=True)
    return found, whole & met


def _difference(judge: Solution | None, best: Solution) -> Solution | None:
    if judge is None:
        return None
    return replace(best, theta=judge.theta - best.theta, influence=judge.influence - best.influence)


def _worth(equation: Equation, fit: Solution, shown: BoolArray) -> tuple[FloatArray, float]:
    """Effective votes of each contestant, and for the mean variance."""
    votes = float(equation.parts[0].size)
    influence_alone = equation.scores(equation.parts[0], fit.theta) @ fit.bread
    alone, together = (
        (influence[:, shown] ** 2).sum(axis=0) for influence in (influence_alone, fit.influence)
    )
    each = np.full(len(shown), np.nan)
    if not (together > 0).all():
        return each, np.nan
    each[shown] = votes * alone / together
    return each, votes * float(alone.sum() / together.sum())
