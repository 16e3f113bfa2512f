from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from leaderboard.stats.gold import Judged
from leaderboard.stats.gold_averages import accuracies, adjusted, difference, groups
from leaderboard.stats.resampling import cluster_draws
from leaderboard.stats.sides import NOT_ASKED, UNSCORED


def judge(*subsets):
    """A judge from the points it earns on each instance of each subset: 0, 1 or 2 orders right."""
    return [
        Judged(
            np.ones(len(right), dtype=int),
            np.array([[1 if r > 0 else -1 for r in right], [1 if r > 1 else -1 for r in right]]),
        )
        for right in subsets
    ]


def simulated(rng, n, chance, flips=0.2):
    right = rng.random(n) < chance
    again = np.where(rng.random(n) < flips, rng.random(n) < chance, right)
    return Judged(np.ones(n, dtype=int), np.where([right, again], 1, -1))


def test_means_by_hand():
    own, other = accuracies([judge([2, 2, 1, 0], [2, 0]), judge([0, 0, 0, 0], [1, 1])], 200, 1)
    assert own.estimate.tolist() == [5 / 8, 1 / 2]
    assert own.mean([0, 1], 95).value == (5 / 8 + 1 / 2) / 2
    assert own.prompts.tolist() == [4, 2]
    # Wilson's interval of 0 in 4 instances; no variance at all where each instance is half right.
    never = other.mean([0], 95)
    assert never.low == 0 < never.high < 1
    assert other.mean([1], 95) == type(never)(0.5, 0.5, 0.5)


def test_a_mean_without_one_of_its_subsets_is_undefined():
    without = Judged(np.ones(3, dtype=int), np.full((2, 3), NOT_ASKED))
    unread = Judged(np.ones(3, dtype=int), np.full((2, 3), UNSCORED))
    for gap in (without, unread):
        (own,) = accuracies([[*judge([2, 2, 0]), gap]], 50, 1)
        assert own.mean([0, 1], 95).value is None
        assert own.mean([0], 95).value == 2 / 3
    assert accuracies([], 50, 1) == []


def test_judges_do_not_change_each_others_intervals():
    own, other = judge([2, 2, 1, 0], [2, 0]), judge([0, 0, 1, 2], [1, 1])
    alone, beside = accuracies([own], 20, 1)[0], accuracies([other, own], 20, 1)[1]
    assert (alone.samples == beside.samples).all()


def test_the_bootstrap_has_the_variance_of_instances():
    """Against the exact variance of a mean drawn with replacement, and independent subsets."""
    rng = np.random.default_rng(5)
    own = [simulated(rng, 60, 0.7), simulated(rng, 60, 0.7)]
    (found,) = accuracies([own], 4000, 1)
    each = [one.credits.mean(axis=0) for one in own]
    for samples, points in zip(found.samples, each, strict=True):
        assert samples.var() == pytest.approx(points.var() / 60, rel=0.08)
    assert abs(np.corrcoef(found.samples)[0, 1]) < 0.05


def test_the_interval_of_one_order_without_spread_is_wilsons():
    """One verdict for each instance: close to the interval of a plain share."""
    from statsmodels.stats.proportion import proportion_confint

    right = np.array([1] * 45 + [-1] * 5)
    own = Judged(np.ones(50, dtype=int), np.stack([right, np.full(50, NOT_ASKED)]))
    (found,) = accuracies([[own]], 4000, 1)
    mean = found.mean([0], 95)
    low, high = proportion_confint(45, 50, method="wilson")
    assert (mean.low, mean.high) == (pytest.approx(low, abs=0.01), pytest.approx(high, abs=0.01))


def test_difference_by_hand():
    base, better = judge([2, 2, 0, 0], [0, 0]), judge([2, 0, 2, 2], [2, 0])
    one, other = accuracies([base, better], 500, 1)
    found = difference(one, other, base, better, 95)
    assert found.difference == pytest.approx((3 / 4 + 1 / 2) / 2 - (2 / 4 + 0) / 2)
    assert (found.only_base, found.only_judge, found.subsets) == (1, 3, (0, 1))
    assert found.mcnemar == pytest.approx(mcnemar([[0, 1], [3, 0]], exact=True).pvalue)
    assert found.low < found.difference < found.high
    back = difference(other, one, better, base, 95)
    assert (back.difference, back.low, back.high) == (-found.difference, -found.high, -found.low)
    same = difference(one, one, base, base, 95)
    assert (same.difference, same.low, same.p, same.mcnemar) == (0, None, None, 1)


def test_mcnemar_takes_the_orders_in_which_both_were_asked():
    """In the stored order, the swapped one, both; the last was asked in different orders."""
    gold, gap = np.ones(4, dtype=int), NOT_ASKED
    base = [Judged(gold, np.array([[1, gap, 1, 1], [gap, -1, 1, gap]]))]
    other = [Judged(gold, np.array([[-1, -1, 1, gap], [1, 1, -1, 1]]))]
    found = difference(*accuracies([base, other], 50, 1), base, other, 95)
    assert (found.only_base, found.only_judge) == (2, 1)


