"""Human-anchored ratings: few human comparisons and many of a judge, without the judge's bias.

Prediction-powered inference with power tuning (Angelopoulos, Duchi and Zrnic 2023, *PPI++: Efficient
Prediction-Powered Inference*) for Bradley-Terry (Boyeau et al. 2024, *AutoEval Done Right*), with prompts as
the independent units. What is estimated is the Bradley-Terry fit of people's verdicts on all pairs like
these; the judge can only make the intervals narrower. It needs the pairs that people rated to be a random
part of those the judge rated.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.anchored.balance import balance
from leaderboard.stats.anchored.equation import Equation, Part, Solution
from leaderboard.stats.anchored.pairs import BoolArray, RatedPairs, check_pairs
from leaderboard.stats.anchored.result import Anchored, Counts, Estimate
from leaderboard.stats.bradley_terry.fit import CENTRE, POINTS_PER_UNIT
from leaderboard.stats.connectivity import connected_components
from leaderboard.stats.errors import NoGamesError, ParameterError
from leaderboard.stats.games import FloatArray, IntArray
from leaderboard.stats.intervals import bounds

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
    """Ratings by people, made more certain by a judge.

    One entry per pair, two completions of one prompt: contestant numbers ``a`` and ``b``; ``human``, the
    mean score people gave ``a``, between 0 and 1, NaN where nobody rated the pair; ``judge``, the same of the
    judge over its orders and repeats, NaN where it did not answer; and the ``prompt``. Pairs that people
    rated and the judge did not count in the human part alone.

    ``interval`` is the level in percent; intervals use Student's t with one degree of freedom less than
    there are prompts that people rated. ``power``, from 0 (people alone) to 1, is tuned to the smallest mean
    variance where it is None. ``category``, of each pair's prompt, is used to test whether people rated a
    random part. Raises a StatsError for bad input and where no pair was rated by both.
    """
    pairs = check_pairs(a, b, human, judge, contestants, prompt=prompt, category=category)
    return anchor_pairs(pairs, interval=interval, power=power)


def anchor_pairs(pairs: RatedPairs, *, interval: float = 95.0, power: float | None = None) -> Anchored:
    """The same for pairs made from single comparisons (see rated_pairs)."""
    tail = bounds(interval)[1] / 100.0
    if power is not None and not 0.0 <= power <= 1.0:
        raise ParameterError(f"power is {power}; it must be between 0 and 1")
    component, kept, left_out = _within_reach(pairs)
    used = pairs.only(kept)
    if not used.both.any():
        raise NoGamesError(
            "no pair was rated by both people and the judge, so there is nothing to anchor with"
        )
    equation = _equation(used, component)
    human_fit, fit, used_power = _solve(equation, power)
    judge_fit, judged = _judge_alone(equation, used)
    each, overall = _worth(equation, fit, component >= 0)
    counts = _counts(used, left_out)
    people = _Spread(counts.human_prompts, tail, component >= 0)
    judge = _Spread(counts.judged_prompts, tail, judged)
    return Anchored(
        best=people.around(CENTRE, fit),
        human=people.around(CENTRE, human_fit),
        judge=judge.around(CENTRE, judge_fit),
        bias=replace(people, shown=judged).around(0.0, _difference(judge_fit, fit)),
        power=used_power,
        interval=float(interval),
        effective_votes=each,
        effective_votes_overall=overall,
        component=component,
        counts=counts,
        balance=balance(used),
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
    """Turns a solution into an estimate: from ``prompts`` many prompts, for the contestants ``shown``."""

    prompts: int
    tail: float
    shown: BoolArray

    def around(self, centre: float, solution: Solution | None) -> Estimate:
        if solution is None:
            nothing = np.full(len(self.shown), np.nan)
            return Estimate(nothing, nothing, nothing, nothing)
        value = np.where(self.shown, solution.theta * POINTS_PER_UNIT + centre, np.nan)
        error = np.where(self.shown, self._standard_error(solution.influence), np.nan)
        reach = error * self._quantile()
        return Estimate(value, error, value - reach, value + reach, solution.prior)

    def _standard_error(self, influence: FloatArray) -> FloatArray:
        if self.prompts < 2:
            return np.full(influence.shape[1], np.nan)
        correction = self.prompts / (self.prompts - 1.0)
        error: FloatArray = np.sqrt(correction * (influence**2).sum(axis=0)) * POINTS_PER_UNIT
        return error

    def _quantile(self) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(max(self.prompts - 1, 1), self.tail))


def _within_reach(pairs: RatedPairs) -> tuple[IntArray, BoolArray, int]:
    """Component of each contestant by human pairs, the pairs inside components, and how many are not."""
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


def _solve(equation: Equation, wanted: float | None) -> tuple[Solution, Solution, float]:
    """People alone, people and judge together, and the power used for the latter."""
    start = np.zeros(equation.contestants)
    human = equation.solve(HUMAN_ALONE, start) or equation.solve(HUMAN_ALONE, start, prior=True)
    if human is None:
        raise NoGamesError("people's verdicts have no finite Bradley-Terry fit")
    power = min(_tuned(equation, human) if wanted is None else wanted, equation.largest_power())
    for _ in range(_HALVINGS):
        both = equation.solve((1.0, power, -power), human.theta) if power else None
        if both is not None:
            return human, both, power
        power *= 0.5
    return human, human, 0.0


def _tuned(equation: Equation, human: Solution) -> float:
    """The power that minimises the mean variance of the ratings, between 0 and 1.

    With each prompt's influence h + power * r, the trace of the covariance is a parabola in the power.
    """
    rectifier = equation.weighted((0.0, 1.0, -1.0), human.theta) @ human.bread
    curvature = float((rectifier**2).sum())
    if curvature <= 1e-12 * float((human.influence**2).sum()):
        return 0.0
    best = -float((human.influence * rectifier).sum()) / curvature
    return min(max(best, 0.0), 1.0)


def _judge_alone(equation: Equation, pairs: RatedPairs) -> tuple[Solution | None, BoolArray]:
    """The judge's own fit, and the contestants whose whole component its pairs connect."""
    connected = connected_components(pairs.a[pairs.judged], pairs.b[pairs.judged], equation.contestants)
    whole = np.array(
        [len(set(connected[equation.component == own].tolist())) == 1 for own in equation.component]
    )
    met = np.isin(np.arange(equation.contestants), np.concatenate((pairs.a, pairs.b)))
    apart = equation.regrouped(connected, float(np.count_nonzero(pairs.judged)))
    start = np.zeros(equation.contestants)
    found = apart.solve(JUDGE_ALONE, start) or apart.solve(JUDGE_ALONE, start, prior=True)
    return found, whole & met


def _difference(judge: Solution | None, best: Solution) -> Solution | None:
    if judge is None:
        return None
    return replace(best, theta=judge.theta - best.theta, influence=judge.influence - best.influence)


def _worth(equation: Equation, fit: Solution, shown: BoolArray) -> tuple[FloatArray, float]:
    """Human pairs times the ratio of the variances without and with the judge, both at the same ratings.

    Per contestant, and with the variances averaged over contestants.
    """
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
