"""Ranks, groups, and from samples (rounds, contestants) who is above whom or first.

Contestants of different components (contestants,) are never compared.
"""

from dataclasses import dataclass
from itertools import chain, zip_longest
from string import ascii_lowercase
from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    LengthMismatchError,
    NoGamesError,
    check_level,
)
from leaderboard.stats.intervals import student_reach
from leaderboard.stats.plain_values import DECIMALS

# Points; closer strengths are equal, so that no rounding error decides who is above whom.
SAME: Final = 1e-6


def rank_upper_bound(low: npt.ArrayLike, high: npt.ArrayLike, component: npt.ArrayLike) -> IntArray:
    """The best rank each contestant may have: 1 + those in its component whose interval lies above its own.

    As Chatbot Arena shows it (Chiang et al. 2024).
    """
    lower, upper, group = np.asarray(low, dtype=float), np.asarray(high, dtype=float), np.asarray(component)
    if not len(lower) == len(upper) == len(group):
        sizes = f"low has {len(lower)}, high has {len(upper)}, component has {len(group)}"
        raise LengthMismatchError(f"the arrays differ in length: {sizes}")
    above = (lower[None, :] > upper[:, None] + SAME) & _together(group)
    return np.asarray(1 + np.count_nonzero(above, axis=1))


def ranks(rating: FloatArray, component: IntArray) -> IntArray:
    """1 + the contestants of the same component that are above each; equals to 1e-6 share a rank."""
    known = np.round(rating, DECIMALS)
    return np.asarray(1 + np.count_nonzero(_together(component) & (known[None, :] > known[:, None]), axis=1))


def probability_first(samples: npt.ArrayLike, component: npt.ArrayLike) -> FloatArray:
    """The share of rounds (contestants,) in which each is first in its component.

    Those who are first together share the round equally.
    """
    drawn, group = _checked(samples, component)
    share = np.empty(drawn.shape[1])
    for number in np.unique(group):
        own = np.flatnonzero(group == number)
        first = drawn[:, own] >= drawn[:, own].max(axis=1, keepdims=True) - SAME
        share[own] = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    return share


def probability_above(samples: npt.ArrayLike, component: npt.ArrayLike) -> FloatArray:
    """[i, j] is the share of rounds in which i is above j; equals count half, NaN where not comparable."""
    drawn, group = _checked(samples, component)
    contestants = drawn.shape[1]
    share = np.full((contestants, contestants), np.nan)
    for i in range(contestants):
        others = np.flatnonzero((group == group[i]) & (np.arange(contestants) != i))
        lead = drawn[:, i : i + 1] - drawn[:, others]
        share[i, others] = 0.5 + 0.5 * ((lead > SAME).mean(axis=0) - (lead < -SAME).mean(axis=0))
    return share


@dataclass(frozen=True, eq=False)
class Groups:
    """Contestants that cannot be told apart; two share a letter if and only if they cannot."""

    members: tuple[tuple[int, ...], ...]  # of each group, best first, by component and best members
    letters: tuple[str, ...]  # of each contestant's groups, with spaces where there are more than 26
    level: float


def difference_errors(covariance: FloatArray, pull: FloatArray | None = None) -> FloatArray:
    """The standard error (contestants, contestants) of each difference of two strengths.

    With the ``pull`` of a sandwich it is at least what half a point more in one game between the two adds:
    few prompts often agree by chance, and scores that all agree have no variance.
    """
    error = np.sqrt(np.maximum(_of_differences(covariance), 0.0))
    return error if pull is None else np.maximum(error, 0.5 * _of_differences(pull))


def _of_differences(of_strengths: FloatArray) -> FloatArray:
    own = np.diag(of_strengths)
    return np.asarray(own[:, None] + own[None, :] - of_strengths - of_strengths.T)


def told_apart(
    rating: npt.ArrayLike, error: npt.ArrayLike, units: int, level: float, component: npt.ArrayLike
) -> BoolArray:
    """The matrix (contestants, contestants) of pairs told apart at ``level`` percent.

    Two are told apart where the interval of the difference of their ratings leaves 0 out: Student's t with
    ``units`` - 1 degrees of freedom times ``error``, as ``difference_errors`` gives it. Each pair is on its
    own, without a correction for the number of pairs.
    """
    rated, errors, group = (
        np.asarray(rating, dtype=float),
        np.asarray(error, dtype=float),
        np.asarray(component),
    )
    if not len(rated) == len(group) == len(errors):
        sizes = f"rating has {len(rated)}, error has {len(errors)}, component has {len(group)}"
        raise LengthMismatchError(f"the arrays differ in length: {sizes}")
    reach = student_reach(units, check_level(level))
    certain = np.abs(np.subtract.outer(rated, rated)) - reach * errors > SAME
    return np.asarray(_together(group) & certain)


