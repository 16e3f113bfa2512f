"""Bradley-Terry for graded ratings: a cumulative-logit model of the whole scale.

P(rating <= k) = F(tau_k + d), with F logistic and d = theta_first - theta_second + position + effects + lean.
Thresholds are symmetric about zero; ``position`` is the advantage of standing first.

Cumulative logits: McCullagh 1980. For paired comparisons: Tutz 1986; Agresti 1992. Covariates for length and
style: Li, Angelopoulos and Chiang 2024 (*Does style matter?*).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array

from leaderboard.stats.bootstrap import ROUNDS, Bootstrap, check_run, refit
from leaderboard.stats.bradley_terry import CENTRE, PARAMETERS, POINTS_PER_UNIT
from leaderboard.stats.checks import BoolArray, FloatArray, IntArray, NoGamesError
from leaderboard.stats.newton import Maximum
from leaderboard.stats.ordinal_likelihood import OrdinalLikelihood, WholeFit, fit_everything, width_slope
from leaderboard.stats.ordinal_table import make_table, threshold_rows
from leaderboard.stats.outcome_weights import DRAWN_TOGETHER
from leaderboard.stats.pair_table import ABOVE, BELOW
from leaderboard.stats.ratings import PROMPTS_AND_RATERS, Ratings
from leaderboard.stats.resampling import BLOCK, CLUSTER_DRAWS, CROSSED_DRAWS, number_of, times_drawn
from leaderboard.stats.sandwich import spread_of_units

# A strength that runs away gains about one unit in every step, the others hardly move.
_STILL: Final = 1e-3


@dataclass(frozen=True)
class Effect:
    """What one standard deviation more of a covariate does for the side that has it."""

    log_odds: float
    se: float  # of log_odds
    points: float  # log_odds in points
    sd: float  # in the covariate's own units, about zero


@dataclass(frozen=True, eq=False)
class OrdinalFit:
    """The ordinal model fitted to all ratings."""

    rating: FloatArray  # strengths (contestants,)
    rating_se: FloatArray
    position: float  # advantage of standing first in log-odds, 0 where not fitted
    position_se: float
    thresholds: dict[int, FloatArray]  # tau_1..tau_(n-1) by scale
    effects: dict[str, Effect]
    rater_lean: FloatArray | None  # towards the first, shrunk towards 0
    lean_sd: float | None  # spread of leans
    prior: bool  # whether no finite maximum exists and parameters got drawn games
    unbounded: tuple[str | None, ...]  # "above", "below" or None
    unbounded_position: str | None  # likewise
    unbounded_effects: tuple[str, ...]  # their names
    component: IntArray  # connected groups (contestants,), each averaging 1000
    covariance: FloatArray  # of all parameters, in log-odds
    units: int  # independent things behind it

    @property
    def position_points(self) -> float:
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

    ``adjust`` names covariates; ``raters`` gives each rater a lean towards the first. Standard errors are
    clustered by ``resample``, None being prompts where they are known. Raises NoGamesError, and
    ParameterError for what is missing or cannot be told from the contestants.
    """
    if not len(ratings):
        raise NoGamesError("there are no ratings to rank")
    unit = ratings.prompt if resample is None else ratings.unit(resample)
    crossed = None if resample is None else ratings.crossed(resample)
    fit = fit_everything(make_table(ratings, position=position, adjust=adjust, raters=raters))
    units = min(filter(None, map(number_of, (unit, crossed))), default=len(ratings))
    return _described(fit, sandwich(fit, unit, crossed, of_raters=resample == "raters"), units)


def _described(fit: WholeFit, covariance: FloatArray, units: int) -> OrdinalFit:
    table, layout, place = fit.table, fit.table.layout, fit.reference.x[:, 0]
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    centred = (place - table.gauge @ place)[: layout.contestants]
    ends = [None if abs(step) < _STILL else ABOVE if step > 0 else BELOW for step in fit.running.tolist()]
    effects = zip(layout.effects, ends[layout.effects_at], strict=True)
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
        unbounded=tuple(ends[: layout.contestants]),
        unbounded_position=next(iter(ends[layout.position_at]), None),
        unbounded_effects=tuple(name for name, end in effects if end),
        component=table.component,
        covariance=covariance,
        units=units,
    )


def sandwich(
    fit: WholeFit, unit: IntArray | None, crossed: IntArray | None = None, *, of_raters: bool
) -> FloatArray:
    """The cluster-robust covariance (parameters, parameters) of the fit (Huber 1967; Liang and Zeger 1986).

    ``unit`` numbers what goes together, None for single ratings; ``crossed`` the raters where they are a
    second kind. ``of_raters`` tells that units are raters, each with the pull on its lean.
    """
    pull = _pull(fit)
    of_units = pull if of_raters else None
    meat = spread_of_units(_slopes(fit), fit.table.of_rating, unit, crossed, of_units, pull)
    bread = fit.reference.inverse - fit.table.gauge @ fit.reference.inverse
    return np.asarray(bread @ meat @ bread.T)


