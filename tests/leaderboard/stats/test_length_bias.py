import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit

from leaderboard.stats.checks import LengthMismatchError, ParameterError, ScoreError
from leaderboard.stats.length_bias import BINS, length_effect, mirrored, slope_through_origin
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.shares import wilson

GAMES = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 300), st.sampled_from((0.0, 0.5, 1.0)), st.integers(0, 5)),
    min_size=1,
    max_size=40,
)


def simulated(seed, prompts=40, slope=0.8):
    """Games on prompts whose completions differ in length and whose raters lean to the longer one."""
    rng = np.random.default_rng(seed)
    prompt = np.repeat(np.arange(prompts), rng.integers(1, 9, prompts))
    first, second = np.exp(rng.normal(5, 0.7, (2, len(prompt)))).astype(int)
    doublings = np.log2((first + 1) / (second + 1))
    chance = expit(slope * doublings + rng.normal(0, 0.7, prompts)[prompt])
    return first, second, rng.binomial(2, chance) / 2, prompt


def test_by_hand():
    # 30 longer by 20 and won, 10 shorter by 20 and won, 5 longer by 4 and tied, 7 and 7: equal.
    found = length_effect([30, 10, 5, 7], [10, 30, 1, 7], [1, 1, 0.5, 0], [1, 2, 3, 3])
    assert (found["n"], found["prompts"], found["equal"]) == (4, 3, 1)
    assert found["longer_wins"] == pytest.approx((1 + 0 + 0.5) / 3)
    # Quintiles of 4, 20, 20 are 10.4, 16.8 and 20: nothing lies between 11 and 17.
    assert [(each["low"], each["high"], each["n"], each["win_rate"]) for each in found["bins"]] == [
        (-20, -12, 2, 0.5),
        (-11, -1, 1, 0.5),
        (1, 11, 1, 0.5),
        (12, 20, 2, 0.5),
    ]
    assert found["slope"] == pytest.approx(0)
    # Twice as long (19 + 1 against 9 + 1 words), 8 wins of 10: log-odds ln 4 per doubling.
    found = length_effect([19] * 10, [9] * 10, [1] * 8 + [0] * 2, range(10))
    assert found["slope"] == pytest.approx(np.log(4))
    assert found["longer_wins"] == 0.8
    (left, right) = found["bins"]
    assert (left["low"], left["high"], left["middle"], left["win_rate"]) == (-10, -1, -10, pytest.approx(0.2))
    assert (right["low"], right["high"], right["middle"], right["n"]) == (1, 10, 10, 10)
    error = np.sqrt(0.8 * 0.2 / 9)
    expected = wilson(0.8, 0.16 / error**2, stats.t.ppf(0.975, 9))
    assert (right["win_low"], right["win_high"]) == pytest.approx(expected)
    assert (left["win_low"], left["win_high"]) == pytest.approx((1 - expected[1], 1 - expected[0]))
    found = length_effect([19] * 10, [9] * 10, [1] * 8 + [0] * 2, [1] * 10)
    assert (found["slope"], found["slope_low"]) == (pytest.approx(np.log(4)), None)
    assert found["bins"][0]["win_low"] is None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore::statsmodels.tools.sm_exceptions.SpecificationWarning")
def test_the_slope_is_that_of_statsmodels(seed):
    first, second, score, prompt = simulated(seed)
    found = length_effect(first, second, score, prompt)
    # Both orientations of each: the intercept is 0 and the slope the same.
    x = np.log2((first + 1) / (second + 1))
    fitted = sm.GLM(
        np.concatenate((score, 1 - score)),
        sm.add_constant(np.concatenate((x, -x))),
        family=sm.families.Binomial(),
    ).fit()
    assert fitted.params == pytest.approx([0, found["slope"]], abs=1e-8)
    used = x != 0
    groups = np.unique(prompt[used], return_inverse=True)[1]
    once = sm.GLM(score[used], x[used], family=sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": groups}
    )
    reach = stats.t.ppf(0.975, groups.max()) * once.bse[0]
    assert (found["slope_low"], found["slope_high"]) == pytest.approx(
        (once.params[0] - reach, once.params[0] + reach)
    )


def test_no_slope_and_why():
    assert length_effect([5], [5], [1], [1])["reason"] == "no two answers differ in size"
    always = length_effect([5, 3], [3, 5], [1, 0], [1, 2])
    assert (always["slope"], always["reason"], always["longer_wins"]) == (None, "the longer always won", 1)
    never = length_effect([5, 3], [3, 5], [0, 1], [1, 2])
    assert (never["slope"], never["reason"], never["longer_wins"]) == (None, "the longer never won", 0)
    nothing = length_effect([], [], [], [])
    assert (nothing["n"], nothing["bins"], nothing["longer_wins"], nothing["slope"]) == (0, [], None, None)
    first, second = [0, 5_000_000, 1, 10, 3], [5_000_000, 0, 2, 10**9, 4]
    found = length_effect(first, second, [0, 0, 1, 1, 0.5], [1, 2, 3, 4, 5])
    assert np.isfinite([found["slope"], found["slope_low"], found["slope_high"]]).all()
    x = np.array([1e-3, 2e-3, 3e-3, 1.0])
    slope, *_ = slope_through_origin(x, np.array([0.0, 1, 1, 1]), np.arange(4))
    assert (x * (np.array([0, 1, 1, 1]) - expit(slope * x))).sum() == pytest.approx(0, abs=1e-9)


@given(GAMES, st.lists(st.booleans(), min_size=40, max_size=40))
def test_positions_and_names_change_nothing(games, turned):
    first, second, score, prompt = np.array(games).T
    turn = np.array(turned[: len(games)])
    one = length_effect(first, second, score, prompt)
    other = length_effect(
        np.where(turn, second, first),
        np.where(turn, first, second),
        np.where(turn, 1 - score, score),
        5 - prompt,
    )
    plain, again = rounded(one), rounded(other)
    for left, right in zip(plain.pop("bins"), again.pop("bins"), strict=True):
        assert left == pytest.approx(right, abs=2e-6)
    assert plain == pytest.approx(again, abs=2e-6)


@given(GAMES)
def test_bins_hold_every_comparison_once_on_each_side(games):
    first, second, score, prompt = np.array(games).T
    found = length_effect(first, second, score, prompt)
    right = [each for each in found["bins"] if each["low"] > 0]
    assert sum(each["n"] for each in right) == found["n"] - found["equal"]
    assert len(right) <= BINS
    assert all(
        one["high"] < other["low"] for one, other in zip(found["bins"], found["bins"][1:], strict=False)
    )
    assert [mirrored(each) for each in reversed(right)] == list(found["bins"][: len(right)])
    difference = np.abs(first - second)
    for each in right:
        inside = (difference >= each["low"]) & (difference <= each["high"])
        longer = np.where(first > second, score, 1 - score)[inside]
        assert (each["n"], each["win_rate"]) == (inside.sum(), pytest.approx(longer.mean()))


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (([1, 2], [1], [1], [1]), LengthMismatchError),
        (([1], [2], [0.3], [1]), ScoreError),
        (([1], [-2], [1], [1]), ParameterError),
        (([float("nan")], [2], [1], [1]), ParameterError),
        (([1], [2], [1], [1, 2]), LengthMismatchError),
    ],
)
def test_what_is_refused(given, error):
    with pytest.raises(error):
        length_effect(*given)
