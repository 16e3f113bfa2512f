import csv
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from leaderboard.stats.gold_matrix import Matrix, difficulty, rank_correlation

NAN = np.nan
# Two models by three protocols, the base first, on two subsets; nobody asked the second model by the third.
BY_HAND = np.array(
    [[[0.5, 0.4], [0.7, 0.3], [0.6, 0.6]], [[0.9, 0.8], [0.8, 0.7], [NAN, NAN]]],
)


def test_by_hand():
    found = Matrix(BY_HAND, base=0)
    assert found.gain == pytest.approx(np.array([[0.2, 0.2], [-0.1, -0.1]]))
    assert found.optimum.tolist() == [[0.9, 0.8], [0.8, 0.7], [0.6, 0.6]]
    assert found.of_models == pytest.approx(np.array([[0.6, 1.3 / 3], [0.85, 0.75]]))
    assert found.of_protocols == pytest.approx(np.array([[0.7, 0.6], [0.75, 0.5], [0.6, 0.6]]))
    rows = {(each.over, each.one, each.other): each for each in found.correlations(["a", "b"])}
    judges = rows["judges", "a", "b"]
    assert judges.n == 5
    assert judges.spearman == pytest.approx(
        spearmanr([0.5, 0.7, 0.6, 0.9, 0.8], [0.4, 0.3, 0.6, 0.8, 0.7]).statistic
    )
    assert rows["models", "base", "average"].spearman == 1
    assert rows["models", "base", "gain"].spearman == -1
    assert rows["models", "average", "optimum"].spearman == 1
    assert set(rows) == {
        ("judges", "a", "b"),
        ("models", "base", "average"),
        ("models", "base", "gain"),
        ("models", "average", "optimum"),
        ("protocols", "average", "optimum"),
    }


def test_without_a_base_or_without_other_protocols_there_is_no_gain():
    assert np.isnan(Matrix(BY_HAND, base=None).gain).all()
    assert np.isnan(Matrix(BY_HAND[:, :1], base=0).gain).all()
    assert {each.over for each in Matrix(BY_HAND, None).correlations(["a", "b"])} == {"judges", "protocols"}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_rank_correlation_is_scipys(pairs):
    x, y = np.array(pairs, dtype=float).reshape(-1, 2).T
    found = rank_correlation("judges", "x", "y", x, y)
    if len(np.unique(x)) < 2 or len(np.unique(y)) < 2:
        assert (found.spearman, found.kendall) == (None, None)
    else:
        assert found.spearman == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
        assert found.kendall == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)


def test_intervals_of_rank_correlations_by_hand():
    """Of four judges two change places in 30 rounds of 100: Spearman is 1 or 1 - 6 * 2 / 60 = 0.8."""
    x, turned = np.arange(4.0), np.array([0.0, 2.0, 1.0, 3.0])
    rounds = np.array([turned] * 30 + [x] * 70).T
    steady = np.tile(x[:, None], 100)
    found = rank_correlation("judges", "x", "y", x, x, steady, rounds)
    assert (found.spearman, found.spearman_low, found.spearman_high) == (1.0, pytest.approx(0.8), 1.0)
    # As far upwards as downwards: noise has pulled the estimate to where it is.
    lower = rank_correlation("judges", "x", "y", x, turned, steady, np.array([x[::-1]] * 5 + [turned] * 95).T)
    assert (lower.spearman_low, lower.spearman_high) == (-1.0, 1.0)
    assert rank_correlation("judges", "x", "y", x, x).spearman_low is None


def test_correlations_of_samples_are_in_the_order_of_the_estimates():
    rounds = np.repeat(BY_HAND[..., None], 3, axis=3)
    found, plain = Matrix(BY_HAND, 0), Matrix(BY_HAND, 0).correlations(["a", "b"])
    for one, other in zip(found.correlations(["a", "b"], Matrix(rounds, 0)), plain, strict=True):
        assert (one.one, one.spearman, one.kendall) == (other.one, other.spearman, other.kendall)
        assert one.spearman is None or (one.spearman_low, one.spearman_high) == pytest.approx(
            (one.spearman,) * 2
        )


def test_printed_tables(judge_data):
    """Correlations that the authors of ReIFE's tables could have printed, from the tables."""
    tables = defaultdict(dict)
    with (judge_data / "reife" / "printed-tables.csv").open() as file:
        for row in csv.DictReader(file):
            tables[row["table"]][row["row"]] = float(row["average"])

    def spearman(one, other):
        shared = sorted(one.keys() & other.keys())
        columns = (np.array([each[name] for name in shared]) for each in (one, other))
        return rank_correlation("", "", "", *columns).spearman

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
