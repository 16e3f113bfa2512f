import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from leaderboard.stats.bradley_terry import bradley_terry
from leaderboard.stats.checks import NoGamesError
from leaderboard.stats.davidson import bootstrap_davidson, davidson
from leaderboard.stats.games import make_games
from tests.leaderboard.stats.simulation import CONTESTANTS, simulated_games, small_games

POINTS = 400 / np.log(10)


def bootstrap(games, **options):
    return bootstrap_davidson(
        games.a, games.b, games.score, games.contestants, cluster=games.cluster, **options
    )


def games_of_one_pair(wins, ties, losses):
    score = [1.0] * wins + [0.5] * ties + [0.0] * losses
    return make_games([0] * len(score), [1] * len(score), score, 2)


def chances(rating, a, b, nu):
    """Win, tie and loss of a against b, from the words of the model."""
    p_a, p_b = 10 ** (rating[a] / 400), 10 ** (rating[b] / 400)
    tie = nu * np.sqrt(p_a * p_b)
    return np.array([p_a, tie, p_b]) / (p_a + tie + p_b)


class TestByHand:
    def test_two_contestants(self):
        # Win : loss = 4 : 2, so the ratings differ by 400 log10(2); nu = ties / sqrt(wins * losses).
        fit = davidson(games_of_one_pair(4, 3, 2))
        assert fit.rating == pytest.approx([1000 + 200 * np.log10(2), 1000 - 200 * np.log10(2)], abs=1e-8)
        assert fit.nu == pytest.approx(3 / np.sqrt(8), abs=1e-10)
        assert not fit.prior
        fit = davidson(games_of_one_pair(3, 4, 3))
        assert fit.nu / (2 + fit.nu) == pytest.approx(0.4)
        assert fit.rating == pytest.approx([1000, 1000])
        games = simulated_games(20, seed=3)
        fit = davidson(games)
        assert fit.nu == 0
        assert fit.rating == pytest.approx(bradley_terry(games).rating, abs=1e-8)

    def test_who_needs_the_prior(self):
        # Each has half a win and half a loss against the centre: nu / (2 + nu) of the 3 + 2 games are 3 ties.
        fit = davidson(games_of_one_pair(0, 3, 0))
        assert fit.prior
        assert fit.nu == pytest.approx(3)
        assert fit.rating == pytest.approx([1000, 1000])
        assert fit.unbounded == (None, None)
        games = make_games([0], [1], [1], 2)
        assert davidson(games).rating == pytest.approx(bradley_terry(games).rating, abs=1e-8)
        assert davidson(games).unbounded == ("above", "below")


class TestReferences:
    def test_the_likelihood_maximised_by_another_program(self):
        games = simulated_games(40, (1200.0, 1100.0, 1000.0, 850.0), seed=1, tie_share=0.25)

        def loss(x):
            d, log_nu = x[games.a] - x[games.b], x[-1]
            total = np.log(np.exp(d / 2) + np.exp(-d / 2) + np.exp(log_nu))
            gained = np.select([games.score == 1, games.score == 0], [d / 2, -d / 2], log_nu)
            return total.sum() - gained.sum()

        found = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-7}).x
        fit = davidson(games)
        assert fit.rating - 1000 == pytest.approx((found[:4] - found[:4].mean()) * POINTS, abs=1e-3)
        assert fit.nu == pytest.approx(np.exp(found[-1]), abs=1e-5)

    def test_poisson_regression_of_the_counts(self):
        """Davidson's model is log-linear in the counts of wins, ties and losses of a pair (Fienberg 1979)."""
        games = simulated_games(60, (1200.0, 1050.0, 1000.0, 850.0), seed=2, tie_share=0.3)
        low, high = np.minimum(games.a, games.b), np.maximum(games.a, games.b)
        score = np.where(games.a < games.b, games.score, 1 - games.score)
        rows, counts = [], []
        for number, (a, b) in enumerate([(i, j) for i in range(4) for j in range(i + 1, 4)]):
            for points in (1.0, 0.5, 0.0):
                row = np.zeros(6 + 4 + 1)
                row[number] = 1
                row[6 + a], row[6 + b], row[10] = points, 1 - points, points == 0.5
                rows.append(np.delete(row, 6))
                counts.append(np.sum((low == a) & (high == b) & (score == points)))
        found = sm.GLM(counts, np.array(rows), family=sm.families.Poisson()).fit(tol=1e-12).params
        strength = np.append(0.0, found[6:9])
        fit = davidson(games)
        assert fit.rating - 1000 == pytest.approx((strength - strength.mean()) * POINTS, abs=1e-5)
        assert fit.nu == pytest.approx(np.exp(found[9]), abs=1e-8)


