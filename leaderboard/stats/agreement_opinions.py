"""Sums over prompts, whole and resampled: what every measure of agreement is computed from.

Each measure is a function of sums over prompts. A round of the bootstrap draws prompts with replacement, as
many as the study has, and adds up the sums of those drawn; a category takes those of its own prompts. One
set of draws serves all measures, so that they are cheap and can be compared round by round.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from arena.rating.scales import POINTS
from leaderboard.stats.bootstrap import check_run
from leaderboard.stats.checks import FloatArray, IntArray, LengthMismatchError, RatingError
from leaderboard.stats.resampling import cluster_draws
from leaderboard.stats.tie_bands import TieBand, verdicts

# Ratings as opinions about pairs: which of the two is better and by how much, in the pair's own
# orientation.
#
# Which completion of a pair is called its first is arbitrary. So every statistic of this folder enters each
# pair twice, once as it is and once mirrored; ratings are mapped to [-1, 1] around the middle of their
# scale, where mirroring is a change of sign. Renaming contestants then cannot change a number, and ratings
# on different scales can be compared.


STEPS: Final = 28
"""Preferences are counted in steps of 1/28: whole numbers on every scale of 2, 3, 5 or 8 points."""

FIRST, TIE, SECOND = 0, 1, 2
"""Verdicts in the pair's own orientation."""


