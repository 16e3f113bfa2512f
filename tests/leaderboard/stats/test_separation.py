import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats import separation
from leaderboard.stats.checks import StatsError
from leaderboard.stats.separation import (
    difference_errors,
    groups_not_told_apart,
    probability_above,
    probability_first,
    rank_interval,
    rank_upper_bound,
    told_apart,
)


def make_samples(*ratings, spread=10.0, rounds=400, seed=0):
    return np.random.default_rng(seed).normal(ratings, spread, (rounds, len(ratings)))


def independent(*errors):
    """The standard errors of the differences of independent ratings."""
    return difference_errors(np.diag(np.square(np.array(errors, dtype=float))))


@st.composite
def ratings_and_components(draw):
    """Up to seven contestants with many ties, in up to two components: rating, error and component."""
    contestants = draw(st.integers(1, 7))
    three = [st.integers(0, 40).map(float), st.integers(1, 20).map(float), st.integers(0, 1)]
    drawn = [draw(st.lists(each, min_size=contestants, max_size=contestants)) for each in three]
    return np.array(drawn[0]), independent(*drawn[1]), np.array(drawn[2])


def one_component(samples):
    return np.zeros(np.shape(samples)[1], dtype=int)


@st.composite
def samples_and_components(draw):
    """A few rounds of up to seven contestants with many ties, in up to two components."""
    contestants, rounds = draw(st.integers(1, 7)), draw(st.integers(1, 6))
    cell = st.integers(0, 4).map(float)
    row = st.lists(cell, min_size=contestants, max_size=contestants)
    component = draw(st.lists(st.integers(0, 1), min_size=contestants, max_size=contestants))
    return np.array(draw(st.lists(row, min_size=rounds, max_size=rounds))), np.array(component)


def test_rank_upper_bound_by_hand():
    # A 90-110 lies above C 60-80 and D 50-89; B 85-95 lies above C alone; D reaches B's lower end.
    low, high = [90, 85, 60, 50], [110, 95, 80, 89]
    assert rank_upper_bound(low, high, [0, 0, 0, 0]).tolist() == [1, 1, 3, 2]
    assert rank_upper_bound([10, 0], [20, 10], [0, 0]).tolist() == [1, 1]
    assert rank_upper_bound([90, 10, 20], [95, 15, 25], [0, 0, 1]).tolist() == [1, 2, 1]


class TestProbabilityFirst:
    def test_by_hand_and_in_the_closed_form_of_two_normal_ratings(self):
        samples = [[3, 1, 2], [1, 3, 2], [2, 2, 1], [3, 1, 2]]
        assert probability_first(samples, [0, 0, 0]).tolist() == [0.625, 0.375, 0.0]
        assert probability_first([[3, 1, 2], [1, 3, 2]], [0, 0, 1]).tolist() == [0.5, 0.5, 1.0]
        # P(N(20, 10) > N(0, 10)) = Phi(20 / sqrt(200)) = 0.9214.
        samples = make_samples(20, 0, rounds=40_000)
        assert probability_first(samples, [0, 0])[0] == pytest.approx(0.9214, abs=0.005)

    @given(samples_and_components())
    def test_adds_up_to_one_in_each_component(self, drawn):
        samples, component = drawn
        share = probability_first(samples, component)
        for number in set(component.tolist()):
            assert share[component == number].sum() == pytest.approx(1)


class TestProbabilityAbove:
    def test_by_hand(self):
        found = probability_above([[3, 1], [1, 3], [2, 2], [5, 4]], [0, 0])
        assert found[0, 1] == 0.625
        assert found[1, 0] == 0.375
        assert np.isnan(np.diag(found)).all()

    @given(samples_and_components())
    def test_agrees_with_a_plain_count(self, drawn):
        samples, component = drawn
        found = probability_above(samples, component)
        for i, j in itertools.product(range(len(component)), repeat=2):
            if i == j or component[i] != component[j]:
                assert np.isnan(found[i, j])
            else:
                wins = [1.0 if a > b else 0.5 if a == b else 0.0 for a, b in samples[:, [i, j]]]
                assert found[i, j] == pytest.approx(np.mean(wins))
                assert found[i, j] + found[j, i] == pytest.approx(1)

    @given(samples_and_components(), st.randoms(use_true_random=False))
    def test_relabelling_permutes(self, drawn, random):
        samples, component = drawn
        order = random.sample(range(len(component)), len(component))
        assert np.array_equal(
            probability_above(samples[:, order], component[order]),
            probability_above(samples, component)[np.ix_(order, order)],
            equal_nan=True,
        )


