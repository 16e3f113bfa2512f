"""Answers as the leaderboard reads them, made by hand for tests of the comparison browser."""

from typing import NamedTuple

import numpy as np

from leaderboard.snapshots.opinions import _DTYPE


class Answer(NamedTuple):
    """One answer; ``rating`` 0 with a reason for none."""

    id: int
    pair: int
    rater: int
    rating: int
    swapped: bool = False
    points: int = 8
    reason: str = ""
    prompt: int = 1


def rows(*answers):
    """The structured array of Opinions. The texts of pair p are 10 p + 1 (its first) and 10 p + 2."""
    found = np.zeros(len(answers), dtype=_DTYPE)
    for row, answer in zip(found, answers, strict=True):
        texts = (10 * answer.pair + 1, 10 * answer.pair + 2)
        for name, value in answer._asdict().items():
            row[name] = value
        row["first_text"], row["second_text"] = texts[::-1] if answer.swapped else texts
    return found
