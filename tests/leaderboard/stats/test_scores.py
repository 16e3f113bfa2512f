import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats.checks import LengthMismatchError, StatsError
from leaderboard.stats.scores import (
    BINS,
    make_scores,
    score_difference,
    score_drift,
    score_length,
    score_summary,
)

NAN = float("nan")


def scored(value, prompt=None, contestant=0, rater=0, lowest=1, highest=5):
    prompts = range(len(value)) if prompt is None else prompt
    return make_scores(rater, contestant, prompts, value, lowest=lowest, highest=highest)


def test_summary_by_hand():
    found = score_summary(scored([1, 3, 5, NAN, 5, 4], [0, 0, 1, 1, 2, 2]))
    assert (found.n, found.prompts, found.unscored, found.mean.value) == (5, 3, 1, 3.6)
    # Without each prompt in turn: 14 / 3, 13 / 4, 9 / 3.
    left_out = np.array([14 / 3, 13 / 4, 3])
    error = np.sqrt(2 / 3 * ((left_out - left_out.mean()) ** 2).sum())
    low, high = stats.t.interval(0.95, 2, 3.6, error)
    assert found.mean[1:] == pytest.approx((max(1, low), min(5, high)))
    assert found.sd == pytest.approx(np.std([1, 3, 5, 5, 4], ddof=1))
    assert found.edges == (0.5, 1.5, 2.5, 3.5, 4.5, 5.5)
    assert found.counts == (1, 0, 1, 1, 2)
    expected = score_summary(scored([1.25, 4.75, 5]))
    assert (len(expected.edges), expected.edges[0], expected.edges[-1]) == (BINS + 1, 1, 5)
    assert sum(expected.counts) == 3
    nothing = score_summary(scored([NAN]))
    assert (nothing.n, nothing.unscored, nothing.mean.value, nothing.sd) == (0, 1, None, None)
    assert nothing.as_dict()["counts"] == [0] * 5


def test_difference_by_hand():
    """Prompts 0 and 2 have scores of both: 4 against 2 and 3 (1.5 higher), and 1 against 2."""
    found = score_difference(scored([4, 5, 1]), scored([2, 3, 2], [0, 0, 2]))
    assert (found.n, found.prompts, found.value) == (2, 2, 0.25)
    one, other = (np.random.default_rng(3).integers(1, 6, (2, 30))).astype(float)
    found = score_difference(scored(one), scored(other), 90)
    expected = stats.ttest_rel(one, other).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_bad_input():
    with pytest.raises(StatsError, match="score 6 is outside the scale 1 to 5"):
        scored([3, 6])
    with pytest.raises(StatsError, match="the lowest score must be below the highest"):
        scored([3], lowest=5)
    with pytest.raises(LengthMismatchError, match="value has 2, prompt has 1"):
        scored([3, 4], [0])
    with pytest.raises(StatsError, match="prompt must hold whole numbers from 0"):
        scored([3], [-1])
    with pytest.raises(StatsError, match="every length must be a number from 0 on"):
        score_length(scored([3]), [-1])
    with pytest.raises(LengthMismatchError):
        score_drift(scored([3]), [1, 2])


def test_length_by_hand():
    """Lengths 0, 1, 3 lie a doubling apart; the scores rise by 1 and by 2 for each within a prompt."""
    found = score_length(scored([1, 2, 3, 1, 5, 4], [0, 0, 0, 1, 1, 2]), [0, 1, 3, 0, 3, 7]).within_prompt
    # Within prompts: x -1, 0, 1 and -1, 1; y -1, 0, 1 and -2, 2.
    assert (found.n, found.prompts, found.slope) == (4, 2, pytest.approx(6 / 4))
    assert found.correlation == pytest.approx(6 / np.sqrt(4 * 10))
    same = score_length(scored([1, 2], [0, 0]), [8, 8]).within_prompt
    assert (same.n, same.slope, same.correlation) == (0, None, None)


