from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as by_statsmodels
from statsmodels.stats.multitest import multipletests

from leaderboard.stats.p_values import mcnemar
from leaderboard.stats.paired_shares import paired_shares
from leaderboard.stats.resampling import cluster_draws
from tests.leaderboard.stats import agreement_studies

ALL = agreement_studies.topics(40, names=("",))
SETTING = {"level": 95.0, "rounds": 50, "seed": 3}


def at_random(seed, raters=3):
    """Raters that are right in different shares of 40 pairs, and did not rate some."""
    generator = np.random.default_rng(seed)
    right = (generator.random((raters, 40)) < np.linspace(0.4, 0.9, raters)[:, None]).astype(float)
    return np.where(generator.random((raters, 40)) < 0.2, np.nan, right)


def test_by_hand():
    # Both right on 4 pairs, the one alone on 5, the other alone on 1, both wrong on 2; pair 12 is not shared.
    one = np.array([1] * 4 + [1] * 5 + [0] + [0] * 2 + [1.0])
    other = np.array([1] * 4 + [0] * 5 + [1] + [0] * 2 + [np.nan])
    topics = agreement_studies.topics(13, each=1, names=("",))
    found = paired_shares(topics, np.array([one, other]), **SETTING)[0, 1]
    assert (found.pairs, found.prompts, found.only_one, found.only_other) == (12, 12, 5, 1)
    assert (found.one_right, found.other_right) == pytest.approx((9 / 12, 5 / 12))
    assert found.difference.value == pytest.approx(4 / 12)
    # Of six, one or none falls to the one side with the chance (1 + 6) / 64; two-sided 14/64.
    assert found.p == found.p_adjusted == pytest.approx(14 / 64)


def test_leads_of_prompts_by_hand():
    """3, 1, -1 and 2 add up to 5. Of 16 ways to turn the signs one gives 7 and two give 5: p = 2 * 3 / 16."""
    assert mcnemar(np.array([3, 1, -1, 2])) == pytest.approx(6 / 16)
    # One pair in front on each of six prompts is 2 / 2^6; six of one prompt may as well be chance.
    assert mcnemar(np.ones(6, dtype=int)) == pytest.approx(2 / 64)
    assert mcnemar(np.array([6])) == 1.0


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_the_test_is_the_share_of_all_ways_to_turn_the_signs(leads):
    lead = np.array(leads, dtype=np.int64)
    ways = np.array(list(product((1, -1), repeat=len(lead)))).reshape(-1, len(lead))
    assert mcnemar(lead) == pytest.approx((np.abs(ways @ lead) >= abs(lead.sum())).mean())
    assert mcnemar(-lead[::-1]) == pytest.approx(mcnemar(lead))


def test_of_many_prompts_it_is_the_statistic_of_durkalski():
    """With six pairs of each prompt: (sum of (b - c) / n)^2 / sum of ((b - c) / n)^2 is about chi-squared."""
    lead = np.random.default_rng(4).integers(-3, 4, 400)
    statistic = (lead / 6).sum() ** 2 / ((lead / 6) ** 2).sum()
    assert mcnemar(lead) == pytest.approx(stats.chi2.sf(statistic, 1), abs=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_it_equals_statsmodels_and_rounds_of_the_bootstrap_in_plain_loops(seed):
    right = at_random(seed)
    found = paired_shares(ALL, right, **SETTING)
    assert list(found) == [(0, 1), (0, 2), (1, 2)]
    single = paired_shares(agreement_studies.topics(40, each=1, names=("",)), right, **SETTING)
    for (a, b), test in found.items():
        both = ~np.isnan(right[a] + right[b])
        x, y = right[a][both], right[b][both]
        table = [[((x == i) & (y == j)).sum() for j in (1, 0)] for i in (1, 0)]
        assert single[a, b].p == pytest.approx(by_statsmodels(table, exact=True).pvalue)
        leads = [(x - y)[ALL.prompt[both] == prompt].sum() for prompt in range(len(ALL.category))]
        assert test.p == pytest.approx(mcnemar(np.array(leads, dtype=int)))
        assert (test.one_right, test.other_right, test.pairs) == pytest.approx((x.mean(), y.mean(), len(x)))
        drawn = []
        for draw in cluster_draws(3, np.arange(50), len(ALL.category)):
            own = np.concatenate([np.flatnonzero(both & (ALL.prompt == prompt)) for prompt in draw])
            drawn.append(right[a][own].mean() - right[b][own].mean())
        reach = stats.t.ppf(0.975, test.prompts - 1) * np.std(drawn, ddof=1)
        reach *= np.sqrt(test.prompts / (test.prompts - 1))
        ends = max(-1, test.difference.value - reach), min(1, test.difference.value + reach)
        assert test.difference[1:] == pytest.approx(ends)
    adjusted = multipletests([test.p for test in found.values()], method="holm")[1]
    assert [test.p_adjusted for test in found.values()] == pytest.approx(adjusted)


@given(st.integers(0, 40), st.integers(0, 40))
def test_with_one_pair_of_each_prompt_the_test_is_the_exact_binomial_one(one, other):
    expected = stats.binomtest(one, one + other).pvalue if one + other else 1.0
    leads = np.array([1] * one + [-1] * other + [0], dtype=int)
    assert mcnemar(leads) == pytest.approx(expected)


@pytest.mark.filterwarnings("error")
def test_the_order_of_raters_turns_the_sign_and_those_without_a_shared_pair_are_not_compared():
    right = at_random(5, raters=2)
    one, other = (paired_shares(ALL, each, **SETTING)[0, 1] for each in (right, right[::-1]))
    assert one.difference.value == pytest.approx(-other.difference.value)
    assert (one.p, one.only_one) == (other.p, other.only_other)
    assert one.difference.low == pytest.approx(-other.difference.high)
    apart = np.full((2, 40), np.nan)
    apart[0, 0] = apart[1, 1] = 1.0
    assert paired_shares(ALL, apart, **SETTING) == {}
    assert paired_shares(ALL, apart[:0], **SETTING) == {}