def _pull(fit: WholeFit) -> Any:
    """The slope of the penalty on each rater's lean, sparse (raters, parameters); None without leans."""
    layout, likelihood = fit.table.layout, fit.reference.likelihood
    rater = np.arange(layout.raters)
    slope = -(likelihood.penalty * fit.reference.x)[layout.leans_at, 0]
    places = (rater, layout.leans_at.start + rater)
    return csr_array((slope, places), shape=(layout.raters, layout.size)) if layout.raters else None


def _slopes(fit: WholeFit) -> Any:
    """What one of each distinct rating adds to the slope, sparse (distinct, parameters)."""
    table = fit.table
    chance = 0.5 + 0.5 * np.tanh(0.5 * (table.design @ fit.reference.x))
    won, lost, inside = (part[:, : table.distinct] for part in (table.won, table.lost, table.inside))
    surplus = won * (1.0 - chance) - lost * chance
    between = inside * width_slope(table.widths @ fit.reference.x)
    return (table.design_by_parameter @ surplus + csr_array(table.widths.T) @ between).T.tocsr()


# The size of arrays of cells (or of a curvature) and rounds: bounds memory, and fits a cache.
_NUMBERS_AT_ONCE: Final = 250_000


def bootstrap_ordinal(
    ratings: Ratings,
    *,
    resample: str = "prompts",
    rounds: int = ROUNDS,
    seed: int = 0,
    threads: int | None = None,
    position: bool = True,
    adjust: Sequence[str] = (),
    raters: bool = False,
) -> Bootstrap:
    """Fit the ordinal model to ``rounds`` resamples (other arguments as for ordinal).

    Position and effects are in log-odds; every round takes the spread of leans from all ratings.
    """
    if not len(ratings):
        raise NoGamesError("there are no ratings to resample")
    check_run(rounds, seed, threads)
    unit, crossed, used = ratings.unit(resample), ratings.crossed(resample), threads or 1
    table = make_table(ratings, position=position, adjust=adjust, raters=raters)
    whole, layout = fit_everything(table), table.layout
    numbers_of_round = max(table.design.shape[0], layout.size**2)
    place, prior = refit(
        lambda weights, some: fit_rounds(whole, weights, _raters_drawn(layout.raters, resample, seed, some)),
        table.distinct_ratings,
        unit,
        crossed,
        rounds=rounds,
        seed=seed,
        together=max(1, min(DRAWN_TOGETHER, _NUMBERS_AT_ONCE // numbers_of_round) // BLOCK) * BLOCK,
        threads=used,
    )
    centred = (place - table.gauge @ place)[: layout.contestants]
    return Bootstrap(
        CENTRE + POINTS_PER_UNIT * np.ascontiguousarray(centred.T),
        PARAMETERS,
        seed,
        number_of(unit),
        number_of(crossed),
        used,
        others={"position": place[layout.position_at].sum(axis=0)},
        effects=dict(zip(layout.effects, place[layout.effects_at], strict=True)),
        prior_rounds=int(prior.sum()),
        component=table.component,
    )


def _raters_drawn(leaning: int, resample: str, seed: int, rounds: IntArray) -> FloatArray | None:
    """How often each of the raters whose leans are fitted is drawn, (raters, rounds); None where none is."""
    purpose = {"raters": CLUSTER_DRAWS, PROMPTS_AND_RATERS: CROSSED_DRAWS}.get(resample)
    if purpose is None or not leaning:
        return None
    return times_drawn(seed, rounds, leaning, purpose).T.astype(np.float64)


def fit_rounds(
    fit: WholeFit, weights: FloatArray, raters_drawn: FloatArray | None = None
) -> tuple[FloatArray, BoolArray]:
    """The parameters of each round of ``weights`` (distinct ratings, rounds), and which took the prior.

    A rater drawn twice (``raters_drawn``) has its lean, and the pull on it, twice. Rounds in which a
    contestant lost its connection, or without a finite maximum, take the prior.
    """
    prior = fit.table.falls_apart(weights) | fit.prior
    penalty = np.repeat(fit.reference.likelihood.penalty, weights.shape[1], axis=1)
    if raters_drawn is not None:
        # Somebody who was not drawn has no ratings in the round; the pull keeps the lean at zero.
        penalty[fit.table.layout.leans_at] *= np.maximum(raters_drawn, 1.0)
    rounds = OrdinalLikelihood.of(fit.table, weights, prior[None], penalty)
    place, step = fit.reference.climb(rounds)
    lost = np.flatnonzero(~prior & ~Maximum(place, step).settled)
    if len(lost):
        prior[lost] = True
        again = replace(rounds, prior=prior[None]).only(lost)
        place[:, lost] = fit.reference.climb(again).x
    return place, prior
