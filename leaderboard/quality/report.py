"""What raters are told about how they rate, so that it tells nothing about a single pair.

While a study is open, figures that depend on what others said, or on right answers, follow in steps of STEP:
from one pair to the next they stay, so nobody learns what was right, or what others said, about the pair just
rated. No contestant is named or counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from arena.models import Rater, Study
from leaderboard.quality.cells import NOTHING, Shown, plain_agreement, share, shown
from leaderboard.quality.figures import CHECK, NO_GOLD, STUDY, Figures, of_parts, votes

STEP: Final = 10
"""Comparisons, or known pairs, after which such a figure follows; there is none of fewer."""


@dataclass(frozen=True)
class Report:
    """Cells of the page: of everything rated, and in steps ``agreement`` with others and ``known`` pairs."""

    own: Figures
    cells: dict[str, Shown]
    agreement: Shown
    known: Shown
    in_steps: bool


def report(study: Study, rater: Rater) -> Report | None:
    """The figures of one rater; None for somebody who has rated nothing."""
    found = votes(study, rater)
    rows = found.rows
    mine = rows["rater"] == rater.pk
    if not (mine & (rows["purpose"] == STUDY)).any():
        return None
    step = 1 if study.is_closed else STEP
    is_known = mine & (rows["gold"] != NO_GOLD) & np.isin(rows["purpose"], (STUDY, CHECK))
    own, rated, known = of_parts(
        found, mine, _first(mine & (rows["purpose"] == STUDY), step), _first(is_known, step)
    )
    return Report(
        own=own,
        cells=shown(own),
        agreement=plain_agreement(rated) if rated.agreement.share.n >= STEP else NOTHING,
        known=share(known.known) if known.known.n >= STEP else NOTHING,
        in_steps=not study.is_closed,
    )


def _first(chosen: npt.NDArray[Any], step: int) -> npt.NDArray[np.bool_]:
    """As many of the chosen rows, from the first on, as are a multiple of ``step``."""
    whole = int(chosen.sum()) // step * step
    first: npt.NDArray[np.bool_] = chosen & (np.cumsum(chosen) <= whole)
    return first
