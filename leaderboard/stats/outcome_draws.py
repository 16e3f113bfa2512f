"""How often each distinct outcome is drawn when as many games are drawn with replacement as there are.

That is a multinomial draw. Conditional binomials, the usual way, cost some 100 ns for each outcome; here it
is one lookup in a table. Each outcome gets a Poisson number of draws whose mean is a little less than its
number of games, and games drawn singly make up what is missing. That is exact: given their sum, independent
Poisson numbers are a multinomial draw, and a multinomial draw plus single draws is one with more games. A
round whose Poisson numbers exceed the games is drawn again; that depends on their sum alone. Poisson numbers
come from alias tables (Walker 1977).
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.games import FloatArray, IntArray
from leaderboard.stats.random_stream import GOLDEN, WordArray, choices, round_keys, words

POISSON_DRAWS: Final = 10
SINGLE_DRAWS: Final = 11
"""Purposes of the two streams; other purposes are in resampling.py and sandwich.py."""

LARGEST_PART: Final = 512
_SMALL_PART: Final = 64
"""Outcomes with more games than these are drawn in parts of such sizes, so that few tables are needed."""

_MARGIN: Final = 2.0
"""By how many standard deviations of the number of games the Poisson means fall short of it together."""

_TAIL: Final = 8.0
_PARTS_AT_ONCE: Final = 512
_PROBABILITY_BITS: Final = 48


@dataclass(frozen=True, eq=False)
class AliasTables:
    """Poisson tables one after the other: table t has the slots ``start[t] : start[t] + mask[t] + 1``.

    A random word chooses a slot by its last bits and is compared by its first ones: below ``threshold`` the
    number drawn is ``kept`` of the slot, otherwise ``other``.
    """

    start: IntArray
    mask: WordArray
    threshold: WordArray
    kept: npt.NDArray[np.int32]
    other: npt.NDArray[np.int32]

    @classmethod
    def of(cls, means: FloatArray) -> "AliasTables":
        """One table for each mean."""
        tables = [_alias_table(float(mean)) for mean in means]
        sizes = np.array([len(threshold) for threshold, _, _ in tables])
        joined = [np.concatenate(column) for column in zip(*tables, strict=True)]
        return cls(np.cumsum(sizes) - sizes, (sizes - 1).astype(np.uint64), *joined)

    def draw(self, table: IntArray, block: WordArray) -> npt.NDArray[np.int32]:
        """The number each word of ``block`` (len(table), rounds) draws from the table of its row."""
        slot = (block & self.mask[table][:, None]).view(np.int64)
        slot += self.start[table][:, None]
        below = (block >> np.uint64(64 - _PROBABILITY_BITS)) < self.threshold.take(slot)
        return np.where(below, self.kept.take(slot), self.other.take(slot))


def _alias_table(mean: float) -> tuple[WordArray, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Threshold, number and other number of each slot for a Poisson distribution; a power of two of slots."""
    reach = _TAIL * mean**0.5
    first = max(0, int(mean - reach))
    size = 1 << (int(mean + reach) + 20 - first).bit_length()
    number = np.arange(first, first + size)
    log_chance = np.cumsum(np.log(mean / np.maximum(number, 1))) if mean else np.where(number, -np.inf, 0.0)
    chance = np.exp(log_chance - log_chance.max())
    share = chance * (size / chance.sum())
    threshold, alias = _aliases(share)
    scaled = threshold * 2.0**_PROBABILITY_BITS
    return scaled.astype(np.uint64), number.astype(np.int32), number[alias].astype(np.int32)


def _aliases(share: FloatArray) -> tuple[FloatArray, IntArray]:
    """For each slot the part of it that is its own, and who has the rest, so that everybody gets its share.

    Shares average 1. Those below 1 are filled up by those above, one after the other; a large share that gave
    more than it could spare is filled up by the next (Hübschle-Schneider and Sanders 2022, as sums).
    """
    small, large = np.flatnonzero(share < 1.0), np.flatnonzero(share >= 1.0)
    lacking, spare = np.cumsum(1.0 - share[small]), np.cumsum(share[large] - 1.0)
    threshold, alias = np.minimum(share, 1.0), np.arange(len(share))
    last = len(large) - 1
    before = lacking - (1.0 - share[small])
    alias[small] = large[np.minimum(np.searchsorted(spare, before, side="right"), last)]
    if len(small):
        taken = lacking[np.minimum(np.searchsorted(lacking, spare[:-1]), len(small) - 1)]
        threshold[large[:-1]] = np.clip(1.0 - (taken - spare[:-1]), 0.0, 1.0)
        alias[large[:-1]] = large[1:]
    return threshold, alias


class OutcomeDraws:
    """Draws as many games as there are, with replacement; ``of_game`` is the outcome number of each game."""

    def __init__(self, of_game: npt.NDArray[Any], outcomes: int, seed: int) -> None:
        self._of_game, self._outcomes, self._seed = of_game, outcomes, seed
        outcome, size = _parts(np.bincount(of_game, minlength=outcomes))
        self._first_part = np.searchsorted(outcome, np.arange(outcomes))
        sizes, self._table = np.unique(size, return_inverse=True)
        share = max(0.0, 1.0 - _MARGIN / len(of_game) ** 0.5)
        self._tables = AliasTables.of(sizes * share)

    def weights(self, rounds: IntArray) -> FloatArray:
        """How often each outcome is drawn in each of the rounds, (outcomes, rounds)."""
        keys = round_keys(self._seed, rounds, POISSON_DRAWS)
        weights = self._attempt(keys, 0)
        attempt = 0
        while len(again := np.flatnonzero(weights.sum(axis=0) > len(self._of_game))):
            attempt += 1
            weights[:, again] = self._attempt(keys[again], attempt)
        self._add_single_games(weights, rounds)
        return weights

    def _attempt(self, keys: WordArray, attempt: int) -> FloatArray:
        """A Poisson number for every outcome and round."""
        parts = len(self._table)
        drawn = np.empty((parts, len(keys)))
        for start in range(0, parts, _PARTS_AT_ONCE):
            table = self._table[start : start + _PARTS_AT_ONCE]
            block = words(keys, attempt * parts + start, len(table))
            drawn[start : start + len(table)] = self._tables.draw(table, block)
        if parts == self._outcomes:
            return drawn
        summed: FloatArray = np.add.reduceat(drawn, self._first_part, axis=0)
        return summed

    def _add_single_games(self, weights: FloatArray, rounds: IntArray) -> None:
        games, width = len(self._of_game), len(rounds)
        missing = games - weights.sum(axis=0).astype(np.int64)
        column = np.repeat(np.arange(width), missing)
        step = np.arange(len(column)) - np.repeat(np.cumsum(missing) - missing, missing)
        keys = round_keys(self._seed, rounds, SINGLE_DRAWS)[column] + step.astype(np.uint64) * GOLDEN
        place = self._of_game.take(choices(keys, 0, 1, games)[0]).astype(np.int64) * width + column
        np.add.at(weights.reshape(-1), place, 1.0)


def _parts(games: IntArray) -> tuple[IntArray, IntArray]:
    """The outcomes in parts that few tables serve: outcome numbers, in order, and the sizes of the parts."""
    whole, rest = np.divmod(games, LARGEST_PART)
    small = rest % _SMALL_PART
    number = np.arange(len(games))
    outcome = np.concatenate((np.repeat(number, whole), number, number))
    size = np.concatenate((np.full(int(whole.sum()), LARGEST_PART), rest - small, small))
    outcome, size = outcome[size > 0], size[size > 0]
    order = np.argsort(outcome, kind="stable")
    return outcome[order], size[order]
