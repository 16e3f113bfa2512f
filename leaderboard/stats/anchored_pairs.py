"""Pairs as people and a judge rated them: checked arrays, and how to make them from single comparisons."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bradley_terry import BoolArray
from leaderboard.stats.errors import LengthMismatchError, ScoreError
from leaderboard.stats.games import FloatArray, Games, IntArray, make_games, scores


@dataclass(frozen=True, eq=False)
class RatedPairs:
    """Pairs as parallel arrays: contestants ``a`` and ``b``, mean scores of ``a``, and the prompt from 0.

    ``human`` and ``judge`` lie between 0 and 1, or are NaN where people or the judge did not rate the pair.
    ``left_out`` counts comparisons without a side.
    """

    a: IntArray
    b: IntArray
    human: FloatArray
    judge: FloatArray
    contestants: int
    prompt: IntArray
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
        prompt = np.unique(self.prompt[chosen], return_inverse=True)[1].reshape(-1)
        columns = (self.a[chosen], self.b[chosen], self.human[chosen], self.judge[chosen])
        return RatedPairs(*columns, self.contestants, prompt, self.left_out)


def check_pairs(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    human: npt.ArrayLike,
    judge: npt.ArrayLike,
    contestants: int,
    prompt: npt.ArrayLike,
) -> RatedPairs:
    """Check the arrays and return them as RatedPairs; raise a StatsError naming the first bad position."""
    games = make_games(a, b, np.zeros(np.size(a)), contestants, cluster=prompt)
    human_score, judge_score = (
        _shares(name, x, len(games)) for name, x in (("human", human), ("judge", judge))
    )
    return RatedPairs(games.a, games.b, human_score, judge_score, contestants, _numbers(games))


def rated_pairs(
    first: IntArray,
    second: IntArray,
    rating: IntArray,
    points: IntArray,
    prompt: npt.ArrayLike,
    by_judge: BoolArray,
    contestants: int,
    *,
    ties: bool = True,
) -> RatedPairs:
    """Average single comparisons into pairs, whatever side a contestant was shown on.

    ``first`` and ``second`` are contestant numbers in presentation order, ``by_judge`` says which
    comparisons are the judge's. A score is 1, 1/2 or 0 (see ``games_from_ratings``); the mean over people's
    comparisons of a pair is its human score, the mean over the judge's orders and repeats its judge score.
    With ties off, a comparison in the exact middle is left out and counted.
    """
    number = _numbers(make_games(first, second, np.zeros(np.size(first)), contestants, cluster=prompt))
    score = scores(rating, points, ties=ties)
    kept = ~np.isnan(score)
    low, high = np.minimum(first, second)[kept], np.maximum(first, second)[kept]
    toward_low = np.where(first > second, 1.0 - score, score)[kept]
    code = (number[kept] * contestants + low) * contestants + high
    distinct, pair = np.unique(code, return_inverse=True)
    rest, b = np.divmod(distinct, max(contestants, 1))
    prompts, a = np.divmod(rest, max(contestants, 1))
    human, judge = (
        _means(pair.reshape(-1), toward_low, chosen[kept], len(distinct)) for chosen in (~by_judge, by_judge)
    )
    return RatedPairs(a, b, human, judge, contestants, prompts, int((~kept).sum()))


def _numbers(games: Games) -> IntArray:
    return np.empty(0, dtype=np.int64) if games.cluster is None else games.cluster


def _means(pair: IntArray, score: FloatArray, chosen: BoolArray, pairs: int) -> FloatArray:
    count = np.bincount(pair[chosen], minlength=pairs)
    total = np.bincount(pair[chosen], score[chosen], minlength=pairs)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _shares(name: str, values: npt.ArrayLike, length: int) -> FloatArray:
    array = np.array(values, dtype=np.float64).reshape(-1)
    if len(array) != length:
        raise LengthMismatchError(f"the arrays differ in length: a has {length}, {name} has {len(array)}")
    bad = ~np.isnan(array) & ~((array >= 0.0) & (array <= 1.0))
    if bad.any():
        place = int(bad.argmax())
        raise ScoreError(f"{name}[{place}] is {array[place]}; a score lies between 0 and 1, or is NaN")
    return array