@dataclass(frozen=True, eq=False)
class OpinionRows:
    """Scored ratings as parallel arrays, in the order they were given.

    ``pair`` numbers the pair, ``rater`` names the rater by any integer, ``rating`` lies on 1..``points`` and
    is turned to the pair's own orientation: 1 says that the pair's first completion is much better. ``band``
    holds the ties of its scale, if not the usual ones.
    """

    pair: IntArray
    rater: IntArray
    rating: IntArray
    points: IntArray
    band: TieBand | None = None

    def __len__(self) -> int:
        return len(self.pair)

    def only(self, chosen: npt.NDArray[Any]) -> "OpinionRows":
        """Those of a mask, or at some places."""
        pair, rater, rating, points = self.pair, self.rater, self.rating, self.points
        return OpinionRows(pair[chosen], rater[chosen], rating[chosen], points[chosen], self.band)

    @property
    def preference(self) -> FloatArray:
        """In steps of 1/28 from -28 (the first is much better) to 28: whole numbers, so sums are exact."""
        steps = (2 * self.rating - self.points - 1) * (STEPS // (self.points - 1))
        return steps.astype(np.float64)

    @property
    def verdict(self) -> IntArray:
        """FIRST, TIE or SECOND, with the ties of each scale."""
        return TIE + verdicts(self.rating, self.points, self.band)


def opinion_rows(
    pair: npt.ArrayLike,
    rater: npt.ArrayLike,
    rating: npt.ArrayLike,
    points: npt.ArrayLike,
    swapped: npt.ArrayLike,
    band: TieBand | None = None,
) -> OpinionRows:
    """Ratings as shown, turned to the orientation of their pairs; ``swapped`` says which were shown turned.

    ``pair`` holds numbers from 0; ``rater``, ``points`` and ``swapped`` may be one value for all. Raises a
    StatsError for arrays that do not fit together and for ratings off their scale.
    """
    number, given = np.asarray(pair).reshape(-1), np.asarray(rating).reshape(-1)
    if len(number) != len(given):
        raise LengthMismatchError(f"there are {len(number)} pairs but {len(given)} ratings")
    scale = np.broadcast_to(np.asarray(points), given.shape)
    on_scale = np.isin(scale, POINTS) & (given >= 1) & (given <= scale) & (given == np.floor(given))
    if not on_scale.all():
        raise RatingError("every rating must lie on a scale of 2, 3, 5 or 8 points")
    own, size = given.astype(np.int64), scale.astype(np.int64)
    turned = np.broadcast_to(np.asarray(swapped, dtype=bool), given.shape)
    return OpinionRows(
        number.astype(np.int64),
        np.broadcast_to(np.asarray(rater, dtype=np.int64), given.shape),
        np.where(turned, size + 1 - own, own),
        size,
        band,
    )


@dataclass(frozen=True, eq=False)
class PairSums:
    """What some raters said of each pair, summed: arrays of shape (pairs,), ``verdicts`` of (pairs, 3).

    ``total`` and ``squares`` are sums of preferences, and of their squares, in steps.
    """

    count: FloatArray
    total: FloatArray
    squares: FloatArray
    verdicts: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The mean preference on [-1, 1]; 0 where nobody rated.

        One division of whole numbers, so means that are equal are equal to the last bit.
        """
        return np.asarray(self.total / (STEPS * np.maximum(self.count, 1.0)))


def pair_sums(rows: OpinionRows, pairs: int) -> PairSums:
    """Sum the opinions on each of the pairs 0..pairs-1."""
    preference, verdict = rows.preference, rows.verdict
    return PairSums(
        np.bincount(rows.pair, minlength=pairs).astype(np.float64),
        np.bincount(rows.pair, preference, pairs).astype(np.float64),
        np.bincount(rows.pair, preference**2, pairs).astype(np.float64),
        np.bincount(3 * rows.pair + verdict, minlength=3 * pairs).reshape(pairs, 3).astype(np.float64),
    )


ROUNDS_AT_ONCE: Final = 64


@dataclass(frozen=True, eq=False)
class Topics:
    """Which prompt each pair is about (``prompt``), and the category of each prompt (``category``).

    ``names`` are those of the categories; the empty name is that of prompts without one.
    """

    prompt: IntArray
    category: IntArray
    names: tuple[str, ...]

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The categories that have a name, by name."""
        return tuple(sorted(name for name in self.names if name))

    @cached_property
    def rows(self) -> tuple[str | None, ...]:
        """What a measure is given for: everything (None), each named category, and all but each ("-name").

        A category may itself be named "-name": ``left_out`` tells which rows are about all but one.
        """
        return (None, *self.named, *(f"-{name}" for name in self.left_out if name))

    @cached_property
    def left_out(self) -> tuple[str | None, ...]:
        """The category that each row leaves out of all, None where it leaves out none."""
        without = self.named if len(self.named) > 1 else ()
        return (*[None] * (1 + len(self.named)), *without)

    @cached_property
    def chosen(self) -> FloatArray:
        """Of shape (rows, categories): 1 where a row takes the prompts of a category."""
        own = np.array([[float(name == row) for name in self.names] for row in self.named])
        own = own.reshape(len(self.named), len(self.names))
        everything = np.ones((1, len(self.names)))
        return np.concatenate((everything, own, 1.0 - own))[: len(self.rows)]

    def add_up(self, category: IntArray, weight: FloatArray | None = None) -> FloatArray:
        """Of each row the sum over things that are of these categories."""
        sums = np.bincount(category, weight, len(self.names))
        return np.asarray(self.chosen @ sums)

    def each_row(self, sums: FloatArray) -> Iterator[FloatArray]:
        """The sum of each row in turn, from those of each category along the first axis.

        All but one category are added up and not subtracted, so what cancels out is 0 and not nearly 0.
        """
        yield sums.sum(axis=0)
        place = [self.names.index(name) for name in self.named]
        yield from sums[place]
        if len(place) > 1:
            nothing = np.zeros_like(sums[:1])
            before = np.concatenate((nothing, np.cumsum(sums, axis=0)))
            after = np.concatenate((np.cumsum(sums[::-1], axis=0)[::-1], nothing))
            yield from (before[number] + after[number + 1] for number in place)

    def of_pairs(self, pair: IntArray) -> IntArray:
        """The category of each pair."""
        return self.category[self.prompt[pair]]


@dataclass(frozen=True, eq=False)
class Measure:
    """Values of each row of the topics that depend on sums over prompts alone.

    ``sums`` has a line for each category and kind of sum, of which there are ``kinds``, and a column for each
    prompt. ``value`` turns sums of shape (kinds, n) into values of shape (values, n), NaN where undefined.
    """

    topics: Topics
    kinds: int
    sums: Any
    value: Callable[[FloatArray], FloatArray]

    def of(self, times: FloatArray) -> FloatArray:
        """Values of shape (rows, values, n), each prompt taken ``times`` (prompts, n) often."""
        added = (self.sums @ times).reshape(len(self.topics.names), self.kinds, -1)
        return np.stack([self.value(row) for row in self.topics.each_row(added)])

    @property
    def estimate(self) -> FloatArray:
        """Values of shape (rows, values), every prompt taken once."""
        return self.of(np.ones((len(self.topics.category), 1)))[..., 0]


def measure(
    topics: Topics,
    pair: IntArray,
    sums: Sequence[tuple[IntArray | int, FloatArray]],
    kinds: int,
    value: Callable[[FloatArray], FloatArray],
) -> Measure:
    """A measure of things about ``pair``; ``sums`` are kinds of sum with the amounts added to them."""
    prompt = topics.prompt[pair]
    line = topics.category[prompt] * kinds
    lines = np.concatenate([line + kind for kind, _ in sums])
    amounts = np.concatenate([amount for _, amount in sums])
    shape = (len(topics.names) * kinds, len(topics.category))
    found = coo_array((amounts, (lines, np.tile(prompt, len(sums)))), shape=shape).tocsr()
    return Measure(topics, kinds, found, value)


def resample(measures: Sequence[Measure], rounds: int, seed: int) -> list[FloatArray]:
    """Values of shape (rows, values, rounds) of each measure; all of them must have the same topics.

    Raises ParameterError for numbers no bootstrap can run with.
    """
    check_run(rounds, seed, None)
    if not measures:
        return []
    prompts = len(measures[0].topics.category)
    drawn = [[each.of(times) for each in measures] for times in _times(prompts, rounds, seed)]
    return [np.concatenate(parts, axis=-1) for parts in zip(*drawn, strict=True)]


def _times(prompts: int, rounds: int, seed: int) -> Iterator[FloatArray]:
    """How often each prompt is drawn, of shape (prompts, rounds), some rounds at a time."""
    for start in range(0, rounds, ROUNDS_AT_ONCE):
        numbers = np.arange(start, min(start + ROUNDS_AT_ONCE, rounds))
        drawn = cluster_draws(seed, numbers, prompts)
        counts = [np.bincount(each, minlength=prompts) for each in drawn]
        yield np.ascontiguousarray(np.array(counts, dtype=np.float64).T)
