"""Games: comparisons reduced to (a, b, score), checked here once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from arena.rules.scales import POINTS
from leaderboard.stats.checks import (
    ClusterError,
    ContestantNumberError,
    FloatArray,
    IntArray,
    LengthMismatchError,
    ParameterError,
    RatingError,
    ScoreError,
    SelfComparisonError,
    StatsError,
    labels_of,
    numbers,
    whole_number,
    whole_numbers,
)
from leaderboard.stats.pair_table import Outcomes, PairTable, outcomes_of
from leaderboard.stats.verdicts import TieBand, verdicts

# A round takes one kind of clusters alone every other time where a kind has only two.
FEWEST_CROSSED: Final = 3


@dataclass(frozen=True, eq=False)
class Games:
    """Games ready for a model."""

    a: IntArray  # 0..contestants-1
    b: IntArray
    score: FloatArray  # 1, 0.5 or 0 for a, or a share of a win
    contestants: int
    cluster: IntArray | None = None  # resampling unit, usually the prompt, from 0 without gaps
    left_out: int = 0  # comparisons that took no side
    crossed: IntArray | None = None  # a second kind of unit: raters who share the prompts

    def __len__(self) -> int:
        return len(self.a)

    @cached_property
    def outcomes(self) -> Outcomes:
        """The distinct ones."""
        return outcomes_of(self.a, self.b, self.score, self.contestants)

    @cached_property
    def table(self) -> PairTable:
        return PairTable.of(self.outcomes, self.contestants)

    @property
    def units(self) -> int:
        """How many things a bootstrap draws from: games, clusters, or the fewer of two kinds of clusters."""
        kinds = [number for number in (self.clusters, self.crossed_clusters) if number is not None]
        return min(kinds, default=len(self))

    @property
    def say_how_uncertain(self) -> bool:
        """Whether there are units enough for any interval: two, or three of each of two kinds."""
        return self.units >= (2 if self.crossed is None else FEWEST_CROSSED)

    @property
    def clusters(self) -> int | None:
        return None if self.cluster is None else int(self.cluster.max(initial=-1)) + 1

    @property
    def crossed_clusters(self) -> int | None:
        return None if self.crossed is None else int(self.crossed.max(initial=-1)) + 1


def make_games(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    contestants: int,
    *,
    cluster: npt.ArrayLike | None = None,
    crossed: npt.ArrayLike | None = None,
    left_out: int = 0,
    shares: bool = False,
) -> Games:
    """Games from arrays; raises a StatsError that names the first bad position.

    ``cluster`` and ``crossed`` are labels of any kind; ``crossed`` needs ``cluster``. With ``shares`` a score
    may be any share of a win.
    """
    if whole_number("contestants", contestants) < 0:
        raise ContestantNumberError(f"the number of contestants is {contestants}; it cannot be negative")
    first, second = whole_numbers("a", a), whole_numbers("b", b)
    points = numbers("score", score)
    _check_lengths(a=first, b=second, score=points)
    _check_side("a", first, contestants)
    _check_side("b", second, contestants)
    _refuse(
        first == second, SelfComparisonError, lambda i: f"game {i} compares contestant {first[i]} with itself"
    )
    known = (points >= 0.0) & (points <= 1.0) if shares else np.isin(points, (0.0, 0.5, 1.0))
    what = "from 0 to 1" if shares else "0, 0.5 or 1"
    _refuse(~known, ScoreError, lambda i: f"score[{i}] is {points[i]}, not {what}")
    if crossed is not None and cluster is None:
        raise ClusterError("there is a second kind of cluster, but the games have no first")
    # Numbered without gaps, so that no empty cluster can be drawn.
    named = (("cluster", cluster), ("crossed", crossed))
    units = [labels_of(name, labels, "a", len(first)) for name, labels in named]
    return Games(first, second, points, contestants, units[0], left_out, units[1])


def games_from_ratings(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    rating: npt.ArrayLike,
    points: npt.ArrayLike,
    *,
    ties: bool,
    contestants: int,
    cluster: npt.ArrayLike | None = None,
    crossed: npt.ArrayLike | None = None,
    tie_band: TieBand | None = None,
) -> Games:
    """Games from ratings in presentation order, from 1 (first much better) to ``points``.

    With ties on, the middle of 3 and 5 points and 4-5 of 8, or ``tie_band`` instead, are half a win for each.
    With ties off 4 of 8 is a win for the first and 5 for the second; the exact middle of 3 and 5 points is
    left out and counted.
    """
    ratings = whole_numbers("rating", rating)
    scale = whole_numbers("points", points)
    if np.ndim(points) == 0:
        scale = np.broadcast_to(scale, ratings.shape)
    _check_lengths(first=np.asarray(first), second=np.asarray(second), rating=ratings, points=scale)
    score = scores(ratings, scale, ties=ties, tie_band=tie_band)
    kept = ~np.isnan(score)
    checked = make_games(
        first, second, np.where(kept, score, 0.5), contestants, cluster=cluster, crossed=crossed
    )
    if kept.all():
        return checked
    return make_games(
        checked.a[kept],
        checked.b[kept],
        score[kept],
        contestants,
        cluster=None if checked.cluster is None else checked.cluster[kept],
        crossed=None if checked.crossed is None else checked.crossed[kept],
        left_out=int((~kept).sum()),
    )


def scores(rating: IntArray, points: IntArray, *, ties: bool, tie_band: TieBand | None = None) -> FloatArray:
    """The first's score for each rating: 1, 0.5, 0, or NaN where the rating takes no side.

    Raises RatingError for ratings off their scale, ParameterError for a tie band that does not fit.
    """
    if tie_band is not None and not ties:
        raise ParameterError(f"tie-band is {tie_band}, but ties are off: there is nothing it could act on")
    _refuse(
        ~np.isin(points, POINTS),
        RatingError,
        lambda i: f"points[{i}] is {points[i]}; there are scales of 2, 3, 5 and 8 points",
    )
    _refuse(
        (rating < 1) | (rating > points),
        RatingError,
        lambda i: f"rating[{i}] is {rating[i]}, outside the scale 1-{points[i]}",
    )
    if tie_band is not None:
        tie_band.check(points)
    if ties:
        return (1 - verdicts(rating, points, tie_band)) / 2
    centred = 2 * rating - points - 1
    return np.where(centred < 0, 1.0, np.where(centred > 0, 0.0, np.nan))


def _check_side(name: str, side: IntArray, contestants: int) -> None:
    _refuse(
        (side < 0) | (side >= contestants),
        ContestantNumberError,
        lambda i: f"{name}[{i}] is {side[i]}, outside the contestants 0..{contestants - 1}",
    )


def _check_lengths(**arrays: npt.NDArray[Any]) -> None:
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise LengthMismatchError(f"the arrays differ in length: {sizes}")


def _refuse(bad: npt.NDArray[np.bool_], error: type[StatsError], message: Callable[[int], str]) -> None:
    if bad.any():
        raise error(message(int(bad.argmax())))


def names_of(names: Sequence[str], contestants: int) -> tuple[str, ...]:
    """The names as a tuple; raises a StatsError unless each contestant has one of its own."""
    if len(names) != contestants:
        raise LengthMismatchError(f"there are {contestants} contestants but {len(names)} names")
    if len(set(names)) != len(names):
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        raise ContestantNumberError(f"two contestants are named {twice!r}")
    return tuple(names)
