"""How often intervals of agreement hold the truth, by simulation.

Seeds are fixed, so the numbers are the same every time (to the rounding of another machine).
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import ndtr, ndtri

from leaderboard.stats.agreement_estimates import t_intervals, z_intervals
from leaderboard.stats.agreement_opinions import (
    Beside,
    Topics,
    opinion_rows,
    pair_sums,
    resample,
)
from leaderboard.stats.alpha import repeated_pairs, within_measure
from leaderboard.stats.correlation import ceiling_entries, correlation, in_their_place, shared_entries
from leaderboard.stats.kappa import kappa_measure

STUDIES = 1000
ROUNDS = 500
CONTESTANTS = (0.6, 0.2, -0.2, -0.6)
PEOPLE = 3
MEASURES = (
    "Pearson",
    "Spearman",
    "Kendall",
    "ceiling, Pearson",
    "kappa",
    "kappa of verdicts",
    "alpha",
    "Fleiss",
)
KINDS = ("percentiles", "BCa", "z")


def ratings(prompts, seed, noise, own=0.5):
    """The ratings of three people and a judge with a taste of its own of four contestants.

    How good each completion is differs from prompt to prompt, so the six pairs of a prompt depend on each
    other; so does what the judge sees in each completion.
    """
    generator = np.random.default_rng(seed)
    quality = np.array(CONTESTANTS) + generator.normal(size=(prompts, 4))
    taste = generator.normal(0.0, own, (prompts, 4))
    first, second = np.triu_indices(4, 1)
    truth, seen = ((each[:, second] - each[:, first]).ravel() for each in (quality, quality + taste))
    pairs = len(truth)
    topics = Topics(np.repeat(np.arange(prompts), 6), np.zeros(prompts, dtype=np.int64), ("",))

    def rated(values, raters):
        pair = np.tile(np.arange(pairs), raters)
        opinion = values[pair] + generator.normal(0.0, noise, len(pair))
        rating = np.clip(np.rint((opinion / 5 + 0.5) * 7) + 1, 1, 8)
        return opinion_rows(pair, np.repeat(np.arange(raters), pairs), rating, 8, False)

    return topics, rated(truth, PEOPLE), rated(seen, 1)


def simulated(prompts, seed, noise):
    """All measures, with their values."""
    topics, people, judge = ratings(prompts, seed, noise)
    pairs = len(topics.prompt)
    of_people, of_judge = pair_sums(people, pairs), pair_sums(judge, pairs)
    found = [
        correlation(topics, shared_entries(of_people, of_judge)),
        correlation(topics, ceiling_entries(people, of_people)),
    ]
    others = (
        kappa_measure(topics, of_people, of_judge),
        within_measure(topics, repeated_pairs(people, pairs)),
    )
    return found + [(measure, measure.estimate) for measure in others]


def chosen(values):
    """The MEASURES from the values of all of them, along the first axis."""
    correlations, ceiling, kappa, within = values
    return np.concatenate((correlations[:3], ceiling[:1], kappa[:2], within[[0, 2]]))


def bca(value, samples, without):
    """Ends of shape (2, measures) of Efron's BCa at 95 %; ``without`` leaves out one prompt at a time."""
    below = (samples < value[:, None]).mean(axis=1) + (samples == value[:, None]).mean(axis=1) / 2
    bias = ndtri(np.clip(below, 1 / ROUNDS, 1 - 1 / ROUNDS))
    moved = without.mean(axis=1, keepdims=True) - without
    bend = (moved**3).sum(axis=1) / (6 * (moved**2).sum(axis=1) ** 1.5)
    ends = []
    for z in ndtri([0.025, 0.975]):
        level = ndtr(bias + (bias + z) / (1 - bend * (bias + z)))
        ends.append([np.quantile(row, share) for row, share in zip(samples, level, strict=True)])
    return np.array(ends)


def intervals(prompts, seed, noise):
    """Ends of shape (2, measures) of every kind of interval of one study."""
    found = simulated(prompts, seed, noise)
    measures = [measure for measure, _ in found]
    value = chosen([values[0] for _, values in found])
    samples = chosen([each[0] for each in resample(measures, ROUNDS, seed)])
    without = chosen([measure.of(1.0 - np.eye(prompts))[0] for measure in measures])
    return {
        "percentiles": np.percentile(samples, [2.5, 97.5], axis=1),
        "BCa": bca(value, samples, without),
        "z": np.array(z_intervals(value, samples, np.array(float(prompts)), 95.0)),
    }


