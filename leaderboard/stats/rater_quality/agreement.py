"""How often a rater's verdict is that of most others on the same pair, also beyond chance.

A verdict is first, tie or second in terms of the pair, whichever was shown first. A pair counts for a rater
where others have rated it and one verdict is more frequent among them than any other. Beyond chance is
Cohen's kappa (1960) of the rater with that majority: chance is what two raters would agree on who gave the
same numbers of each verdict regardless of the pair.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bias.clustered import Estimate, share_estimate
from leaderboard.stats.errors import LengthMismatchError
from leaderboard.stats.plain_values import IntArray

VERDICTS = 3


@dataclass(frozen=True)
class WithOthers:
    """One rater's agreement with the majority of others, its interval over prompts, and kappa.

    kappa is None where it is not defined: nothing compared, or all verdicts the same.
    """

    share: Estimate
    kappa: float | None


def majority_of_others(
    pair: npt.ArrayLike, rater: npt.ArrayLike, verdict: npt.ArrayLike, kept: npt.ArrayLike | None = None
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """The verdict (-1, 0, 1) most frequent among the others of each one's pair, and whether there is one.

    All verdicts of the same rater on the pair are left aside. Without a single most frequent one it is 0 and
    False. ``kept`` says which verdicts count as those of others, all of them unless it is given.
    """
    pairs, raters, given = (np.asarray(each, dtype=np.int64) for each in (pair, rater, verdict))
    if not len(pairs) == len(raters) == len(given):
        raise LengthMismatchError("pair, rater and verdict must have the same length")
    counted = np.ones(len(pairs), dtype=np.bool_) if kept is None else np.asarray(kept, dtype=np.bool_)
    place = np.unique(pairs, return_inverse=True)[1]
    own = np.unique(place * (raters.max(initial=0) + 1) + raters, return_inverse=True)[1]
    others = _counts(place, given, counted)[place] - _counts(own, given, counted)[own]
    most = others.max(axis=1, initial=0)
    known = (most > 0) & ((others == most[:, None]).sum(axis=1) == 1)
    return np.where(known, others.argmax(axis=1) - 1, 0), known


def _counts(group: IntArray, verdict: IntArray, counted: npt.NDArray[np.bool_]) -> IntArray:
    """How often each verdict was given in each group, of those that count: (groups, 3)."""
    groups = int(group.max(initial=-1)) + 1
    found = np.bincount((group * VERDICTS + verdict + 1)[counted], minlength=groups * VERDICTS)
    return found.reshape(groups, VERDICTS)


def with_others(
    verdict: npt.ArrayLike, majority: npt.ArrayLike, prompt: npt.ArrayLike, level: float = 95.0
) -> WithOthers:
    """One rater's verdicts against the majorities of others. The interval lets prompts vary, not pairs."""
    own, most = np.asarray(verdict, dtype=np.int64), np.asarray(majority, dtype=np.int64)
    place = np.unique(np.asarray(prompt), return_inverse=True)[1]
    agreed = np.bincount(place, own == most).astype(np.float64)
    return WithOthers(share_estimate(agreed, np.bincount(place).astype(np.float64), level), kappa(own, most))


def kappa(one: npt.ArrayLike, other: npt.ArrayLike) -> float | None:
    """Cohen's kappa of verdicts, unweighted; None where it is not defined."""
    own, most = np.asarray(one, dtype=np.int64), np.asarray(other, dtype=np.int64)
    if not len(own):
        return None
    counts = [np.bincount(each + 1, minlength=VERDICTS) / len(own) for each in (own, most)]
    chance = float(counts[0] @ counts[1])
    if chance >= 1.0 - 1e-12:
        return None
    return (float((own == most).mean()) - chance) / (1.0 - chance)