def test_alike_contestants_leave_out_who_writes_more():
    """The second contestant scores 2 more and writes a doubling more; within each, length changes nothing."""
    prompt, contestant = [0, 0, 1, 1, 2, 2, 3, 3], [0, 1] * 4
    found = score_length(
        scored([1, 3, 2, 4, 3, 5, 1, 3], prompt, contestant), [1, 3, 1, 3, 3, 7, 0, 3], level=80
    )
    # Doublings 1 apart, but 2 in the last prompt.
    assert found.within_prompt.slope == pytest.approx(2 * (1 + 1 + 1 + 2) / (1 + 1 + 1 + 4))
    assert found.alike.slope == pytest.approx(0)
    # Doublings 1, 1, 1, 2 and leads 1, 2, 2, 4, each less the mean over prompts.
    found = score_length(
        scored([1, 2, 1, 3, 1, 3, 1, 5], prompt, contestant), [1, 3, 1, 3, 3, 7, 0, 3], level=80
    )
    x, y = np.array([1, 1, 1, 2]) - 1.25, np.array([1, 2, 2, 4]) - 2.25
    assert found.alike.slope == pytest.approx((x * y).sum() / (x * x).sum())


def test_length_as_statsmodels():
    """Slopes of regressions with dummies; the clustered interval is nearly the jackknife's."""
    generator = np.random.default_rng(4)
    prompt, contestant = (grid.ravel() for grid in np.indices((80, 5)))
    length = np.rint(np.exp(generator.normal(5, 1, 400) + 0.3 * contestant))
    quality = generator.normal(size=80)[prompt] + 0.4 * np.log2(length + 1) + 0.5 * contestant
    value = np.clip(quality + generator.normal(size=400), 0, 20)
    found = score_length(scored(value, prompt, contestant, highest=20, lowest=0), length)
    prompts, contestants = prompt[:, None] == np.arange(80), contestant[:, None] == np.arange(1, 5)
    for own, dummies in ((found.within_prompt, (prompts,)), (found.alike, (prompts, contestants))):
        design = np.column_stack((np.log2(length + 1), *dummies)).astype(float)
        fit = sm.OLS(value, design).fit(
            cov_type="cluster", cov_kwds={"groups": prompt, "use_correction": False}
        )
        assert own.slope == pytest.approx(fit.params[0])
        half = stats.t.ppf(0.975, 79) * fit.bse[0] * np.sqrt(80 / 79)
        assert own.high - own.slope == pytest.approx(half, rel=0.05)


def test_the_interval_leaves_out_each_prompt_and_fits_again():
    """Where every contestant has a text of every prompt, exactly."""
    generator = np.random.default_rng(9)
    prompt, contestant = (grid.ravel() for grid in np.indices((6, 3)))
    value, length = generator.integers(1, 6, 18), generator.integers(0, 50, 18)

    def alike(kept):
        return score_length(scored(value[kept], prompt[kept], contestant[kept]), length[kept]).alike

    found, left_out = alike(prompt >= 0), np.array([alike(prompt != each).slope for each in range(6)])
    error = np.sqrt(5 / 6 * ((left_out - left_out.mean()) ** 2).sum())
    low, high = stats.t.interval(0.95, 5, found.slope, error)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_drift_by_hand():
    """One contestant's scores fall by 2 from first to last, the other's are 2 higher and do the same."""
    when = [0, 10, 20, 5, 15, 25]
    found = score_drift(scored([3, 2, 1, 5, 4, 3], contestant=[0, 0, 0, 1, 1, 1]), when)
    # Places 0, 2, 4 and 1, 3, 5 of 5: 0.4 from one to the next, so -1 for each 0.4.
    assert (found.slope, found.correlation) == (pytest.approx(-2.5), pytest.approx(-1))
    assert score_drift(scored([3, 2]), [1, 1]).slope is None
    assert score_drift(scored([]), []).n == 0


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(1, 5), st.integers(0, 90)), min_size=2, max_size=30),
    st.randoms(use_true_random=False),
)
def test_order_and_names_of_prompts_are_nothing(rows, random):
    prompt, value, length = (np.array(each) for each in zip(*rows, strict=True))
    order = np.array(random.sample(range(len(rows)), len(rows)))
    for compute in (lambda scores, _: score_summary(scores), score_length, score_drift):
        one = compute(scored(value, prompt), length)
        other = compute(scored(value[order], 7 - prompt[order]), length[order])
        assert other.as_dict() == one.as_dict()
