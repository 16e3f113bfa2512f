"""Elo: one pass over the games in their order, and its bootstrap over resampled games.

The expected score 1 / (1 + base ** ((strength_b - strength_a) / scale)) is computed as (1 + tanh) / 2, which
cannot overflow.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bootstrap import ROUNDS, Bootstrap, check_count, check_run, in_blocks
from leaderboard.stats.bradley_terry import all_games
from leaderboard.stats.checks import FloatArray, IntArray, ParameterError, StatsError, column
from leaderboard.stats.elo_pools import Clusters, group_by_cluster, pool_sizes, worth_drawing
from leaderboard.stats.elo_walk import ROUNDS_AT_ONCE, walk_games, walk_late, walk_pools
from leaderboard.stats.games import make_games
from leaderboard.stats.newton import climb
from leaderboard.stats.outcomes import Outcomes, outcomes_of, parts
from leaderboard.stats.pair_table import PairTable

K: Final = 32.0
SCALE: Final = 400.0
BASE: Final = 10.0
INIT: Final = 1000.0
# Beyond it, or below its inverse for K and scale, floats would not hold the strengths.
LARGEST: Final = 1e9
_BOUNDS: Final = {
    "k": (0.0, "a positive number"),
    "scale": (0.0, "a positive number"),
    "base": (1.0, "greater than 1"),
    "init": (-math.inf, "a finite number"),
}


@dataclass(frozen=True)
class EloParameters:
    """Parameters of Elo; raises ParameterError for values out of range."""

    k: float = K  # points that one game moves a strength by at most
    scale: float = SCALE
    base: float = BASE
    init: float = INIT

    def __post_init__(self) -> None:
        for name, (least, wanted) in _BOUNDS.items():
            value = getattr(self, name)
            if not (math.isfinite(value) and value > least):
                raise ParameterError(f"{name} is {value}; it must be {wanted}")
            if abs(value) > LARGEST:
                raise ParameterError(f"{name} is {value:g}; it must be at most {LARGEST:g}")
            if least == 0.0 and value < 1 / LARGEST:
                raise ParameterError(f"{name} is {value:g}; it must be at least {1 / LARGEST:g}")

    @property
    def half_rate(self) -> float:
        """Factor from a difference to x where the expected score is (1 + tanh(x)) / 2."""
        return math.log(self.base) / (2.0 * self.scale)

    @property
    def pull(self) -> float:
        """The share of its remaining way by which one game between near equals moves a strength."""
        return self.k * math.log(self.base) / self.scale / 4.0

    @property
    def settling_games(self) -> float:
        """Games after which a wrong start has lost 95 % of its weight."""
        # 1 / pull games are the time constant, and three of them leave 5 %.
        return 3.0 / self.pull


def sequential_elo(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    contestants: int,
    *,
    k: float = K,
    scale: float = SCALE,
    base: float = BASE,
    init: float = INIT,
) -> FloatArray:
    """Strengths (contestants,) after one pass over the games in their order.

    After each game ``a`` gains K * (score - expected) and ``b`` loses the same. Raises a StatsError.
    """
    games = make_games(a, b, score, contestants)
    parameters = EloParameters(k, scale, base, init)
    rate = parameters.half_rate
    ratings = [float(init)] * contestants
    for first, second, won in zip(games.a.tolist(), games.b.tolist(), games.score.tolist(), strict=True):
        expected = 0.5 * (1.0 + math.tanh((ratings[first] - ratings[second]) * rate))
        gain = k * (won - expected)
        ratings[first] += gain
        ratings[second] -= gain
    return np.array(ratings)


def bootstrap_elo(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    contestants: int,
    *,
    rounds: int = ROUNDS,
    k: float = K,
    scale: float = SCALE,
    base: float = BASE,
    init: float = INIT,
    seed: int = 0,
    cluster: npt.ArrayLike | None = None,
    crossed: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Bootstrap:
    """Run Elo over ``rounds`` resamples of the games.

    ``a`` and ``b`` hold contestant numbers 0..contestants-1, ``score`` is 1, 0.5 or 0 for ``a``. A round
    draws single games, or whole clusters where ``cluster`` labels that of each game, and with ``crossed``
    clusters of a second kind across the first. ``threads`` changes the time taken alone, and None is one:
    NumPy's steps are too short to share. Raises a StatsError for bad input.
    """
    parameters = EloParameters(k, scale, base, init)
    check_run(rounds, seed, threads)
    games = read_games(a, b, score, contestants, cluster, crossed)
    outcomes = games.outcomes if isinstance(games, Clusters) else games
    last = games_remembered(outcomes, contestants, parameters)
    used = threads or 1
    samples = elo_samples(games, contestants, parameters, rounds, seed, threads=used, last=last)
    drawn = games if isinstance(games, Clusters) else None
    return Bootstrap(
        samples,
        asdict(parameters),
        seed,
        clusters=None if drawn is None else len(drawn),
        crossed_clusters=None if drawn is None else drawn.crossed_clusters,
        threads=used,
    )


def elo_samples(
    games: Outcomes | Clusters,
    contestants: int,
    parameters: EloParameters,
    rounds: int,
    seed: int,
    *,
    threads: int = 1,
    rounds_at_once: int = ROUNDS_AT_ONCE,
    last: int | None = None,
) -> FloatArray:
    """Strengths (rounds, contestants) after the ``last`` games of each round, None for all of them."""
    last = len(games.of_game) if last is None else last
    at_once = min(rounds_at_once, -(-rounds // threads))
    if isinstance(games, Outcomes):
        return np.concatenate(
            in_blocks(
                lambda block: walk_games(games, last, contestants, parameters, seed, block),
                rounds,
                at_once,
                threads,
            )
        )
    sizes = pool_sizes(games, seed, np.arange(rounds))
    late = worth_drawing(games, sizes, last, seed)
    samples = np.empty((rounds, contestants))

    def play(which: IntArray, longest: int, walk: Callable[[IntArray], FloatArray]) -> None:
        if len(which):
            held = max(1, (MEMORY - games.nbytes) // (longest * games.of_game.itemsize))
            size = min(at_once, max(1, held // threads))
            blocks = in_blocks(lambda block: walk(which[block]), len(which), size, min(threads, held))
            samples[which] = np.concatenate(blocks)

    play(
        np.flatnonzero(late),
        last,
        lambda some: walk_late(games, last, contestants, parameters, seed, some),
    )
    play(
        np.flatnonzero(~late),
        int(sizes.max()),
        lambda some: walk_pools(games, sizes[some], contestants, parameters, seed, some),
    )
    return samples


def read_games(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    contestants: int,
    cluster: npt.ArrayLike | None,
    crossed: npt.ArrayLike | None = None,
) -> Outcomes | Clusters:
    """The outcome of each game, by cluster if there are any; raises the errors of make_games."""
    first, second, points = column("a", a), column("b", b), column("score", score)
    label = None if cluster is None else column("cluster", cluster)
    other = None if crossed is None else column("crossed", crossed)
    _check(first, second, points, contestants, label, other)
    outcomes = outcomes_of(first, second, points.astype(np.float64, copy=False), contestants)
    return outcomes if label is None else group_by_cluster(outcomes, label, other)


def _check(
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    score: npt.NDArray[Any],
    contestants: int,
    label: npt.NDArray[Any] | None,
    other: npt.NDArray[Any] | None,
) -> None:
    def check(part: slice = slice(None)) -> None:
        cluster, crossed = (None if labels is None else labels[part] for labels in (label, other))
        make_games(a[part], b[part], score[part], contestants, cluster=cluster, crossed=crossed)

    lengths = {len(array) for array in (a, b, score, label, other) if array is not None}
    if len(lengths) > 1 or (label is None and other is not None):
        check()
    try:
        for part in parts(len(a)):
            check(part)
    except StatsError:
        # Found in a part: the whole says at which position.
        check()
        raise
    check_count(len(a))


# How many games at the end of a round decide its strengths: Elo forgets what came before.
#
# Take two runs of Elo through the same games from different starts. A game between a and b averages their
# differences in a and in b with the weights 1 - w and w, where w is K times the slope of the expected
# score, at most ``pull``. The squared difference falls by 2 * w * (1 - w) times the square of how far the
# two differences were apart; over random games by a factor of at least 1 - 2 * (1 - pull) * rate on
# average, where rate is the smallest eigenvalue, after one zero for each connected group, of the Laplacian
# whose weights are the means of w over the pairs. So after log(distance / TOLERANCE) / ((1 - pull) * rate)
# games the runs agree to TOLERANCE, wherever they began.
#
# The slope is taken at the Bradley-Terry strengths, where Elo settles, moved apart by one standard
# deviation of Elo's own movement. Without finite strengths a round plays all its games.

# Points left of where a run began: a root mean square over rounds.
TOLERANCE: Final = 1e-7
# With a larger K a game may overshoot, and averages say little.
LARGEST_PULL: Final = 0.5


def games_remembered(outcomes: Outcomes, contestants: int, parameters: EloParameters) -> int:
    """The number of games at the end of a round that decide its strengths, at most all of them."""
    games, pull = len(outcomes.of_game), parameters.pull
    if pull > LARGEST_PULL:
        return games
    table = PairTable.of(outcomes, contestants)
    groups = len(np.unique(table.component))
    # The eigenvalues add up to twice the mean of w: the smallest is at most their average.
    if games <= _needed(2.0 * pull / max(1, contestants - groups), pull, 2.0 * parameters.scale):
        return games
    likelihood = all_games(table)
    if likelihood.prior.any():
        return games
    log_odds = climb(likelihood, likelihood.start(1)).x[:, 0]
    rating = log_odds * parameters.scale / math.log(parameters.base)
    rate = _slowest(table, rating, parameters, groups)
    spread = float(np.ptp(table.centred(rating[:, None]))) + _movement(parameters)
    return min(games, _needed(rate, pull, spread * contestants**0.5))


def _needed(rate: float, pull: float, apart: float) -> int:
    """Games after which runs that began ``apart`` points from each other agree to TOLERANCE."""
    if rate <= 0.0:
        return np.iinfo(np.int64).max
    return math.ceil(math.log(apart / TOLERANCE) / ((1.0 - pull) * rate))


def _slowest(table: PairTable, rating: FloatArray, parameters: EloParameters, groups: int) -> float:
    """The least share of a difference between two runs that one game takes away, on average."""
    further = np.abs(rating[table.a] - rating[table.b]) + _movement(parameters)
    slope = 1.0 - np.tanh(further * parameters.half_rate) ** 2
    games = np.bincount(table.pair_of_outcome, weights=table.count_of_outcome, minlength=len(table.a))
    weight = parameters.pull * slope * games / games.sum()
    matrix = np.zeros((table.contestants, table.contestants))
    np.add.at(matrix, (table.a, table.b), -weight)
    matrix += matrix.T
    matrix[np.diag_indices_from(matrix)] = -matrix.sum(axis=1)
    return float(np.linalg.eigvalsh(matrix)[groups]) if groups < table.contestants else 0.0


def _movement(parameters: EloParameters) -> float:
    """One standard deviation of a settled difference between two near equals."""
    # A game adds K times a chance of variance 1/4 and takes away the share ``pull`` of each strength: one has
    # the variance K * scale / (2 * ln(base)), a difference twice that.
    return math.sqrt(parameters.k * parameters.scale / math.log(parameters.base))


# Bytes for the numbers of the games and the pools of all rounds in hand.
MEMORY: Final = 130_000_000
