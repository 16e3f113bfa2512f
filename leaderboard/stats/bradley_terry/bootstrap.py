"""Bootstrapped Bradley-Terry: the fit on many resamples of the games, or of whole clusters of them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bradley_terry.fit import CENTRE, PRIOR_GAMES, SCALE, all_games
from leaderboard.stats.bradley_terry.pair_table import PairTable
from leaderboard.stats.bradley_terry.rounds import (
    Reference,
    choose_threads,
    fit_blocks,
    fit_rounds,
)
from leaderboard.stats.games import FloatArray, IntArray, make_games
from leaderboard.stats.outcomes import distinct_outcomes
from leaderboard.stats.rounds import check_run, resamplable


@dataclass(frozen=True, eq=False)
class BradleyTerryBootstrap:
    """Bootstrapped Bradley-Terry: ``samples`` of shape (rounds, contestants) and what made them.

    ``prior_rounds`` counts the rounds in which no finite maximum existed and the prior of ``prior_games``
    drawn games per contestant was used; ``component`` numbers the connected part of the graph each
    contestant is in.
    """

    samples: FloatArray
    rounds: int
    scale: float
    centre: float
    seed: int
    clusters: int | None
    crossed_clusters: int | None
    threads: int
    prior_games: float
    prior_rounds: int
    component: IntArray


def bootstrap_bradley_terry(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    contestants: int,
    *,
    rounds: int = 1000,
    seed: int = 0,
    cluster: npt.ArrayLike | None = None,
    crossed: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> BradleyTerryBootstrap:
    """Fit Bradley-Terry to ``rounds`` resamples of the games (arguments as for bootstrap_elo).

    The order of games does not matter here, so a round is a set of weights on the distinct outcomes:
    multinomial without ``cluster``, sums over the drawn clusters with it, with ``crossed`` over products of
    how often both were drawn. Ratings average 1000 within each connected component. Raises a StatsError for
    bad input.
    """
    games = resamplable(make_games(a, b, score, contestants, cluster=cluster, crossed=crossed))
    check_run(rounds, seed, threads)
    outcomes = distinct_outcomes(games)
    used = choose_threads(threads, len(outcomes), rounds)
    table = PairTable.of(outcomes, contestants)
    reference = Reference.of(all_games(table), contestants)
    fits, place = fit_blocks(
        lambda weights: fit_rounds(table, reference, weights),
        outcomes,
        games,
        rounds=rounds,
        seed=seed,
        threads=used,
    )
    return BradleyTerryBootstrap(
        np.concatenate([fit.rating for fit in fits])[place],
        rounds,
        SCALE,
        CENTRE,
        seed,
        clusters=games.clusters,
        crossed_clusters=games.crossed_clusters,
        threads=used,
        prior_games=PRIOR_GAMES,
        prior_rounds=int(np.concatenate([fit.prior for fit in fits])[place].sum()),
        component=table.component,
    )
