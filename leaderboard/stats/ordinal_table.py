"""The table of the ordinal model: distinct ratings, the cells they make, and their levels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array

from arena.rules.scales import POINTS
from leaderboard.stats.checks import FloatArray, IntArray, NotIdentifiedError, ParameterError
from leaderboard.stats.pair_table import Outcomes, connected_components
from leaderboard.stats.ratings import Ratings

# A scale of n points has thresholds tau_1 < ... < tau_(n-1) with tau_k = -tau_(n-k), so that a rating and
# its mirror image are equally likely between equals. The positive ones are free, smallest first. A rating
# and its mirror image form a level; level 0 is the middle.


def free_thresholds(points: int) -> int:
    """How many thresholds of the scale are positive."""
    return (points - 1) // 2


def threshold_rows(points: int) -> FloatArray:
    """(points - 1, free): threshold k + 1 is row k times the free thresholds."""
    rows = np.zeros((points - 1, free_thresholds(points)))
    for free in range(free_thresholds(points)):
        rows[points - 2 - (free_thresholds(points) - 1 - free), free] = 1.0
    return rows - rows[::-1]


def levels(points: int) -> int:
    """How many levels the scale has."""
    return (points + 1) // 2


def level_of(rating: IntArray, points: int) -> IntArray:
    """The level of each rating: 0 is next to the middle, ``levels - 1`` holds 1 and n."""
    return np.abs(2 * rating - points - 1) // 2


def width_rows(points: int) -> FloatArray:
    """(levels - 1, free): the distance between the thresholds around ratings of a level.

    The outermost level has one threshold, so no width.
    """
    thresholds = threshold_rows(points)
    ratings = np.arange(2, points)
    widths = thresholds[ratings - 1] - thresholds[ratings - 2]
    _, one_of_each = np.unique(level_of(ratings, points), return_index=True)
    return widths[one_of_each]


@dataclass(frozen=True)
class Layout:
    """Where each parameter stands in the vector of all."""

    contestants: int
    position: bool
    effects: tuple[str, ...]
    scales: tuple[int, ...]
    raters: int

    @property
    def position_at(self) -> slice:
        """The advantage of standing first; empty where it is not fitted."""
        return slice(self.contestants, self.contestants + self.position)

    @property
    def effects_at(self) -> slice:
        return slice(self.position_at.stop, self.position_at.stop + len(self.effects))

    def thresholds_at(self, points: int) -> slice:
        shorter = sum(free_thresholds(scale) for scale in self.scales if scale < points)
        start = self.effects_at.stop + shorter
        return slice(start, start + free_thresholds(points))

    @property
    def leans_at(self) -> slice:
        """The lean of each rater; empty where leans are not fitted."""
        start = self.effects_at.stop + sum(map(free_thresholds, self.scales))
        return slice(start, start + self.raters)

    @property
    def size(self) -> int:
        return int(self.leans_at.stop)


# Rating r of n points says two things: "at most r" (unless r = n) and not "at most r - 1" (unless r = 1).
# With log-odds z_k = tau_k + d for "at most k", its probability is
#
# P(r) = F(z_r) F(-z_(r-1)) (1 - exp(-(tau_r - tau_(r-1)))),
#
# so the likelihood is that of logistic regression on the cells (row of the design, threshold k), each so
# many times won and lost, times a term for the width between thresholds.


@dataclass(frozen=True, eq=False)
class OrdinalTable:
    """The cells of the ratings and the sums that lead to them."""

    layout: Layout
    distinct_ratings: Outcomes  # by what the model uses; imaginary ones come after them
    design: Any  # log-odds of cells, (cells, parameters)
    won: Any  # ratings for each cell, (cells, distinct and imaginary)
    lost: Any  # ratings against each cell
    inside: Any  # ratings between two thresholds, (widths, distinct and imaginary)
    widths: FloatArray  # how far apart those are, (widths, parameters)
    level: Any  # (levels, distinct)
    spread: FloatArray  # imaginary ratings of levels without any, (imaginary, levels)
    pairs: Any
    pair_sides: tuple[IntArray, IntArray]
    deviation: FloatArray  # of each covariate
    component: IntArray

    @property
    def distinct(self) -> int:
        return len(self.distinct_ratings)

    @property
    def of_rating(self) -> IntArray:
        """The number of each rating among the distinct ones."""
        return self.distinct_ratings.of_game

    @cached_property
    def count(self) -> FloatArray:
        return np.bincount(self.of_rating, minlength=self.distinct).astype(np.float64)

    @cached_property
    def gauge(self) -> FloatArray:
        """(parameters, parameters): the mean of each component, which the likelihood leaves open."""
        same = self.component[:, None] == self.component[None, :]
        mean = np.zeros((self.layout.size, self.layout.size))
        contestants = self.layout.contestants
        mean[:contestants, :contestants] = same / same.sum(axis=1, keepdims=True)
        return mean

    @cached_property
    def row_of_entry(self) -> IntArray:
        """The cell of each number stored in ``design``."""
        return np.repeat(np.arange(self.design.shape[0]), np.diff(self.design.indptr))

    @cached_property
    def design_by_parameter(self) -> Any:
        return self.design.T.tocsr()

    @cached_property
    def products(self) -> Any:
        """The outer product of each row of ``design`` with itself, (parameters * parameters, cells)."""
        # With it curvatures of many rounds are one product with the weights of their cells.
        entries = np.diff(self.design.indptr)[self.row_of_entry]
        left = np.repeat(np.arange(len(entries)), entries)
        nth = np.arange(len(left)) - np.repeat(np.cumsum(entries) - entries, entries)
        right = self.design.indptr[self.row_of_entry[left]] + nth
        value = self.design.data[left] * self.design.data[right]
        place = self.design.indices[left].astype(np.int64) * self.layout.size + self.design.indices[right]
        shape = (self.layout.size**2, self.design.shape[0])
        return csr_array((value, (place, self.row_of_entry[left])), shape=shape)

    def falls_apart(self, weights: FloatArray) -> Any:
        """Which rounds of ``weights`` (distinct, rounds) connect fewer contestants than all ratings do."""
        played = (self.pairs @ weights) > 0
        apart = ~played.all(axis=0)
        groups = self.component.max(initial=-1)
        for number in np.flatnonzero(apart):
            met = played[:, number]
            first, second = (side[met] for side in self.pair_sides)
            apart[number] = connected_components(first, second, self.layout.contestants).max() > groups
        return apart


# Ratings between imaginary equals given to each level of a scale that nobody used.
PRIOR_RATINGS: Final = 0.5
_LONGEST_SCALE: Final = max(POINTS)


def make_table(ratings: Ratings, *, position: bool, adjust: Sequence[str], raters: bool) -> OrdinalTable:
    """Reduce the ratings; raises ParameterError for a covariate that is missing or the same everywhere."""
    scales = tuple(int(points) for points in np.unique(ratings.points))
    leaning = _raters(ratings) if raters else 0
    layout = Layout(ratings.contestants, position, tuple(adjust), scales, leaning)
    deviation = np.array([_deviation(ratings, name) for name in adjust])
    kinds = _Kinds.of(ratings, layout)
    cells, won, lost = _cells(kinds)
    level, spread = _levels(kinds, scales)
    inside, widths = _inside(kinds, layout)
    member, rating = kinds.member[kinds.group[: kinds.distinct]], kinds.rating[: kinds.distinct]
    sides = ratings.first[member], ratings.second[member]
    distinct_ratings = Outcomes(*sides, rating.astype(np.float64), kinds.of_rating)
    pairs, pair_sides = _pairs(distinct_ratings, ratings.contestants)
    return OrdinalTable(
        layout=layout,
        distinct_ratings=distinct_ratings,
        design=_design(ratings, layout, kinds, cells, deviation),
        won=won,
        lost=lost,
        inside=inside,
        widths=widths,
        level=level,
        spread=spread,
        pairs=pairs,
        pair_sides=pair_sides,
        deviation=deviation,
        component=connected_components(ratings.first, ratings.second, ratings.contestants),
    )


def _raters(ratings: Ratings) -> int:
    if ratings.rater is None:
        raise ParameterError("raters is True, but the ratings name no raters")
    return int(ratings.rater.max(initial=-1)) + 1


def _deviation(ratings: Ratings, name: str) -> float:
    """The standard deviation about zero, because which answer stands first is arbitrary."""
    if name not in ratings.covariates:
        known = ", ".join(sorted(ratings.covariates)) or "none"
        raise ParameterError(f"adjust names {name!r}; the covariates of these ratings: {known}")
    largest = float(np.abs(ratings.covariates[name]).max())
    if not largest > 0.0:
        message = f"the two sides are equal in {name} everywhere, so there is nothing to adjust for"
        raise NotIdentifiedError(message, (name,))
    # Divided by the largest first, so that no square of a large number overflows.
    return largest * float(np.sqrt(np.mean(np.square(ratings.covariates[name] / largest))))


@dataclass(frozen=True, eq=False)
class _Kinds:
    """The distinct ratings, then each value of each scale once, given to imaginary equals."""

    of_rating: IntArray
    distinct: int
    group: IntArray  # of what differs in the rating alone
    points: IntArray
    rating: IntArray
    member: IntArray  # one rating of each real group

    @classmethod
    def of(cls, ratings: Ratings, layout: Layout) -> "_Kinds":
        columns: list[Any] = [ratings.first, ratings.second, ratings.points]
        columns += [ratings.covariates[name] for name in layout.effects]
        columns += [ratings.rater] if layout.raters else []
        group = _numbered(columns)
        code = group * _LONGEST_SCALE + ratings.rating - 1
        distinct, one, of_rating = np.unique(code, return_index=True, return_inverse=True)
        member = np.unique(group, return_index=True)[1]
        scales = np.array(layout.scales, dtype=np.int64)
        imaginary = np.concatenate([np.arange(1, points + 1) for points in scales])
        return cls(
            of_rating,
            len(distinct),
            np.concatenate((group[one], np.repeat(len(member) + np.arange(len(scales)), scales))),
            np.concatenate((ratings.points[one], np.repeat(scales, scales))),
            np.concatenate((ratings.rating[one], imaginary)),
            member,
        )

    def __len__(self) -> int:
        return len(self.group)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Cells by group and scale."""

    group: IntArray
    points: IntArray
    threshold: IntArray  # from 1 to points - 1