def finite_maximum(games):
    """Whether no direction leaves every game at least as likely, found by a linear programme.

    Along (u, v) a win of a stays likely if u_a - u_b >= 0 and u_a - u_b >= 2 v, and a tie if
    |u_a - u_b| <= 2 v. There is no finite maximum if such a direction changes anything.
    """
    rows = []
    for a, b, score in zip(games.a, games.b, games.score, strict=True):
        step = np.zeros(CONTESTANTS + 1)
        step[a], step[b] = -1, 1
        last = np.eye(CONTESTANTS + 1)[-1] * 2
        rows += {1.0: [step, step + last], 0.0: [-step, -step + last]}.get(score, [step - last, -step - last])
    rows = np.array(rows)
    box = [(-1, 1)] * (CONTESTANTS + 1)
    room = linprog(rows.sum(axis=0), A_ub=rows, b_ub=np.zeros(len(rows)), bounds=box)
    return room.fun > -1e-9


class TestFiniteMaximum:
    @given(small_games())
    def test_the_prior_is_used_exactly_where_there_is_no_maximum_and_it_solves_the_equations(self, games):
        fit = davidson(games)
        without_ties = not (games.score == 0.5).any()
        expected = bradley_terry(games).prior if without_ties else not finite_maximum(games)
        assert fit.prior is expected
        assert np.isfinite(fit.rating).all()
        assert np.isfinite(fit.nu)
        if fit.prior:
            return
        each = np.array([chances(fit.rating, a, b, fit.nu) for a, b in zip(games.a, games.b, strict=True)])
        surplus = games.score - each[:, 0] - 0.5 * each[:, 1]
        per_contestant = np.bincount(games.a, surplus, 5) - np.bincount(games.b, surplus, 5)
        assert per_contestant == pytest.approx(np.zeros(5), abs=1e-6)
        assert each[:, 1].sum() == pytest.approx(np.sum(games.score == 0.5), abs=1e-6)

    def test_ties_that_bound_nobody_and_wins_that_do(self):
        # 0 beat 1, both tied 2: everybody can be reached, yet nu and the distance can grow together.
        games = make_games([0, 0, 2], [1, 2, 1], [1, 0.5, 0.5], 3)
        assert not bradley_terry(games).prior
        assert davidson(games).prior
        assert not davidson(make_games([0, 1, 2, 0], [1, 2, 0, 1], [1, 1, 1, 0.5], 3)).prior


@given(small_games(), st.permutations(range(CONTESTANTS)))
def test_numbering_contestants_and_sides_otherwise_changes_nothing(games, numbers):
    renamed = np.array(numbers)
    other = davidson(make_games(renamed[games.b], renamed[games.a], 1 - games.score, CONTESTANTS))
    fit = davidson(games)
    assert other.rating[renamed] == pytest.approx(fit.rating, abs=1e-6)
    assert other.nu == pytest.approx(fit.nu, abs=1e-8)


def test_groups_that_never_met_are_centred_apart_and_share_nu():
    games = make_games([0] * 6 + [2] * 6, [1] * 6 + [3] * 6, [1, 1, 0, 0.5, 0.5, 0] * 2, 4)
    fit = davidson(games)
    assert fit.component.tolist() == [0, 0, 1, 1]
    assert fit.rating == pytest.approx([1000] * 4)
    assert fit.nu == pytest.approx(1)


def test_what_made_the_samples():
    result = bootstrap(simulated_games(5, tie_share=0.3, clustered=True), rounds=3, seed=2)
    assert (result.samples.shape, result.others["nu"].shape, result.seed) == ((3, 4), (3,), 2)
    assert (result.rounds, result.clusters) == (3, 5)
    result = bootstrap(simulated_games(10, seed=2), rounds=20)
    assert not result.others["nu"].any()


def test_it_refuses_no_games():
    with pytest.raises(NoGamesError):
        davidson(make_games([], [], [], 2))
