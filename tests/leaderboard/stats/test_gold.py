import json

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from leaderboard.stats.checks import LengthMismatchError, ParameterError
from leaderboard.stats.clustered_means import mean_of_coefficients
from leaderboard.stats.gold import Judged, Rule, alpha_of, alpha_sums, intervals, kappa_of, kappa_sums
from leaderboard.stats.sides import FIRST, NOT_ASKED, SECOND, TIE, UNSCORED, counted, is_tied

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


def value(sums, coefficient):
    return mean_of_coefficients([sums], coefficient, 95).value


@given(st.lists(st.tuples(*[st.sampled_from((1, 0, -1, np.nan))] * 4), min_size=2, max_size=20))
def test_alpha_of_several_with_gaps(rows):
    said = np.array(rows, dtype=float).T
    counts = counted(np.where(np.isnan(said), NOT_ASKED, said).astype(int))
    paired = said[:, counts.sum(axis=1) > 1]
    if len(np.unique(paired[~np.isnan(paired)])) < 2:
        assert value(alpha_sums(counts), alpha_of) is None
    else:
        wanted = krippendorff.alpha(said, level_of_measurement="nominal", value_domain=[-1, 0, 1])
        assert value(alpha_sums(counts), alpha_of) == pytest.approx(wanted, abs=1e-12)


@given(st.lists(st.tuples(*[st.sampled_from((1, 0, -1))] * 2), min_size=1, max_size=30))
def test_kappa_is_cohens(pairs):
    one, other = np.array(pairs).T
    table = [[((one == a) & (other == b)).sum() for b in (1, 0, -1)] for a in (1, 0, -1)]
    found = value(kappa_sums(one, other, np.ones(len(one), dtype=bool)), kappa_of)
    if len(np.unique(pairs)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(cohens_kappa(np.array(table), return_results=False), abs=1e-12)


def test_ties_as_a_class_by_hand():
    """Right are 1 1 2 and a tie, said are 1 2 2 and nothing, which counts as a tie."""
    gold = np.array([FIRST, FIRST, SECOND, TIE])
    said = np.array([[FIRST, SECOND, SECOND, UNSCORED], [NOT_ASKED] * 4])
    found = Judged(gold, said, Rule(unscored="tie", ties="class")).figures()
    # The first: 1 of 1 and 1 of 2; the second: 1 of 2 and 1 of 1; ties: 1 of 1 and 1 of 1.
    assert (found.accuracy, found.precision, found.recall) == (
        0.75,
        pytest.approx(5 / 6),
        pytest.approx(5 / 6),
    )
    assert found.f1 == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)
    swapped = Judged(
        -gold, np.array([said[1], np.where(said[0] == UNSCORED, UNSCORED, -said[0])]), Rule("tie", "class")
    )
    assert swapped.figures().f1 == found.f1, "classes are the places shown"
    left_out = Judged(gold, said, Rule(ties="class")).figures()
    assert (left_out.accuracy, left_out.recall) == (pytest.approx(2 / 3), pytest.approx((1 / 2 + 1) / 2))
    assert Judged(gold, said).figures().f1 is None
    found = intervals([Judged(gold, said, Rule(unscored="tie", ties="class"))], 95)
    assert (found["f1"].low, found["precision"].low) == (0, 0), "on Fisher's scale of four prompts below 0"
    assert is_tied(np.array([[1, 2, 1], [1, 1, 1], [0, 1, 1], [0, 0, 2]])).tolist() == [
        True,
        False,
        False,
        False,
    ]


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


SHARES = ("agreement", "both_right", "hedging", "unscored", "first")


def test_intervals_by_hand():
    """On three prompts 2 of 2, 1 of 2 and 2 of 2 are right: without each in turn 3/4, 4/4 and 3/4."""
    own = Judged(
        np.array([1, -1, 1, -1, 1, -1]),
        np.array([[1, -1, 1, 1, 1, -1], [NOT_ASKED] * 6]),
        prompt=np.array([0, 0, 1, 1, 2, 2]),
    )
    # Kappa is twice the share right less 1: 2/3, and 1/2, 1, 1/2 without a prompt, of mean 2/3.
    error = np.sqrt(2 / 3 * ((1 / 2 - 2 / 3) ** 2 * 2 + (1 - 2 / 3) ** 2))
    reach = stats.t.ppf(0.975, 2) * error / (1 - (2 / 3) ** 2)
    ends = np.tanh(np.arctanh(2 / 3) + np.array([-reach, reach]))
    found = intervals([own], 95)
    assert own.figures().kappa == pytest.approx(2 / 3)
    assert found["kappa"][1:] == pytest.approx(tuple(ends))
    assert (found["alpha"].low, found["agreement"].low) == (None, None)


@given(judged(), st.integers(1, 4))
def test_intervals_hold_the_figures_and_copies_in_a_prompt_change_none(own, copies):
    def of(judge):
        return intervals([judge], 90)

    found, figures = of(own), own.figures()
    for name in (*SHARES, "alpha", "kappa"):
        number, (_, low, high) = getattr(figures, name), found[name]
        assert low is None or low - 1e-9 <= number <= high + 1e-9
    n = len(own.gold)
    more = Judged(
        np.repeat(own.gold, copies),
        np.repeat(own.verdicts, copies, axis=1),
        own.rule,
        prompt=np.repeat(np.arange(n), copies),
    )
    assert of(more)["kappa"][1:] == pytest.approx(found["kappa"][1:])
    together = of(Judged(own.gold, own.verdicts, own.rule, prompt=np.zeros(n, dtype=int)))
    assert {each[1:] for each in together.values()} == {(None, None)}, "one prompt tells nothing about others"


def test_the_jackknife_of_kappa_is_close_to_resampling_prompts():
    """Own slow resampling of 60 prompts with four pairs each, which are more alike than pairs of others."""
    rng = np.random.default_rng(1)
    prompt = np.repeat(np.arange(60), 4)
    gold = rng.choice([1, -1], 240)
    easy = rng.random(60)[prompt]
    said = np.where(rng.random((2, 240)) < 0.4 + 0.6 * easy, gold, -gold)
    found = intervals([Judged(gold, said, prompt=prompt)], 95)
    drawn = []
    for _ in range(500):
        rows = np.concatenate([np.flatnonzero(prompt == one) for one in rng.integers(0, 60, 60)])
        figures = Judged(gold[rows], said[:, rows]).figures()
        drawn.append((figures.kappa, figures.alpha))
    low, high = np.percentile(drawn, (2.5, 97.5), axis=0)
    ends = np.array([found[name][1:] for name in ("kappa", "alpha")]).T
    assert ends == pytest.approx(np.array([low, high]), abs=0.025)
