"""p-values: McNemar's test over prompts, and p-values of several tests adjusted for all of them."""

import numpy as np

from leaderboard.stats.checks import FloatArray, IntArray


def holm(p: FloatArray) -> FloatArray:
    """Holm's step-down procedure (1979): the chance of any false alarm stays below the level."""
    order = np.argsort(p).astype(np.int64)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _placed(steps, order)


def benjamini_yekutieli(p: FloatArray) -> FloatArray:
    """Benjamini and Yekutieli (2001): the share of false alarms stays below it, however tests depend."""
    order, ranks = np.argsort(p).astype(np.int64), np.arange(1, len(p) + 1)
    steps = p[order] * len(p) * (1.0 / ranks).sum() / ranks
    return _placed(np.minimum.accumulate(steps[::-1])[::-1], order)


def _placed(steps: FloatArray, order: IntArray) -> FloatArray:
    found = np.empty_like(steps)
    found[order] = np.minimum(steps, 1.0)
    return found


def mcnemar(leads: IntArray) -> float:
    """Two-sided p, from how many more pairs of each prompt the one alone has right than the other alone.

    By chance either is as far ahead on a prompt: of all ways to turn the signs, the share with a sum at least
    as far from 0.
    """
    sizes, prompts = np.unique(np.abs(leads[leads != 0]), return_counts=True)
    most = int(sizes @ prompts)
    # The sum of the leads that fall to the one, from its characteristic function.
    angle = 2j * np.pi * np.arange(most + 1) / (most + 1)
    turned = np.prod(
        [(0.5 + 0.5 * np.exp(size * angle)) ** n for size, n in zip(sizes, prompts, strict=True)], axis=0
    )
    share = np.fft.fft(turned * np.ones(most + 1)).real / (most + 1)
    as_far = np.abs(2 * np.arange(most + 1) - most) >= abs(int(leads.sum()))
    return float(np.clip(share[as_far].sum(), 2.0 ** (1 - int(prompts.sum())), 1.0))
