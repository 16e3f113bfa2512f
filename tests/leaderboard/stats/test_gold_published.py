"""LLMBar from its raw files: what the product computes equals plain Python and the printed tables."""

from functools import cache

import numpy as np
import pytest

from leaderboard.stats.gold import Judged, Rule
from leaderboard.stats.gold_averages import accuracies, adjusted, difference
from leaderboard.stats.gold_baselines import BASELINES, baseline
from leaderboard.stats.gold_matrix import Matrix, mean_alpha, rank_correlation
from leaderboard.stats.sides import UNSCORED
from tests.leaderboard.stats import llmbar_raw
from tests.leaderboard.stats.llmbar_raw import MODELS, PROTOCOLS, SUBSETS, Files

SIDES = {"1": 1, "2": -1, None: UNSCORED}
LLMBAR = Rule(as_published="llmbar")

# Natural accuracy and agreement, Neighbor accuracy and agreement: Tables 2, 11 and 13 for GPT-4, 5 for
# ChatGPT, 8 for PaLM2. Their "Vanilla" is Vanilla_NoRules.
PRINTED = {
    ("gpt-4", "Vanilla_NoRules"): (93.5, 97.0, 64.2, 89.6),
    ("gpt-4", "Vanilla"): (95.5, 95.0, 78.7, 93.3),
    ("gpt-4", "CoT"): (94.5, 91.0, 75.0, 90.3),
    ("gpt-4", "Swap"): (94.5, 97.0, 77.6, 97.0),
    ("gpt-4", "Swap_CoT"): (94.0, 100.0, 78.7, 99.3),
    ("gpt-4", "Metrics"): (93.0, 94.0, 83.2, 93.3),
    ("gpt-4", "Reference"): (95.5, 97.0, 80.6, 89.6),
    ("gpt-4", "Metrics_Reference"): (96.0, 96.0, 85.4, 94.8),
    ("gpt-4", "Rating_NoRules"): (90.0, 88.0, 63.8, 67.9),
    ("gpt-4", "Rating"): (92.0, 90.0, 78.0, 78.4),
    ("gpt-4", "Rating_Metrics"): (93.5, 93.0, 82.8, 86.6),
    ("gpt-4", "Rating_Reference"): (94.0, 94.0, 80.2, 81.3),
    ("gpt-4", "Rating_Metrics_Reference"): (94.0, 92.0, 85.1, 91.0),
    ("gpt-4", "Vanilla_1shot"): (94.0, 96.0, 81.7, 91.8),
    ("gpt-4", "Vanilla_2shot"): (93.0, 98.0, 81.0, 90.3),
    ("palm2", "Vanilla_NoRules"): (82.0, 84.0, 51.1, 70.9),
    ("palm2", "CoT"): (73.0, 64.0, 51.5, 49.3),
    ("palm2", "Metrics_Reference"): (86.5, 85.0, 69.8, 72.4),
    ("chatgpt", "Vanilla"): (81.5, 71.0, 19.4, 71.6),
    ("chatgpt", "Metrics"): (81.5, 73.0, 28.4, 59.7),
}


@pytest.fixture(scope="module")
def files(reference_data, judge_data):
    return Files(reference_data, judge_data)


@pytest.fixture(scope="module")
def judged(files):
    @cache
    def read(model, protocol, subset, rule=LLMBAR):
        replies = files.replies(model, protocol, subset)
        said = np.array([[SIDES[one.straight], SIDES[one.swapped]] for one in replies]).T
        pointwise = replies[0].scores is not None
        if pointwise:
            said[:, [one.is_hedge for one in replies]] = 0
            said[:, [one.is_unreadable for one in replies]] = UNSCORED
        return Judged(np.array([SIDES[one.gold] for one in replies]), said, rule, pointwise)

    return read


def test_every_file(files, judged):
    """31 judges: the product, plain Python and the printed rows."""
    for model in MODELS:
        for protocol in files.protocols(model):
            row = []
            for subset in SUBSETS:
                replies, own = (
                    files.replies(model, protocol, subset),
                    judged(model, protocol, subset).figures(),
                )
                wanted = [
                    llmbar_raw.accuracy(replies),
                    llmbar_raw.agreement(replies),
                    llmbar_raw.hedging(replies),
                ]
                assert [own.accuracy, own.agreement, own.hedging] == pytest.approx(wanted), (model, protocol)
                row += [100 * own.accuracy, 100 * own.agreement]
            printed = PRINTED.get((model, protocol), row)
            assert row == pytest.approx(printed, abs=0.051), (model, protocol)
    assert len(files.protocols("gpt-4")) == 15


def test_single_figures(judged):
    assert judged("gpt-4", "Vanilla", "Natural").figures().alpha == pytest.approx(0.898210, abs=5e-7)
    assert judged("gpt-4", "Rating", "Neighbor").figures().hedging == pytest.approx(0.208955, abs=5e-7)
    # The strategy that the paper calls Vanilla.
    palm2 = "palm2", "Vanilla_NoRules", "Natural"
    plain = judged(*palm2, Rule()).figures()
    assert (plain.asked, plain.asked - plain.scored, plain.both) == (200, 6, 97)
    assert plain.accuracy == pytest.approx(0.845361, abs=5e-7)
    assert plain.accuracy_bounds == pytest.approx((0.82, 0.85))
    assert plain.agreement == pytest.approx(0.835052, abs=5e-7)
    assert judged(*palm2, Rule(unscored="wrong")).figures().accuracy == pytest.approx(0.82)
    assert judged(*palm2).figures().agreement == pytest.approx(0.84)


