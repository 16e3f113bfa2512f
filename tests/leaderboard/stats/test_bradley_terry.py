import itertools

import evalica
import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from leaderboard.stats import bootstrap as outcome_weights
from leaderboard.stats.bootstrap import choose_threads, processors, rounds_together, weights_of_rounds
from leaderboard.stats.bradley_terry import bootstrap_bradley_terry, bradley_terry
from leaderboard.stats.checks import NoGamesError
from leaderboard.stats.davidson import bootstrap_davidson, davidson
from leaderboard.stats.games import make_games
from leaderboard.stats.intervals import central_interval
from tests.leaderboard.stats.simulation import CENTRED, CONTESTANTS, coverage, simulated_games, small_games

THREE_TO_ONE = 400 * np.log10(3)


def bootstrap(games, **options):
    return bootstrap_bradley_terry(
        games.a, games.b, games.score, games.contestants, cluster=games.cluster, **options
    )


class TestByHand:
    def test_three_wins_and_a_loss_are_190_85_points_and_a_tie_is_half_a_win(self):
        fit = bradley_terry(make_games([0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 0], 2))
        assert fit.rating == pytest.approx([1000 + THREE_TO_ONE / 2, 1000 - THREE_TO_ONE / 2], abs=1e-8)
        assert not fit.prior
        tied = bradley_terry(make_games([0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 0.5, 0.5], 2))
        assert tied.rating == pytest.approx([1000 + THREE_TO_ONE / 2, 1000 - THREE_TO_ONE / 2], abs=1e-8)
        a, b, score = [0] * 4 + [1] * 4, [1] * 4 + [2] * 4, [1, 1, 1, 0] * 2
        fit = bradley_terry(make_games(a, b, score, 3))
        assert fit.rating == pytest.approx([1000 + THREE_TO_ONE, 1000, 1000 - THREE_TO_ONE], abs=1e-8)
        assert bradley_terry(make_games([0, 1, 2], [1, 2, 0], [1, 1, 1], 3)).rating == pytest.approx(
            [1000] * 3
        )

    def test_one_win_only_needs_the_prior(self):
        # With t = e ** x and one drawn game each, the maximum solves t**3 - t**2 - t - 3 = 0: t = 2.1304.
        t = next(root.real for root in np.roots([1, -1, -1, -3]) if abs(root.imag) < 1e-12)
        points = 400 * np.log10(t)
        fit = bradley_terry(make_games([0], [1], [1], 2))
        assert fit.prior
        assert points == pytest.approx(131.38, abs=0.01)
        assert fit.rating == pytest.approx([1000 + points, 1000 - points], abs=1e-8)


class TestReferences:
    def test_the_reference_package(self):
        games = simulated_games(50, seed=1, tie_share=0.2)
        winner = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
        scores = evalica.bradley_terry(
            [str(i) for i in games.a],
            [str(i) for i in games.b],
            [winner[s] for s in games.score],
            win_weight=1.0,
            tie_weight=0.5,
            tolerance=1e-12,
            limit=10000,
        ).scores
        expected = 400 * np.log10([scores[str(i)] for i in range(4)])
        rating = bradley_terry(games).rating
        assert rating - rating.mean() == pytest.approx(expected - expected.mean(), abs=1e-5)

    def test_logistic_regression(self):
        games = simulated_games(40, (1300.0, 1100.0, 1000.0, 900.0, 700.0), seed=2)
        design = np.zeros((len(games), 5))
        design[np.arange(len(games)), games.a], design[np.arange(len(games)), games.b] = 1, -1
        slopes = sm.Logit(games.score, design[:, 1:]).fit(disp=0, tol=1e-12).params
        expected = np.append(0, slopes) * 400 / np.log(10)
        rating = bradley_terry(games).rating
        assert rating - rating.mean() == pytest.approx(expected - expected.mean(), abs=1e-6)


