"""Pairs as people and a judge rated them: checked arrays, and how to make them from single comparisons."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.errors import LengthMismatchError, ParameterError, ScoreError
from leaderboard.stats.games import FloatArray, IntArray, make_games, scores
from leaderboard.stats.ratings import Ratings

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RatedPairs:
    """Pairs as parallel arrays: contestants ``a`` and ``b``, mean scores of ``a``, and the prompt from 0.

    ``human`` and ``judge`` lie between 0 and 1, or are NaN where people or the judge did not rate the pair.
    ``category`` numbers the category of each pair's prompt from 0, or is None. ``left_out`` counts
    comparisons without a side.
    """

    a: IntArray
    b: IntArray
    human: FloatArray
    judge: FloatArray
    contestants: int
    prompt: IntArray
    category: IntArray | None = None
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.a)

    @property
    def rated(self) -> BoolArray:
        """Which pairs people rated."""
        return ~np.isnan(self.human)

    @property
    def judged(self) -> BoolArray:
        """Which pairs the judge rated."""
        return ~np.isnan(self.judge)

    @property
    def both(self) -> BoolArray:
        """Which pairs people and the judge rated."""
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
    """Check the arrays and return them as RatedPairs; raise a StatsError naming the first bad position."""
    games = make_games(a, b, np.zeros(np.size(a)), contestants, cluster=prompt)
    return RatedPairs(
        games.a,
        games.b,
        _shares("human", human, len(games)),
        _shares("judge", judge, len(games)),
        contestants,
        _dense(np.asarray(prompt)),
        None if category is None else _dense(_as_long("category", np.asarray(category), len(games))),
    )


def rated_pairs(
    ratings: Ratings,
    people: BoolArray,
    judge: BoolArray,
    *,
    ties: bool = True,
    category: npt.ArrayLike | None = None,
) -> RatedPairs:
    """Average comparisons into pairs, whatever side a contestant was shown on.

    ``people`` and ``judge``, of shape (n,), say whose a comparison is; what is neither's counts for nothing.
    A score is 1, 1/2 or 0 (see games_from_ratings). The mean over people's comparisons of a pair is its human
    score; the mean over the judge's orders and repeats, or over several judges, its judge score. With ties
    off, a comparison in the exact middle is left out and counted. ``category`` is that of each comparison's
    prompt. Raises ParameterError where the comparisons name no prompts.
    """
    if ratings.prompt is None:
        raise ParameterError("the comparisons name no prompts, so people's and the judge's cannot be paired")
    score = scores(ratings.rating, ratings.points, ties=ties)
    turned = ratings.first > ratings.second
    low, high = (choose(ratings.first, ratings.second) for choose in (np.minimum, np.maximum))
    wanted = people | judge
    kept = wanted & ~np.isnan(score)
    code = (ratings.prompt * ratings.contestants + low) * ratings.contestants + high
    _, one, pair = np.unique(code[kept], return_index=True, return_inverse=True)
    of_low, pair = np.where(turned, 1.0 - score, score)[kept], pair.reshape(-1)
    of_people, of_judge = (_means(pair, of_low, chosen[kept], len(one)) for chosen in (people, judge))
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


def _means(pair: IntArray, score: FloatArray, chosen: BoolArray, pairs: int) -> FloatArray:
    count = np.bincount(pair[chosen], minlength=pairs)
    total = np.bincount(pair[chosen], score[chosen], minlength=pairs)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _dense(labels: npt.NDArray[np.generic]) -> IntArray:
    """Labels numbered 0, 1, ... in sorted order."""
    number: IntArray = np.unique(labels.reshape(-1), return_inverse=True)[1].reshape(-1).astype(np.int64)
    return number


def _shares(name: str, values: npt.ArrayLike, length: int) -> FloatArray:
    array = np.array(values, dtype=np.float64).reshape(-1)
    _as_long(name, array, length)
    bad = ~np.isnan(array) & ~((array >= 0.0) & (array <= 1.0))
    if bad.any():
        place = int(bad.argmax())
        raise ScoreError(f"{name}[{place}] is {array[place]}; a score lies between 0 and 1, or is NaN")
    return array


def _as_long(name: str, array: npt.NDArray[np.generic], length: int) -> npt.NDArray[np.generic]:
    if array.size != length:
        raise LengthMismatchError(f"the arrays differ in length: a has {length}, {name} has {array.size}")
    return array
