"""How well a rater rates: agreement with others, consistency, speed, and a test of votes against others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from arena.rating.pace import FLOOR
from leaderboard.stats import coefficients
from leaderboard.stats.checks import FloatArray, IntArray, LengthMismatchError, ParameterError
from leaderboard.stats.clustered_means import ClusteredMean, share_over_prompts
from leaderboard.stats.descriptive import describe
from leaderboard.stats.plain_values import plain
from leaderboard.stats.shares import Share, wilson_share
from leaderboard.stats.sums import ratio
from leaderboard.stats.verdicts import commonest, verdicts

VERDICTS = 3


@dataclass(frozen=True)
class WithOthers:
    """One rater's agreement with the majority of others."""

    share: ClusteredMean  # with its interval over prompts
    kappa: float | None  # Cohen's (1960), None where all verdicts are the same


def majority_of_others(
    pair: npt.ArrayLike, rater: npt.ArrayLike, verdict: npt.ArrayLike, kept: npt.ArrayLike | None = None
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """The verdict (-1, 0, 1) most frequent among the others of each one's pair, and whether there is one.

    ``kept`` marks the verdicts that count as those of others, by default all.
    """
    pairs, raters, given = (np.asarray(each, dtype=np.int64) for each in (pair, rater, verdict))
    if not len(pairs) == len(raters) == len(given):
        raise LengthMismatchError("pair, rater and verdict must have the same length")
    counted = np.ones(len(pairs), dtype=np.bool_) if kept is None else np.asarray(kept, dtype=np.bool_)
    place = np.unique(pairs, return_inverse=True)[1]
    own = np.unique(place * (raters.max(initial=0) + 1) + raters, return_inverse=True)[1]
    others = _counts(place, given, counted)[place] - _counts(own, given, counted)[own]
    most, known = commonest(others)
    return np.where(known, most - 1, 0), known


def _counts(group: IntArray, verdict: IntArray, counted: npt.NDArray[np.bool_]) -> IntArray:
    """How often each verdict that counts was given in each group: (groups, 3)."""
    groups = int(group.max(initial=-1)) + 1
    found = np.bincount((group * VERDICTS + verdict + 1)[counted], minlength=groups * VERDICTS)
    return found.reshape(groups, VERDICTS)


def with_others(
    verdict: npt.ArrayLike, majority: npt.ArrayLike, prompt: npt.ArrayLike, level: float = 95.0
) -> WithOthers:
    """One rater's verdicts against the majorities of others; the interval lets prompts vary, not pairs."""
    own, most = np.asarray(verdict, dtype=np.int64), np.asarray(majority, dtype=np.int64)
    return WithOthers(share_over_prompts(own == most, prompt, level), kappa(own, most))


def kappa(one: npt.ArrayLike, other: npt.ArrayLike) -> float | None:
    """Cohen's kappa of verdicts, unweighted; None where it is not defined."""
    own, most = np.asarray(one, dtype=np.int64), np.asarray(other, dtype=np.int64)
    counts = [np.bincount(each + 1, minlength=VERDICTS) for each in (own, most)]
    return plain(coefficients.kappa(len(own), (own == most).sum(), *counts))


@dataclass(frozen=True)
class Consistency:
    """How alike two ratings of the same pairs are."""

    same: Share  # verdicts
    apart: float | None  # mean difference in points


def consistency(
    before: npt.ArrayLike,
    again: npt.ArrayLike,
    points: npt.ArrayLike,
    prompt: npt.ArrayLike,
    level: float = 95.0,
) -> Consistency:
    """Ratings of the same pairs given twice, on scales of ``points``, both in the pair's own orientation."""
    one, other, size, of = (np.asarray(each, dtype=np.int64) for each in (before, again, points, prompt))
    if not len(one) == len(other) == len(size) == len(of):
        raise LengthMismatchError("before, again, points and prompt must have the same length")
    same = share_by_prompt(verdicts(one, size) == verdicts(other, size), of, level)
    return Consistency(same, float(np.abs(one - other).mean()) if len(one) else None)


def share_by_prompt(which: npt.ArrayLike, prompt: npt.ArrayLike, level: float = 95.0) -> Share:
    """How many of these, with an interval that lets prompts vary; none for a single prompt."""
    chosen = np.asarray(which, dtype=np.float64)
    found = share_over_prompts(chosen, prompt, level)
    return Share(int(chosen.sum()), len(chosen), found.value, found.low, found.high)


@dataclass(frozen=True)
class Speed:
    """Median and quartiles of the known seconds, and the share below ``floor``."""

    n: int
    median: float | None
    lower: float | None
    upper: float | None
    floor: float
    below: Share


def speed(seconds: npt.ArrayLike, floor: float = FLOOR, level: float = 95.0) -> Speed:
    """Speed from the seconds of each comparison; NaN where they are not known."""
    known = np.asarray(seconds, dtype=np.float64)
    known = known[np.isfinite(known)]
    below = wilson_share(int((known < floor).sum()), len(known), level)
    found = describe(known)
    return Speed(found.count, found.median, found.q1, found.q3, floor, below)


@dataclass(frozen=True)
class Apart:
    """How far one rater's scores are from the mean of others' scores of the same texts."""

    n: int
    absolute: float | None  # mean absolute difference
    signed: float | None  # mean difference; above 0 for a rater who gives more


def means_of_others(
    text: npt.ArrayLike, rater: npt.ArrayLike, score: npt.ArrayLike, kept: npt.ArrayLike
) -> FloatArray:
    """What others gave to each one's text on average, NaN where no other did; ``kept`` marks who counts."""
    place = np.unique(np.asarray(text), return_inverse=True)[1]
    own = np.unique(np.stack([place, np.asarray(rater)]), axis=1, return_inverse=True)[1].reshape(-1)
    given, counted = np.asarray(score, dtype=np.float64), np.asarray(kept, dtype=np.float64)
    others = np.bincount(place, counted)[place] - np.bincount(own, counted)[own]
    total = np.bincount(place, counted * given)[place] - np.bincount(own, counted * given)[own]
    return ratio(total, others)


def apart(score: npt.ArrayLike, others: npt.ArrayLike) -> Apart:
    """One rater's scores against the means of others, NaN where there are none."""
    differences = np.asarray(score, dtype=np.float64) - np.asarray(others, dtype=np.float64)
    known = differences[np.isfinite(differences)]
    if not len(known):
        return Apart(0, None, None)
    return Apart(len(known), float(np.abs(known).mean()), float(known.mean()))


# A sequential test by betting, as Chatbot Arena filters its voters (FastChat, lmsys; e-values: Vovk and Wang
# 2021, Ville 1939). For each vote p is the share of others' votes between the same two contestants, this one
# included, that are as far against the favourite; a stake on p being small is paid 1 / (2 p). Votes drawn
# like those of others lose or break even on average, so the product made from 1 exceeds 1 / alpha at any time
# with a probability of at most alpha. Published is the product in both directions of a fixed order of
# contestants (``oriented`` False), either of which raises the alarm: at most 2 alpha; but there random clicks
# win in one order of the names what they lose in the other.

ALPHA: Final = 0.05
# Votes of a rater from which the alarm may be raised.
FEWEST_VOTES: Final = 5


@dataclass(frozen=True)
class Outlier:
    """What betting against a rater brought."""

    votes: int  # that could be compared with others'
    most: float  # largest product from FEWEST_VOTES votes on
    at: int | None  # the vote, from 1, that first passed the limit

    @property
    def flagged(self) -> bool:
        return self.at is not None


def outliers(
    rater: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    won: npt.ArrayLike,
    alpha: float = ALPHA,
    *,
    kept: npt.ArrayLike | None = None,
    oriented: bool = True,
) -> dict[int, Outlier]:
    """Every rater's test, from votes in the order they were given, without ties.

    A vote counts where others voted between the same contestants; ``kept`` marks the votes that count as
    those of others, by default all.
    """
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha is {alpha}; it must lie between 0 and 1")
    who, one, other = (np.asarray(each, dtype=np.int64) for each in (rater, first, second))
    for_first = np.asarray(won, dtype=np.bool_)
    if not len(who) == len(one) == len(other) == len(for_first):
        raise LengthMismatchError("rater, first, second and won must have the same length")
    for_low = np.where(one <= other, for_first, ~for_first)
    key = np.minimum(one, other) * (max(one.max(initial=0), other.max(initial=0)) + 1) + np.maximum(
        one, other
    )
    match = np.unique(key, return_inverse=True)[1]
    counted = np.ones(len(who)) if kept is None else np.asarray(kept, dtype=np.float64)
    others, of_them_low = _others(who, match, for_low, counted)
    known = others > 0
    bets = bets_of(for_low[known], others[known], of_them_low[known], oriented=oriented)
    order = np.argsort(who[known], kind="stable")
    raters, start = np.unique(who[known][order], return_index=True)
    parts = np.split(bets[:, order], start[1:], axis=1) if len(raters) else []
    return {int(pk): _run(part, alpha) for pk, part in zip(raters, parts, strict=True)}


def _others(
    rater: IntArray, match: IntArray, for_low: npt.NDArray[np.bool_], counted: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Others' votes between the contestants of each vote, and those of them for the lower number."""
    own = np.unique(match * (rater.max(initial=0) + 1) + rater, return_inverse=True)[1]

    def by_others(weights: FloatArray) -> FloatArray:
        found = np.bincount(match, weights)[match] - np.bincount(own, weights)[own]
        return np.asarray(found, dtype=np.float64)

    return by_others(counted), by_others(counted * for_low)


def bets_of(
    for_low: npt.NDArray[np.bool_], others: FloatArray, low: FloatArray, *, oriented: bool
) -> FloatArray:
    """What each vote pays, as logarithms: one row for each direction.

    ``others`` voted between the same two contestants, ``low`` of them for the lower number.
    """
    share = (np.where(for_low, low, others - low) + 1.0) / (others + 1.0)
    pays, loses = -np.log(2.0 * share), np.full(len(share), -np.log(2.0))
    if not oriented:
        return np.stack((np.where(for_low, pays, loses), np.where(for_low, loses, pays)))
    # With the vote itself: then who is the favourite says nothing about which of the votes is this one.
    ahead = 2.0 * (low + for_low) - (others + 1.0)
    favours_low, even = ahead > 0, ahead == 0
    against = (for_low != favours_low) & ~even
    return np.where(even, 0.0, np.where(against, pays, loses))[None, :]


def _run(bets: FloatArray, alpha: float) -> Outlier:
    made = np.cumsum(bets, axis=1).max(axis=0)
    late = made[FEWEST_VOTES - 1 :]
    passed: Sequence[int] = np.flatnonzero(late > -np.log(alpha)).tolist()
    at = passed[0] + FEWEST_VOTES if passed else None
    return Outlier(len(made), float(np.exp(min(late.max(), 700.0))) if len(late) else 1.0, at)