class TestFiniteMaximum:
    def exists(self, games):
        """Ford's condition checked pair by pair with another library: strongly connected groups."""
        edges = [
            pair
            for a, b, s in zip(games.a, games.b, games.score, strict=True)
            for pair in ([(a, b)] if s == 1 else [(b, a)] if s == 0 else [(a, b), (b, a)])
        ]
        shape = (games.contestants, games.contestants)
        graph = coo_array((np.ones(len(edges)), tuple(zip(*edges, strict=True))), shape=shape)
        strong, weak = (
            connected_components(graph, directed=True, connection=kind)[0] for kind in ("strong", "weak")
        )
        return strong == weak

    @given(small_games())
    def test_there_is_one_exactly_without_the_prior_and_it_solves_the_equations(self, games):
        fit = bradley_terry(games)
        assert fit.prior is (not self.exists(games))
        assert np.isfinite(fit.rating).all()
        if not fit.prior:  # the likelihood equations
            over = games.score - 1 / (1 + 10 ** ((fit.rating[games.b] - fit.rating[games.a]) / 400))
            surplus = np.bincount(games.a, over, 5) - np.bincount(games.b, over, 5)
            assert surplus == pytest.approx(np.zeros(5), abs=1e-6)
        # A group that is open above is open below.
        above, below = (
            {fit.component[i] for i, flag in enumerate(fit.unbounded) if flag == end}
            for end in ("above", "below")
        )
        assert above == below
        assert bool(above) is fit.prior

    def test_a_group_that_beats_all_others_needs_the_prior(self):
        # 0 and 1 beat each other and everyone else; nobody is without a loss, yet no maximum exists.
        games = make_games([0, 1, 0, 1, 2, 3], [1, 0, 2, 3, 3, 2], [1] * 6, 4)
        fit = bradley_terry(games)
        assert fit.prior
        assert fit.rating[:2].min() > fit.rating[2:].max() + 100


class TestUnbounded:
    def flags(self, a, b, score, contestants):
        return bradley_terry(make_games(a, b, score, contestants)).unbounded

    def test_who_is_open_above_and_below(self):
        assert self.flags([0, 1, 2], [1, 2, 0], [1, 1, 1], 3) == (None, None, None)
        assert self.flags([0, 0, 1], [1, 2, 2], [1, 1, 1], 3) == ("above", None, "below")
        flags = self.flags([0, 1, 0, 1, 2, 3], [1, 0, 2, 3, 3, 2], [1] * 6, 4)
        assert flags == ("above", "above", "below", "below")
        assert self.flags([0, 0], [1, 1], [1, 0.5], 2) == (None, None)
        assert self.flags([0], [1], [1], 3) == ("above", "below", None)


def test_groups_that_never_met_are_centred_apart_and_the_prior_is_given_where_it_is_needed():
    games = make_games([5, 5, 0, 1, 2], [4, 4, 1, 2, 0], [1, 0.5, 1, 1, 1], 7)
    fit = bradley_terry(games)
    assert fit.component.tolist() == [0, 0, 0, 2, 1, 1, 3]
    assert fit.rating[[4, 5]].mean() == pytest.approx(1000)
    assert fit.rating[:3] == pytest.approx([1000] * 3)
    assert not fit.prior
    alone = simulated_games(20, seed=4)
    other = simulated_games(10, seed=5)
    both = make_games(
        np.append(alone.a, other.a + 4),
        np.append(alone.b, other.b + 4),
        np.append(alone.score, other.score),
        8,
    )
    assert bradley_terry(both).rating[:4] == pytest.approx(bradley_terry(alone).rating, abs=1e-8)


def test_the_prior_is_given_only_to_the_group_that_needs_it():
    games = make_games([0, 1, 2, 3], [1, 2, 0, 4], [1, 1, 1, 1], 5)
    fit = bradley_terry(games)
    assert fit.prior
    assert fit.rating[:3] == pytest.approx([1000] * 3)
    assert fit.rating[3:] == pytest.approx([1131.38, 868.62], abs=0.01)
    assert fit.unbounded == (None, None, None, "above", "below")


@given(small_games(), st.permutations(range(CONTESTANTS)))
def test_numbering_contestants_and_the_order_of_games_change_nothing(games, numbers):
    renamed = np.array(numbers)
    other = bradley_terry(make_games(renamed[games.a], renamed[games.b], games.score, CONTESTANTS))
    assert other.rating[renamed] == pytest.approx(bradley_terry(games).rating, abs=1e-6)


@given(small_games(), st.randoms(use_true_random=False))
def test_the_order_of_games_and_sides_changes_nothing(games, random):
    order = list(range(len(games)))
    random.shuffle(order)
    turned = make_games(games.b[order], games.a[order], 1 - games.score[order], CONTESTANTS)
    assert bradley_terry(turned).rating == pytest.approx(bradley_terry(games).rating, abs=1e-6)