def test_what_counts_is_the_interval_of_the_difference_and_its_level():
    # Both move together by far more than they differ: errors of 58 each, but of 1 for the difference.
    covariance = np.array([[3364.0, 3363.5], [3363.5, 3364.0]])
    error = difference_errors(covariance)
    assert error[0, 1] == pytest.approx(1.0)
    # Ten prompts: Student's t of 9 degrees of freedom reaches 2.262 at 95 % and 3.250 at 99 %.
    assert told_apart([1005.0, 1002.7], error, 10, 95, [0, 0])[0, 1]
    assert not told_apart([1005.0, 1002.8], error, 10, 95, [0, 0]).any()
    assert not told_apart([1005.0, 1002.7], error, 10, 99, [0, 0]).any()
    assert not told_apart([1005.0, 1002.7], error, 10, 95, [0, 1]).any()


def test_half_a_point_more_is_the_least_error():
    # One more point for A lifts it by 30 and lowers B by 30; scores that all agree have no variance.
    pull = np.array([[30.0, -30.0], [-30.0, 30.0]])
    assert difference_errors(np.zeros((2, 2)), pull)[0, 1] == 60.0


class TestGroups:
    def test_by_hand_in_the_order_of_the_ratings(self):
        # Errors of 10 each, so a difference has one of 14.1 and a 95 % half-width of 27.7.
        error = independent(10, 10, 10, 10)
        found = groups_not_told_apart([100, 90, 70, 0], error, 10**6, 95, [0, 0, 0, 0])
        assert found.members == ((0, 1), (1, 2), (3,))
        assert found.letters == ("a", "ab", "b", "c")
        assert found.level == 95
        found = groups_not_told_apart([0, 70, 90, 100], error, 10**6, 95, [0, 0, 0, 0])
        assert found.members == ((3, 2), (2, 1), (0,))
        assert found.letters == ("c", "b", "ab", "a")
        found = groups_not_told_apart([0, 1, 0, 1], error, 10**6, 95, [0, 1, 0, 1])
        assert [set(those) for those in found.members] == [{0, 2}, {1, 3}]

    def test_a_hundred_unequal_steps_are_all_runs_of_neighbours(self):
        rating = np.cumsum(np.random.default_rng(1).uniform(0, 20, 100))[::-1]
        place = rating, independent(*[10] * 100), 20, 95, np.zeros(100)
        found, apart = groups_not_told_apart(*place), told_apart(*place)
        assert all(not apart[np.ix_(those, those)].any() for those in found.members)
        assert len(found.members) <= 100
        assert "aa" in {letter for letters in found.letters for letter in letters.split()}

    @pytest.mark.parametrize(
        ("number", "letter"), [(0, "a"), (25, "z"), (26, "aa"), (52, "ba"), (702, "aaa")]
    )
    def test_letters_go_on_after_z(self, number, letter):
        assert separation._letter(number) == letter

    @given(ratings_and_components(), st.sampled_from((50, 80, 95)))
    def test_groups_are_every_largest_set_not_told_apart(self, drawn, level):
        rating, error, component = drawn
        found = groups_not_told_apart(rating, error, 12, level, component)
        apart = told_apart(rating, error, 12, level, component)
        shares = np.zeros_like(apart)
        for those in found.members:
            shares[np.ix_(those, those)] = True
        assert np.array_equal(shares, ~apart & (component[:, None] == component[None, :]))
        for those in found.members:
            for other in set(range(len(component))) - set(those):
                assert any(apart[other, one] or component[other] != component[one] for one in those)

    @given(st.lists(st.integers(0, 30), min_size=1, max_size=9, unique=True))
    def test_distances_alone_give_every_maximal_set(self, places):
        # Two rounds 5 apart: the difference holds 0 exactly where two contestants are less than 5 apart.
        ordered = sorted(places, reverse=True)
        alike = np.abs(np.subtract.outer(ordered, ordered)) < 5
        sets = [
            chosen
            for size in range(1, len(ordered) + 1)
            for chosen in itertools.combinations(range(len(ordered)), size)
            if alike[np.ix_(chosen, chosen)].all()
        ]
        maximal = {one for one in sets if not any(set(one) < set(other) for other in sets)}
        assert separation._cover(alike) == maximal


class TestRankInterval:
    def test_by_hand(self):
        best, worst = rank_interval(make_samples(300, 200, 100), 95, [0, 0, 0])
        assert (best.tolist(), worst.tolist()) == ([1, 2, 3], [1, 2, 3])
        best, worst = rank_interval(make_samples(0, 0, 0, -500), 95, [0, 0, 0, 0])
        assert (best.tolist(), worst.tolist()) == ([1, 1, 1, 4], [3, 3, 3, 4])
        best, worst = rank_interval(make_samples(0, 100, 500), 95, [0, 0, 1])
        assert (best.tolist(), worst.tolist()) == ([2, 1, 1], [2, 1, 1])
        best, worst = rank_interval([[3.0, 1.0, 1.0], [3.0, 1.0, 1.0]], 95, [0, 0, 0])
        assert (best.tolist(), worst.tolist()) == ([1, 2, 2], [1, 3, 3])

    def test_is_never_narrower_than_what_one_pair_shows(self):
        samples = make_samples(*np.linspace(0, 60, 12))
        best, worst = rank_interval(samples, 95, one_component(samples))
        middle = np.median(samples, axis=0)
        apart = told_apart(middle, difference_errors(np.cov(samples.T)), 10**6, 95, one_component(samples))
        above = (apart & (middle[None, :] > middle[:, None])).sum(axis=1)
        assert (best <= 1 + above).all()
        assert (worst >= best).all()


