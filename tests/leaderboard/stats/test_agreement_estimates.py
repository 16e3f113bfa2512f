import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats.agreement_estimates import Wanted, estimates, t_intervals, z_intervals
from leaderboard.stats.agreement_opinions import Beside, resample
from leaderboard.stats.kappa import VALUES, kappa_measure
from tests.leaderboard.stats import agreement_studies


def interval(estimate, samples, prompts=20, level=95.0):
    low, high = z_intervals(np.array([estimate]), np.array([samples]), np.array([prompts]), level)
    return low[0], high[0]


SAMPLES = np.tanh(np.random.default_rng(0).normal(0.6, 0.2, 400))


@pytest.mark.parametrize(("prompts", "level"), [(2, 95.0), (20, 90.0), (327, 99.0)])
def test_the_formula(prompts, level):
    reach = stats.t.ppf(0.5 + level / 200, prompts - 1) * np.arctanh(SAMPLES).std(ddof=1)
    reach *= np.sqrt(prompts / (prompts - 1))
    expected = np.tanh(np.arctanh(0.5) - reach), np.tanh(np.arctanh(0.5) + reach)
    assert interval(0.5, SAMPLES, prompts, level) == pytest.approx(expected)


def test_differences_have_the_formula_without_z_and_stay_inside_their_range():
    reach = stats.t.ppf(0.975, 19) * SAMPLES.std(ddof=1) * np.sqrt(20 / 19)
    low, high = t_intervals(np.array([0.1]), SAMPLES[None], np.array([20]), 95.0)
    assert (low[0], high[0]) == pytest.approx((0.1 - reach, 0.1 + reach))
    topics = agreement_studies.topics(names=("",))
    one, two, three = (agreement_studies.at_random(0, raters=raters) for raters in (1, 2, 3))
    kappas = [
        kappa_measure(topics, *map(agreement_studies.sums, each)) for each in ((one, two), (one, three))
    ]
    both = Beside(*kappas)
    values = len(VALUES)
    one_by_one = [each.estimate for each in kappas]
    estimate = np.concatenate((*one_by_one, one_by_one[0] - one_by_one[1]), axis=1)
    apart, *alone = resample([both, *kappas], 30, 1)
    assert apart == pytest.approx(np.concatenate((*alone, alone[0] - alone[1]), axis=1), nan_ok=True)
    wanted = Wanted(both, np.unique(one.pair), estimate, differences=tuple(range(2 * values, 3 * values)))
    (found,) = estimates([wanted], level=99.9, rounds=30, seed=1)
    assert -2 <= found.low[0, 2 * values] < found.value[0, 2 * values] < found.high[0, 2 * values] <= 2


def test_undefined_rounds_one_prompt_and_rounds_at_the_very_end():
    some = np.append(SAMPLES, np.full(300, np.nan))
    most = np.append(SAMPLES, np.full(500, np.nan))
    assert interval(0.5, some) == interval(0.5, SAMPLES)
    assert np.isnan(interval(0.5, most)).all()
    assert np.isnan(interval(0.5, SAMPLES, prompts=1)).all()
    assert np.isnan(interval(1.0, np.ones(50))).all()
    assert np.isnan(interval(np.nan, SAMPLES)).all()
    low, high = interval(0.9, np.append(SAMPLES, [1.0, 1.0]))
    assert -1 < low < 0.9 < high <= 1


@given(
    st.floats(-1, 1),
    st.lists(st.floats(-1, 1), min_size=2, max_size=30),
    st.integers(2, 50),
    st.floats(1, 99),
)
def test_it_lies_around_the_value_inside_the_range_and_grows_with_the_level(value, samples, prompts, level):
    low, high = interval(value, np.array(samples), prompts, level)
    if np.isnan(low):
        assert np.isnan(high)
        return
    assert -1 <= low <= value <= high <= 1
    wider = interval(value, np.array(samples), prompts, (level + 100) / 2)
    assert wider[0] <= low
    assert wider[1] >= high


@given(st.integers(0, 50))
def test_its_mirror_image_is_the_interval_of_the_opposite(seed):
    generator = np.random.default_rng(seed)
    samples = generator.uniform(-1, 1, 30)
    low, high = interval(0.3, samples)
    assert interval(-0.3, -samples) == pytest.approx((-high, -low))


def test_shares_stay_between_0_and_1():
    topics = agreement_studies.topics()
    one, other = (agreement_studies.sums(agreement_studies.at_random(1, raters=raters)) for raters in (2, 3))
    measure = kappa_measure(topics, one, other)
    exact = VALUES.index("exact")
    pair = np.flatnonzero(one.count * other.count)
    (found,) = estimates(
        [Wanted(measure, pair, measure.estimate, shares=(exact,))], level=95.0, rounds=100, seed=0
    )
    assert found.prompts[0] == 6
    assert (found.value == measure.estimate).all()
    assert (found.low[:, exact] >= 0).all()
    assert (found.low[:, exact] < found.value[:, exact]).all()
    assert (found.high[:, exact] > found.value[:, exact]).all()
    assert (found.high[:, exact] <= 1).all()
