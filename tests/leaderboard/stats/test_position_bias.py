import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize
from scipy.stats import norm
from statsmodels.stats.contingency_tables import SquareTable

from judging.endpoints.simulated import Simulation
from leaderboard.stats.checks import LengthMismatchError, RatingError
from leaderboard.stats.position_bias import counts_by_prompt, cuts, mirror_test, place_worth, position
from leaderboard.stats.ratings import make_ratings
from tests.judging.simulating import simulated_rating

RATED = st.lists(st.tuples(st.integers(1, 8), st.integers(0, 5)), min_size=1, max_size=40)


def test_by_hand():
    # Counts 3 0 0 1 2 0 1 1 on 8 points: pairs (1, 8) 3-1, (2, 7) 0-1, (4, 5) 1-2; nobody gave 3 or 6.
    rating = [1, 1, 1, 4, 5, 5, 7, 8]
    found = position(rating, 8, range(8))
    assert found["chi2"] == pytest.approx(4 / 4 + 1 / 1 + 1 / 3)
    assert (found["df"], found["n"], found["sided"], found["prompts"]) == (3, 8, 8, 8)
    assert found["share_first"] == pytest.approx(4 / 8)
    assert (found["mean"], found["neutral_mean"]) == (pytest.approx(32 / 8), 4.5)
    assert found["p_independent"] == pytest.approx(stats.chi2.sf(7 / 3, 3))
    assert (found["mean_low"], found["mean_high"]) == pytest.approx(
        stats.t.interval(0.95, 7, 4, stats.sem(rating))
    )
    # Every prompt was asked in both orders and answered alike: prompts do not differ at all.
    counts = np.tile([1.0, 0, 0, 0, 0, 0, 0, 1], (10, 1))
    assert mirror_test(counts) == (0, 1, 1, 1)


def test_the_statistic_is_bowkers():
    rating = np.random.default_rng(3).choice(8, p=[0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05], size=200) + 1
    # A square table whose only cells beside the diagonal are the mirrored pairs of ratings.
    counts = np.bincount(rating, minlength=9)[1:]
    table = np.zeros((8, 8))
    for low in range(4):
        table[low, 7 - low], table[7 - low, low] = counts[low], counts[7 - low]
    expected = SquareTable(table, shift_zeros=False).symmetry()
    found = position(rating, 8, np.arange(200))
    assert found["chi2"] == pytest.approx(expected.statistic)
    assert found["p_independent"] == pytest.approx(stats.chi2.sf(expected.statistic, 4))
    found = position([3, 3, 1], 5, [0, 1, 2])
    assert (found["n"], found["sided"], found["share_first"], found["df"]) == (3, 1, 1, 1)


@pytest.mark.parametrize("rating", [[], [2, 2]])
def test_no_rating_on_a_side(rating):
    found = position(rating, 3, range(len(rating)))
    assert (found["sided"], found["share_first"], found["chi2"], found["df"], found["p"]) == (
        0,
        None,
        None,
        0,
        None,
    )


def test_few_prompts_and_many_ratings_of_one():
    found = position([1, 2, 8], 8, [4, 4, 4])
    assert (found["prompts"], found["share_first_low"], found["mean_low"], found["p"]) == (
        1,
        None,
        None,
        None,
    )
    assert found["p_independent"] is not None
    once = position([1, 8, 1, 1, 8, 1, 1, 2], 8, range(8))
    nine_times = position(np.repeat([1, 8, 1, 1, 8, 1, 1, 2], 9), 8, np.repeat(range(8), 9))
    assert nine_times["p_independent"] < 0.001 < 0.1 < nine_times["p"]
    assert nine_times["share_first_low"] == pytest.approx(once["share_first_low"])
    assert position([1] * 50 + [1] * 50, 8, [0] * 50 + [1] * 50)["p"] == 0.5


def test_with_one_pair_of_ratings_the_test_is_students():
    """On two points Rao and Scott's F is the squared t of the prompts' differences."""
    prompts = np.random.default_rng(5).integers(0, 12, size=60)
    rating = np.where(np.random.default_rng(6).random(60) < 0.65, 1, 2)
    counts = counts_by_prompt(rating, 2, prompts)
    difference = counts[:, 0] - counts[:, 1]
    found = position(rating, 2, prompts)
    t = difference.sum() / np.sqrt(difference.var(ddof=1) * len(difference))
    expected = 2 * stats.t.sf(abs(t), len(difference) - 1)
    assert found["p"] == pytest.approx(max(expected, found["p_independent"]))


