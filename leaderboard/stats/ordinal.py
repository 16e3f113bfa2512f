"""Bradley-Terry for graded ratings: a cumulative-logit model of the whole scale.

P(rating <= k) = F(tau_k + d), with F logistic and d = theta_first - theta_second + position + effects + lean.
Thresholds are symmetric about zero; ``position`` is the advantage of standing first.

Cumulative logits: McCullagh 1980. For paired comparisons: Tutz 1986; Agresti 1992. Covariates for length and
style: Li, Angelopoulos and Chiang 2024 (*Does style matter?*).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.sparse import csr_array

from leaderboard.stats.bootstrap import ROUNDS, Bootstrap, check_run, refit
from leaderboard.stats.bradley_terry import CENTRE, PARAMETERS, POINTS_PER_UNIT
from leaderboard.stats.checks import BoolArray, FloatArray, IntArray, NoGamesError
from leaderboard.stats.ordinal_likelihood import Sums, WholeFit, fit_everything, settled, width_slope
from leaderboard.stats.ordinal_table import make_table, threshold_rows
from leaderboard.stats.outcome_weights import DRAWN_TOGETHER
from leaderboard.stats.pair_table import ABOVE, BELOW
from leaderboard.stats.ratings import PROMPTS_AND_RATERS, Ratings
from leaderboard.stats.resampling import CLUSTER_DRAWS, CROSSED_DRAWS, number_of, times_drawn
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
    table, layout, place = fit.model.table, fit.model.table.layout, fit.place[:, 0]
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


_UNITS_AT_ONCE: Final = 4096


def sandwich(
    fit: WholeFit, unit: IntArray | None, crossed: IntArray | None = None, *, of_raters: bool
) -> FloatArray:
    """The cluster-robust covariance (parameters, parameters) of the fit (Huber 1967; Liang and Zeger 1986).

    ``unit`` numbers what goes together, None for single ratings; ``crossed`` the raters where they are a
    second kind. ``of_raters`` tells that units are raters, each with the pull on its lean.
    """
    table, slopes = fit.model.table, _slopes(fit)
    meat = spread_of_units(
        lambda units: _spread(fit, slopes, units, of_raters),
        unit,
        crossed,
        lambda raters: _spread(fit, slopes, raters, of_raters=True),
    )
    bread = fit.inverse - table.gauge @ fit.inverse
    return bread @ meat @ bread.T


def _spread(fit: WholeFit, slopes: Any, unit: IntArray | None, of_raters: bool) -> FloatArray:
    """The sum over units of the outer products of their slopes, times G / (G - 1)."""
    table = fit.model.table
    if unit is None:
        units = int(table.count.sum())
        half = slopes * np.sqrt(table.count)
        meat = (half @ half.T).toarray()
    else:
        units = int(unit.max(initial=-1)) + 1
        totals = slopes @ csr_array(
            (np.ones(len(unit)), (table.of_rating, unit)), shape=(table.distinct, units)
        )
        meat = np.zeros((table.layout.size, table.layout.size))
        for start in range(0, units, _UNITS_AT_ONCE):
            part = totals[:, start : start + _UNITS_AT_ONCE].toarray()
            if of_raters and table.layout.raters:
                _pull(fit, part, start)
            meat += part @ part.T
    return np.asarray(meat * (units / max(units - 1, 1)))


def _pull(fit: WholeFit, part: FloatArray, start: int) -> None:
    """Add to each rater's column, from ``start``, the slope of the penalty on its lean."""
    leans = fit.model.table.layout.leans_at
    row = leans.start + start + np.arange(part.shape[1])
    part[row, np.arange(part.shape[1])] -= (fit.penalty * fit.place)[row, 0]


def _slopes(fit: WholeFit) -> Any:
    """What one of each distinct rating adds to the slope, sparse (parameters, distinct)."""
    table = fit.model.table
    chance = 0.5 + 0.5 * np.tanh(0.5 * (table.design @ fit.place))
    won, lost, inside = (part[:, : table.distinct] for part in (table.won, table.lost, table.inside))
    surplus = won * (1.0 - chance) - lost * chance
    between = inside * width_slope(table.widths @ fit.place)

    return (table.design_by_parameter @ surplus + csr_array(table.widths.T) @ between).tocsr()


# The maximum of a resample lies near that of all ratings, so one inverse curvature, taken there, serves
# every round. Rounds this does not settle, that need the prior, or in which a contestant lost its
# connection get Newton steps of their own.

_CHORD_STEPS: Final = 20
_LONGEST_CHORD: Final = 1.0
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
    place, prior = refit(
        lambda weights, some: fit_rounds(whole, weights, _raters_drawn(layout.raters, resample, seed, some)),
        table.distinct_ratings,
        unit,
        crossed,
        rounds=rounds,
        seed=seed,
        together=DRAWN_TOGETHER,
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

    A rater drawn twice (``raters_drawn``) has its lean, and the pull on it, twice.
    """
    table = fit.model.table
    numbers_of_round = max(table.design.shape[0], table.layout.size**2)
    parts = -(-numbers_of_round * weights.shape[1] // _NUMBERS_AT_ONCE)
    some = (part for part in np.array_split(np.arange(weights.shape[1]), parts) if len(part))
    places, priors = zip(
        *(
            _fit_part(fit, weights[:, part], None if raters_drawn is None else raters_drawn[:, part])
            for part in some
        ),
        strict=True,
    )
    return np.concatenate(places, axis=1), np.concatenate(priors)


def _fit_part(
    fit: WholeFit, weights: FloatArray, raters_drawn: FloatArray | None
) -> tuple[FloatArray, BoolArray]:
    rounds = weights.shape[1]
    prior = fit.model.table.falls_apart(weights) | fit.prior
    sums = Sums.of(fit.model.table, weights, prior, _penalty(fit, rounds, raters_drawn))
    place, done = np.repeat(fit.place, rounds, axis=1), np.zeros(rounds, dtype=bool)
    shared = np.flatnonzero(prior == fit.prior)
    if len(shared):
        place[:, shared], done[shared] = _chord(fit, sums.take(shared, fit.prior))
    for with_prior in (False, True):
        rest = np.flatnonzero(~done & (prior == with_prior))
        if len(rest):
            start = np.repeat(fit.place, len(rest), axis=1)
            place[:, rest], step = fit.model.newton(sums.take(rest, with_prior), start)
            done[rest] = settled(step)
            prior[rest] |= ~done[rest]
    return place, prior


def _penalty(fit: WholeFit, rounds: int, raters_drawn: FloatArray | None) -> FloatArray:
    penalty = np.repeat(fit.penalty, rounds, axis=1)
    if raters_drawn is not None:
        # Somebody who was not drawn has no ratings in the round; the pull keeps the lean at zero.
        penalty[fit.model.table.layout.leans_at] *= np.maximum(raters_drawn, 1.0)
    return penalty


def _chord(fit: WholeFit, sums: Sums) -> tuple[FloatArray, BoolArray]:
    """Where steps with the inverse curvature of all ratings lead each round, and whether it settled."""
    widths = fit.model.table.widths
    place = np.repeat(fit.place, sums.won.shape[1], axis=1)
    step = np.full(place.shape, np.inf)
    for _ in range(_CHORD_STEPS):
        step = fit.inverse @ fit.model.gradient(sums, place)
        if settled(step).all():
            break
        reached = place + np.clip(step, -_LONGEST_CHORD, _LONGEST_CHORD)
        out_of_order = ~(widths @ reached > 0.0).all(axis=0)
        place = np.where(out_of_order, place, reached)
    return place, settled(step)