class TestRoundingErrors:
    """Fits of equal contestants differ by as little as 1e-12 points, more or less as they are numbered."""

    samples = np.repeat([[1000.0, 1000.0 + 1e-12, 1000.0 - 1e-9]], 5, axis=0)
    component = np.zeros(3, dtype=int)

    def test_nobody_is_told_apart(self):
        low = high = self.samples[0]
        assert rank_upper_bound(low, high, self.component).tolist() == [1, 1, 1]
        assert probability_first(self.samples, self.component) == pytest.approx([1 / 3, 1 / 3, 1 / 3])
        above = probability_above(self.samples, self.component)
        assert (above[~np.eye(3, dtype=bool)] == 0.5).all()
        place = self.samples[0], np.zeros((3, 3)), 5, 95, self.component
        assert groups_not_told_apart(*place).letters == ("a", "a", "a")
        best, worst = rank_interval(self.samples, 95, self.component)
        assert best.tolist() == [1, 1, 1]
        assert worst.tolist() == [3, 3, 3]


class TestCoverage:
    """Six equals, estimated with an error of 10, their samples spread as far: the hardest case for ranks."""

    @pytest.fixture(scope="class")
    @classmethod
    def studies(cls):
        generator = np.random.default_rng(1)
        return [generator.normal(generator.normal(0, 10, 6), 10, (1000, 6)) for _ in range(300)]

    def test_the_rank_interval_holds_all_ranks_of_equals_and_percentiles_of_ranks_do_not(self, studies):
        intervals, percentiles = [], []
        for samples in studies:
            rank = 1 + (samples[:, None, :] > samples[:, :, None]).sum(axis=2)
            for found, (best, worst) in (
                (intervals, rank_interval(samples, 95, one_component(samples))),
                (percentiles, np.percentile(rank, (2.5, 97.5), axis=0)),
            ):
                found.append((best == 1) & (worst == 6))
        assert 0.92 < np.mean(intervals) < 0.98
        assert np.mean(percentiles) < 0.75

    def test_equals_are_told_apart_and_ranked_better_as_rarely_as_the_level_says(self, studies):
        pairs = np.triu_indices(6, 1)
        error, together = independent(*[10] * 6), np.zeros(6)
        told = [told_apart(each.mean(axis=0), error, 10**6, 95, together)[pairs] for each in studies]
        assert 0.03 < np.mean(told) < 0.07
        ends = [np.percentile(samples, (2.5, 97.5), axis=0) for samples in studies]
        assert np.mean([rank_upper_bound(low, high, np.zeros(6)) == 1 for low, high in ends]) > 0.95


class TestBadInput:
    @pytest.mark.parametrize(
        "call",
        [
            probability_first,
            probability_above,
            lambda samples, component: rank_interval(samples, 95, component),
        ],
    )
    def test_samples_of_another_shape_are_refused(self, call):
        with pytest.raises(StatsError, match=r"samples has the shape \(4, 2\)"):
            call(np.zeros((4, 2)), [0, 0, 0])
        with pytest.raises(StatsError, match="no samples"):
            call(np.zeros((0, 2)), [0, 0])

    def test_a_level_outside_0_to_100_is_refused(self):
        with pytest.raises(StatsError, match="between 0 and 100"):
            told_apart([0, 0], np.zeros((2, 2)), 5, 100, [0, 0])
        with pytest.raises(StatsError, match="between 0 and 100"):
            rank_interval(np.zeros((4, 2)), 100, [0, 0])

    def test_arrays_of_another_length_are_refused(self):
        with pytest.raises(StatsError, match="rating has 1"):
            told_apart([1.0], np.zeros((2, 2)), 5, 95, [0, 0])
        with pytest.raises(StatsError, match="low has 2, high has 1, component has 2"):
            rank_upper_bound([1, 2], [3], [0, 0])


def test_the_last_bits_of_equal_ratings_do_not_order_a_group():
    """They differ between processors, with and without AVX-512."""
    found = [
        groups_not_told_apart(rating, independent(90, 90, 90), 5, 95.0, [0, 0, 0]).members
        for rating in ([1000.0, 1000.0 + 1e-12, 900.0], [1000.0 + 1e-12, 1000.0, 900.0])
    ]
    assert found[0] == found[1] == ((0, 1, 2),)
