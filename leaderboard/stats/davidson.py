"""Davidson's model: a tie is a third outcome, likelier the closer the contestants are.

P(a wins) : tie : P(b wins) = p_a : nu * sqrt(p_a * p_b) : p_b, with p = 10 ** (strength / 400) (Davidson
1970). Among equals the share nu / (2 + nu) of games are ties; without ties nu is 0.

A finite maximum exists if and only if Bradley-Terry's does and some circle of contestants has more steps from
winner to loser than across ties. Otherwise each contestant gets half a win and half a loss against an
imaginary contestant at the centre.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bootstrap import ROUNDS, Bootstrap, check_count
from leaderboard.stats.bradley_terry import (
    PRIOR_GAMES,
    BradleyTerryFit,
    BradleyTerryLikelihood,
    Refit,
    all_games,
    bootstrap_games,
    laplacian,
    to_ratings,
    with_gauge,
)
from leaderboard.stats.checks import BoolArray, FloatArray, NoGamesError
from leaderboard.stats.games import Games, make_games
from leaderboard.stats.newton import Reference
from leaderboard.stats.pair_table import PairTable


@dataclass(frozen=True, eq=False)
class DavidsonFit(BradleyTerryFit):
    """Strengths by maximum likelihood, as in BradleyTerryFit, and ``nu``."""

    nu: float


@dataclass(frozen=True, eq=False)
class DavidsonLikelihood(BradleyTerryLikelihood):
    """The log-likelihood of rounds with ties; x holds the log-odds, then log nu."""

    tied: FloatArray  # ties (rounds,); they count half in won and lost

    @property
    def parameters(self) -> int:
        return self.table.contestants + 1

    def chances(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        difference = x[self.table.a]
        difference -= x[self.table.b]
        return chances(difference, x[-1])

    def value(self, x: FloatArray) -> FloatArray:
        theta, log_nu = x[:-1], x[-1]
        difference = theta[self.table.a] - theta[self.table.b]
        value = 0.5 * self._lead * difference - self.played * _log_total(difference, log_nu)
        pull = PRIOR_GAMES * (self.prior * _log_total(theta, log_nu)).sum(axis=0)
        return np.asarray(value.sum(axis=0) + self.tied * log_nu - pull)

    def slope(self, x: FloatArray) -> FloatArray:
        theta, log_nu = x[:-1], x[-1]
        lead, tie = self.chances(x)
        lead *= self.played
        np.subtract(self._lead, lead, out=lead)
        slope = np.empty_like(x)
        slope[:-1] = self.table.sides @ lead * 0.5
        slope[-1] = self.tied - np.einsum("pr,pr->r", self.played, tie)
        if self._some_prior:
            lead, tie = chances(theta, log_nu)
            slope[:-1] -= self.prior * (0.5 * PRIOR_GAMES) * lead
            slope[-1] -= PRIOR_GAMES * (self.prior * tie).sum(axis=0)
        return slope

    def curvature(self, x: FloatArray) -> FloatArray:
        theta, log_nu = x[:-1], x[-1]
        lead, tie = self.chances(x)
        weight = (0.25 * self.played * (1.0 - tie - lead * lead)).T
        matrix = np.empty((len(weight), len(x), len(x)))
        matrix[:, :-1, :-1] = with_gauge(self.table, laplacian(self.table, weight), weight, self.prior)
        across = self.table.sides @ (self.played * tie * lead) * -0.5
        matrix[:, -1, -1] = (self.played * tie * (1.0 - tie)).sum(axis=0)
        if self._some_prior:
            lead, tie = chances(theta, log_nu)
            diagonal = np.arange(len(theta))
            games = PRIOR_GAMES * self.prior
            matrix[:, diagonal, diagonal] += (0.25 * games * (1.0 - tie - lead * lead)).T
            across -= 0.5 * games * tie * lead
            matrix[:, -1, -1] += (games * tie * (1.0 - tie)).sum(axis=0)
        matrix[:, -1, :-1] = matrix[:, :-1, -1] = across.T
        return matrix

    def reach(self, step: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(self.table.largest_difference(step[:-1]), np.abs(step[-1])))


def chances(difference: FloatArray, log_nu: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P(a wins) - P(b wins) and P(tie), from differences of log-odds (pairs, rounds) and log nu (rounds,)."""
    tie = np.abs(difference)
    tie *= -0.5
    np.exp(tie, out=tie)
    lower = tie * tie
    tie *= np.exp(log_nu)
    total = lower + tie
    total += 1.0
    tie /= total
    lead = np.subtract(1.0, lower, out=lower)
    lead /= total
    return np.copysign(lead, difference, out=lead), tie


