"""The ordinal model on many resamples of the ratings: of single ones, of whole prompts, or of whole raters.

The maximum of a resample lies near that of all ratings, so one inverse of the curvature, taken there, serves
every round ("chord" steps). Rounds this does not settle, rounds that need the prior, and rounds in which a
contestant lost its connection get Newton steps of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from leaderboard.stats.bradley_terry.fit import CENTRE, POINTS_PER_UNIT, BoolArray
from leaderboard.stats.bradley_terry.rounds import DRAWN_TOGETHER, distinct_rounds, weights_of_rounds
from leaderboard.stats.errors import NoGamesError
from leaderboard.stats.games import FloatArray, IntArray
from leaderboard.stats.ordinal.cells import make_table
from leaderboard.stats.ordinal.fitting import WholeFit, fit_everything
from leaderboard.stats.ordinal.likelihood import Sums, settled
from leaderboard.stats.ratings import Ratings
from leaderboard.stats.rounds import check_run, in_blocks

_CHORD_STEPS: Final = 20
_LONGEST_CHORD: Final = 1.0
_NUMBERS_AT_ONCE: Final = 250_000
"""The size of arrays of cells (or of a curvature) and rounds: bounds memory, and fits a processor's cache."""


@dataclass(frozen=True, eq=False)
class OrdinalBootstrap:
    """Bootstrapped ordinal ratings: ``samples`` of shape (rounds, contestants) and what made them.

    ``position_samples`` (rounds,) is the advantage of standing first in log-odds, ``effect_samples`` (rounds,
    effects) the effect of each covariate in ``adjust`` per standard deviation (of all ratings), in log-odds.
    ``clusters`` is the number of prompts or raters drawn from, None for games. ``prior_rounds`` counts the
    rounds without a finite maximum. The spread of rater leans is that of all ratings in every round.
    """

    samples: FloatArray
    position_samples: FloatArray
    effect_samples: FloatArray
    adjust: tuple[str, ...]
    rounds: int
    seed: int
    resample: str
    clusters: int | None
    threads: int
    prior_rounds: int
    component: IntArray


def bootstrap_ordinal(
    ratings: Ratings,
    *,
    resample: str = "prompts",
    rounds: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    position: bool = True,
    adjust: Sequence[str] = (),
    raters: bool = False,
) -> OrdinalBootstrap:
    """Fit the ordinal model to ``rounds`` resamples (other arguments as for ordinal).

    Prompts and raters are drawn as bootstrap_elo and bootstrap_bradley_terry draw them from the same seed.
    Raises a StatsError for bad input.
    """
    if not len(ratings):
        raise NoGamesError("there are no ratings to resample")
    check_run(rounds, seed, threads)
    unit, used = ratings.unit(resample), threads or 1
    table = make_table(ratings, position=position, adjust=adjust, raters=raters)
    fit = fit_everything(table)
    draw = weights_of_rounds(table.distinct_ratings, unit, seed)
    distinct, again = distinct_rounds(unit, seed, rounds)

    def run(block: IntArray) -> tuple[FloatArray, BoolArray]:
        return fit_rounds(fit, draw(distinct[block]), of_raters=resample == "raters")

    found = in_blocks(run, len(distinct), DRAWN_TOGETHER, used)
    place = np.concatenate([places for places, _ in found], axis=1)[:, again]
    layout = table.layout
    return OrdinalBootstrap(
        samples=CENTRE
        + POINTS_PER_UNIT * np.ascontiguousarray((place - table.gauge @ place)[: layout.contestants].T),
        position_samples=place[layout.position_at].sum(axis=0),
        effect_samples=np.ascontiguousarray(place[layout.effects_at].T),
        adjust=layout.effects,
        rounds=rounds,
        seed=seed,
        resample=resample,
        clusters=None if unit is None else int(unit.max()) + 1,
        threads=used,
        prior_rounds=int(np.concatenate([prior for _, prior in found])[again].sum()),
        component=table.component,
    )


def fit_rounds(fit: WholeFit, weights: FloatArray, *, of_raters: bool) -> tuple[FloatArray, BoolArray]:
    """The parameters of each round of ``weights`` (distinct ratings, rounds), and which took the prior.

    ``of_raters`` says that whole raters were drawn: one drawn twice has its lean, and the pull on it, twice.
    """
    table = fit.model.table
    numbers_of_round = max(table.design.shape[0], table.layout.size**2)
    parts = np.array_split(weights, -(-numbers_of_round * weights.shape[1] // _NUMBERS_AT_ONCE), axis=1)
    places, priors = zip(*(_fit_part(fit, part, of_raters) for part in parts if part.shape[1]), strict=True)
    return np.concatenate(places, axis=1), np.concatenate(priors)


def _fit_part(fit: WholeFit, weights: FloatArray, of_raters: bool) -> tuple[FloatArray, BoolArray]:
    rounds = weights.shape[1]
    prior = fit.model.table.falls_apart(weights) | fit.prior
    sums = Sums.of(fit.model.table, weights, prior, _penalty(fit, weights, of_raters))
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


def _penalty(fit: WholeFit, weights: FloatArray, of_raters: bool) -> FloatArray:
    table = fit.model.table
    penalty = np.repeat(fit.penalty, weights.shape[1], axis=1)
    if of_raters and table.layout.raters:
        drawn = weights[table.one_of_rater] / table.count[table.one_of_rater, None]
        # Somebody who was not drawn has no ratings in the round; the pull keeps the lean at zero.
        penalty[table.layout.leans_at] *= np.maximum(drawn, 1.0)
    return penalty


def _chord(fit: WholeFit, sums: Sums) -> tuple[FloatArray, BoolArray]:
    """Steps with the inverse curvature of all ratings; where each round arrived, and whether it settled."""
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