def in_prompts(judged, each):
    """The same judge with ``each`` instances of a prompt."""
    return [replace(own, prompt=np.arange(len(own.gold)) // each) for own in judged]


@pytest.mark.parametrize("each", [2, 6])
def test_a_round_draws_prompts_with_all_their_instances(each):
    """Against rounds in plain loops, and with a single instance for each prompt as without prompts."""
    rng = np.random.default_rng(3)
    plain = [simulated(rng, 36, 0.7)]
    (found,), (alone,), (without,) = (
        accuracies([own], 40, 1) for own in (in_prompts(plain, each), in_prompts(plain, 1), plain)
    )
    assert (alone.samples == without.samples).all()
    assert found.prompts.tolist() == [36 / each]
    credits = plain[0].credits.mean(axis=0).reshape(-1, each)
    drawn = [credits[one].mean() for one in cluster_draws(1, np.arange(40), 36 // each, 21)]
    assert found.samples[0] == pytest.approx(drawn)


def test_six_copies_of_every_pair_in_its_prompt_change_no_interval_and_no_test():
    base, better = judge([2, 2, 0, 0, 1, 2, 0, 2]), judge([2, 0, 2, 2, 1, 2, 2, 2])
    sixfold = [in_prompts(judge(np.repeat(own[0].credits.sum(axis=0), 6)), 6) for own in (base, better)]
    known, more = accuracies([base, better], 300, 1), accuracies(sixfold, 300, 1)
    assert [each.mean([0], 95) for each in more] == [each.mean([0], 95) for each in known]
    one, other = difference(*known, base, better, 95), difference(*more, *sixfold, 95)
    assert (other.low, other.high, other.p) == pytest.approx((one.low, one.high, one.p))
    assert (other.only_judge, other.mcnemar) == (6 * one.only_judge, pytest.approx(one.mcnemar))


def test_prompts_that_happen_to_be_equal_make_no_interval_without_width():
    """Of each of three prompts one instance of two is right: that of six in a row, from 0 to 1 for each."""
    (found,) = accuracies([in_prompts(judge([2, 0, 2, 0, 0, 2]), 2)], 100, 1)
    mean = found.mean([0], 95)
    assert mean.low < 0.2 < mean.value == 0.5 < 0.8 < mean.high
    assert found.alone.tolist() == [pytest.approx(6 / 5 * 6 / 4 / 36)]


def test_differences_are_paired():
    """Two judges that are right about the same instances differ less than two that are not."""
    right = [2] * 30 + [0] * 30
    alike, apart = right[:-4] + [2] * 4, [0] * 26 + [2] * 34
    reach = []
    for other in (alike, apart):
        judges = [judge(right), judge(other)]
        found = difference(*accuracies(judges, 500, 1), *judges, 95)
        assert found.difference == pytest.approx(4 / 60)
        reach.append(found.high - found.low)
    assert reach[0] < reach[1] / 3


@settings(max_examples=20)
@given(st.lists(st.lists(st.integers(0, 2), min_size=6, max_size=6), min_size=2, max_size=6))
def test_holm(rights):
    judges = [judge(right) for right in rights]
    known = accuracies(judges, 30, 1)
    found = [
        difference(known[0], each, judges[0], own, 95)
        for each, own in zip(known[1:], judges[1:], strict=True)
    ]
    wanted = multipletests([each.mcnemar for each in found], method="holm")[1]
    assert [each.mcnemar_adjusted for each in adjusted(found)] == pytest.approx(wanted.tolist())
    of_t = [each.p for each in found if each.p is not None]
    if of_t:
        wanted = multipletests(of_t, method="holm")[1]
        assert [each.p_adjusted for each in adjusted(found) if each.p is not None] == pytest.approx(
            wanted.tolist()
        )


def coverage(studies, sizes, chance, *, rounds=200, apart=0.1):
    """How often 95 % intervals of an averaged accuracy, and of a difference, hold the truth."""
    held = np.zeros(2)
    for seed in range(studies):
        rng = np.random.default_rng(seed)
        judges = [[simulated(rng, n, p) for n in sizes] for p in (chance - apart, chance)]
        known = accuracies(judges, rounds, seed)
        mean = known[1].mean(range(len(sizes)), 95)
        found = difference(*known, *judges, 95)
        held += mean.low <= chance <= mean.high, found.low is not None and found.low <= apart <= found.high
    return held / studies


def test_coverage():
    assert (coverage(150, (46, 92), 0.9) > 0.9).all()


def test_groups():
    names = ["Natural", "Neighbor", "Manual", "mt/one", "mt/two", "solo/one"]
    assert groups(names) == {"Adversarial": [1, 2], "mt": [3, 4]}
    assert groups(["Natural", "Neighbor"]) == {}
