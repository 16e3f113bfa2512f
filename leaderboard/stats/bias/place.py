"""What standing second is worth to a rater, in Elo points.

A lean on the rating scale says how far the mean rating is moved, which depends on how far apart the
contestants are and on how much chance there is in the rater: an end of the scale cannot be passed, and noise
blurs every step. So this fits what a rating is read from: of two answers the rater sees

    x = strength of the second - strength of the first + b + noise,  noise normal with deviation sigma,

all in Elo points, and gives rating r of n where the chance of winning that belongs to x lies between
(r - 1) / n and r / n, so that each rating stands for an equal share of chances. The cuts between the ratings
are therefore known numbers of points (-338, -191, -89, 0, 89, 191, 338 on 8), and they tell b apart from the
noise. A model with free cuts (leaderboard.stats.ordinal) gives b in units of the noise only.

This is regression on grouped data with known limits (Stewart 1983, *On least squares estimation when the
dependent variable is grouped*). In the parameters divided by sigma its likelihood has one maximum (Olsen
1978; Pratt 1981). Intervals are the sandwich's over prompts with Student's t, so answers of one prompt may
depend on each other. Whether the order is mirrored for every pair or drawn by lot makes no difference.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from leaderboard.stats.bias.clustered import prompt_numbers, rounded, student_reach
from leaderboard.stats.bradley_terry.fit import POINTS_PER_UNIT
from leaderboard.stats.errors import ParameterError
from leaderboard.stats.games import FloatArray, IntArray
from leaderboard.stats.ratings import Ratings

_STEPS: Final = 100
_SETTLED: Final = 1e-9
_HALVINGS: Final = 30
_PULL: Final = 1e-6
"""On the parameters: holds those that the ratings say nothing about, and is far below one rating."""

_MOST_POINTS: Final = 4000.0
_LEAST_SURPRISE: Final = 0.01
"""Beyond these the maximum lies at infinity and the numbers say where the search stopped; the surprise is
minus the mean log-likelihood of a rating."""


@dataclass(frozen=True)
class PlaceWorth:
    """``points`` is what standing second is worth, in Elo points: below 0 it is better to stand first.

    ``noise`` is the deviation of the rater's error in one comparison, in points too, and has its interval.
    From ``n`` ratings of ``prompts`` prompts; None where a number does not exist, and ``reason`` says why.
    """

    n: int
    prompts: int
    points: float | None
    low: float | None
    high: float | None
    noise: float | None
    noise_low: float | None
    noise_high: float | None
    reason: str | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, rounded to 1e-6."""
        return rounded(asdict(self))


def cuts(points: int) -> FloatArray:
    """The differences in Elo points at which ratings of a scale change: -inf, the points - 1 cuts, inf."""
    share = np.arange(1.0, points) / points
    return np.concatenate(([-np.inf], POINTS_PER_UNIT * np.log(share / (1.0 - share)), [np.inf]))


def place_worth(ratings: Ratings, level: float = 95.0) -> PlaceWorth:
    """The worth of standing second, from ratings as shown; intervals of the level in percent, over prompts.

    Raises ParameterError where the prompts of the ratings are not known.
    """
    if ratings.prompt is None:
        raise ParameterError("the worth of a place wants the prompts of the ratings")
    n = len(ratings)
    prompt = prompt_numbers(ratings.prompt, n)
    prompts = int(prompt.max(initial=-1)) + 1
    reason = _unknowable(ratings)
    if reason:
        return _unknown(n, prompts, reason)
    model = _Model.of(ratings)
    place, value = model.maximum()
    worth, noise = (float(POINTS_PER_UNIT * each) for each in (place[-2] / place[-1], 1.0 / place[-1]))
    if value is None or -value < _LEAST_SURPRISE * n or max(noise, abs(worth)) > _MOST_POINTS:
        return _unknown(n, prompts, "the ratings vary too little to tell bias from noise")
    if prompts < 2:
        why = "no interval: one prompt only"
        return PlaceWorth(n, prompts, worth, None, None, noise, None, None, why)
    far = student_reach(prompts, level) * POINTS_PER_UNIT
    of_worth, of_noise = (far * each for each in model.errors(place, prompt))
    ends = (worth - of_worth, worth + of_worth), (max(0.0, noise - of_noise), noise + of_noise)
    return PlaceWorth(n, prompts, worth, *ends[0], noise, *ends[1], None)


