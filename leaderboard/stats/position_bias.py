"""Position bias: whether raters prefer what is shown first, and what standing second is worth to them."""

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import chdtrc, fdtrc, log_ndtr

from leaderboard.stats.bias_results import Position
from leaderboard.stats.bradley_terry import POINTS_PER_UNIT
from leaderboard.stats.checks import FloatArray, IntArray, ParameterError
from leaderboard.stats.clustered_means import mean_estimate, prompt_numbers, share_estimate, sum_error
from leaderboard.stats.descriptive import on_scale
from leaderboard.stats.intervals import student_reach
from leaderboard.stats.newton import Likelihood, climb
from leaderboard.stats.plain_values import UNDEFINED, Estimate, Result
from leaderboard.stats.ratings import Ratings

# Without position bias rating r is as frequent as its mirror image n + 1 - r, which Bowker's statistic
# (1948) tests. Ratings of one prompt are not independent, so p has Rao and Scott's second-order correction
# (1981) with the covariance between prompts, in its F form (Rao and Thomas 1989). It is bounded by the p of
# independent ratings and by 2^(1 - prompts), the smallest that flipping whole prompts could give.


TEST: Final = "rao-scott"


def position(rating: npt.ArrayLike, points: int, prompt: npt.ArrayLike, level: float = 95.0) -> Position:
    """Position statistics of ratings as shown, on one scale; intervals over prompts, of ``level`` percent."""
    counts = counts_by_prompt(rating, points, prompt)
    half, places = points // 2, np.arange(1.0, points + 1.0)
    first, second = counts[:, :half].sum(axis=1), counts[:, points - half :].sum(axis=1)
    share = share_estimate(first, first + second, level)
    mean = mean_estimate(counts @ places, counts.sum(axis=1), level).clipped(1.0, float(points))
    chi2, df, p, independent = mirror_test(counts)
    return Position(
        n=mean.n,
        prompts=mean.prompts,
        sided=share.n,
        share_first=share.value,
        share_first_low=share.low,
        share_first_high=share.high,
        mean=mean.value,
        mean_low=mean.low,
        mean_high=mean.high,
        neutral_mean=(points + 1) / 2,
        chi2=chi2,
        df=df,
        p=p,
        p_independent=independent,
        test=TEST,
    )


def counts_by_prompt(rating: npt.ArrayLike, points: int, prompt: npt.ArrayLike) -> FloatArray:
    """How often each prompt (row) was given each rating 1..points (column)."""
    ratings = on_scale(rating, points)
    numbers = prompt_numbers(prompt, len(ratings))
    prompts = int(numbers.max(initial=-1)) + 1
    cells = numbers * points + ratings - 1
    counted: FloatArray = np.bincount(cells, minlength=prompts * points).astype(np.float64)
    return counted.reshape(prompts, points)


def mirror_test(counts: FloatArray) -> tuple[float | None, int, float | None, float | None]:
    """Test the histogram (prompts, points) against its mirror image: chi2, df, p over prompts, p of ratings.

    None (and df 0) without a rating beside the middle; p is None for a single prompt.
    """
    half = counts.shape[1] // 2
    here, there = counts[:, :half], counts[:, ::-1][:, :half]
    both = (here + there).sum(axis=0)
    if not both.any():
        return None, 0, None, None
    difference = (here - there)[:, both > 0] / np.sqrt(both[both > 0])
    chi2, df = float((difference.sum(axis=0) ** 2).sum()), difference.shape[1]
    independent = float(chdtrc(df, chi2))
    return chi2, df, _clustered_p(chi2, difference[counts.sum(axis=1) > 0], independent), independent


def _clustered_p(chi2: float, difference: FloatArray, independent: float) -> float | None:
    """Rao and Scott's p of Bowker's statistic from each prompt's scaled differences, within its bounds."""
    prompts = len(difference)
    if prompts < 2:
        return None
    centred = difference - difference.mean(axis=0)
    covariance = centred.T @ centred * (prompts / (prompts - 1.0))
    trace = float(np.trace(covariance))
    least = max(independent, 2.0 ** (1 - prompts))
    if trace < 1e-12:
        return least
    df = trace**2 / float((covariance**2).sum())
    return max(least, float(fdtrc(df, df * (prompts - 1.0), chi2 / trace)))


