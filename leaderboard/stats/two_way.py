"""Least squares of values with an effect of each contestant, and of each block, such as a prompt."""

from dataclasses import dataclass

import numpy as np

from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.pair_table import connected_components


@dataclass(frozen=True, eq=False)
class TwoWay:
    """Effects of contestants, which average 0 in each component, and of blocks.

    ``pull`` (blocks, contestants): what the deviations in a block add to each contestant's effect.
    """

    contestant: FloatArray
    block: FloatArray
    component: IntArray
    pull: FloatArray


def two_way(count: FloatArray, total: FloatArray) -> TwoWay:
    """From how many values each contestant has in each block, and their sums: (blocks, contestants)."""
    one, other = np.nonzero(count.T @ count)
    component = connected_components(one, other, count.shape[1])
    each, whole = count.sum(axis=1, keepdims=True), total.sum(axis=1, keepdims=True)
    curvature = np.diag(count.sum(axis=0)) - count.T @ (count / each)
    # With the components' own directions it can be inverted; contestants of each then average 0.
    root = np.linalg.inv(curvature + np.equal.outer(component, component))
    own = root @ (total - count * (whole / each)).sum(axis=0)
    block = (whole - count @ own[:, None]) / each
    return TwoWay(own, block[:, 0], component, (total - count * (block + own)) @ root)


def sums_by_block(block: IntArray, contestant: IntArray, contestants: int, value: FloatArray) -> FloatArray:
    """The sums (blocks, contestants) of values; blocks are numbered without gaps."""
    blocks = int(block.max(initial=-1)) + 1
    found = np.bincount(block * contestants + contestant, value, blocks * contestants)
    return found.reshape(blocks, contestants).astype(np.float64)


def residuals(value: FloatArray, block: IntArray, contestant: IntArray) -> FloatArray:
    """Each value less the effects of its block and its contestant."""
    contestants = int(contestant.max(initial=-1)) + 1
    count, total = (
        sums_by_block(block, contestant, contestants, each) for each in (np.ones(len(value)), value)
    )
    found = two_way(count, total)
    return np.asarray(value - found.block[block] - found.contestant[contestant])
