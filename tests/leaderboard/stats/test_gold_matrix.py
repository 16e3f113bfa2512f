import csv
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr, ttest_rel

from leaderboard.stats.gold import Judged, intervals
from leaderboard.stats.gold_matrix import Matrix, difficulty, mean_alpha, over_models, rank_correlation
from leaderboard.stats.sides import NOT_ASKED

NAN = np.nan
# Two models by three protocols, the base first, on two subsets; nobody asked the second model by the third.
BY_HAND = np.array(
    [[[0.5, 0.4], [0.7, 0.3], [0.6, 0.6]], [[0.9, 0.8], [0.8, 0.7], [NAN, NAN]]],
)


PARTS = {"a": [0], "b": [1]}


def test_by_hand():
    found = Matrix(BY_HAND, base=0)
    assert found.gain == pytest.approx(np.array([[0.2, 0.2], [-0.1, -0.1]]))
    assert found.optimum.tolist() == [[0.9, 0.8], [0.8, 0.7], [0.6, 0.6]]
    assert found.of_models == pytest.approx(np.array([[0.6, 1.3 / 3], [0.85, 0.75]]))
    assert found.of_protocols == pytest.approx(np.array([[0.7, 0.6], [0.75, 0.5], [0.6, 0.6]]))
    rows = {(each.over, each.one, each.other): each for each in found.correlations(PARTS, [0, 1])}
    judges = rows["judges", "a", "b"]
    assert judges.n == 5
    assert judges.spearman.value == pytest.approx(
        spearmanr([0.5, 0.7, 0.6, 0.9, 0.8], [0.4, 0.3, 0.6, 0.8, 0.7]).statistic
    )
    assert rows["models", "base", "average"].spearman.value == 1
    assert rows["models", "base", "gain"].spearman.value == -1
    assert rows["models", "average", "optimum"].spearman.value == 1
    assert rows["protocols", "average", "optimum"].n == 2, "the third was asked of one model alone"
    assert set(rows) == {
        ("judges", "a", "b"),
        ("models", "base", "average"),
        ("models", "base", "optimum"),
        ("models", "base", "gain"),
        ("models", "average", "optimum"),
        ("protocols", "average", "optimum"),
        ("protocols", "stronger models", "weaker models"),
    }


def test_groups_and_halves_by_hand():
    """Groups compare with what is not in them; the second model is the strong half, the first the weak."""
    values = np.concatenate([BY_HAND, BY_HAND[..., :1] - 0.1], axis=2)
    found = Matrix(values, base=0)
    parts = {"a": [0], "b": [1], "c": [2], "g": [1, 2]}
    rows = {(each.one, each.other): each for each in found.correlations(parts, [0, 1])}
    assert [pair for pair in rows if "g" in pair] == [("a", "g")]
    judges = values.reshape(-1, 3)[:5]
    assert rows["a", "g"].spearman.value == pytest.approx(
        spearmanr(judges[:, 0], judges[:, 1:].mean(axis=1)).statistic
    )
    strong, weak = found.halves([0, 1])
    assert (strong, weak) == ([1], [0])
    assert found.of_half(strong)[:2] == pytest.approx(values[1, :2])
    assert rows["stronger models", "weaker models"].n == 2, (
        "the third protocol was asked of a weak model alone"
    )
    three = np.concatenate([values, values[:1] + 0.05])
    assert Matrix(three, 0).halves([0]) == ([1], [0])


def test_differences_over_models_are_scipys():
    base, other = np.array([0.5, 0.6, 0.7, NAN, 0.4]), np.array([0.55, 0.62, 0.75, 0.9, 0.38])
    found, known = over_models(base, other, 95.0), ~np.isnan(base)
    wanted = ttest_rel(other[known], base[known])
    ends = wanted.confidence_interval(0.95)
    assert (found.difference.value, found.p) == pytest.approx((0.025, wanted.pvalue))
    assert found.difference[1:] == pytest.approx((ends.low, ends.high))
    alone = over_models(base[:1], other[:1], 95.0)
    assert (alone.difference.value, alone.p) == (pytest.approx(0.05), None)
    assert over_models(base + 0.1, base + 0.2, 95.0).p is None, "all differ alike"
    assert over_models(base[3:4], other[3:4], 95.0).difference.value is None