def groups_not_told_apart(
    rating: npt.ArrayLike, error: npt.ArrayLike, units: int, level: float, component: npt.ArrayLike
) -> Groups:
    """The groups of contestants that ``told_apart`` leaves together (compact letter display, Piepho 2004).

    A group is a maximal set of contestants, no two of them told apart, best first.
    """
    group = np.asarray(component)
    apart = told_apart(rating, error, units, level, group)
    # Rounded as ratings are published: the last bits of equal ratings differ between processors.
    order = np.lexsort((-np.round(np.asarray(rating, dtype=float), DECIMALS), group))
    return _grouped(_together(group) & ~apart, order, level)


def _grouped(alike: BoolArray, order: IntArray, level: float) -> Groups:
    """The groups of contestants that are alike; ``order`` holds the contestants, best first."""
    found = _cover(alike[np.ix_(order, order)])
    members = tuple(tuple(order[list(places)].tolist()) for places in sorted(found))
    letters: list[list[str]] = [[] for _ in order]
    for number, those in enumerate(members):
        for contestant in those:
            letters[contestant].append(_letter(number))
    between = "" if len(members) <= len(ascii_lowercase) else " "
    return Groups(members, tuple(between.join(own) for own in letters), level)


def rank_interval(
    samples: npt.ArrayLike, level: float, component: npt.ArrayLike
) -> tuple[IntArray, IntArray]:
    """The best and the worst rank of each contestant that the samples leave possible.

    Percentiles of ranks over rounds fail where true strengths are close. Instead the differences to all
    others are bounded together, by the quantile over rounds of the largest standardised deviation (Mogstad,
    Romano, Shaikh and Wilhelm 2024).
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
    """How many of the leads (rounds, others) are above 0, and how many below, all holding together."""
    centre, spread = lead.mean(axis=0), lead.std(axis=0)
    doubtful = spread > SAME
    certain = ~doubtful & (np.abs(centre) > SAME)
    scale = np.where(doubtful, spread, 1.0)
    size, deviation = np.abs(centre) / scale, np.abs(lead - centre) / scale
    # Those already certain no longer count towards the largest deviation (Romano and Wolf 2005).
    while doubtful.any():
        found = doubtful & (size > np.percentile(deviation[:, doubtful].max(axis=1), level))
        if not found.any():
            break
        certain |= found
        doubtful &= ~found
    return int(np.count_nonzero(certain & (centre > 0))), int(np.count_nonzero(certain & (centre < 0)))


def _cover(alike: BoolArray) -> set[tuple[int, ...]]:
    """Maximal sets of places, best first, all alike, that together hold every alike pair."""
    # Naming every maximal set could take exponentially many; here each pair that no set holds yet starts one.
    # Where being alike is a matter of distance alone, these are all maximal sets.
    rows = [int.from_bytes(row.tobytes(), "little") for row in np.packbits(alike, axis=1, bitorder="little")]
    covered = [0] * len(rows)  # as in rows, each bit is a place
    found = set()
    for first in range(len(rows)):
        for second in np.flatnonzero(alike[first, first:])[::-1].tolist():
            if not covered[first] >> first + second & 1:
                places = _filled(rows, first, first + second)
                together = sum(1 << place for place in places)
                for place in places:
                    covered[place] |= together
                found.add(tuple(places))
    return found


def _filled(rows: list[int], first: int, second: int) -> list[int]:
    """A maximal set that holds ``first`` and ``second``, the places between them taken first."""
    chosen = [first] if first == second else [first, second]
    fits = rows[first] & rows[second] & ~(1 << first | 1 << second)
    farther = zip_longest(range(first - 1, -1, -1), range(second + 1, len(rows)), fillvalue=first)
    for place in chain(range(first + 1, second), chain.from_iterable(farther)):
        if fits >> place & 1:
            chosen.append(place)
            fits &= rows[place]
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
    return np.asarray(np.equal(component[:, None], component[None, :]))


def _checked(samples: npt.ArrayLike, component: npt.ArrayLike) -> tuple[FloatArray, IntArray]:
    drawn, group = np.asarray(samples, dtype=np.float64), np.asarray(component)
    if drawn.ndim != 2 or drawn.shape[1] != len(group):
        raise LengthMismatchError(
            f"samples has the shape {drawn.shape}, not (rounds, {len(group)}) as the components ask for"
        )
    if not drawn.size:
        raise NoGamesError("there are no samples to compare contestants by")
    return drawn, group