def test_baselines(files):
    wanted = {"Natural": (0.565, 0.42, -0.99), "Neighbor": (0.119403, 0.559701, -0.992537)}
    for subset, (longer, constant, alpha) in wanted.items():
        items = files.items(subset)
        gold = np.array([1 if item["label"] == 1 else -1 for item in items])
        apart = np.sign([len(item["output_1"]) - len(item["output_2"]) for item in items])
        found = {name: Judged(gold, baseline(name, apart)).figures() for name in BASELINES}
        assert found["longer"].accuracy == pytest.approx(longer, abs=5e-7)
        assert found["longer"].accuracy == pytest.approx(llmbar_raw.longer_is_right(items))
        assert found["shorter"].accuracy == pytest.approx(1 - longer, abs=5e-7)
        assert found["constant"].accuracy == pytest.approx(constant, abs=5e-7)
        assert found["always first"].alpha == pytest.approx(alpha, abs=5e-7)


def test_matrix(judged):
    accuracy = np.array(
        [
            [
                [judged(model, protocol, subset).figures().accuracy for subset in SUBSETS]
                for protocol in PROTOCOLS
            ]
            for model in MODELS
        ]
    )
    found = Matrix(accuracy, base=0)
    assert 100 * found.optimum[PROTOCOLS.index("Metrics_Reference")] == pytest.approx([96, 85.4478], abs=6e-5)
    printed = [PRINTED[model, "Metrics_Reference"] for model in ("gpt-4", "palm2")]
    average = Matrix(accuracy[:2], base=0).of_protocols[PROTOCOLS.index("Metrics_Reference")]
    assert 100 * average == pytest.approx(np.mean(printed, axis=0)[[0, 2]], abs=0.05)
    gains = [[0.5, 6.716], [3.5, 7.089], [1.0, 18.657]]
    assert 100 * found.gain == pytest.approx(np.array(gains), abs=6e-4)
    subsets = rank_correlation("judges", *SUBSETS, *accuracy.reshape(24, 2).T)
    assert (subsets.n, subsets.spearman.value) == (24, pytest.approx(0.856677, abs=5e-7))
    assert subsets.kendall.value == pytest.approx(0.705901, abs=5e-7)
    assert next(found.correlations({name: [at] for at, name in enumerate(SUBSETS)}, [0, 1])) == subsets


def test_self_agreement_over_models(files, judged):
    """Krippendorff's alpha by its definition from the raw replies, and on average over the models."""
    for protocol in PROTOCOLS:
        wanted = [
            np.mean([llmbar_raw.alpha(files.replies(model, protocol, subset)) for model in MODELS])
            for subset in SUBSETS
        ]
        own = [[judged(model, protocol, subset, Rule()) for subset in SUBSETS] for model in MODELS]
        found = mean_alpha(own, 95)
        assert found.value == pytest.approx(np.mean(wanted), abs=1e-12)
        assert found.low < found.value < found.high


def test_differences_from_vanilla(files, judged):
    judges = [[judged("gpt-4", protocol, subset) for subset in SUBSETS] for protocol in PROTOCOLS]
    known = accuracies(judges, 1000, 1)
    found = dict(
        zip(
            PROTOCOLS[1:],
            adjusted(
                [
                    difference(known[0], each, judges[0], own, 95)
                    for each, own in zip(known[1:], judges[1:], strict=True)
                ]
            ),
            strict=True,
        )
    )
    wanted = {
        "Vanilla_NoRules": (-8.2761, 25, 2, None, None),
        "CoT": (-2.3657, 15, 5, 0.0414, 0.207),
        "Metrics_Reference": (3.6082, 2, 13, 0.00739, 0.0443),
    }
    for protocol, (points, only_base, only_judge, p, adjusted_p) in wanted.items():
        own = found[protocol]
        assert 100 * own.difference == pytest.approx(points, abs=5e-5)
        assert (own.only_base, own.only_judge) == (only_base, only_judge)
        if p:
            assert own.mcnemar == pytest.approx(p, rel=2e-3)
            assert own.mcnemar_adjusted == pytest.approx(adjusted_p, rel=2e-3)
    for protocol, own in found.items():
        pooled = [
            [one for subset in SUBSETS for one in files.replies("gpt-4", each, subset)]
            for each in ("Vanilla", protocol)
        ]
        counts = own.only_base, own.only_judge, pytest.approx(own.mcnemar)
        assert llmbar_raw.mcnemar(*pooled) == counts
        assert [100 * own.low, 100 * own.high] == pytest.approx(percentiles(judges, protocol), abs=0.35)


def percentiles(judges, protocol, rounds=4000):
    """Ends of a plain percentile bootstrap of the difference in points, drawn by NumPy."""
    generator = np.random.default_rng(7)
    total = np.zeros(rounds)
    for base, own in zip(judges[0], judges[PROTOCOLS.index(protocol)], strict=True):
        apart = (own.credits - base.credits).mean(axis=0)
        times = generator.multinomial(len(apart), np.full(len(apart), 1 / len(apart)), size=rounds)
        total += times @ apart / len(apart)
    return (100 * np.percentile(total / 2, [2.5, 97.5])).tolist()