# The worth of a place. Of two answers the rater sees x = strength of the second - strength of the first + b +
# noise, the noise normal with deviation sigma, in Elo points, and gives rating r of n where the chance of
# winning that belongs to x lies between (r - 1) / n and r / n. The cuts between ratings are therefore known
# numbers of points (-338, -191, -89, 0, 89, 191, 338 on 8) and tell b from the noise; free cuts
# (leaderboard.stats.ordinal) give b in units of the noise only. This is regression on grouped data with known
# limits (Stewart 1983). In the parameters divided by sigma its likelihood has one maximum (Olsen 1978; Pratt
# 1981). Intervals are the sandwich's over prompts with Student's t.

# On the parameters: holds those the ratings say nothing about, and is far below one rating.
_PULL: Final = 1e-6
_MOST_POINTS: Final = 4000.0
# Beyond these the maximum lies at infinity. The surprise is minus the mean log-likelihood of a rating.
_LEAST_SURPRISE: Final = 0.01


@dataclass(frozen=True)
class PlaceWorth(Result):
    """The worth of standing second."""

    n: int
    prompts: int
    points: float | None  # Elo points; below 0 it is better to stand first
    low: float | None
    high: float | None
    noise: Estimate  # deviation of the rater's error in one comparison, in points
    reason: str | None  # why a number is missing


def cuts(points: int) -> FloatArray:
    """The differences in Elo points at which ratings of a scale change: -inf, the points - 1 cuts, inf."""
    share = np.arange(1.0, points) / points
    return np.concatenate(([-np.inf], POINTS_PER_UNIT * np.log(share / (1.0 - share)), [np.inf]))


def place_worth(ratings: Ratings, level: float = 95.0) -> PlaceWorth:
    """The worth of standing second, from ratings as shown; raises ParameterError without prompts."""
    if ratings.prompt is None:
        raise ParameterError("the worth of a place wants the prompts of the ratings")
    n = len(ratings)
    prompt = prompt_numbers(ratings.prompt, n)
    prompts = int(prompt.max(initial=-1)) + 1
    reason = _unknowable(ratings)
    if reason:
        return _unknown(n, prompts, reason)
    model = _Model.of(ratings)
    found = climb(model, model.start(1))
    place, value = found.x[:, 0], float(model.value(found.x)[0])
    worth, noise = (float(POINTS_PER_UNIT * each) for each in (place[-2] / place[-1], 1.0 / place[-1]))
    if not found.settled[0] or -value < _LEAST_SURPRISE * n or max(noise, abs(worth)) > _MOST_POINTS:
        return _unknown(n, prompts, "the ratings vary too little to tell bias from noise")
    if prompts < 2:
        why = "no interval: one prompt only"
        return PlaceWorth(n, prompts, worth, None, None, Estimate(noise), why)
    far = student_reach(prompts, level) * POINTS_PER_UNIT
    of_worth, of_noise = (far * each for each in model.errors(place, prompt))
    of_errors = Estimate(noise, max(0.0, noise - of_noise), noise + of_noise)
    return PlaceWorth(n, prompts, worth, worth - of_worth, worth + of_worth, of_errors, None)


def _unknown(n: int, prompts: int, reason: str) -> PlaceWorth:
    return PlaceWorth(n, prompts, None, None, None, UNDEFINED, reason)


def _unknowable(ratings: Ratings) -> str | None:
    if not len(ratings):
        return "no ratings"
    if ratings.points.max() < 3:
        return "two points tell which side, and not how far"
    if len(np.unique(np.stack((ratings.points, ratings.rating)), axis=1)[0]) < 3:
        return "fewer than three different ratings"
    return None