def _unknown(n: int, prompts: int, reason: str) -> PlaceWorth:
    return PlaceWorth(n, prompts, None, None, None, None, None, None, reason)


def _unknowable(ratings: Ratings) -> str | None:
    """Why no ratings like these could tell."""
    if not len(ratings):
        return "no ratings"
    if ratings.points.max() < 3:
        return "two points tell which side, and not how far"
    if len(np.unique(np.stack((ratings.points, ratings.rating)), axis=1)[0]) < 3:
        return "fewer than three different ratings"
    return None


@dataclass(frozen=True, eq=False)
class _Model:
    """The likelihood of the distinct ratings, each ``times`` often; ``of_rating`` says which each rating is.

    The last two parameters are b / sigma and 1 / sigma, those before the strengths / sigma; one unit is
    POINTS_PER_UNIT. ``design`` (distinct, parameters - 1) times the parameters but the last is what is seen.
    """

    design: Any
    low: FloatArray
    high: FloatArray
    times: FloatArray
    of_rating: IntArray

    @classmethod
    def of(cls, ratings: Ratings) -> "_Model":
        from scipy.sparse import csr_array

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
        )

    def maximum(self) -> tuple[FloatArray, float | None]:
        """The parameters of the greatest likelihood, and its logarithm; None where the search did not end."""
        place = np.zeros(self.design.shape[1] + 1)
        place[-1] = 1.0
        value = self._value(place)
        for _ in range(_STEPS):
            slope, curvature = self._derivatives(place)
            step = np.linalg.solve(curvature, slope)
            for _ in range(_HALVINGS):
                reached = self._value(place + step)
                if reached >= value:
                    break
                step = step / 2.0
            place, value = place + step, max(reached, value)
            if float(slope @ step) < _SETTLED:
                return place, value
        return place, None

    def errors(self, place: FloatArray, prompt: IntArray) -> tuple[float, float]:
        """The standard errors of b and of sigma, in units, with the ratings of a prompt taken together."""
        from scipy.sparse import csr_array

        of_seen, of_scale, _ = self._slopes(place)
        _, curvature = self._derivatives(place)
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
        moved = counted @ pull
        b, sigma = np.sqrt((moved**2).sum(axis=0) * prompts / (prompts - 1.0)).tolist()
        return b, sigma

    def _limits(self, place: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Where each rating begins and ends, in standard deviations from what is seen."""
        seen = self.design @ place[:-1]
        return place[-1] * self.low - seen, place[-1] * self.high - seen

    def _value(self, place: FloatArray) -> float:
        if not place[-1] > 0.0:
            return -np.inf
        own = self.times @ _log_share(*self._limits(place))
        return float(own - 0.5 * _PULL * place @ place)

    def _slopes(self, place: FloatArray) -> tuple[FloatArray, FloatArray, tuple[FloatArray, ...]]:
        """The slope of each log-likelihood along what is seen and along the last parameter; the bends."""
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

    def _derivatives(self, place: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The slope of the log-likelihood, and minus its second derivative."""
        of_seen, of_scale, bends = self._slopes(place)
        bend, mixed, scale = (self.times * each for each in bends)
        slope = np.append(self.design.T @ (self.times * of_seen), self.times @ of_scale) - _PULL * place
        size = len(place)
        curvature = _PULL * np.eye(size)
        curvature[:-1, :-1] -= (self.design.T @ (self.design * bend[:, None])).toarray()
        across = self.design.T @ mixed
        curvature[:-1, -1] -= across
        curvature[-1, :-1] -= across
        curvature[-1, -1] -= scale.sum()
        return slope, curvature


def _log_share(low: FloatArray, high: FloatArray) -> FloatArray:
    """The logarithm of the normal distribution's share between two limits, exact in its tails."""
    from scipy.special import log_ndtr

    turned = low > 0.0  # the share above is small there, and the one below would be 1 - small
    below = log_ndtr(np.where(turned, -high, low))
    above = log_ndtr(np.where(turned, -low, high))
    share: FloatArray = above + np.log1p(-np.exp(np.minimum(below - above, -1e-300)))
    return share


def _density(limit: FloatArray, log_share: FloatArray) -> FloatArray:
    """The normal density at a limit as a share of what lies between the limits; 0 at infinity."""
    density: FloatArray = np.exp(-0.5 * limit**2 - 0.5 * np.log(2.0 * np.pi) - log_share)
    return density
