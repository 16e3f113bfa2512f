"""Features from a model's probabilities: by hand, against slow references, and at the edges."""

import math
import statistics

import numpy as np
import pytest
from scipy.stats import entropy

from leaderboard.stats.checks import ParameterError
from leaderboard.stats.token_features import (
    NOT_TOLD,
    calibrated,
    dropout_mean,
    dropout_variance,
    entropy_bounds,
    entropy_variance_sum,
    logprob_variance,
    mean_logprob,
    reference_surprise,
    sentence_logprob,
)
from tests.leaderboard.stats.distribution_features import (
    attention_entropies,
    attention_entropy,
    mean_entropy,
    released_entropy,
    released_variance,
    token_entropies,
)

RNG = np.random.default_rng(21)
TOKENS = np.log([0.5, 0.25, 0.8])
NEVER = -math.inf


def near(value):
    return pytest.approx(value, abs=1e-6)


def test_tokens_by_hand():
    assert mean_logprob(TOKENS) == near(-0.767528)
    assert logprob_variance(TOKENS) == near(0.228253)
    assert reference_surprise(TOKENS) == near(0.290554)
    assert math.exp(sentence_logprob(TOKENS)) == pytest.approx(0.5 * 0.25 * 0.8)
    assert calibrated(1.0, reference_surprise(TOKENS)) == near(0.709446)
    # Two passes: mean log p of (.5, .5) and of (.25, .25).
    passes = np.log([[0.5, 0.5], [0.25, 0.25]])
    assert dropout_mean(passes) == near(-1.039721)
    assert dropout_variance(passes) == near((math.log(2) / 2) ** 2)


def test_tokens_against_a_slow_reference():
    p = RNG.uniform(1e-6, 1, 200)
    logs = [math.log(each) for each in p]
    assert mean_logprob(logs) == pytest.approx(math.fsum(logs) / 200)
    assert logprob_variance(logs) == pytest.approx(statistics.pvariance(logs))
    assert reference_surprise(logs) == pytest.approx(math.fsum(-each * math.log(each) for each in p) / 200)
    means = [math.fsum(logs[start : start + 20]) / 20 for start in range(0, 200, 20)]
    assert dropout_mean(np.reshape(logs, (10, 20))) == pytest.approx(statistics.fmean(means))
    assert dropout_variance(np.reshape(logs, (10, 20))) == pytest.approx(statistics.pvariance(means))


@pytest.mark.parametrize("feature", [mean_logprob, logprob_variance, sentence_logprob])
@pytest.mark.parametrize("log_p", [[], [-1.0, math.nan], [-1.0, NOT_TOLD], [-1.0, NEVER]])
def test_no_value_where_it_cannot_be_computed(feature, log_p):
    assert feature(log_p) is None


def test_a_reference_that_holds_an_impossible_token():
    assert reference_surprise([math.log(0.5), NEVER]) == pytest.approx(math.log(2) / 4)
    assert reference_surprise([math.log(0.5), NOT_TOLD]) is None
    assert reference_surprise([]) is None
    assert calibrated(None, 1.0) is None
    assert calibrated(1.0, None) is None
    assert dropout_mean([]) is None
    assert dropout_variance([[], []]) is None


def test_the_normalised_sum_depends_on_the_set():
    assert entropy_variance_sum([1, 2, 3], [10, 30, 20]).tolist() == [0, 1.5, 1.5]
    assert entropy_variance_sum([1, 2], [10, 30]).tolist() == [0, 2]
    # What is the same everywhere adds nothing; what is not known counts for no scale.
    assert entropy_variance_sum([5, 5], [1, 2]).tolist() == [0, 1]
    found = entropy_variance_sum([1, 2, 99], [10, 30, math.nan])
    assert found[:2].tolist() == [0, 2]
    assert math.isnan(found[2])
    assert not len(entropy_variance_sum([], []))


def test_entropy_by_hand_and_against_scipy():
    steps = [[math.log(0.5)] * 2, [0.0, NEVER]]
    assert mean_entropy(steps) == near(0.346574)
    p = RNG.dirichlet(np.full(50, 0.1), 40)
    with np.errstate(divide="ignore"):
        assert token_entropies(np.log(p)) == pytest.approx(entropy(p, axis=1))
    assert mean_entropy(np.empty((0, 50))) is None
    for wrong in ([[math.log(0.5)]], [[math.nan, 0.0]], [[0.5, NEVER]], [0.0]):
        with pytest.raises(ParameterError):
            token_entropies(wrong)