@dataclass(frozen=True, eq=False)
class _Model(Likelihood):
    """The likelihood of the distinct ratings; parameters are strengths, b and 1, each / sigma."""

    # The shortest step may turn the last parameter negative.
    safe_reach: ClassVar[float] = 0.0
    design: Any  # of what is seen, (distinct, parameters - 1)
    low: FloatArray
    high: FloatArray
    times: FloatArray  # of each distinct rating
    of_rating: IntArray  # its distinct rating

    @classmethod
    def of(cls, ratings: Ratings) -> "_Model":
        columns = np.stack((ratings.first, ratings.second, ratings.points, ratings.rating))
        distinct, place = np.unique(columns, axis=1, return_inverse=True)
        first, second, points, rating = distinct
        place = place.reshape(-1)
        rows, ones = np.arange(len(first)), np.ones(len(first))
        entries = np.concatenate((-ones, ones, ones))
        at = (np.tile(rows, 3), np.concatenate((first, second, np.full(len(first), ratings.contestants))))
        low, high = np.empty(len(first)), np.empty(len(first))
        for scale in np.unique(points).tolist():
            own = points == scale
            known = cuts(scale) / POINTS_PER_UNIT
            low[own], high[own] = known[rating[own] - 1], known[rating[own]]
        return cls(
            csr_array((entries, at), shape=(len(first), ratings.contestants + 1)),
            low,
            high,
            np.bincount(place).astype(np.float64),
            place,
            prior=np.zeros((1, 1), dtype=bool),
        )

    @property
    def parameters(self) -> int:
        return int(self.design.shape[1]) + 1

    def start(self, rounds: int) -> FloatArray:
        """All equal, no bias, and a noise of one unit."""
        return np.concatenate((np.zeros((self.parameters - 1, rounds)), np.ones((1, rounds))))

    def value(self, x: FloatArray) -> FloatArray:
        place = x[:, 0]
        if not place[-1] > 0.0:
            return np.array([-np.inf])
        return np.array([self.times @ _log_share(*self._limits(place)) - 0.5 * _PULL * place @ place])

    def slope(self, x: FloatArray) -> FloatArray:
        of_seen, of_scale, _ = self._slopes(x[:, 0])
        slope = np.append(self.design.T @ (self.times * of_seen), self.times @ of_scale)
        return np.asarray(slope[:, None] - _PULL * x)

    def curvature(self, x: FloatArray) -> FloatArray:
        bend, mixed, scale = (self.times * each for each in self._slopes(x[:, 0])[2])
        curvature = _PULL * np.eye(len(x))
        curvature[:-1, :-1] -= (self.design.T @ (self.design * bend[:, None])).toarray()
        across = self.design.T @ mixed
        curvature[:-1, -1] -= across
        curvature[-1, :-1] -= across
        curvature[-1, -1] -= scale.sum()
        return curvature[None]

    def reach(self, step: FloatArray) -> FloatArray:
        return np.asarray(np.abs(self.design @ step[:-1]).max(axis=0))

    def errors(self, place: FloatArray, prompt: IntArray) -> tuple[float, float]:
        """The standard errors of b and of sigma, in units, clustered by prompt."""
        of_seen, of_scale, _ = self._slopes(place)
        curvature = self.curvature(place[:, None])[0]
        towards = np.zeros((len(place), 2))
        towards[-2:, 0] = 1.0 / place[-1], -place[-2] / place[-1] ** 2
        towards[-1, 1] = -1.0 / place[-1] ** 2
        influence = np.linalg.solve(curvature, towards)
        # How far each distinct rating pulls them; then the sum over the ratings of each prompt.
        pull = (self.design @ influence[:-1]) * of_seen[:, None] + np.outer(of_scale, influence[-1])
        prompts = int(prompt.max()) + 1
        counted = csr_array(
            (np.ones(len(prompt)), (prompt, self.of_rating)), shape=(prompts, len(self.times))
        )
        b, sigma = sum_error(counted @ pull).tolist()
        return b, sigma

    def _limits(self, place: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Where each rating begins and ends, in standard deviations from what is seen."""
        seen = self.design @ place[:-1]
        return place[-1] * self.low - seen, place[-1] * self.high - seen

    def _slopes(self, place: FloatArray) -> tuple[FloatArray, FloatArray, tuple[FloatArray, ...]]:
        """The slopes of each log-likelihood along what is seen and the last parameter, and the bends."""
        low, high = self._limits(place)
        share = _log_share(low, high)
        at_low, at_high = _density(low, share), _density(high, share)
        # Beyond the ends of the scale there is no density, whatever stands there.
        from_low, from_high, low, high = (
            np.where(np.isfinite(each), each, 0.0) for each in (self.low, self.high, low, high)
        )
        bend_low, bend_high = low * at_low - at_low**2, -high * at_high - at_high**2
        both = at_low * at_high
        bends = (
            bend_high + bend_low + 2.0 * both,
            -((bend_high + both) * from_high + (bend_low + both) * from_low),
            bend_high * from_high**2 + 2.0 * both * from_high * from_low + bend_low * from_low**2,
        )
        return at_low - at_high, at_high * from_high - at_low * from_low, bends


def _log_share(low: FloatArray, high: FloatArray) -> FloatArray:
    """The logarithm of the normal distribution's share between two limits, exact in its tails."""
    turned = low > 0.0  # the share above is small there, and the one below would be 1 - small
    below = log_ndtr(np.where(turned, -high, low))
    above = log_ndtr(np.where(turned, -low, high))
    return np.asarray(above + np.log1p(-np.exp(np.minimum(below - above, -1e-300))))


def _density(limit: FloatArray, log_share: FloatArray) -> FloatArray:
    """The normal density at a limit as a share of what lies between the limits; 0 at infinity."""
    return np.asarray(np.exp(-0.5 * limit**2 - 0.5 * np.log(2.0 * np.pi) - log_share))
