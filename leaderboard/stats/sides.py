"""Verdicts beside right answers, as numbers: whose side they take, and the side that most take."""

from typing import Final

import numpy as np

from leaderboard.stats.checks import BoolArray, IntArray
from leaderboard.stats.verdicts import commonest

FIRST, TIE, SECOND = 1, 0, -1
UNSCORED, NOT_ASKED = 8, 9
SIDES: Final = {"first": FIRST, "tie": TIE, "second": SECOND}


def is_scored(verdicts: IntArray) -> BoolArray:
    return np.asarray(np.abs(verdicts) <= 1)


def counted(verdicts: IntArray) -> IntArray:
    """How often each instance got each side (instances, 3), from verdicts (raters, instances)."""
    return np.stack([(verdicts == side).sum(axis=0) for side in SIDES.values()], axis=1)


def majority(counts: IntArray) -> IntArray:
    """The commonest verdict of each instance, from ``counted``; TIE where several are as common."""
    place, alone = commonest(counts)
    return np.where(alone, FIRST - place, TIE)


def is_tied(counts: IntArray) -> BoolArray:
    """Where ties are the commonest verdict alone, from ``counted``."""
    place, alone = commonest(counts)
    return np.asarray(alone & (FIRST - place == TIE))