def test_mean_alpha_by_hand():
    """1 1 2 in the stored order and 1 2 2 in the other give 1 - (1/3) / (1 - 12/30) = 4/9."""
    gold = np.array([1, 1, -1])
    unsure, steady, alone = (
        Judged(gold, np.array(said))
        for said in ([[1, 1, -1], [1, -1, -1]], [[1, 1, -1]] * 2, [[1, 1, -1], [NOT_ASKED] * 3])
    )
    assert mean_alpha([[unsure], [steady], [alone]], 95).value == pytest.approx((4 / 9 + 1) / 2)
    assert mean_alpha([[alone]], 95).value is None
    own = intervals([unsure, unsure], 95)
    single = mean_alpha([[unsure, unsure]], 95)
    assert single[1:] == pytest.approx(own["alpha"][1:])


def test_without_a_base_or_without_other_protocols_there_is_no_gain():
    assert np.isnan(Matrix(BY_HAND, base=None).gain).all()
    assert np.isnan(Matrix(BY_HAND[:, :1], base=0).gain).all()
    assert {each.over for each in Matrix(BY_HAND, None).correlations(PARTS, [0, 1])} == {
        "judges",
        "protocols",
    }


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_rank_correlation_is_scipys(pairs):
    x, y = np.array(pairs, dtype=float).reshape(-1, 2).T
    found = rank_correlation("judges", "x", "y", x, y)
    if len(np.unique(x)) < 2 or len(np.unique(y)) < 2:
        assert (found.spearman.value, found.kendall.value) == (None, None)
    else:
        assert found.spearman.value == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
        assert found.kendall.value == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)


def test_intervals_of_rank_correlations_by_hand():
    """Of four judges two change places in 30 rounds of 100: Spearman is 1 or 1 - 6 * 2 / 60 = 0.8."""
    x, turned = np.arange(4.0), np.array([0.0, 2.0, 1.0, 3.0])
    rounds = np.array([turned] * 30 + [x] * 70).T
    steady = np.tile(x[:, None], 100)
    found = rank_correlation("judges", "x", "y", x, x, steady, rounds)
    assert found.spearman == (1.0, pytest.approx(0.8), 1.0)
    # As far upwards as downwards: noise has pulled the estimate to where it is.
    lower = rank_correlation("judges", "x", "y", x, turned, steady, np.array([x[::-1]] * 5 + [turned] * 95).T)
    assert lower.spearman[1:] == (-1.0, 1.0)
    assert rank_correlation("judges", "x", "y", x, x).spearman.low is None


def test_correlations_of_samples_are_in_the_order_of_the_estimates():
    rounds = np.repeat(BY_HAND[..., None], 3, axis=3)
    found, plain = Matrix(BY_HAND, 0), Matrix(BY_HAND, 0).correlations(PARTS, [0, 1])
    for one, other in zip(found.correlations(PARTS, [0, 1], Matrix(rounds, 0)), plain, strict=True):
        (value, *ends), tau = one.spearman, one.kendall.value
        assert (one.one, value, tau) == (other.one, other.spearman.value, other.kendall.value)
        assert value is None or ends == pytest.approx([value] * 2)


def test_printed_tables(judge_data):
    """Correlations that the authors of ReIFE's tables could have printed, from the tables."""
    tables = defaultdict(dict)
    with (judge_data / "reife" / "printed-tables.csv").open() as file:
        for row in csv.DictReader(file):
            tables[row["table"]][row["row"]] = float(row["average"])

    def spearman(one, other):
        shared = sorted(one.keys() & other.keys())
        columns = (np.array([each[name] for name in shared]) for each in (one, other))
        return rank_correlation("", "", "", *columns).spearman.value

    base, protocols, models, gain, optimum = (tables[number] for number in "24789")
    best = {name: base[name] + gain[name] for name in gain}
    assert spearman(protocols, optimum) == pytest.approx(0.788720, abs=5e-7)
    assert spearman(models, best) == pytest.approx(0.976923, abs=5e-7)
    assert spearman(base, models) == pytest.approx(0.981525, abs=5e-7)
    assert spearman(base, gain) == pytest.approx(-0.464059, abs=5e-7)


def test_difficulty_by_hand():
    # Best judge first; nobody counts on the last instance.
    credits = np.array([[1, 1, 0.5, NAN], [1, 0, 0, NAN], [0, 0, 1, NAN]])
    found = difficulty(credits, np.array([0, 1, 2]))
    assert (found.n, found.mean) == (3, pytest.approx(0.5))
    # 2/3, 1/3 and 1/2
    assert found.counts == (0, 0, 0, 1, 0, 1, 1, 0, 0, 0)
    assert (found.strong, found.weak) == (pytest.approx(2.5 / 3), pytest.approx(1 / 3))
    assert (found.strong_better, found.weak_better) == (2, 1)
    alone = difficulty(credits[:1], np.array([0]))
    assert (alone.strong, alone.weak) == (None, None)
