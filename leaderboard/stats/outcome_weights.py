"""How often each distinct outcome is drawn in each round, where the order of games does not matter.

Single games are a multinomial draw; clusters are drawn as for Elo, and their outcomes added up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.outcomes import Outcomes
from leaderboard.stats.resampling import (
    CLUSTER_DRAWS,
    CROSSED_DRAWS,
    GOLDEN,
    POISSON_DRAWS,
    SINGLE_DRAWS,
    WordArray,
    choices,
    exact_type,
    round_keys,
    times_drawn,
    words,
)

# Rounds of a block. They share a generator where outcomes are few: it is part of the numbers there.
DRAWN_TOGETHER: Final = 64
_FEWEST_TOGETHER: Final = 8
_MOST_NUMBERS: Final = 2**20
_ROWS_AT_ONCE: Final = _MOST_NUMBERS // DRAWN_TOGETHER
# With more clusters hardly two of a thousand rounds draw the same ones.
MOST_CLUSTERS_COMPARED: Final = 12


def weights_of_rounds(
    outcomes: Outcomes, cluster: IntArray | None, seed: int, crossed: IntArray | None = None
) -> Callable[[IntArray], FloatArray]:
    """A function from at most ``DRAWN_TOGETHER`` round numbers to weights (outcomes, rounds)."""
    if cluster is None:
        if len(outcomes) ** 2 < len(outcomes.of_game):
            return lambda rounds: _multinomial(outcomes, seed, rounds)
        return OutcomeDraws(outcomes.of_game, len(outcomes), seed).weights
    if crossed is not None:
        return _crossed_weights(outcomes, cluster, crossed, seed)
    clusters = int(cluster.max()) + 1
    ones = np.ones(len(cluster))
    contents = coo_array((ones, (outcomes.of_game, cluster)), shape=(len(outcomes), clusters)).tocsr()
    number = exact_type(contents.data, clusters)
    contents = contents.astype(number)

    def draw(rounds: IntArray) -> FloatArray:
        drawn = times_drawn(seed, rounds, clusters).T
        return np.asarray((contents @ np.ascontiguousarray(drawn, dtype=number)).astype(np.float64))

    return draw


def rounds_together(outcomes: int) -> int:
    """How many rounds make a block: fewer where arrays would pass 8 MB."""
    return max(_FEWEST_TOGETHER, min(DRAWN_TOGETHER, _MOST_NUMBERS // outcomes))


def distinct_rounds(
    seed: int, rounds: int, clusters: int | None, crossed_clusters: int | None = None
) -> tuple[IntArray, IntArray]:
    """One round of each distinct draw, and for every round the place of its like among those."""
    numbers = np.arange(rounds)
    kinds = ((clusters, CLUSTER_DRAWS), (crossed_clusters, CROSSED_DRAWS))
    known = [(number, purpose) for number, purpose in kinds if number]
    if not 0 < sum(number for number, _ in known) <= MOST_CLUSTERS_COMPARED:
        return numbers, numbers
    drawn = [times_drawn(seed, numbers, number, purpose) for number, purpose in known]
    _, first, place = np.unique(np.concatenate(drawn, axis=1), axis=0, return_index=True, return_inverse=True)
    return first, place.reshape(-1)


def _multinomial(outcomes: Outcomes, seed: int, rounds: IntArray) -> FloatArray:
    """Weights by conditional binomials: faster where there are few outcomes for so many games."""
    count = np.bincount(outcomes.of_game, minlength=len(outcomes))
    block = int(rounds[0]) // DRAWN_TOGETHER
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, block], dtype=np.uint64)))
    games = int(count.sum())
    drawn = generator.multinomial(games, count / games, size=DRAWN_TOGETHER)[: len(rounds)]
    return np.ascontiguousarray(drawn.T, dtype=np.float64)


def _crossed_weights(
    outcomes: Outcomes, cluster: IntArray, crossed: IntArray, seed: int
) -> Callable[[IntArray], FloatArray]:
    """Weights where a game counts as often as both its clusters were drawn, multiplied."""
    clusters, others = (int(kind.max()) + 1 for kind in (cluster, crossed))
    rows, row = np.unique(outcomes.of_game * np.int64(others) + crossed, return_inverse=True)
    outcome, other = np.divmod(rows, others)
    contents = coo_array((np.ones(len(row)), (row, cluster)), shape=(len(rows), clusters)).tocsr()
    places = (outcome, np.arange(len(rows)))
    summed = csr_array((np.ones(len(rows)), places), shape=(len(outcomes), len(rows))).tocsc()
    cuts = [slice(at, at + _ROWS_AT_ONCE) for at in range(0, len(rows), _ROWS_AT_ONCE)]
    parts = [(contents[cut], other[cut], summed[:, cut]) for cut in cuts]

    def draw(rounds: IntArray) -> FloatArray:
        first_kind = times_drawn(seed, rounds, clusters).T.astype(np.float64)
        second_kind = times_drawn(seed, rounds, others, CROSSED_DRAWS).T
        weights = np.zeros((len(outcomes), len(rounds)))
        for games, kind, add in parts:
            weights += add @ ((games @ first_kind) * second_kind[kind])
        return weights

    return draw


# Where outcomes are many, a multinomial draw is one lookup for each; conditional binomials cost some 100
# ns. Each outcome gets a Poisson number of draws whose mean is a little below its games, and games drawn
# singly make up the rest. That is exact: given their sum, independent Poisson numbers are a multinomial
# draw. A round with too many is drawn again, which depends on the sum alone.

LARGEST_PART: Final = 512
# Outcomes with more games than these are drawn in parts of such sizes, so that few tables are needed.
_SMALL_PART: Final = 64
# Standard deviations of the number of games by which the Poisson means together fall short of it.
_MARGIN: Final = 2.0
_TAIL: Final = 8.0
_PARTS_AT_ONCE: Final = 512
_PROBABILITY_BITS: Final = 48


class OutcomeDraws:
    """Draws as many games as there are, with replacement; ``of_game`` is the outcome of each game."""

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
        return np.add.reduceat(drawn, self._first_part, axis=0)

    def _add_single_games(self, weights: FloatArray, rounds: IntArray) -> None:
        games, width = len(self._of_game), len(rounds)
        missing = games - weights.sum(axis=0).astype(np.int64)
        column = np.repeat(np.arange(width), missing)
        step = np.arange(len(column)) - np.repeat(np.cumsum(missing) - missing, missing)
        keys = round_keys(self._seed, rounds, SINGLE_DRAWS)[column] + step.astype(np.uint64) * GOLDEN
        place = self._of_game.take(choices(keys, 0, 1, games)[0]).astype(np.int64) * width + column
        np.add.at(weights.reshape(-1), place, 1.0)


def _parts(games: IntArray) -> tuple[IntArray, IntArray]:
    """The outcomes in parts that few tables serve: outcome numbers, in order, and sizes."""
    whole, rest = np.divmod(games, LARGEST_PART)
    small = rest % _SMALL_PART
    number = np.arange(len(games))
    outcome = np.concatenate((np.repeat(number, whole), number, number))
    size = np.concatenate((np.full(int(whole.sum()), LARGEST_PART), rest - small, small))
    outcome, size = outcome[size > 0], size[size > 0]
    order = np.argsort(outcome, kind="stable")
    return outcome[order], size[order]


@dataclass(frozen=True, eq=False)
class AliasTables:
    """Poisson tables one after the other, from which random words draw numbers."""

    start: IntArray  # of each table's slots
    mask: WordArray  # of a word's last bits, which choose the slot
    threshold: WordArray  # for a word's first bits
    kept: npt.NDArray[np.int32]  # drawn below the threshold
    other: npt.NDArray[np.int32]  # drawn from it on

    @classmethod
    def of(cls, means: FloatArray) -> "AliasTables":
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
    """Threshold, number and other number of each of 2**k slots for a Poisson distribution."""
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
    """For each slot its own part, and who has the rest, so that everybody gets its share; shares average 1.

    Small shares are filled up by large ones, one after the other; a large one that gave too much is filled up
    by the next (Hübschle-Schneider and Sanders 2022, as sums).
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