def _numbered(columns: Sequence[Any]) -> IntArray:
    """0, 1, ... for each different row of the columns."""
    number = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        number = np.unique(number * len(values) + place, return_inverse=True)[1]
    return number


def _cells(kinds: _Kinds) -> tuple[_Cells, Any, Any]:
    """The cells, and the ratings for ("at most k") and against ("more") each."""
    code = kinds.group * _LONGEST_SCALE + kinds.rating
    speaks_for = np.flatnonzero(kinds.rating < kinds.points)
    against = np.flatnonzero(kinds.rating > 1)
    codes, one, place = np.unique(
        np.concatenate((code[speaks_for], code[against] - 1)), return_index=True, return_inverse=True
    )
    group, threshold = np.divmod(codes, _LONGEST_SCALE)
    points = kinds.points[np.concatenate((speaks_for, against))[one]]
    shape = (len(codes), len(kinds))
    won = _ones(place[: len(speaks_for)], speaks_for, shape)
    lost = _ones(place[len(speaks_for) :], against, shape)
    return _Cells(group, points, threshold), won, lost


def _ones(row: IntArray, column: IntArray, shape: tuple[int, int]) -> Any:
    return csr_array((np.ones(len(row)), (row, column)), shape=shape)


def _design(ratings: Ratings, layout: Layout, kinds: _Kinds, cells: _Cells, deviation: FloatArray) -> Any:
    real = np.flatnonzero(cells.group < len(kinds.member))
    member = kinds.member[cells.group[real]]
    ones = np.ones(len(real))
    entries = [(real, ratings.first[member], ones), (real, ratings.second[member], -ones)]
    if layout.position:
        entries.append((real, np.full(len(real), layout.position_at.start), ones))
    for index, name in enumerate(layout.effects):
        column = np.full(len(real), layout.effects_at.start + index)
        entries.append((real, column, ratings.covariates[name][member] / deviation[index]))
    if layout.raters and ratings.rater is not None:
        entries.append((real, layout.leans_at.start + ratings.rater[member], ones))
    for points in layout.scales:
        of_scale = np.flatnonzero(cells.points == points)
        rows = threshold_rows(points)[cells.threshold[of_scale] - 1]
        cell, free = np.nonzero(rows)
        entries.append((of_scale[cell], layout.thresholds_at(points).start + free, rows[cell, free]))
    row, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    return csr_array((value, (row, column)), shape=(len(cells.group), layout.size))


