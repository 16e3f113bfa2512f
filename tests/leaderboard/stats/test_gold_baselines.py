import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, t

from leaderboard.stats.gold import Judged, Rule
from leaderboard.stats.gold_baselines import (
    BASELINES,
    AmongPeople,
    PeopleFigures,
    baseline,
    chance,
    mean_of_people,
)
from leaderboard.stats.sides import NOT_ASKED, majority

GOLD = np.array([1, 1, -1, -1])
LONGER = np.array([1, -1, -1, 0])


def test_by_hand():
    found = {name: Judged(GOLD, baseline(name, LONGER)).figures() for name in BASELINES}
    assert {name: each.accuracy for name, each in found.items()} == {
        "always first": 0.5,
        "always second": 0.5,
        "longer": 2.5 / 4,
        "shorter": 1.5 / 4,
        "constant": 0.5,
    }
    assert [found[name].first for name in ("always first", "always second", "constant")] == [1, 0, 0.5]
    unknown = baseline("shorter", np.array([NOT_ASKED, 1]))
    assert unknown.tolist() == [[NOT_ASKED, -1], [NOT_ASKED, -1]]


@given(st.lists(st.sampled_from((1, 0, -1)), min_size=1, max_size=60), st.sampled_from(("half", "tie")))
def test_chance_is_binomial(labels, ties):
    gold = np.array(labels)
    found = chance([gold], Rule(ties=ties), 95)
    sided = int((gold != 0).sum())
    fixed = (len(gold) - sided) * (0.5 if ties == "half" else 0)
    ends = [(fixed + binom.ppf(p, 2 * sided, 0.5) / 2) / len(gold) for p in (0.025, 0.975)]
    assert [found.low, found.high] == pytest.approx(ends)
    assert found.accuracy == pytest.approx((fixed + sided / 2) / len(gold))


def test_chance_of_a_mean():
    rng = np.random.default_rng(3)
    sizes = 40, 90
    drawn = sum(rng.binomial(2 * n, 0.5, 20_000) / (2 * n) for n in sizes) / 2
    found = chance([np.ones(n, dtype=int) for n in sizes], Rule(), 95)
    assert (found.n, found.accuracy) == (130, 0.5)
    assert [found.low, found.high] == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.005)
    assert chance([np.empty(0, dtype=int)], Rule(), 95).accuracy is None


def among_people(said: np.ndarray, gold: np.ndarray | None = None) -> PeopleFigures:
    return AmongPeople(said, Rule(), gold).figures(95)


def test_people_by_hand():
    gap = NOT_ASKED
    said = np.array([[1, 1, 0, 1], [1, -1, -1, gap], [-1, -1, -1, gap]])
    found = among_people(said, np.array([1, 1, -1, 1]))
    # Pairs of people that agree: 1 of 3, 1 of 3, 1 of 3; the last instance was rated by one.
    assert (found.n, found.people, found.agreement.value) == (3, 3, pytest.approx(1 / 3))
    # 1 1 .5, 1 0 1, 0 0 1
    assert found.accuracy == pytest.approx(5.5 / 9)
    # By instance 2 of 3, 1 of 3, 2.5 of 3; without each in turn 3.5, 4.5 and 3 of 6.
    without = np.array([3.5, 4.5, 3]) / 6
    error = np.sqrt(2 / 3 * ((without - without.mean()) ** 2).sum())
    share = 5.5 / 9
    reach, n = t.ppf(0.975, 2), min(9, share * (1 - share) / error**2)
    middle = (share + reach**2 / (2 * n)) / (1 + reach**2 / n)
    half = reach / (1 + reach**2 / n) * np.sqrt(share * (1 - share) / n + reach**2 / (4 * n**2))
    assert (found.low, found.high) == pytest.approx((middle - half, middle + half))
    assert [(one, other, n) for one, other, n, _ in found.kappas] == [(0, 1, 3), (0, 2, 3), (1, 2, 3)]
    # Where the two others agree: -1 beside 1 1, 1 beside -1 -1, and 0 beside -1 -1.
    assert among_people(said).accuracy == pytest.approx((0 + 0 + 0.5) / 3)


def test_majority():
    assert majority(np.array([[2, 0, 1], [1, 1, 1], [1, 0, 2], [0, 2, 1], [1, 0, 1]])).tolist() == [
        1,
        0,
        -1,
        0,
        0,
    ]


def test_of_nobody():
    found = among_people(np.empty((0, 3), dtype=int), np.ones(3, dtype=int))
    assert (found.n, found.people, found.accuracy, found.agreement.value, found.alpha.value) == (
        0,
        0,
        None,
        None,
        None,
    )


def test_the_mean_over_subsets_has_the_error_of_independent_ones():
    """With 95% intervals of 300 simulated studies, of two subsets that are not equally hard."""
    rng = np.random.default_rng(11)
    right, held = (0.6, 0.9), 0
    for _ in range(300):
        gold = np.ones(40, dtype=int)
        said = [np.where(rng.random((3, 40)) < p, 1, -1) for p in right]
        found = mean_of_people([AmongPeople(each, Rule(), gold) for each in said], 95)
        held += found["low"] <= 0.75 <= found["high"]
    assert binom.ppf(0.001, 300, 0.95) <= held <= binom.ppf(0.999, 300, 0.95)


def test_the_mean_of_one_subset_is_that_subset():
    said = np.array([[1, 1, 0, 1], [1, -1, -1, 1], [-1, -1, -1, 1]])
    one, mean = AmongPeople(said, Rule(), np.ones(4, dtype=int)), ("accuracy", "low", "high", "agreement")
    figures = one.figures(95)
    assert [mean_of_people([one], 95)[name] for name in mean] == [getattr(figures, name) for name in mean]
