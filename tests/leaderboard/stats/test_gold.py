import json

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from leaderboard.stats.checks import LengthMismatchError, ParameterError
from leaderboard.stats.gold import NOT_ASKED, UNSCORED, Judged, Rule, cohen_kappa, counted, nominal_alpha

SAID = st.sampled_from((1, 0, -1, UNSCORED, NOT_ASKED))


@st.composite
def judged(draw, **rule):
    n = draw(st.integers(1, 30))
    gold = np.array(draw(st.lists(st.sampled_from((1, 0, -1)), min_size=n, max_size=n)))
    said = np.array(draw(st.lists(SAID, min_size=2 * n, max_size=2 * n))).reshape(2, n)
    drawn = {name: draw(st.sampled_from(values)) for name, values in rule.items()}
    return Judged(gold, said, Rule(**drawn))


# Instance by instance: right twice; once; a tie and a side that is wrong; unscored and right; unscored twice;
# asked in one order, right.
GOLD = np.array([1, -1, 1, -1, 1, -1])
SAID_BY_HAND = np.array([[1, -1, 0, UNSCORED, UNSCORED, -1], [1, 1, -1, -1, UNSCORED, NOT_ASKED]])


def test_by_hand():
    found = Judged(GOLD, SAID_BY_HAND).figures()
    assert (found.n, found.asked, found.scored, found.both) == (6, 11, 8, 3)
    # 2 + 1 + 0.5 + 1 + 1 of 8; all 11 asked, with the 3 unscored wrong or right
    assert found.accuracy == 5.5 / 8
    assert found.accuracy_bounds == (5.5 / 11, 8.5 / 11)
    assert found.agreement == 1 / 3
    assert found.both_right == 1 / 3
    assert found.hedging == 1 / 11
    assert found.unscored == 3 / 11
    # Shown first: 1 in the stored order (once), -1 in the swapped order (twice); 7 verdicts have a side.
    assert found.first == 3 / 7
    # Three units: 1 1, -1 1, 0 -1. Two of three disagree; of 6 values 3 are 1, 2 are -1, 1 is 0.
    assert found.alpha == pytest.approx(1 - (2 / 3) / (1 - (3 * 2 + 2 * 1) / (6 * 5)))
    assert found.confusion == {
        "first": {"first": 2, "tie": 1, "second": 1, "unscored": 2},
        "tie": {"first": 0, "tie": 0, "second": 0, "unscored": 0},
        "second": {"first": 1, "tie": 0, "second": 3, "unscored": 1},
    }


@pytest.mark.parametrize(
    ("rule", "pointwise", "accuracy", "agreement", "both_right"),
    [
        ({"unscored": "wrong"}, False, 5.5 / 11, 1 / 3, 1 / 5),
        ({"ties": "tie"}, False, 5 / 8, 1 / 3, 1 / 3),
        # Unscored twice agrees, so two of the five that were asked in both orders do.
        ({"as_published": "llmbar"}, False, 5.5 / 11, 2 / 5, 1 / 5),
        # Half a point for each of the three unscored replies; what is unscored never agrees.
        ({"as_published": "llmbar"}, True, 7 / 11, 1 / 5, 1 / 5),
    ],
)
def test_rules_by_hand(rule, pointwise, accuracy, agreement, both_right):
    found = Judged(GOLD, SAID_BY_HAND, Rule(**rule), pointwise).figures()
    assert (found.accuracy, found.agreement, found.both_right) == (accuracy, agreement, both_right)
    assert found.scored == 8


def test_random_sides_are_seeded_and_differ_by_stream():
    gold, said = np.ones(2000, dtype=int), np.full((2, 2000), UNSCORED)
    one, again, other, third = (
        Judged(gold, said, Rule(unscored="random", seed=seed), stream=stream)
        for seed, stream in ((1, 0), (1, 0), (2, 0), (1, 1))
    )
    assert (one.used == again.used).all()
    assert abs(one.figures().accuracy - 0.5) < 0.03
    assert abs(one.figures().agreement - 0.5) < 0.03
    for each in (other, third):
        assert 0.45 < (each.used == one.used).mean() < 0.55
    assert one.figures().scored == 0


