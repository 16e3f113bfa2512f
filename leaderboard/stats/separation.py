"""What the samples of a bootstrap say about order: ranks, groups, and who is probably above whom or first.

Everything here takes ``samples`` of shape (rounds, contestants), from any method, and ``component`` of shape
(contestants,), the connected group of each: contestants of different components are never compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import BoolArray, FloatArray, IntArray, LengthMismatchError, NoGamesError
from leaderboard.stats.intervals import bounds, check_level, median

_EQUAL: Final = 1e-6
"""Points; ratings closer than this are equal, so that no rounding error decides who is above whom."""


def rank_upper_bound(low: npt.ArrayLike, high: npt.ArrayLike, component: npt.ArrayLike) -> IntArray:
    """The best rank each contestant may have: 1 + the contestants whose whole interval lies above its own.

    ``low`` and ``high``, of shape (contestants,), are the ends of the intervals of the ratings; only
    contestants of the same component count. This is the rank that Chatbot Arena shows (Chiang et al. 2024).
    Raises LengthMismatchError where the arrays differ in length.
    """
    lower, upper, group = np.asarray(low, dtype=float), np.asarray(high, dtype=float), np.asarray(component)
    if not len(lower) == len(upper) == len(group):
        sizes = f"low has {len(lower)}, high has {len(upper)}, component has {len(group)}"
        raise LengthMismatchError(f"the arrays differ in length: {sizes}")
    above = (lower[None, :] > upper[:, None] + _EQUAL) & _together(group)
    best: IntArray = 1 + np.count_nonzero(above, axis=1)
    return best


def probability_first(samples: npt.ArrayLike, component: npt.ArrayLike) -> FloatArray:
    """The share of rounds in which each contestant is first in its component, of shape (contestants,).

    Those who are first together share the round equally, so the shares of a component add up to 1.
    """
    drawn, group = _checked(samples, component)
    share = np.empty(drawn.shape[1])
    for number in np.unique(group):
        own = np.flatnonzero(group == number)
        first = drawn[:, own] >= drawn[:, own].max(axis=1, keepdims=True) - _EQUAL
        share[own] = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    return share


def probability_above(samples: npt.ArrayLike, component: npt.ArrayLike) -> FloatArray:
    """[i, j] is the share of rounds in which i is rated above j, of shape (contestants, contestants).

    Equal ratings count half, so [i, j] + [j, i] = 1. NaN on the diagonal and across components, where there
    is nothing to compare.
    """
    drawn, group = _checked(samples, component)
    contestants = drawn.shape[1]
    share = np.full((contestants, contestants), np.nan)
    for i in range(contestants):
        others = np.flatnonzero((group == group[i]) & (np.arange(contestants) != i))
        lead = drawn[:, i : i + 1] - drawn[:, others]
        share[i, others] = 0.5 + 0.5 * ((lead > _EQUAL).mean(axis=0) - (lead < -_EQUAL).mean(axis=0))
    return share


@dataclass(frozen=True, eq=False)
class Groups:
    """Contestants that cannot be told apart at ``level`` percent.

    ``members`` holds each group as contestant numbers, best first; the groups are ordered by component, then
    by their best members. ``letters`` holds for each contestant the letters of its groups: a for the first
    group, z for the 26th, then aa; with spaces between them where there are more than 26 groups. Two
    contestants share a letter if and only if they cannot be told apart.
    """

    members: tuple[tuple[int, ...], ...]
    letters: tuple[str, ...]
    level: float


def groups_not_told_apart(
    samples: npt.ArrayLike, level: float, component: npt.ArrayLike, *, rating: npt.ArrayLike | None = None
) -> Groups:
    """The groups of contestants that cannot be told apart (compact letter display, Piepho 2004).

    Two contestants are told apart if the central interval of the difference of their samples, at ``level``
    percent, does not hold 0. A group is a set of contestants, no two of them told apart, to which no other
    contestant can be added; there are enough groups for every two contestants that are not told apart to
    share one. "Best" goes by ``rating``, or by the median of the samples without it. Raises a StatsError for
    bad input.
    """
    return groups_at(samples, (level,), component, rating=rating)[0]


def groups_at(
    samples: npt.ArrayLike,
    levels: Sequence[float],
    component: npt.ArrayLike,
    *,
    rating: npt.ArrayLike | None = None,
) -> tuple[Groups, ...]:
    """The groups of ``groups_not_told_apart`` for each of several levels, in their order."""
    drawn, group = _checked(samples, component)
    rated = median(drawn) if rating is None else np.asarray(rating, dtype=float)
    if len(rated) != len(group):
        raise LengthMismatchError(f"samples has {len(group)} contestants, rating has {len(rated)}")
    # Rounded as ratings are published: the last bits of equal ratings differ between processors.
    order = np.lexsort((-np.round(rated, 6), group))
    within = _together(group)
    apart = told_apart_at(drawn, levels, group)
    return tuple(_grouped(within & ~those, order, level) for those, level in zip(apart, levels, strict=True))


def _grouped(alike: BoolArray, order: IntArray, level: float) -> Groups:
    """The groups of contestants that are alike; ``order`` holds the contestants, best first."""
    found = _cover(alike[np.ix_(order, order)])
    members = tuple(tuple(order[list(places)].tolist()) for places in sorted(found))
    letters: list[list[str]] = [[] for _ in order]
    for number, those in enumerate(members):
        for contestant in those:
            letters[contestant].append(_letter(number))
    between = "" if len(members) <= len(ascii_lowercase) else " "
    return Groups(members, tuple(between.join(own) for own in letters), check_level(level))


def told_apart(samples: npt.ArrayLike, level: float, component: npt.ArrayLike) -> BoolArray:
    """Which pairs have a difference whose central interval at ``level`` percent does not hold 0.

    A symmetric matrix (contestants, contestants); False on the diagonal and across components.
    """
    apart: BoolArray = told_apart_at(samples, (level,), component)[0]
    return apart


def told_apart_at(samples: npt.ArrayLike, levels: Sequence[float], component: npt.ArrayLike) -> BoolArray:
    """The matrix of ``told_apart`` for each of several levels: (levels, contestants, contestants).

    The samples are put in order once, so many levels cost little more than one.
    """
    drawn, group = _checked(samples, component)
    contestants = drawn.shape[1]
    ends = np.array([bounds(level) for level in levels])
    apart = np.zeros((len(levels), contestants, contestants), dtype=bool)
    for i in range(contestants - 1):
        others = i + 1 + np.flatnonzero(group[i + 1 :] == group[i])
        low, high = np.percentile(drawn[:, others] - drawn[:, i : i + 1], ends.T, axis=0)
        apart[:, i, others] = (low > _EQUAL) | (high < -_EQUAL)
    return apart | apart.transpose(0, 2, 1)


def rank_interval(
    samples: npt.ArrayLike, level: float, component: npt.ArrayLike
) -> tuple[IntArray, IntArray]:
    """The best and the worst rank of each contestant that the samples leave possible, each (contestants,).

    The percentiles of a contestant's rank over the rounds are no such interval: they fail where true ratings
    are equal or close. Instead the differences to all other contestants are bounded together, so that at
    ``level`` percent all bounds hold at once: the quantile, over the rounds, of the largest standardised
    deviation. The best rank is then 1 + the number certainly above, the worst the size of the component less
    the number certainly below (Mogstad, Romano, Shaikh and Wilhelm 2024).
    """
    drawn, group = _checked(samples, component)
    check_level(level)
    contestants = drawn.shape[1]
    best, worst = np.ones(contestants, dtype=np.int64), np.ones(contestants, dtype=np.int64)
    for i in range(contestants):
        others = np.flatnonzero((group == group[i]) & (np.arange(contestants) != i))
        if len(others):
            above, below = _certainly(drawn[:, others] - drawn[:, i : i + 1], level)
            best[i], worst[i] = 1 + above, 1 + len(others) - below
    return best, worst


def _certainly(lead: FloatArray, level: float) -> tuple[int, int]:
    """How many of the leads (rounds, others) are above 0, and how many below, all holding together.

    Step by step: those already certain no longer count towards the largest deviation of the others (Romano
    and Wolf 2005).
    """
    centre, spread = lead.mean(axis=0), lead.std(axis=0)
    doubtful = spread > _EQUAL
    certain = ~doubtful & (np.abs(centre) > _EQUAL)
    scale = np.where(doubtful, spread, 1.0)
    size, deviation = np.abs(centre) / scale, np.abs(lead - centre) / scale
    while doubtful.any():
        found = doubtful & (size > np.percentile(deviation[:, doubtful].max(axis=1), level))
        if not found.any():
            break
        certain |= found
        doubtful &= ~found
    return int(np.count_nonzero(certain & (centre > 0))), int(np.count_nonzero(certain & (centre < 0)))


def _cover(alike: BoolArray) -> set[tuple[int, ...]]:
    """Maximal sets of places, all alike, that together hold every alike pair; places run from best to worst.

    Naming every maximal set could take exponentially many; here each pair that no set holds yet starts one,
    filled with the places nearest to it, so there are never more sets than pairs. Where being alike is a
    matter of distance alone, these are all maximal sets.
    """
    covered = np.zeros_like(alike)
    found = set()
    for first in range(len(alike)):
        for second in np.flatnonzero(alike[first, first:])[::-1] + first:
            if not covered[first, second]:
                places = _filled(alike, first, int(second))
                covered[np.ix_(places, places)] = True
                found.add(tuple(places))
    return found


def _filled(alike: BoolArray, first: int, second: int) -> list[int]:
    """A maximal set that holds ``first`` and ``second``, the places between them taken first."""
    places = np.arange(len(alike))
    outside = np.maximum(np.maximum(first - places, places - second), 0)
    chosen = {first, second}
    fits = alike[first] & alike[second]
    for place in np.argsort(outside, kind="stable").tolist():
        if fits[place]:
            chosen.add(place)
            fits &= alike[place]
    return sorted(chosen)


def _letter(number: int) -> str:
    """a, b, ... z, aa, ab, ... as the columns of a spreadsheet."""
    letters = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        letters = ascii_lowercase[digit] + letters
    return letters


def _together(component: npt.NDArray[np.generic]) -> BoolArray:
    same: BoolArray = np.equal(component[:, None], component[None, :])
    return same


def _checked(samples: npt.ArrayLike, component: npt.ArrayLike) -> tuple[FloatArray, IntArray]:
    drawn, group = np.asarray(samples, dtype=np.float64), np.asarray(component)
    if drawn.ndim != 2 or drawn.shape[1] != len(group):
        raise LengthMismatchError(
            f"samples has the shape {drawn.shape}, not (rounds, {len(group)}) as the components ask for"
        )
    if not drawn.size:
        raise NoGamesError("there are no samples to compare contestants by")
    return drawn, group
