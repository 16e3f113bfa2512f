"""The ordinal model on many resamples of the ratings: of single ones, of whole prompts or raters, or of both.

The maximum of a resample lies near that of all ratings, so one inverse of the curvature, taken there, serves
every round ("chord" steps). Rounds this does not settle, rounds that need the prior, and rounds in which a
contestant lost its connection get Newton steps of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from leaderboard.stats.bradley_terry import CENTRE, POINTS_PER_UNIT, BoolArray
from leaderboard.stats.bradley_terry_bootstrap import DRAWN_TOGETHER, distinct_rounds, weights_of_rounds
from leaderboard.stats.checks import FloatArray, IntArray, NoGamesError
from leaderboard.stats.intervals import check_run, in_blocks
from leaderboard.stats.ordinal import Sums, WholeFit, fit_everything, settled
from leaderboard.stats.ordinal_table import make_table
from leaderboard.stats.ratings import PROMPTS_AND_RATERS, Ratings
from leaderboard.stats.resampling import CLUSTER_DRAWS, CROSSED_DRAWS, times_drawn

_CHORD_STEPS: Final = 20
_LONGEST_CHORD: Final = 1.0
_NUMBERS_AT_ONCE: Final = 250_000
"""The size of arrays of cells (or of a curvature) and rounds: bounds memory, and fits a processor's cache."""


@dataclass(frozen=True, eq=False)
class OrdinalBootstrap:
    """Bootstrapped ordinal ratings: ``samples`` of shape (rounds, contestants) and what made them.

    ``position_samples`` (rounds,) is the advantage of standing first in log-odds, ``effect_samples`` (rounds,
    effects) the effect of each covariate in ``adjust`` per standard deviation (of all ratings), in log-odds.
    ``clusters`` is the number of prompts or raters drawn from, None for games, ``crossed_clusters`` that of
    the raters where both are drawn. ``prior_rounds`` counts the rounds without a finite maximum. The spread
    of rater leans is that of all ratings in every round.
    """

    samples: FloatArray
    position_samples: FloatArray
    effect_samples: FloatArray
    adjust: tuple[str, ...]
    rounds: int
    seed: int
    resample: str
    clusters: int | None
    crossed_clusters: int | None
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
    unit, crossed, used = ratings.unit(resample), ratings.crossed(resample), threads or 1
    table = make_table(ratings, position=position, adjust=adjust, raters=raters)
    fit = fit_everything(table)
    clusters, crossed_clusters = (None if kind is None else int(kind.max()) + 1 for kind in (unit, crossed))
    draw = weights_of_rounds(table.distinct_ratings, unit, seed, crossed)
    distinct, again = distinct_rounds(seed, rounds, clusters, crossed_clusters)

    def run(block: IntArray) -> tuple[FloatArray, BoolArray]:
        numbers = distinct[block]
        return fit_rounds(fit, draw(numbers), _raters_drawn(table.layout.raters, resample, seed, numbers))

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
        clusters=clusters,
        crossed_clusters=crossed_clusters,
        threads=used,
        prior_rounds=int(np.concatenate([prior for _, prior in found])[again].sum()),
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

    ``raters_drawn`` (raters, rounds) says how often whole raters were drawn, where they were and their leans
    are fitted: one drawn twice has its lean, and the pull on it, twice.
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