@pytest.mark.parametrize("noise", [0.5, 1.5])
def test_coverage_of_agreement(noise):
    """Shares of 95 % intervals that hold the value of 40,000 prompts."""
    truth = chosen([values[0] for _, values in simulated(40_000, 999_999, noise)])
    print(f"\n\nnoise {noise}, {STUDIES} studies each; true values:")
    print("| prompts | interval | " + " | ".join(MEASURES) + " |")
    print("|--:|---|" + "--:|" * len(MEASURES))
    print("| | *true value* | " + " | ".join(f"{value:.3f}" for value in truth) + " |")
    for prompts in (10, 20, 60, 300):
        studies = STUDIES if prompts < 300 else STUDIES // 2
        found = [intervals(prompts, seed, noise) for seed in range(studies)]
        for kind in KINDS:
            ends = np.array([each[kind] for each in found])
            held = ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean(axis=0)
            print(
                f"| {prompts} | {kind} | " + " | ".join(f"{100 * share:.1f}" for share in held) + " |",
                flush=True,
            )
            if kind == "z":
                assert (held > 0.925).all()
                assert (held < 0.985).all()


@pytest.mark.parametrize("prompts", [5, 10, 20])
def test_coverage_of_a_category(prompts):
    """The same where the prompts are a category of a study of 100, and rounds draw from all of these."""
    truth = chosen([values[0] for _, values in simulated(40_000, 999_999, 1.0)])
    held = []
    for seed in range(STUDIES // 2):
        found = simulated(prompts, seed, 1.0)
        samples = chosen([each[0] for each in resample([among(each, 100) for each, _ in found], 300, seed)])
        value = chosen([values[0] for _, values in found])
        low, high = z_intervals(value, samples, np.array(float(prompts)), 95.0)
        held.append((low <= truth) & (truth <= high))
    shares = " | ".join(f"{100 * share:.1f}" for share in np.mean(held, axis=0))
    print(f"\n| {prompts} of 100 | z | {shares} |")
    assert (np.mean(held, axis=0) > 0.925).all()


def beside_people(prompts, seed, noise, own):
    """Pearson of the judge in a person's place less that of the person."""
    topics, people, judge = ratings(prompts, seed, noise, own)
    pairs = len(topics.prompt)
    places = in_their_place(ceiling_entries(people, pair_sums(people, pairs)), pair_sums(judge, pairs))
    return Beside(*(correlation(topics, each)[0] for each in places))


def lead(measure):
    """The estimated difference, in the shape that t_intervals takes."""
    return (measure.one.estimate - measure.other.estimate)[0, :1]


@pytest.mark.parametrize(("noise", "own"), [(0.5, 0.5), (1.5, 0.5), (1.0, 0.0)])
def test_coverage_of_a_judge_beside_people(noise, own):
    """Where it has no taste of its own the judge is one more person, and nothing lies between them."""
    truth = lead(beside_people(40_000, 999_999, noise, own))[0]
    print(f"\n| {noise} | {own} | {truth:.3f} |", end="")
    if own == 0:
        assert abs(truth) < 0.005
    for prompts in (10, 20, 60):
        held = []
        for seed in range(STUDIES):
            measure = beside_people(prompts, seed, noise, own)
            samples, value = resample([measure], 300, seed)[0][0, 6:7], lead(measure)
            low, high = t_intervals(value, samples, np.array(float(prompts)), 95.0)
            held.append(low[0] <= truth <= high[0])
        print(f" {100 * np.mean(held):.1f} |", end="", flush=True)
        assert 0.925 < np.mean(held) < 0.985


def among(measure, prompts):
    """The same measure in a study of more prompts, on which nothing was rated."""
    sums = measure.sums
    wider = csr_array((sums.data, sums.indices, sums.indptr), shape=(sums.shape[0], prompts))
    topics = replace(measure.topics, category=np.zeros(prompts, dtype=np.int64))
    return replace(measure, topics=topics, sums=wider)
