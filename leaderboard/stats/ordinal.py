"""Bradley-Terry for graded ratings: a cumulative-logit model of the whole scale.

P(rating <= k) = F(tau_k + d), with F logistic and d = theta_first - theta_second + position + effects + lean.
Thresholds are symmetric about zero; ``position`` is the advantage of standing first.

Cumulative logits: McCullagh 1980. For paired comparisons: Tutz 1986; Agresti 1992. Covariates for length and
style: Li, Angelopoulos and Chiang 2024 (*Does style matter?*).
The penalised log-likelihood is concave (Burridge 1981; Pratt 1981).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np
from scipy.sparse import csr_array

from leaderboard.stats.bootstrap import DRAWN_TOGETHER, ROUNDS, Bootstrap, check_run, refit
from leaderboard.stats.bradley_terry import CENTRE, PARAMETERS, POINTS_PER_UNIT, PRIOR_GAMES
from leaderboard.stats.checks import BoolArray, FloatArray, IntArray, NoGamesError, NotIdentifiedError
from leaderboard.stats.choices import PROMPTS_AND_RATERS
from leaderboard.stats.newton import Likelihood, Maximum, Reference, climb
from leaderboard.stats.ordinal_table import OrdinalTable, make_table, threshold_rows
from leaderboard.stats.pair_table import ABOVE, BELOW
from leaderboard.stats.ratings import Ratings
from leaderboard.stats.resampling import BLOCK, CLUSTER_DRAWS, CROSSED_DRAWS, number_of, times_drawn
from leaderboard.stats.sandwich import spread_of_units

# Added to the diagonal of curvatures (relative), so that rounds without a parameter can be solved.
_RIDGE: Final = 1e-13


@dataclass(frozen=True, eq=False)
class OrdinalLikelihood(Likelihood):
    """The log-likelihood of each round; ``prior`` (1, rounds) gives contestants and effects PRIOR_GAMES."""

    # The shortest step may put thresholds out of order.
    safe_reach: ClassVar[float] = 0.0
    # Enough for any finite maximum; one that has not settled by then is infinite.
    newton_steps: ClassVar[int] = 25
    table: OrdinalTable
    won: FloatArray  # (cells, rounds)
    lost: FloatArray
    inside: FloatArray  # ratings between two thresholds, (widths, rounds)
    penalty: FloatArray  # on squared parameters / 2, (parameters, rounds): the pull on leans

    @classmethod
    def of(
        cls, table: OrdinalTable, weights: FloatArray, prior: BoolArray, penalty: FloatArray
    ) -> "OrdinalLikelihood":
        """Of the distinct ratings with ``weights`` (distinct, rounds), and of imaginary ones."""
        unused = (table.level @ weights) == 0.0
        all_of = np.concatenate((weights, table.spread @ unused))
        sums = (table.won @ all_of, table.lost @ all_of, table.inside @ all_of)
        return cls(table, *sums, penalty, prior=prior)

    @property
    def parameters(self) -> int:
        return self.table.layout.size

    @property
    def _prior_at(self) -> slice:
        return slice(0, self.table.layout.effects_at.stop)

    def start(self, rounds: int) -> FloatArray:
        """Equal contestants and evenly spaced thresholds, (parameters, rounds)."""
        x = super().start(rounds)
        for points in self.table.layout.scales:
            at = self.table.layout.thresholds_at(points)
            x[at] = np.arange(1.0, at.stop - at.start + 1.0)[:, None]
        return x

    def value(self, x: FloatArray) -> FloatArray:
        """The value (rounds,) with penalties; minus infinity where thresholds are out of order."""
        odds = self.table.design @ x
        value = -(self.won * np.logaddexp(0.0, -odds) + self.lost * np.logaddexp(0.0, odds)).sum(axis=0)
        width = self.table.widths @ x
        ordered = (width > 0.0).all(axis=0)
        value += (self.inside * np.log(-np.expm1(-np.where(width > 0.0, width, 1.0)))).sum(axis=0)
        value -= 0.5 * (self.penalty * x * x).sum(axis=0)
        own = x[self._prior_at]
        drawn = np.logaddexp(0.0, -own) + np.logaddexp(0.0, own)
        value -= (self.prior * (0.5 * PRIOR_GAMES) * drawn).sum(axis=0)
        return np.where(ordered, value, -np.inf)

    def slope(self, x: FloatArray) -> FloatArray:
        half = np.tanh(0.5 * (self.table.design @ x))
        surplus = 0.5 * ((self.won - self.lost) - (self.won + self.lost) * half)
        slope: FloatArray = self.table.design_by_parameter @ surplus
        slope += self.table.widths.T @ (self.inside * width_slope(self.table.widths @ x))
        slope -= self.penalty * x
        slope[self._prior_at] -= self.prior * (0.5 * PRIOR_GAMES) * np.tanh(0.5 * x[self._prior_at])
        return slope

    def curvature(self, x: FloatArray) -> FloatArray:
        half = np.tanh(0.5 * (self.table.design @ x))
        weight = 0.25 * (self.won + self.lost) * (1.0 - half * half)
        slope = width_slope(self.table.widths @ x)
        bend = self.inside * slope * (1.0 + slope)
        own = self._prior_at
        pull = 0.25 * PRIOR_GAMES * (1.0 - np.tanh(0.5 * x[own]) ** 2)
        matrix = self._of_cells(weight)
        for number in range(x.shape[1]):
            matrix[number] += (self.table.widths.T * bend[:, number]) @ self.table.widths
            diagonal = np.einsum("ii->i", matrix[number])
            scale = diagonal.max(initial=1e-3)
            diagonal += self.penalty[:, number] + _RIDGE * scale
            if self.prior[0, number]:
                diagonal[own] += pull[:, number]
            else:
                matrix[number] += self.table.gauge * scale
        return matrix

    def _of_cells(self, weight: FloatArray) -> FloatArray:
        """The part of the cells, of ``weight`` (cells, rounds) each: (rounds, parameters, parameters)."""
        size, rounds = self.table.layout.size, weight.shape[1]
        if rounds > 1:
            matrix: FloatArray = np.ascontiguousarray((self.table.products @ weight).T)
            return matrix.reshape(rounds, size, size)
        scaled = self.table.design.copy()
        scaled.data *= weight[self.table.row_of_entry, 0]
        return np.asarray((self.table.design_by_parameter @ scaled).toarray()[None])

    def reach(self, step: FloatArray) -> FloatArray:
        return np.asarray(np.abs(self.table.design @ step).max(axis=0, initial=0.0))


def width_slope(width: FloatArray) -> FloatArray:
    """The slope of log(1 - exp(-width)) for positive widths, without overflow."""
    fallen = np.exp(-width)
    return fallen / -np.expm1(-width)


_FIRST_LEAN_SD: Final = 0.5
_SMALLEST_LEAN_SD: Final = 0.01
_LEAN_STEPS: Final = 100
_LEAN_TOLERANCE: Final = 1e-6
_NOT_IDENTIFIED: Final = 1e-9


@dataclass(frozen=True, eq=False)
class WholeFit:
    """The maximum for all ratings."""

    reference: Reference[OrdinalLikelihood]
    running: FloatArray  # how far each parameter still moved when the search for one was given up
    lean_sd: float  # 0 without leans

    @property
    def table(self) -> OrdinalTable:
        return self.reference.likelihood.table

    @property
    def prior(self) -> bool:
        """Whether no finite maximum exists without the prior."""
        return bool(self.reference.likelihood.prior.any())


def fit_everything(table: OrdinalTable) -> WholeFit:
    """Fit all ratings; raises NotIdentifiedError where effects cannot be told from contestants.

    The deviation of leans comes from sd**2 = sum of squared leans / effective number of leans (Schall 1991).
    """
    layout = table.layout
    fit = _first_fit(table, _FIRST_LEAN_SD if layout.raters else 0.0)
    for _ in range(_LEAN_STEPS if layout.raters else 0):
        leans = fit.reference.x[layout.leans_at, 0]
        unexplained = np.diag(fit.reference.inverse)[layout.leans_at].sum() / fit.lean_sd**2
        effective = max(layout.raters - unexplained, 1e-6)
        lean_sd = max(float(np.sqrt(leans @ leans / effective)), _SMALLEST_LEAN_SD)
        steady = abs(lean_sd - fit.lean_sd) < _LEAN_TOLERANCE * fit.lean_sd
        likelihood = _of_all(table, lean_sd, fit.prior)
        found = climb(likelihood, fit.reference.x)
        fit = WholeFit(Reference(likelihood, found.x), fit.running, lean_sd)
        if steady:
            break
    return fit


def _of_all(table: OrdinalTable, lean_sd: float, prior: bool) -> OrdinalLikelihood:
    penalty = np.zeros((table.layout.size, 1))
    if lean_sd:
        penalty[table.layout.leans_at] = lean_sd**-2
    return OrdinalLikelihood.of(table, table.count[:, None], np.array([[prior]]), penalty)


def _first_fit(table: OrdinalTable, lean_sd: float) -> WholeFit:
    likelihood = _of_all(table, lean_sd, prior=False)
    _check_identified(likelihood)
    found = climb(likelihood, likelihood.start(1))
    if found.settled[0]:
        return WholeFit(Reference(likelihood, found.x), np.zeros(len(found.x)), lean_sd)
    return WholeFit(Reference.of(_of_all(table, lean_sd, prior=True)), found.step[:, 0], lean_sd)


def _check_identified(likelihood: OrdinalLikelihood) -> None:
    curvature, layout = likelihood.curvature(likelihood.start(1))[0], likelihood.table.layout
    root = np.sqrt(np.diag(curvature))
    values, vectors = np.linalg.eigh(curvature / root[:, None] / root[None, :])
    loose = np.abs(vectors[:, values < _NOT_IDENTIFIED]).max(axis=1, initial=0.0) > 1e-4
    names = ["position"] * layout.position + list(layout.effects)
    at = slice(layout.position_at.start, layout.effects_at.stop)
    mixed_up = tuple(name for name, is_loose in zip(names, loose[at], strict=True) if is_loose)
    if mixed_up:
        raise NotIdentifiedError(
            f"the effect of {' and '.join(mixed_up)} cannot be told from the models in these "
            "ratings; fit without it, or show each pair in both orders",
            mixed_up,
        )


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