def test_attention_by_hand_and_against_scipy():
    # One layer of two heads: the first looks at one token, the second evenly at two.
    found = attention_entropy([[[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [0.5, 0.5]]]])
    assert found == near((math.log(2) / 2, 0))
    weights = RNG.dirichlet(np.ones(7), (3, 4, 5))
    assert attention_entropies(weights) == pytest.approx(entropy(weights, axis=3).mean(axis=2))
    assert attention_entropy(np.empty((2, 2, 0, 5))) is None
    with pytest.raises(ParameterError):
        attention_entropy([[[[2.0]]]])


def test_what_the_released_code_computes():
    logits = [[0.0, math.log(3)], [1.0, 1.0]]
    # Log-probabilities: log 1/4 and log 3/4, then twice log 1/2.
    assert released_entropy(logits) == pytest.approx((math.log(0.75) * math.log(3) / 2 + math.log(0.5)) / 2)
    assert released_variance(logits) == pytest.approx(math.log(3) ** 2 / 2 / 2)
    assert released_entropy(np.empty((0, 2))) is None
    assert released_variance(np.empty((0, 2))) is None
    for wrong in ([[1.0]], [[math.inf, 0.0]]):
        with pytest.raises(ParameterError):
            released_entropy(wrong)


def test_bounds_by_hand():
    # Of six tokens two are known: .5 and .2. The rest, .3, is .2 and .1, or four times .075.
    found = entropy_bounds(np.log([[0.5, 0.2]]), 6)
    assert found.low == pytest.approx(entropy([0.5, 0.2, 0.2, 0.1]))
    assert found.high == pytest.approx(entropy([0.5, 0.2, *[0.075] * 4]))
    assert found.outside == pytest.approx(0.3)
    # The written token, .1, is known too, and the place for a third is left over.
    found = entropy_bounds([[math.log(0.5), math.log(0.2), math.nan]], 6, [math.log(0.1)])
    assert found.low == pytest.approx(entropy([0.5, 0.2, 0.1, 0.2]))
    assert found.high == pytest.approx(entropy([0.5, 0.2, 0.1, *[0.2 / 3] * 3]))


def test_bounds_contain_the_truth():
    """A thousand distributions over 60 tokens, even and uneven ones, of which the top 5 are known."""
    p = np.concatenate([RNG.dirichlet(np.full(60, shape), 250) for shape in (0.01, 0.1, 1, 10)])
    top = np.sort(p, axis=1)[:, :-6:-1]
    truth = entropy(p, axis=1)
    with np.errstate(divide="ignore"):
        logs = np.log(top)
    found = np.array([entropy_bounds(row[None], 60) for row in logs])
    assert (found[:, 0] <= truth + 1e-9).all()
    assert (truth <= found[:, 1] + 1e-9).all()
    assert found.mean(axis=0) == pytest.approx(entropy_bounds(logs, 60))
    # All tokens are known: both bounds are the entropy.
    with np.errstate(divide="ignore"):
        whole = entropy_bounds(np.log(p), 60)
    assert (whole.low, whole.high) == pytest.approx((truth.mean(), truth.mean()))


@pytest.mark.parametrize(
    ("top", "vocabulary", "beyond"),
    [
        ([[0.6, 0.5]], 10, None),  # more than 1
        ([[0.3, 0.1]], 5, None),  # three more tokens of .1 cannot make up .6
        ([[0.3, 0.1]], 1, None),
        ([[0.3, 0.1]], 50, [0.2]),  # the further token should have been among the first
        ([[2.0]], 10, None),
    ],
)
def test_bounds_of_what_no_distribution_has(top, vocabulary, beyond):
    with pytest.raises(ParameterError):
        entropy_bounds(np.log(top), vocabulary, beyond and np.log(beyond))


def test_bounds_at_the_edges():
    assert entropy_bounds(np.empty((0, 20)), 100) is None
    assert entropy_bounds([[math.nan, math.nan]], 100) is None
    assert entropy_bounds([[0.0, NEVER]], 100) == (0, 0, 0)
