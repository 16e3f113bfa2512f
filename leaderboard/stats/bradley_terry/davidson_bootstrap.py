"""Bootstrapped Davidson ratings: the tie model on many resamples of the games, or of whole clusters."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bradley_terry.davidson import all_games_with_ties, likelihood_of_rounds
from leaderboard.stats.bradley_terry.fit import (
    CENTRE,
    PRIOR_GAMES,
    SCALE,
    BradleyTerryLikelihood,
    all_games,
    to_ratings,
)
from leaderboard.stats.bradley_terry.pair_table import BoolArray, PairTable
from leaderboard.stats.bradley_terry.rounds import (
    Reference,
    choose_threads,
    fit_blocks,
)
from leaderboard.stats.games import FloatArray, IntArray, make_games
from leaderboard.stats.outcomes import distinct_outcomes
from leaderboard.stats.rounds import check_run, resamplable


@dataclass(frozen=True, eq=False)
class DavidsonBootstrap:
    """Bootstrapped Davidson: ``samples`` (rounds, contestants), ``nu_samples`` (rounds,), what made them.

    The other fields are those of BradleyTerryBootstrap. A round without ties has nu 0.
    """

    samples: FloatArray
    nu_samples: FloatArray
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


@dataclass(frozen=True, eq=False)
class _Fits:
    rating: FloatArray
    nu: FloatArray
    prior: BoolArray


def bootstrap_davidson(
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
) -> DavidsonBootstrap:
    """Fit Davidson's model to ``rounds`` resamples of the games (arguments as for bootstrap_bradley_terry).

    The same seed draws the same resamples as there. Raises a StatsError for bad input.
    """
    games = resamplable(make_games(a, b, score, contestants, cluster=cluster, crossed=crossed))
    check_run(rounds, seed, threads)
    outcomes = distinct_outcomes(games)
    used = choose_threads(threads, len(outcomes), rounds)
    table = PairTable.of(outcomes, contestants)
    fits, place = fit_blocks(_Model.of(table).fit, outcomes, games, rounds=rounds, seed=seed, threads=used)
    return DavidsonBootstrap(
        np.concatenate([fit.rating for fit in fits])[place],
        np.concatenate([fit.nu for fit in fits])[place],
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


@dataclass(frozen=True, eq=False)
class _Model:
    """The pairs and the fits of all games that rounds start from; ``tied`` is None without any tie."""

    table: PairTable
    plain: Reference
    tied: Reference | None

    @classmethod
    def of(cls, table: PairTable) -> "_Model":
        plain, with_ties = all_games(table), all_games_with_ties(table)
        return cls(
            table,
            Reference.of(plain, table.contestants),
            None if with_ties is None else Reference.of(with_ties, table.contestants + 1),
        )

    def fit(self, weights: FloatArray) -> _Fits:
        """Fit every round of ``weights`` (outcomes, rounds): rounds without ties by Bradley-Terry."""
        likelihood = likelihood_of_rounds(self.table, weights)
        x = np.full((self.table.contestants + 1, weights.shape[1]), -np.inf)
        without = np.flatnonzero(likelihood.tied == 0)
        if len(without):
            some = likelihood.only(without)
            plain = BradleyTerryLikelihood(self.table, some.won, some.lost, some.prior)
            x[:-1, without] = self.plain.climb(plain)
        tied = np.flatnonzero(likelihood.tied > 0)
        if self.tied is not None and len(tied):
            x[:, tied] = self.tied.climb(likelihood.only(tied))
        rating = to_ratings(self.table.centred(x[:-1]))
        return _Fits(rating, np.exp(x[-1]), np.asarray(likelihood.prior.any(axis=0)))