def _levels(kinds: _Kinds, scales: tuple[int, ...]) -> tuple[Any, FloatArray]:
    """Which level each distinct rating is on, and the imaginary ratings an unused level gets."""
    level, start = np.zeros(len(kinds), dtype=np.int64), 0
    for points in scales:
        of_scale = kinds.points == points
        level[of_scale] = start + level_of(kinds.rating[of_scale], points)
        start += levels(points)
    real = level[: kinds.distinct]
    imaginary = level[kinds.distinct :]
    spread = (imaginary[:, None] == np.arange(start)).astype(np.float64)
    spread *= PRIOR_RATINGS / spread.sum(axis=0)
    return _ones(real, np.arange(kinds.distinct), (start, kinds.distinct)), spread


def _inside(kinds: _Kinds, layout: Layout) -> tuple[Any, FloatArray]:
    """Which ratings lie between two thresholds, and how far apart those are."""
    row, column, start, widths = [], [], 0, []
    for points in layout.scales:
        of_scale = np.flatnonzero(kinds.points == points)
        level = level_of(kinds.rating[of_scale], points)
        between = level < levels(points) - 1
        row.append(start + level[between])
        column.append(of_scale[between])
        start += levels(points) - 1
        here = np.zeros((levels(points) - 1, layout.size))
        here[:, layout.thresholds_at(points)] = width_rows(points)
        widths.append(here)
    return _ones(np.concatenate(row), np.concatenate(column), (start, len(kinds))), np.concatenate(widths)


def _pairs(distinct: Outcomes, contestants: int) -> tuple[Any, tuple[IntArray, IntArray]]:
    """Which distinct ratings belong to each pair of contestants, and the two sides of the pairs."""
    code = np.minimum(distinct.a, distinct.b) * contestants + np.maximum(distinct.a, distinct.b)
    pair, place = np.unique(code, return_inverse=True)
    matrix = _ones(place, np.arange(len(distinct)), (len(pair), len(distinct)))
    return matrix, np.divmod(pair, contestants)
