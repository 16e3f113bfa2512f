"""Bradley-Terry for graded ratings: a cumulative-logit model of the whole scale.

P(rating <= k) = F(tau_k + d), with F logistic and d = theta_first - theta_second + position + effects + lean:
1 says that the first is much better, so a larger d gives smaller ratings. Thresholds are symmetric about
zero, so ``position`` is the advantage, in log-odds, of standing first, and looking at the same comparisons
in a mirror changes no rating of a contestant. On 2 points this is Bradley-Terry (with a position term).
Scales of different length in one data set have thresholds of their own and share everything else.

Cumulative logits: McCullagh 1980. For paired comparisons: Tutz 1986; Agresti 1992. Effects of length and
style as covariates: Li, Angelopoulos and Chiang 2024 (*Does style matter?*).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from leaderboard.stats.bradley_terry.fit import CENTRE, POINTS_PER_UNIT
from leaderboard.stats.connectivity import ABOVE, BELOW
from leaderboard.stats.errors import NoGamesError
from leaderboard.stats.games import FloatArray, IntArray
from leaderboard.stats.ordinal.cells import make_table
from leaderboard.stats.ordinal.fitting import WholeFit, fit_everything
from leaderboard.stats.ordinal.sandwich import sandwich
from leaderboard.stats.ordinal.scale import threshold_rows
from leaderboard.stats.ratings import Ratings

_STILL: Final = 1e-3
"""A rating that runs away gains about one unit in every step, the others hardly move."""


@dataclass(frozen=True)
class Effect:
    """What one standard deviation more of a covariate does for the side that has it.

    ``log_odds`` and its standard error ``se``; the same in rating ``points``; ``sd`` is the standard
    deviation in the covariate's own units, about zero because sides are arbitrary.
    """

    log_odds: float
    se: float
    points: float
    sd: float


@dataclass(frozen=True, eq=False)
class OrdinalFit:
    """The ordinal model fitted to all ratings.

    ``rating`` (contestants,) is on Elo's scale, 1000 on average in each ``component``; ``rating_se`` is its
    standard error. ``position`` is the advantage of standing first in log-odds (0 where it is not fitted, and
    its standard error with it); ``thresholds`` holds tau_1..tau_(n-1) for each scale of n points in the
    data; ``effects`` the covariates adjusted for, by name. ``rater_lean`` (raters,) is how much each rater
    leans towards the first beyond that, shrunk towards 0, and ``lean_sd`` the spread of leans among raters
    (None where they are not fitted). ``prior`` says that no finite maximum exists and that contestants,
    position and effects were given drawn games (see bradley_terry); ``unbounded`` says for each contestant
    whether its rating would have gone "above" or "below" any bound, or None. ``covariance`` is that of all
    parameters in log-odds, robust to ratings of one unit going together; ``units`` counts those.
    """

    rating: FloatArray
    rating_se: FloatArray
    position: float
    position_se: float
    thresholds: dict[int, FloatArray]
    effects: dict[str, Effect]
    rater_lean: FloatArray | None
    lean_sd: float | None
    prior: bool
    unbounded: tuple[str | None, ...]
    component: IntArray
    covariance: FloatArray
    units: int

    @property
    def position_points(self) -> float:
        """The advantage of standing first in rating points."""
        return self.position * POINTS_PER_UNIT


def ordinal(
    ratings: Ratings,
    *,
    position: bool = True,
    adjust: Sequence[str] = (),
    raters: bool = False,
    resample: str | None = None,
) -> OrdinalFit:
    """Fit the ordinal model by penalised maximum likelihood.

    ``adjust`` names covariates of the ratings; ``raters`` gives each rater a lean towards the first.
    Standard errors are robust to ratings of one unit going together: ``resample`` is one of RESAMPLE, and
    None is prompts where they are known. Raises NoGamesError without ratings and ParameterError
    for covariates or raters that are missing, and for effects that cannot be told from the contestants.
    """
    if not len(ratings):
        raise NoGamesError("there are no ratings to rank")
    unit, crossed = _unit(ratings, resample), None if resample is None else ratings.crossed(resample)
    fit = fit_everything(make_table(ratings, position=position, adjust=adjust, raters=raters))
    units = min((int(kind.max()) + 1 for kind in (unit, crossed) if kind is not None), default=len(ratings))
    return _described(fit, sandwich(fit, unit, crossed, of_raters=resample == "raters"), units)


def _unit(ratings: Ratings, resample: str | None) -> IntArray | None:
    return ratings.prompt if resample is None else ratings.unit(resample)


def _described(fit: WholeFit, covariance: FloatArray, units: int) -> OrdinalFit:
    table, layout, place = fit.model.table, fit.model.table.layout, fit.place[:, 0]
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    centred = (place - table.gauge @ place)[: layout.contestants]
    return OrdinalFit(
        rating=CENTRE + POINTS_PER_UNIT * centred,
        rating_se=POINTS_PER_UNIT * error[: layout.contestants],
        position=float(place[layout.position_at].sum()),
        position_se=float(error[layout.position_at].sum()),
        thresholds={n: threshold_rows(n) @ place[layout.thresholds_at(n)] for n in layout.scales},
        effects={
            name: Effect(float(odds), float(se), float(odds) * POINTS_PER_UNIT, float(sd))
            for name, odds, se, sd in zip(
                layout.effects,
                place[layout.effects_at],
                error[layout.effects_at],
                table.deviation,
                strict=True,
            )
        },
        rater_lean=place[layout.leans_at] if layout.raters else None,
        lean_sd=fit.lean_sd if layout.raters else None,
        prior=fit.prior,
        unbounded=tuple(_direction(step) for step in fit.running.tolist()),
        component=table.component,
        covariance=covariance,
        units=units,
    )


def _direction(step: float) -> str | None:
    if abs(step) < _STILL:
        return None
    return ABOVE if step > 0 else BELOW