class TestBootstrap:
    @pytest.mark.parametrize(
        ("fit", "bootstrapped"), [(bradley_terry, bootstrap_bradley_terry), (davidson, bootstrap_davidson)]
    )
    @pytest.mark.parametrize("clustered", [False, True])
    def test_each_round_is_the_fit_of_its_own_games(self, clustered, fit, bootstrapped):
        """Rounds are rebuilt game by game from the weights and fitted one at a time."""
        games = simulated_games(4, seed=8, tie_share=0.1, clustered=clustered)
        outcomes = games.outcomes
        weights = weights_of_rounds(outcomes, games.cluster, seed=8)(np.arange(40)).astype(int)
        result = bootstrapped(games.a, games.b, games.score, 4, rounds=40, seed=8, cluster=games.cluster)
        priors = 0
        for number in range(40):
            again = np.repeat(np.arange(len(outcomes)), weights[:, number])
            assert len(again) == len(games)
            found = fit(make_games(outcomes.a[again], outcomes.b[again], outcomes.score[again], 4))
            priors += found.prior
            assert result.samples[number] == pytest.approx(found.rating, abs=1e-6)
            if fit is davidson:
                assert result.others["nu"][number] == pytest.approx(found.nu, abs=1e-8)
        assert result.prior_rounds == priors
        assert fit is bradley_terry or 0 < priors < 40

    def test_clusters_come_whole_and_blocks_are_smaller_where_there_are_many_outcomes(self, monkeypatch):
        # Prompt 0 holds only wins of 0, prompt 1 only losses: a round has 4, 2 or 0 wins, never 3 or 1.
        games = make_games([0] * 4, [1] * 4, [1, 1, 0, 0], 2, cluster=[0, 0, 1, 1])
        samples = bootstrap(games, rounds=50).samples
        assert len(np.unique(samples[:, 0].round(6))) == 3
        assert (rounds_together(18), rounds_together(15_000), rounds_together(10**6)) == (64, 64, 16)
        games = simulated_games(3, seed=7)
        one = bootstrap(games, rounds=100).samples
        monkeypatch.setattr(outcome_weights, "_MOST_NUMBERS", 1)
        assert bootstrap(games, rounds=100).samples == pytest.approx(one, abs=1e-8)

    def test_rounds_without_a_finite_maximum_are_counted_and_finite(self):
        games = make_games([0] * 8 + [1], [1] * 8 + [2], [1, 0] * 4 + [0.5], 3)
        result = bootstrap(games, rounds=100)
        assert 20 < result.prior_rounds < 60
        assert np.isfinite(result.samples).all()
        assert result.samples.mean(axis=1) == pytest.approx(np.full(100, 1000.0))
        assert result.component.tolist() == [0, 0, 0]
        games = make_games([0] * 6 + [1] * 6, [1] * 6 + [2] * 6, [1, 1, 1, 1, 1, 0] * 2, 3)
        result = bootstrap(games, rounds=200)
        assert 50 < result.prior_rounds < 150
        assert np.isfinite(result.samples).all()

    def test_what_made_the_samples(self):
        result = bootstrap(simulated_games(5, clustered=True), rounds=3, seed=2)
        assert (result.samples.shape, result.rounds, result.seed) == ((3, 4), 3, 2)
        assert result.parameters == {"scale": 400.0, "centre": 1000.0, "prior_games": 1.0}
        assert result.clusters == 5
        assert result.component.tolist() == [0] * 4
        assert choose_threads(None, False) == 1
        assert choose_threads(None, True) == min(16, processors())
        assert choose_threads(3, False) == 3
        assert bootstrap(simulated_games(5), rounds=3).threads == 1

    def test_its_width_shrinks_with_the_number_of_games(self):
        def width(prompts):
            low, high = central_interval(bootstrap(simulated_games(prompts), rounds=400).samples, 90)
            return ((high - low) / 2).mean()

        small, large = width(327), width(3270)
        assert 13 <= small <= 18
        assert small / large == pytest.approx(10**0.5, rel=0.12)


@pytest.mark.parametrize(
    ("options", "low", "high"),
    [
        ({"by_prompt": False}, 0.92, 0.975),
        ({"by_prompt": True}, 0.91, 0.975),
        # Resampling games of shared prompts covers too seldom; resampling prompts does not.
        ({"by_prompt": False, "shared": True}, 0, 0.85),
        ({"by_prompt": True, "shared": True}, 0.88, 1),
    ],
)
def test_coverage_of_95_percent_intervals(options, low, high):
    assert low <= coverage(**options) <= high


def test_many_contestants_recover_published_ratings_and_none_are_refused():
    fits = [bradley_terry(simulated_games(seed=s)).rating for s in range(5)]
    assert np.mean(fits, axis=0) == pytest.approx(CENTRED, abs=12)
    with pytest.raises(NoGamesError):
        bradley_terry(make_games([], [], [], 2))
    pairs = list(itertools.combinations(range(100), 2))
    a, b = np.array(pairs).T
    games = make_games(np.append(a, 99), np.append(b, 0), [1.0] * len(pairs) + [1.0], 100)
    rating = bradley_terry(games).rating
    assert (np.diff(rating[1:-1]) < 0).all()
    assert rating.mean() == pytest.approx(1000)
