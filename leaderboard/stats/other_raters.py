"""Whose opinions intervals over prompts hold fixed, and whether others' would matter."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import chdtri

from leaderboard.stats.bradley_terry import bradley_terry
from leaderboard.stats.checks import IntArray
from leaderboard.stats.choices import PROMPTS_AND_RATERS
from leaderboard.stats.games import FEWEST_CROSSED, Games
from leaderboard.stats.ratings import Ratings
from leaderboard.stats.sandwich import variance_by_source
from leaderboard.stats.verdicts import TieBand

# A standard error that grows by less is not worth a word.
_WORTH_SAYING: Final = 1.15
# The chance that raters of one taste are said to differ.
_ERROR: Final = 0.05


def same_raters(ratings: Ratings) -> int | None:
    """The number of raters, where intervals over prompts hold for these same raters only, else None.

    That is where raters are fewer than the prompts they share, so that other raters might say something else.
    n ratings, nᵣ from rater r, count as those of n² / Σ nᵣ² equally busy raters (Kish 1965), and likewise
    prompts.
    """
    if ratings.rater is None or ratings.prompt is None or not len(ratings):
        return None
    raters = int(ratings.rater.max()) + 1
    if raters < FEWEST_CROSSED or _equally_busy(ratings.rater) >= _equally_busy(ratings.prompt):
        return None
    return raters


def _equally_busy(number: IntArray) -> float:
    ratings = np.bincount(number).astype(np.float64)
    return float(ratings.sum() ** 2 / (ratings @ ratings))


@dataclass(frozen=True)
class OtherRaters:
    """What intervals over prompts leave out: the tastes of ``same`` raters.

    ``wider`` is how many times as large standard errors are that allow for other raters too, by
    Bradley-Terry; None where it has no finite answer. Raters ``differ`` where this is worth saying and
    chance alone seldom does it.
    """

    same: int
    wider: float | None = None
    differ: bool = False

    @classmethod
    def of(cls, ratings: Ratings, *, ties: bool, tie_band: TieBand | None = None) -> "OtherRaters | None":
        """None where intervals over prompts are not those of the same raters only."""
        same = same_raters(ratings)
        if same is None:
            return None
        games = ratings.games(ties=ties, resample=PROMPTS_AND_RATERS, tie_band=tie_band)
        return cls(same, *_apart(games)) if len(games) else cls(same)


def _apart(games: Games) -> tuple[float | None, bool]:
    """How much wider, and whether raters differ.

    Raters of one taste vary as much as the cells in which a rater meets a prompt: the ratio of the two
    variances is then about that of a χ² to its degrees of freedom.
    """
    fit = bradley_terry(games)
    found = variance_by_source(games, fit)
    # Beside a prior the scores of ratings do not average 0, and larger units seem to vary more.
    if found is None or fit.prior or not (found.cluster > 0.0).any():
        return None, False
    known = found.cluster > 0.0
    wider = float(np.sqrt(found.both[known]).mean() / np.sqrt(found.cluster[known]).mean())
    freedom = (games.units - 1) * (games.contestants - int(games.table.component.max()) - 1)
    by_chance = float(chdtri(freedom, _ERROR)) / freedom
    return wider, wider > _WORTH_SAYING and bool(found.crossed.sum() > by_chance * found.cell.sum())
