"""Opinions made at random, and tables of them in both orientations made the slow way."""

from itertools import product

import numpy as np

from leaderboard.stats.agreement_opinions import OpinionRows, Topics, opinion_rows, pair_sums

PAIRS = 24
RATED = ("eight", 8, 8), ("eight and five", 8, 5), ("three and two", 3, 2)
"""Points of two kinds of raters."""


def topics(pairs=PAIRS, each=4, names=("coding", "", "poems")):
    """``each`` pairs to a prompt, the categories in turn."""
    prompt = np.arange(pairs) // each
    return Topics(prompt, np.arange(prompt[-1] + 1) % len(names), names)


def at_random(seed, points=8, raters=3, pairs=PAIRS, share=0.7):
    """Ratings by ``raters`` raters of a share of the pairs; what they think is one thing, and some noise."""
    generator = np.random.default_rng((seed, points, raters))
    truth = np.random.default_rng(seed).normal(size=pairs)
    pair, rater = (each.ravel() for each in np.meshgrid(np.arange(pairs), np.arange(raters)))
    kept = generator.random(len(pair)) < share
    seen = truth[pair] + generator.normal(size=len(pair))
    rating = np.clip(np.rint((seen / 4 + 0.5) * (points - 1)) + 1, 1, points)
    return opinion_rows(pair, rater, rating, points, False).only(kept)


def sums(rows, pairs=PAIRS):
    return pair_sums(rows, pairs)


def mirrored(rows, turned):
    """The same opinions where the completions of the pairs of a mask have changed their names."""
    rating = np.where(turned[rows.pair], rows.points + 1 - rows.rating, rows.rating)
    return OpinionRows(rows.pair, rows.rater, rating, rows.points)


def crossed(one, other, of, size):
    """The table of every opinion of the one against every one of the other on the same pair, both ways."""
    table = np.zeros(size)
    for i, j in product(range(len(one)), range(len(other))):
        if one.pair[i] == other.pair[j]:
            a, b = of(one)[i], of(other)[j]
            table[a, b] += 1
            table[size[0] - 1 - a, size[1] - 1 - b] += 1
    return table


def reliability_matrix(rows, values, mirror, pairs=PAIRS):
    """Raters by pairs, then by mirrored pairs; NaN where somebody did not rate."""
    table = np.full((rows.rater.max() + 1, 2 * pairs), np.nan)
    for pair, rater, value in zip(rows.pair, rows.rater, values, strict=True):
        table[rater, pair], table[rater, pairs + pair] = value, mirror(value)
    return table
