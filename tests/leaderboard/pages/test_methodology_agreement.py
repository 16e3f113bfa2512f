"""The worked numbers on agreement in docs/methodology.md are those the code computes."""

from pathlib import Path

import numpy as np
import pytest

from leaderboard.stats import correlate, pair_means
from leaderboard.stats.agreement_opinions import OpinionRows, Topics, opinion_rows, pair_sums
from leaderboard.stats.alpha import repeated_pairs, within_measure
from leaderboard.stats.correlation import ceiling_entries, correlation, shared_entries
from leaderboard.stats.kappa import VALUES, kappa_measure

PAGE = " ".join((Path(__file__).parents[3] / "docs" / "methodology.md").read_text().split())
RELIABILITY, PEOPLE = 0.5, 3


def topics(pairs: int) -> Topics:
    return Topics(np.arange(pairs), np.zeros(pairs, dtype=np.int64), ("",))


def test_a_correlation() -> None:
    one, other = (pair_means(range(3), ratings, 3, False) for ratings in ([1, 2, 3], [1, 3, 3]))
    found = correlate(one, other)[0]
    assert f"2 / √(2 × 3) = {found.pearson:.4f}, Spearman 48 / √(64 × 54) = {found.spearman:.4f}" in PAGE
    assert f"Kendall 8 / √(12 × 9) = {found.kendall:.4f}." in PAGE


def test_a_ceiling() -> None:
    rows = opinion_rows([0, 0, 0, 1, 1], [1, 2, 3, 1, 2], [1, 2, 3, 3, 3], 3, False)
    entries = ceiling_entries(rows, pair_sums(rows, 2))
    listed = sorted(zip(entries.x.tolist(), entries.y.tolist(), strict=True))
    assert listed == [(-1, 0.5), (0, 0), (1, -0.5), (1, 1), (1, 1)]
    assert f"r = 1 / √(4 × 2.5) = {correlation(topics(2), entries)[1][0, 0]:.4f}." in PAGE


def with_mean_of(people: int) -> float:
    """Correlation of what people think on average with the mean of some of them (Spearman and Brown)."""
    return float(np.sqrt(people * RELIABILITY / (1 + (people - 1) * RELIABILITY)))


def test_how_far_the_ceiling_is_too_low() -> None:
    person = np.sqrt(RELIABILITY)
    others, everybody = person * with_mean_of(PEOPLE - 1), person * with_mean_of(PEOPLE)
    assert f"correlate at {RELIABILITY} and three rate every pair" in PAGE
    assert f"reaches {others:.4f} against the two others" in PAGE
    assert f"just as good as a person {everybody:.4f} against all three" in PAGE
    assert f"would reach {with_mean_of(PEOPLE):.4f} in the same example" in PAGE
    # The same by simulation: votes of two points that follow a hidden side of each pair.
    found = simulated(pairs=40_000)
    assert found == pytest.approx([others, everybody, with_mean_of(PEOPLE)], abs=0.01)


def simulated(pairs: int) -> list[float]:
    """People against each other, one more person against them, and the hidden side against them."""
    generator = np.random.default_rng(0)
    side = generator.integers(0, 2, pairs)

    def votes(raters: int, chance: float) -> OpinionRows:
        pair = np.tile(np.arange(pairs), raters)
        right = generator.random(len(pair)) < chance
        rating = 1 + np.where(right, side[pair], 1 - side[pair])
        return opinion_rows(pair, np.repeat(np.arange(raters), pairs), rating, 2, False)

    # Two votes that are right with the chance p correlate at (2p - 1) squared.
    chance = (1 + RELIABILITY**0.5) / 2
    people, person, truth = votes(PEOPLE, chance), votes(1, chance), votes(1, 1.0)
    sums = pair_sums(people, pairs)
    entered = [
        ceiling_entries(people, sums),
        *(shared_entries(sums, pair_sums(one, pairs)) for one in (person, truth)),
    ]
    return [float(correlation(topics(pairs), entries)[1][0, 0]) for entries in entered]


def test_kappa() -> None:
    sums = [pair_sums(opinion_rows(range(3), 1, given, 3, False), 3) for given in ([1, 2, 3], [1, 1, 3])]
    found = dict(zip(VALUES, kappa_measure(topics(3), *sums).estimate[0], strict=True))
    assert f"Weighted kappa is 2 × 2 / (2 + 3) = {found['kappa']:.4f}" in PAGE
    assert f"given in {found['exact']:.4f} of the cases, 0.3333 were expected by chance" in PAGE
    assert (found["exact"] - 1 / 3) / (1 - 1 / 3) == pytest.approx(found["kappa_verdict"])
    assert f"so kappa of verdicts is {found['kappa_verdict']:.4f}." in PAGE


def test_alpha_and_fleiss() -> None:
    rows = opinion_rows([0, 0, 1, 1], [1, 2, 1, 2], [1, 1, 1, 2], 3, False)
    alpha, _, fleiss = within_measure(topics(2), repeated_pairs(rows, 2)).estimate[0]
    assert f"1 − (1/2) / (12/7) = {alpha:.4f}" in PAGE
    assert f"(0.5 − 22/64) / (1 − 22/64) = {fleiss:.4f}." in PAGE