@given(RATED)
def test_showing_everything_the_other_way_round_mirrors_everything(rated):
    rating, prompt = np.array(rated).T
    one, other = position(rating, 8, prompt), position(9 - rating, 8, prompt)
    assert one["chi2"] == pytest.approx(other["chi2"])
    assert one["p"] == (None if other["p"] is None else pytest.approx(other["p"]))
    assert one["share_first"] == pytest.approx(1 - other["share_first"])
    assert one["mean"] == pytest.approx(9 - other["mean"])
    if one["share_first_low"] is not None:
        assert one["share_first_low"] == pytest.approx(1 - other["share_first_high"])
    if one["p"] is not None:
        assert one["p"] >= max(one["p_independent"], 2.0 ** (1 - one["prompts"]))


@given(RATED, st.permutations(range(6)))
def test_names_of_prompts_change_nothing(rated, names):
    rating, prompt = np.array(rated).T
    one, other = position(rating, 8, prompt), position(rating, 8, np.array(names)[prompt])
    assert one == pytest.approx(other, abs=2e-6)


@pytest.mark.parametrize(
    ("rating", "points", "prompt", "error"),
    [([9], 8, [1], RatingError), ([1], 4, [1], RatingError), ([1, 2], 8, [1], LengthMismatchError)],
)
def test_it_refuses_what_is_not_on_the_scale(rating, points, prompt, error):
    with pytest.raises(error):
        position(rating, points, prompt)


STRENGTHS = {"a": -150.0, "b": -30.0, "c": 40.0, "d": 140.0}


def of_simulated_judge(bias, noise, prompts=80, points=8, both=True):
    simulation = Simulation.from_options({"noise": noise, "position_bias": bias, "strengths": STRENGTHS})
    names, rows = list(STRENGTHS), []
    for prompt in range(prompts):
        for one in range(len(names)):
            for other in range(one + 1, len(names)):
                orders = [(one, other), (other, one)]
                for first, second in orders if both else [orders[(prompt + one + other) % 2]]:
                    said = simulated_rating(simulation, names[first], names[second], points, len(rows))
                    rows.append((first, second, said, prompt))
    first, second, rating, prompt = np.array(rows).T
    return make_ratings(first, second, rating, points, len(names), prompt=prompt)


class TestTheInstrument:
    """The simulated judge is given a bias, and the measured one is that within its interval."""

    @pytest.mark.parametrize("points", [3, 5, 8])
    @pytest.mark.parametrize(("bias", "noise"), [(0, 200), (80, 200), (-150, 100), (60, 400)])
    def test_bias_of_the_simulated_judge(self, bias, noise, points):
        found = place_worth(of_simulated_judge(bias, noise, points=points))
        assert found.low <= bias <= found.high
        assert found.high - found.low < noise  # it says something
        assert found.noise.value == pytest.approx(noise, rel=0.25)

    def test_one_order_tells_it_too_and_more_noise_does_not_move_it(self):
        found = place_worth(of_simulated_judge(80, 200, both=False))
        assert found.low <= 80 <= found.high
        calm, noisy = (of_simulated_judge(100, noise, prompts=150) for noise in (100, 600))
        mean = [float(given.rating.mean()) - 4.5 for given in (calm, noisy)]
        assert mean[0] > 1.5 * mean[1] > 0
        for ratings in (calm, noisy):
            found = place_worth(ratings)
            assert found.low <= 100 <= found.high


def test_intervals_hold_bias_and_noise_as_often_as_they_say():
    """Few studies here; many in tests/simulations/test_coverage_place.py."""
    rng = np.random.default_rng(11)
    strength, held = np.array([-100.0, 0.0, 100.0]), []
    for _ in range(150):
        first = rng.integers(0, 3, 120)
        second = (first + rng.integers(1, 3, 120)) % 3
        seen = strength[second] - strength[first] + 90 + rng.normal(0, 200, 120)
        rating = np.searchsorted(cuts(8)[1:-1], seen) + 1
        found = place_worth(make_ratings(first, second, rating, 8, 3, prompt=np.repeat(np.arange(30), 4)))
        held.append((found.low <= 90 <= found.high, found.noise.low <= 200 <= found.noise.high))
    of_bias, of_noise = np.mean(held, axis=0)
    assert of_bias > 0.9
    assert of_noise > 0.87


class TestByHand:
    def test_cuts_are_the_chances_the_ratings_stand_for(self):
        assert cuts(2)[1] == 0
        assert cuts(8)[1:-1] == pytest.approx([400 * math.log10(k / (8 - k)) for k in range(1, 8)])

    def test_equals_on_three_points(self):
        """One contestant's answers against another's equal: two shares, two unknowns, solved by hand.

        12 of 100 prefer the first and 30 the second, and mirrored alike: z(0.12) and z(0.70) are the cuts.
        """
        low, high = norm.ppf(0.12), norm.ppf(0.70)
        cut = 400 * math.log10(2)
        noise = 2 * cut / (high - low)
        first, second = [0, 1] * 100, [1, 0] * 100
        rating = np.repeat([1, 2, 3], [12, 58, 30]).repeat(2)
        found = place_worth(make_ratings(first, second, rating, 3, 2, prompt=np.arange(200)))
        assert found.noise.value == pytest.approx(noise, rel=1e-4)
        assert found.points == pytest.approx(cut - noise * high, rel=1e-4)
        assert found.n == found.prompts == 200


