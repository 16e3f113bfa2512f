"""Pairs as people and a judge rated them, and whether those that people rated look like a random part."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc, fdtrc

from leaderboard.stats.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    ParameterError,
    ScoreError,
    check_length,
)
from leaderboard.stats.games import make_games, scores
from leaderboard.stats.ratings import Ratings
from leaderboard.stats.sums import group_means


@dataclass(frozen=True, eq=False)
class RatedPairs:
    """Pairs of contestants as parallel arrays."""

    a: IntArray
    b: IntArray
    human: FloatArray  # mean score of a, from 0 to 1, NaN where not rated
    judge: FloatArray  # the same
    contestants: int
    prompt: IntArray  # numbered from 0
    category: IntArray | None = None  # of the prompt, numbered from 0
    left_out: int = 0  # comparisons without a side

    def __len__(self) -> int:
        return len(self.a)

    @property
    def rated(self) -> BoolArray:
        return ~np.isnan(self.human)

    @property
    def judged(self) -> BoolArray:
        return ~np.isnan(self.judge)

    @property
    def both(self) -> BoolArray:
        return self.rated & self.judged

    def only(self, chosen: BoolArray) -> "RatedPairs":
        """Some of the pairs, with their prompts numbered anew."""
        columns = (self.a[chosen], self.b[chosen], self.human[chosen], self.judge[chosen])
        category = None if self.category is None else self.category[chosen]
        return RatedPairs(*columns, self.contestants, _dense(self.prompt[chosen]), category, self.left_out)


def check_pairs(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    human: npt.ArrayLike,
    judge: npt.ArrayLike,
    contestants: int,
    *,
    prompt: npt.ArrayLike,
    category: npt.ArrayLike | None = None,
) -> RatedPairs:
    """The arrays, checked; raises a StatsError naming the first bad position."""
    games = make_games(a, b, np.zeros(np.size(a)), contestants, cluster=prompt)
    if category is not None:
        check_length("category", np.asarray(category).reshape(-1), "a", len(games))
    return RatedPairs(
        games.a,
        games.b,
        _shares("human", human, len(games)),
        _shares("judge", judge, len(games)),
        contestants,
        _dense(np.asarray(prompt)),
        None if category is None else _dense(np.asarray(category)),
    )


def rated_pairs(
    ratings: Ratings,
    people: BoolArray,
    judge: BoolArray,
    *,
    ties: bool = True,
    category: npt.ArrayLike | None = None,
) -> RatedPairs:
    """Comparisons averaged into pairs, whichever side a contestant was shown on.

    ``people`` and ``judge`` are masks (n,) of whose a comparison is. Scores are 1, 1/2 or 0; with ties off,
    the exact middle is left out and counted. Raises ParameterError where no prompts are known.
    """
    if ratings.prompt is None:
        raise ParameterError("the ratings name no prompts, so people's and the judge's cannot be paired")
    score = scores(ratings.rating, ratings.points, ties=ties)
    turned = ratings.first > ratings.second
    low, high = (choose(ratings.first, ratings.second) for choose in (np.minimum, np.maximum))
    wanted = people | judge
    kept = wanted & ~np.isnan(score)
    code = (ratings.prompt * ratings.contestants + low) * ratings.contestants + high
    _, one, pair = np.unique(code[kept], return_index=True, return_inverse=True)
    of_low = np.where(turned, 1.0 - score, score)[kept]
    of_people, of_judge = (
        group_means(pair[own], of_low[own], len(one)) for own in (people[kept], judge[kept])
    )
    a, b, prompt = (column[kept][one] for column in (low, high, ratings.prompt))
    return RatedPairs(
        a,
        b,
        of_people,
        of_judge,
        ratings.contestants,
        _dense(prompt),
        None if category is None else _dense(np.asarray(category)[kept][one]),
        int(np.count_nonzero(wanted & ~kept)),
    )


def _dense(labels: npt.NDArray[np.generic]) -> IntArray:
    return np.asarray(np.unique(labels.reshape(-1), return_inverse=True)[1].astype(np.int64))


def _shares(name: str, values: npt.ArrayLike, length: int) -> FloatArray:
    array = np.array(values, dtype=np.float64).reshape(-1)
    check_length(name, array, "a", length)
    bad = ~np.isnan(array) & ~((array >= 0.0) & (array <= 1.0))
    if bad.any():
        place = int(bad.argmax())
        raise ScoreError(f"{name}[{place}] is {array[place]}; a score lies between 0 and 1, or is NaN")
    return array


# A smaller share of the variance is rounding.
_LEAST: Final = 1e-9


def balance(pairs: RatedPairs) -> dict[str, float]:
    """P values, small where the judged pairs that people rated differ from a random part of all.

    ``contestants`` tests how often each takes part, ``decided`` how far the judge is from a draw,
    ``categories`` those of the prompts people rated. What cannot be tested is missing.
    """
    judged = pairs.only(pairs.judged)
    takes_part = np.zeros((len(judged), judged.contestants))
    rows = np.arange(len(judged))
    takes_part[rows, judged.a] = takes_part[rows, judged.b] = 1.0
    found = {}
    if not judged.both.all():
        found["contestants"] = _of_pairs(takes_part, judged)
        found["decided"] = _of_pairs(np.abs(judged.judge - 0.5)[:, None], judged)
    with_people = np.bincount(judged.prompt, judged.both) > 0
    if judged.category is not None and not with_people.all():
        _, one = np.unique(judged.prompt, return_index=True)
        found["categories"] = _drawn(np.eye(judged.category.max() + 1)[judged.category[one]], with_people)
    return found


def _of_pairs(facts: FloatArray, judged: RatedPairs) -> float:
    """The p value for ``facts`` (pairs, k), by prompt where there are enough prompts, else by pair."""
    prompts = int(judged.prompt.max()) + 1
    # Sums over prompts are right however people chose pairs, but need more prompts than facts.
    if prompts <= 2 * facts.shape[1]:
        return _drawn(facts, judged.both)
    off = (judged.both - judged.both.mean())[:, None] * (facts - facts.mean(axis=0))
    sums = np.zeros((prompts, facts.shape[1]))
    np.add.at(sums, judged.prompt, off)
    distance, degrees = _squared(sums.sum(axis=0), sums.T @ sums, float((off**2).sum()))
    if not degrees:
        return 1.0
    freedom = prompts - degrees
    return float(fdtrc(degrees, freedom, distance * freedom / (degrees * (prompts - 1))))


def _drawn(facts: FloatArray, chosen: BoolArray) -> float:
    """The p value (chi-square) for the mean of ``facts`` (things, k) over the chosen, drawn singly."""
    sample = int(chosen.sum())
    covariance = np.atleast_2d(np.cov(facts.T)) * (1.0 - sample / len(facts)) / sample
    difference = facts[chosen].mean(axis=0) - facts.mean(axis=0)
    distance, degrees = _squared(difference, covariance, float(np.trace(covariance)))
    return float(chdtrc(degrees, distance)) if degrees else 1.0


def _squared(difference: FloatArray, covariance: FloatArray, whole: float) -> tuple[float, int]:
    """The squared distance in units of its covariance, and its degrees of freedom."""
    variance, direction = np.linalg.eigh(covariance)
    real = variance > _LEAST * whole
    along = difference @ direction[:, real]
    return float((along**2 / variance[real]).sum()), int(np.count_nonzero(real))