@pytest.mark.parametrize("n", [1, 2, 100, 134])
def test_always_first_disagrees_with_itself(n):
    said = np.array([[1], [-1]]).repeat(n, axis=1)
    found = Judged(np.array([1, -1] * n)[:n], said).figures()
    assert found.alpha == pytest.approx(-1 + 1 / n)
    assert (found.accuracy, found.agreement, found.both_right, found.first) == (0.5, 0, 0, 1)


@given(judged())
def test_alpha_is_krippendorffs(own):
    both = (np.abs(own.verdicts) <= 1).all(axis=0)
    said = own.verdicts[:, both]
    found = own.figures().alpha
    if len(np.unique(said)) < 2:
        assert found is None
    else:
        wanted = krippendorff.alpha(said, level_of_measurement="nominal", value_domain=[-1, 0, 1])
        assert found == pytest.approx(wanted, abs=1e-12)


@given(st.lists(st.tuples(*[st.sampled_from((1, 0, -1, np.nan))] * 4), min_size=2, max_size=20))
def test_alpha_of_several_with_gaps(rows):
    said = np.array(rows, dtype=float).T
    counts = counted(np.where(np.isnan(said), NOT_ASKED, said).astype(int))
    paired = said[:, counts.sum(axis=1) > 1]
    if len(np.unique(paired[~np.isnan(paired)])) < 2:
        assert nominal_alpha(counts) is None
    else:
        wanted = krippendorff.alpha(said, level_of_measurement="nominal", value_domain=[-1, 0, 1])
        assert nominal_alpha(counts) == pytest.approx(wanted, abs=1e-12)


@given(st.lists(st.tuples(*[st.sampled_from((1, 0, -1))] * 2), min_size=1, max_size=30))
def test_kappa_is_cohens(pairs):
    one, other = np.array(pairs).T
    table = [[((one == a) & (other == b)).sum() for b in (1, 0, -1)] for a in (1, 0, -1)]
    found = cohen_kappa(one, other)
    if len(np.unique(pairs)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(cohens_kappa(np.array(table), return_results=False), abs=1e-12)


@given(judged(unscored=("exclude", "wrong", "random"), ties=("half", "tie")))
def test_naming_the_sides_otherwise_changes_nothing(own):
    """Gold and verdicts with their sides exchanged, which also turns the orders."""
    turned = np.where(np.abs(own.verdicts) <= 1, -own.verdicts, own.verdicts)[::-1]
    other = Judged(-own.gold, turned, own.rule).figures()
    found = own.figures()
    names = ["asked", "scored", "both", "alpha", "hedging", "unscored", "first", "kappa", "accuracy_bounds"]
    if own.rule.unscored == "random":
        names = ["asked", "scored", "both", "hedging", "unscored", "first", "accuracy_bounds"]
    else:
        names += ["accuracy", "agreement", "both_right"]
    for name in names:
        assert getattr(found, name) == pytest.approx(getattr(other, name), abs=1e-12)


@given(judged(unscored=("exclude", "wrong", "random"), ties=("half", "tie")))
def test_what_always_holds(own):
    found = own.figures()
    assert sum(sum(row.values()) for row in found.confusion.values()) == found.asked
    for name in ("accuracy", "agreement", "both_right", "hedging", "unscored", "first"):
        assert getattr(found, name) is None or 0 <= getattr(found, name) <= 1
    if found.asked:
        low, high = found.accuracy_bounds
        assert high - low == pytest.approx(found.unscored)
        assert (
            low - 1e-12 <= found.accuracy <= high + 1e-12 if found.accuracy is not None else not found.scored
        )
    json.dumps(found.as_dict(), allow_nan=False)


def test_bad_input():
    with pytest.raises(LengthMismatchError, match="gold has 2 instances"):
        Judged(np.array([1, -1]), np.array([[1], [1]]))
    with pytest.raises(ParameterError, match="unscored is 'lost'; it must be one of exclude, wrong, random"):
        Rule(unscored="lost")