def slow_fit(ratings):
    """The same maximum by a general search in b, sigma and strengths, and its sandwich by differences."""
    limits = cuts(8)

    def each(p):
        strength = np.append(0.0, p[2:])
        seen = strength[ratings.second] - strength[ratings.first] + p[0]
        noise = math.exp(p[1])
        above = norm.cdf((limits[ratings.rating] - seen) / noise)
        return np.log(above - norm.cdf((limits[ratings.rating - 1] - seen) / noise))

    start = np.append([0.0, math.log(200)], np.zeros(ratings.contestants - 1))
    found = minimize(lambda p: -each(p).sum(), start, method="BFGS", options={"gtol": 1e-7}).x
    step = np.array([0.1, 1e-4, *[0.1] * (ratings.contestants - 1)])
    unit = np.diag(step)
    scores = np.array(
        [(each(found + e) - each(found - e)) / (2 * s) for e, s in zip(unit, step, strict=True)]
    )
    bend = np.array(
        [
            [
                (each(found + d + e) - each(found + d - e) - each(found - d + e) + each(found - d - e)).sum()
                / (4 * s * t)
                for e, t in zip(unit, step, strict=True)
            ]
            for d, s in zip(unit, step, strict=True)
        ]
    )
    sums = np.array([np.bincount(ratings.prompt, row) for row in scores])
    prompts = sums.shape[1]
    inverse = np.linalg.inv(-bend)
    return found, inverse @ (sums @ sums.T) @ inverse * prompts / (prompts - 1)


def test_against_a_general_search_and_a_numerical_sandwich():
    from scipy.stats import t

    ratings = of_simulated_judge(70, 180, prompts=25)
    place, covariance = slow_fit(ratings)
    found = place_worth(ratings)
    assert found.points == pytest.approx(place[0], abs=0.05)
    assert found.noise.value == pytest.approx(math.exp(place[1]), rel=1e-3)
    reach = t.ppf(0.975, 24) * math.sqrt(covariance[0, 0])
    assert found.high - found.points == pytest.approx(reach, rel=1e-2)
    # The slow search has the logarithm of sigma.
    of_noise = t.ppf(0.975, 24) * math.sqrt(covariance[1, 1]) * found.noise.value
    assert found.noise.high - found.noise.value == pytest.approx(of_noise, rel=1e-2)
    assert found.noise.value - found.noise.low == pytest.approx(of_noise, rel=1e-2)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_turned_round_it_changes_its_sign_and_names_and_order_do_not_matter(seed):
    ratings = drawn(seed)
    turned = make_ratings(ratings.second, ratings.first, 9 - ratings.rating, 8, 4, prompt=ratings.prompt)
    one, other = place_worth(ratings), place_worth(turned)
    assert one.points == pytest.approx(-other.points, abs=1e-4)
    assert one.low == pytest.approx(-other.high, abs=1e-4)
    assert one.noise.value == pytest.approx(other.noise.value, rel=1e-6)
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(len(ratings)), rng.permutation(4)
    mixed = make_ratings(
        names[ratings.first][order],
        names[ratings.second][order],
        ratings.rating[order],
        8,
        4,
        prompt=ratings.prompt[order],
    )
    other = place_worth(mixed)
    assert one.points == pytest.approx(other.points, abs=1e-4)
    assert one.high == pytest.approx(other.high, abs=1e-3)


def drawn(seed):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, 120)
    second = (first + rng.integers(1, 4, 120)) % 4
    return make_ratings(first, second, rng.integers(1, 9, 120), 8, 4, prompt=rng.integers(0, 20, 120))


@pytest.mark.parametrize(
    ("rows", "points", "reason"),
    [
        (([0, 1, 0], [1, 0, 1], [1, 2, 2]), 2, "two points tell which side, and not how far"),
        (([0, 1], [1, 0], [8, 8]), 8, "fewer than three different ratings"),
        (
            ([0, 1, 1, 2, 2, 3] * 4, [1, 0, 2, 1, 3, 2] * 4, [8, 1, 6, 3, 5, 4] * 4),
            8,
            "the ratings vary too little to tell bias from noise",
        ),
    ],
)
def test_without_an_answer_it_gives_the_reason(rows, points, reason):
    found = place_worth(make_ratings(*rows, points, 4, prompt=np.arange(len(rows[0]))))
    assert (found.points, found.reason) == (None, reason)


def test_one_prompt_has_no_interval():
    given = drawn(1)
    found = place_worth(make_ratings(given.first, given.second, given.rating, 8, 4, prompt=[0] * 120))
    assert found.points is not None
    assert (found.low, found.reason) == (None, "no interval: one prompt only")