def _log_total(difference: FloatArray, log_nu: FloatArray) -> FloatArray:
    """Log of e**(d/2) + e**(-d/2) + nu."""
    size = 0.5 * np.abs(difference)
    return np.asarray(size + np.log1p(np.exp(-2.0 * size) + np.exp(log_nu - size)))


def davidson(games: Games) -> DavidsonFit:
    """Fit Davidson's model to the games; raises NoGamesError where there are none."""
    if not len(games):
        raise NoGamesError("there are no ratings to rank by")
    with_ties = all_games_with_ties(games.table)
    reference: Reference[BradleyTerryLikelihood] = Reference.of(with_ties or all_games(games.table))
    log_odds = games.table.centred(reference.x[: games.contestants])
    nu = float(np.exp(reference.x[-1, 0])) if with_ties else 0.0
    return DavidsonFit(to_ratings(log_odds)[0], reference, nu)


def all_games_with_ties(table: PairTable) -> DavidsonLikelihood | None:
    """The likelihood of all games as a single round, None where they have no tie."""
    weights = table.count_of_outcome[:, None]
    likelihood = likelihood_of_rounds(table, weights)
    return likelihood if likelihood.tied[0] > 0 else None


def likelihood_of_rounds(table: PairTable, weights: FloatArray) -> DavidsonLikelihood:
    """The likelihood of every round of ``weights`` (outcomes, rounds)."""
    won, lost = table.points(weights)
    ties = table.ties(weights)
    prior = table.no_finite_maximum(won, lost)
    prior |= no_finite_nu(table, won - 0.5 * ties, lost - 0.5 * ties, ties)
    return DavidsonLikelihood(table, won, lost, ties.sum(axis=0), prior=prior)


def no_finite_nu(table: PairTable, wins: FloatArray, losses: FloatArray, ties: FloatArray) -> BoolArray:
    """Rounds (rounds,) with ties in which no circle has more steps from winner to loser than across ties."""
    each_beat_the_other = ((wins > 0) & (losses > 0)).any(axis=0)
    missing: BoolArray = np.asarray((ties > 0).any(axis=0) & ~each_beat_the_other)
    for number in np.flatnonzero(missing):
        missing[number] = not _decided_circle(table, *(x[:, number] > 0 for x in (wins, losses, ties)))
    return missing


def _decided_circle(table: PairTable, wins: BoolArray, losses: BoolArray, ties: BoolArray) -> bool:
    """Whether some circle is shorter than 0, a step from winner to loser being -1 and a tie +1."""
    a, b = table.a, table.b
    start = np.concatenate((a[wins], b[losses], a[ties], b[ties]))
    end = np.concatenate((b[wins], a[losses], b[ties], a[ties]))
    length = np.repeat((-1.0, 1.0), (wins.sum() + losses.sum(), 2 * ties.sum()))
    # Bellman and Ford from everywhere at once: distances that still shrink now would shrink for ever.
    distance = np.zeros(table.contestants)
    for _ in range(table.contestants + 1):
        before = distance.copy()
        np.minimum.at(distance, end, before[start] + length)
        if np.array_equal(distance, before):
            return False
    return True


def bootstrap_davidson(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    contestants: int,
    *,
    rounds: int = ROUNDS,
    seed: int = 0,
    cluster: npt.ArrayLike | None = None,
    crossed: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Bootstrap:
    """Fit Davidson's model to the resamples of bootstrap_bradley_terry with the same seed.

    ``others["nu"]`` of the result is 0 in rounds without ties.
    """
    games = make_games(a, b, score, contestants, cluster=cluster, crossed=crossed)
    check_count(len(games))
    return bootstrap_games(games, _refitted(games.table), ("nu",), rounds=rounds, seed=seed, threads=threads)


def _refitted(table: PairTable) -> Refit:
    plain, with_ties = all_games(table), all_games_with_ties(table)
    without = Reference.of(plain)
    tied = None if with_ties is None else Reference.of(with_ties)

    def fit(weights: FloatArray) -> tuple[FloatArray, BoolArray]:
        likelihood = likelihood_of_rounds(table, weights)
        x = np.full((table.contestants + 1, weights.shape[1]), -np.inf)
        no_tie, some_tie = np.flatnonzero(likelihood.tied == 0), np.flatnonzero(likelihood.tied > 0)
        if len(no_tie):
            some = likelihood.only(no_tie)
            plain_some = BradleyTerryLikelihood(table, some.won, some.lost, prior=some.prior)
            x[:-1, no_tie] = without.climb(plain_some).x
        if tied is not None and len(some_tie):
            x[:, some_tie] = tied.climb(likelihood.only(some_tie)).x
        x[:-1], x[-1] = table.centred(x[:-1]), np.exp(x[-1])
        return x, np.asarray(likelihood.prior.any(axis=0))

    return fit
