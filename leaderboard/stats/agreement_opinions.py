"""Opinions about pairs, and the sums over prompts that every measure of agreement is computed from."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from arena.rules.scales import POINTS, TIE_WIDTH
from leaderboard.stats.bootstrap import check_run
from leaderboard.stats.checks import FloatArray, IntArray, LengthMismatchError, RatingError
from leaderboard.stats.resampling import cluster_draws, exact_type
from leaderboard.stats.verdicts import TieBand, verdicts, verdicts_of_means

# Which completion of a pair is its first is arbitrary, so statistics enter each pair twice, as it is and
# mirrored. Ratings are mapped to [-1, 1] about the middle of their scale, where mirroring changes the sign:
# names cannot change a number, and scales can be compared.


# Preferences are counted in steps of 1/28: whole numbers on every scale.
STEPS: Final = 28
FIRST, TIE, SECOND = 0, 1, 2
"""Verdicts in the pair's own orientation."""


@dataclass(frozen=True, eq=False)
class OpinionRows:
    """Ratings as parallel arrays, turned to the orientation of their pair."""

    pair: IntArray
    rater: IntArray  # any integer
    rating: npt.NDArray[Any]  # 1: the pair's first is much better
    points: npt.NDArray[Any]
    band: TieBand | None = None  # instead of the usual ties of its scale
    ties: bool = True

    def __len__(self) -> int:
        return len(self.pair)

    def only(self, chosen: npt.NDArray[Any]) -> "OpinionRows":
        pair, rater, rating, points = self.pair, self.rater, self.rating, self.points
        return OpinionRows(pair[chosen], rater[chosen], rating[chosen], points[chosen], self.band, self.ties)

    @property
    def preference(self) -> FloatArray:
        """From -28 (the first is much better) to 28, in steps of 1/28: whole numbers, so sums are exact."""
        steps = (2 * self.rating - self.points - 1) * (STEPS // (self.points - 1))
        return np.asarray(steps, dtype=np.float64)

    @property
    def verdict(self) -> IntArray:
        return TIE + verdicts(self.rating, self.points, self.band, ties=self.ties)


def opinion_rows(
    pair: npt.ArrayLike,
    rater: npt.ArrayLike,
    rating: npt.ArrayLike,
    points: npt.ArrayLike,
    swapped: npt.ArrayLike,
    band: TieBand | None = None,
    *,
    ties: bool = True,
) -> OpinionRows:
    """Ratings as shown, turned to the orientation of their pairs; ``swapped`` marks those shown turned.

    ``pair`` holds numbers from 0. Without ``ties``, ratings without a side are left out. Raises a StatsError
    for different lengths and ratings off their scale.
    """
    number, given = np.asarray(pair).reshape(-1), np.asarray(rating).reshape(-1)
    if len(number) != len(given):
        raise LengthMismatchError(f"there are {len(number)} pairs but {len(given)} ratings")
    scale = np.broadcast_to(np.asarray(points), given.shape)
    on_scale = np.isin(scale, POINTS) & (given >= 1) & (given <= scale) & (given == np.floor(given))
    if not on_scale.all():
        raise RatingError("every rating must lie on a scale of 2, 3, 5 or 8 points")
    own, size = given.astype(np.int8), scale.astype(np.int8)
    turned = np.broadcast_to(np.asarray(swapped, dtype=bool), given.shape)
    rows = OpinionRows(
        number.astype(np.int64),
        np.broadcast_to(np.asarray(rater, dtype=np.int64), given.shape),
        np.where(turned, size + 1 - own, own),
        size,
        band,
        ties,
    )
    return rows if ties else rows.only(rows.verdict != TIE)


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums of what some raters said of each pair, (pairs,)."""

    count: FloatArray
    total: FloatArray  # of preferences, in steps
    squares: FloatArray  # of preferences, in steps
    verdicts: FloatArray  # (pairs, 3)

    @property
    def mean(self) -> FloatArray:
        """The mean preference on [-1, 1]; 0 where nobody rated."""
        # One division of whole numbers: equal means are equal to the last bit.
        return np.asarray(self.total / (STEPS * np.maximum(self.count, 1.0)))


def pair_sums(rows: OpinionRows, pairs: int) -> PairSums:
    """The opinions on each of the pairs 0..pairs-1, summed."""
    preference, verdict = rows.preference, rows.verdict
    return PairSums(
        np.bincount(rows.pair, minlength=pairs).astype(np.float64),
        np.bincount(rows.pair, preference, pairs).astype(np.float64),
        np.bincount(rows.pair, preference**2, pairs).astype(np.float64),
        np.bincount(3 * rows.pair + verdict, minlength=3 * pairs).reshape(pairs, 3).astype(np.float64),
    )


NO_VERDICT: Final = -1


def mean_verdicts(rows: OpinionRows, sums: PairSums) -> IntArray:
    """FIRST, TIE or SECOND for the mean of each pair, NO_VERDICT without one; ``sums`` are those of the rows.

    Without ties, a mean in the middle is none.
    """
    width, mean = np.full(len(sums.count), TIE_WIDTH if rows.ties else 0.0), sums.mean
    if rows.band is not None:
        banded = rows.pair[rows.points == rows.band.points]
        width[banded] = (2 * rows.band.high - rows.band.points - 1) / (rows.band.points - 1)
    found = TIE + verdicts_of_means(mean, width).astype(np.int64)
    return np.where((sums.count == 0) | ((found == TIE) & (not rows.ties)), NO_VERDICT, found)


ROUNDS_AT_ONCE: Final = 32, 128
"""The fewest and the most of a block, which costs some time in Python, and memory for each prompt."""
DRAWS_AT_ONCE: Final = 400_000


@dataclass(frozen=True, eq=False)
class Topics:
    """The prompt of each pair, and the category of each prompt."""

    prompt: IntArray
    category: IntArray
    names: tuple[str, ...]  # of the categories; "" stands for none

    @cached_property
    def place(self) -> IntArray:
        """Of each prompt among all, category by category."""
        return np.argsort(np.argsort(self.category, kind="stable"))

    @cached_property
    def named(self) -> tuple[str, ...]:
        return tuple(sorted(name for name in self.names if name))

    @cached_property
    def rows(self) -> tuple[str | None, ...]:
        """What a measure is given for: everything (None), each named category, and all but each ("-name")."""
        return (None, *self.named, *(f"-{name}" for name in self.left_out if name))

    @cached_property
    def left_out(self) -> tuple[str | None, ...]:
        """The category that each row leaves out, None for most."""
        without = self.named if len(self.named) > 1 else ()
        return (*[None] * (1 + len(self.named)), *without)

    @cached_property
    def chosen(self) -> FloatArray:
        """1 where a row takes the prompts of a category: (rows, categories)."""
        own = np.array([[float(name == row) for name in self.names] for row in self.named])
        own = own.reshape(len(self.named), len(self.names))
        everything = np.ones((1, len(self.names)))
        return np.concatenate((everything, own, 1.0 - own))[: len(self.rows)]

    def add_up(self, category: IntArray, weight: FloatArray | None = None) -> FloatArray:
        """The sum, for each row, over things of these categories."""
        sums = np.bincount(category, weight, len(self.names))
        return np.asarray(self.chosen @ sums)

    def each_row(self, sums: FloatArray) -> Iterator[FloatArray]:
        """The sum of each row in turn, from ``sums`` by category along the first axis."""
        yield sums.sum(axis=0)
        place = [self.names.index(name) for name in self.named]
        yield from sums[place]
        if len(place) > 1:
            nothing = np.zeros_like(sums[:1])
            # Added up, not subtracted from all: what cancels out is then exactly 0.
            before = np.concatenate((nothing, np.cumsum(sums, axis=0)))
            after = np.concatenate((np.cumsum(sums[::-1], axis=0)[::-1], nothing))
            yield from (before[number] + after[number + 1] for number in place)

    def of_pairs(self, pair: IntArray) -> IntArray:
        return self.category[self.prompt[pair]]


@dataclass(frozen=True, eq=False)
class Measure:
    """A function of sums over prompts, evaluated for each row of the topics."""

    topics: Topics
    value: Callable[[FloatArray], FloatArray]  # from (kinds of sum, n) to (values, n), NaN where undefined
    asked: IntArray  # places of prompts
    sums: FloatArray  # of these prompts, (kinds, asked)
    cells: Any = None  # more kinds that few prompts have: sparse (categories x kinds, prompts)

    @cached_property
    def _parts(self) -> list[slice]:
        """The asked prompts of each category."""
        ends = np.searchsorted(
            np.sort(self.topics.category)[self.asked], np.arange(len(self.topics.names) + 1)
        )
        return [slice(*part) for part in pairwise(ends.tolist())]

    def of(self, times: FloatArray) -> FloatArray:
        """Values (rows, values, n), the prompt of each place taken ``times`` (prompts, n) often."""
        drawn = times if len(self.asked) == len(times) else times[self.asked]
        added = np.stack([self.sums[:, part] @ drawn[part] for part in self._parts])
        if self.cells is not None:
            few = self.cells @ times.astype(self.cells.dtype, copy=False)
            added = np.concatenate((added, few.reshape(len(added), -1, times.shape[1])), axis=1)
        rows = np.stack(list(self.topics.each_row(added)), axis=1)
        found = self.value(rows.reshape(added.shape[1], -1))
        return found.reshape(len(found), rows.shape[1], -1).swapaxes(0, 1)

    @property
    def estimate(self) -> FloatArray:
        """Values (rows, values), every prompt taken once."""
        return self.of(np.ones((len(self.topics.category), 1)))[..., 0]


def distinct(numbers: npt.NDArray[Any]) -> IntArray:
    """The different ones of numbers from 0 that are not far apart: faster than np.unique."""
    found: IntArray = np.flatnonzero(np.bincount(numbers))
    return found


def measure(
    topics: Topics,
    pair: IntArray,
    sums: Sequence[FloatArray] | FloatArray,
    value: Callable[[FloatArray], FloatArray],
    cells: Sequence[tuple[IntArray, FloatArray]] = (),
    kinds: int = 0,
) -> Measure:
    """A measure of things about ``pair``; ``sums`` holds for each kind of sum what each thing adds.

    After these come ``kinds`` more, to one of which a thing adds: ``cells`` have its number and the amount.
    """
    of_pair, prompts = topics.place[topics.prompt[pair]], len(topics.category)
    asked = distinct(of_pair)
    every = np.array([np.bincount(of_pair, amount, prompts)[asked] for amount in sums], dtype=np.float64)
    every = every.reshape(len(sums), len(asked))
    few = _sparse(topics, pair, cells, kinds) if kinds else None
    return Measure(topics, value, asked, every, few)


def _sparse(topics: Topics, pair: IntArray, cells: Sequence[tuple[IntArray, FloatArray]], kinds: int) -> Any:
    # Places of 32 bits, as the sparse array keeps them: others would be copied.
    line, place = topics.of_pairs(pair) * kinds, topics.place[topics.prompt[pair]].astype(np.int32)
    lines = np.concatenate([line + kind for kind, _ in cells], dtype=np.int32, casting="same_kind")
    amounts, prompts = np.concatenate([amount for _, amount in cells]), len(topics.category)
    shape = len(topics.names) * kinds, prompts
    found = coo_array((amounts, (lines, np.tile(place, len(cells)))), shape=shape).tocsr()
    return found.astype(exact_type(found.data, prompts))


@dataclass(frozen=True, eq=False)
class Beside:
    """The values of both measures, and those of the first less those of the second, from the same rounds."""

    one: Measure
    other: Measure

    @property
    def topics(self) -> Topics:
        return self.one.topics


def resample(measures: Sequence[Measure | Beside], rounds: int, seed: int) -> list[FloatArray]:
    """Values (rows, values, rounds) of each measure, all of the same topics; raises ParameterError."""
    check_run(rounds, seed, None)
    if not measures:
        return []
    drawn = [_values(measures, times) for times in _times(measures[0].topics.place, rounds, seed)]
    return [np.concatenate(parts, axis=-1) for parts in zip(*drawn, strict=True)]


def _values(measures: Sequence[Measure | Beside], times: FloatArray) -> list[FloatArray]:
    """Computes what several measures stand beside only once."""

    @cache
    def of(measure: Measure) -> FloatArray:
        return measure.of(times)

    return [
        _both(of(each.one), of(each.other)) if isinstance(each, Beside) else of(each) for each in measures
    ]


def _both(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.concatenate((one, other, one - other), axis=1)


def _times(place: IntArray, rounds: int, seed: int) -> Iterator[FloatArray]:
    """How often the prompt of each place is drawn, in blocks (prompts, rounds)."""
    prompts, (fewest, most) = len(place), ROUNDS_AT_ONCE
    block = min(most, max(fewest, DRAWS_AT_ONCE // max(1, prompts)))
    for start in range(0, rounds, block):
        numbers = np.arange(start, min(start + block, rounds))
        drawn = cluster_draws(seed, numbers, prompts)
        counts = [np.bincount(place[each], minlength=prompts) for each in drawn]
        yield np.ascontiguousarray(np.array(counts, dtype=np.float64).T)
