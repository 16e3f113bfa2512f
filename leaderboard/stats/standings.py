"""Standings: ratings, intervals, ranks and counts of contestants, with everything that made them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

import numpy as np

from leaderboard.stats.bradley_terry import CENTRE, PRIOR_GAMES, SCALE, bradley_terry, connected_components
from leaderboard.stats.bradley_terry_bootstrap import BradleyTerryBootstrap, bootstrap_bradley_terry
from leaderboard.stats.cautions import Findings, cautions
from leaderboard.stats.elo import EloParameters, sequential_elo
from leaderboard.stats.elo_bootstrap import EloBootstrap, bootstrap_elo
from leaderboard.stats.errors import NoGamesError, ParameterError
from leaderboard.stats.games import FloatArray, Games, IntArray, names_of
from leaderboard.stats.intervals import KEPT_PERCENTILES, central_interval, check_level, median, percentiles
from leaderboard.stats.random_stream import check_seed

METHODOLOGY: Final = "1"
"""Version of the methods as a whole; it changes whenever the same votes would give other numbers."""

METHODS: Final = ("elo", "bradley-terry")
DECIMALS: Final = 6


@dataclass(frozen=True)
class Method:
    """How to rank: the method, whether ties count half, and the bootstrap (``rounds`` None for none).

    ``ties`` is only recorded here; it acts where ratings become games.
    """

    name: str = "elo"
    ties: bool = True
    rounds: int | None = 1000
    interval: float = 95.0
    seed: int = 0
    elo: EloParameters = field(default_factory=EloParameters)
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.name not in METHODS:
            raise ParameterError(f"there is no method {self.name!r}; choose one of {', '.join(METHODS)}")
        if self.rounds is not None and self.rounds < 1:
            raise ParameterError(f"rounds is {self.rounds}; it must be at least 1")
        check_level(self.interval)
        check_seed(self.seed)

    def with_bootstrap(self, wanted: bool) -> "Method":
        """The same method, without its bootstrap where it is not wanted."""
        return self if wanted else replace(self, rounds=None)


@dataclass(frozen=True)
class Standing:
    """One contestant. ``rating``, ``rank`` and ``component`` are None where it played no game.

    ``low`` and ``high`` are the ends of the central interval and ``quantiles`` the kept percentiles, by their
    number as text; all are None without a bootstrap. ``rank`` follows the rating within the component:
    1 + the number of contestants rated higher, so equal ratings (to 1e-6) share a rank.
    """

    contestant: str
    rating: float | None
    low: float | None
    high: float | None
    rank: int | None
    games: int
    wins: int
    losses: int
    ties: int
    component: int | None
    quantiles: Mapping[str, float] | None

    def as_dict(self, decimals: int = DECIMALS) -> dict[str, Any]:
        """Plain values for JSON, rounded."""
        kept = self.quantiles and {name: round(value, decimals) for name, value in self.quantiles.items()}
        return {
            "contestant": self.contestant,
            "rating": _rounded(self.rating, decimals),
            "low": _rounded(self.low, decimals),
            "high": _rounded(self.high, decimals),
            "rank": self.rank,
            "games": self.games,
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            "component": self.component,
            "quantiles": kept,
        }


@dataclass(frozen=True)
class Standings:
    """A ranking. ``standings`` is ordered by component, then rating, best first, then name.

    ``components`` holds the names of each connected group (contestants without games are in none): ratings of
    different groups have no common scale. ``warnings`` are sentences to be shown with the numbers.
    """

    method: str
    parameters: Mapping[str, Any]
    games: int
    left_out: int
    standings: tuple[Standing, ...]
    components: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...]

    def as_dict(self, decimals: int = DECIMALS) -> dict[str, Any]:
        """Plain values for JSON; rounded to six decimals they are the same on any machine."""
        return {
            "method": self.method,
            "parameters": dict(self.parameters),
            "games": self.games,
            "left_out": self.left_out,
            "standings": [standing.as_dict(decimals) for standing in self.standings],
            "components": [list(names) for names in self.components],
            "warnings": list(self.warnings),
        }

    def canonical_json(self) -> str:
        """One line of JSON with sorted keys: equal text means equal standings."""
        return json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)


def rank_games(games: Games, names: Sequence[str], method: Method) -> Standings:
    """Rank the contestants of ``games``, called ``names`` in the order of their numbers.

    Elo's rating is the median of the bootstrap, or one pass in the games' order without it;
    Bradley-Terry's is the maximum for all games. Raises a StatsError where there is nothing to rank.
    """
    labels = names_of(names, games.contestants)
    if not len(games):
        raise NoGamesError(
            f"there are no games to rank: all {games.left_out} comparisons took no side with ties off"
            if games.left_out
            else "there are no games to rank"
        )
    component = connected_components(games.a, games.b, games.contestants)
    rating, prior, bootstrap = _rate(games, method)
    played = _tally(games)
    # A single unit is the same in every round, which would look like certainty.
    rows = _rows(labels, rating, component, played, bootstrap if games.units > 1 else None, method)
    groups = _groups(labels, component, played[0])
    elo = method.elo if method.name == "elo" else None
    found = Findings(labels, played, groups, prior, bootstrap, games.units, elo)
    return Standings(
        method.name,
        _parameters(games, method, prior, bootstrap),
        len(games),
        games.left_out,
        rows,
        groups,
        cautions(found),
    )


Bootstrap = EloBootstrap | BradleyTerryBootstrap | None


def _rate(games: Games, method: Method) -> tuple[FloatArray, bool, Bootstrap]:
    """Rating of each contestant, whether Bradley-Terry needed its prior, and the bootstrap if wanted."""
    arrays = (games.a, games.b, games.score, games.contestants)
    rounds, seed, threads = method.rounds, method.seed, method.threads
    if method.name == "bradley-terry":
        fit = bradley_terry(games)
        if rounds is None:
            return fit.rating, fit.prior, None
        again = bootstrap_bradley_terry(
            *arrays, rounds=rounds, seed=seed, cluster=games.cluster, threads=threads
        )
        return fit.rating, fit.prior, again
    elo = asdict(method.elo)
    if rounds is None:
        return sequential_elo(*arrays, **elo), False, None
    bootstrap = bootstrap_elo(
        *arrays, rounds=rounds, seed=seed, cluster=games.cluster, threads=threads, **elo
    )
    return median(bootstrap.samples), False, bootstrap


def _tally(games: Games) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Games, wins, losses and ties of each contestant."""

    wins, losses, ties = (
        _appearances(games, games.a, a_scored) + _appearances(games, games.b, 1.0 - a_scored)
        for a_scored in (1.0, 0.0, 0.5)
    )
    return wins + losses + ties, wins, losses, ties


def _appearances(games: Games, side: IntArray, score_of_a: float) -> IntArray:
    return np.bincount(side[games.score == score_of_a], minlength=games.contestants)


def _rows(
    names: tuple[str, ...],
    rating: FloatArray,
    component: IntArray,
    played: tuple[IntArray, IntArray, IntArray, IntArray],
    bootstrap: Bootstrap,
    method: Method,
) -> tuple[Standing, ...]:
    rounded = np.round(rating, DECIMALS)
    ends = kept = None
    if bootstrap is not None:
        ends = central_interval(bootstrap.samples, method.interval)
        kept = percentiles(bootstrap.samples, KEPT_PERCENTILES)

    def row(i: int) -> Standing:
        games, wins, losses, ties = (int(column[i]) for column in played)
        if not games:
            return Standing(names[i], None, None, None, None, 0, 0, 0, 0, None, None)
        above = (component == component[i]) & (rounded > rounded[i])
        return Standing(
            names[i],
            float(rating[i]),
            None if ends is None else float(ends[0][i]),
            None if ends is None else float(ends[1][i]),
            1 + int(above.sum()),
            games,
            wins,
            losses,
            ties,
            int(component[i]),
            None if kept is None else {f"{p:g}": float(kept[j][i]) for j, p in enumerate(KEPT_PERCENTILES)},
        )

    order = sorted(range(len(names)), key=lambda i: (component[i], -rounded[i], names[i]))
    return tuple(row(i) for i in sorted(order, key=lambda i: played[0][i] == 0))


def _groups(names: tuple[str, ...], component: IntArray, played: IntArray) -> tuple[tuple[str, ...], ...]:
    numbers = sorted(set(component[played > 0].tolist()))
    return tuple(
        tuple(sorted(name for name, own in zip(names, component, strict=True) if own == number))
        for number in numbers
    )


def _parameters(games: Games, method: Method, prior: bool, bootstrap: Bootstrap) -> dict[str, Any]:
    resampled = bootstrap is not None
    parameters: dict[str, Any] = {
        "ties": "on" if method.ties else "off",
        "rounds": method.rounds,
        "interval": method.interval if resampled else None,
        "seed": method.seed if resampled else None,
        "resample": None if not resampled else "games" if games.cluster is None else "prompts",
        "clusters": games.clusters if resampled else None,
        "methodology": METHODOLOGY,
    }
    if method.name == "elo":
        return parameters | {name: float(value) for name, value in asdict(method.elo).items()}
    rounds = bootstrap.prior_rounds if isinstance(bootstrap, BradleyTerryBootstrap) else None
    fitted = {"scale": SCALE, "base": 10.0, "init": CENTRE}
    return parameters | fitted | {"prior_games": PRIOR_GAMES if prior else 0.0, "prior_rounds": rounds}


def _rounded(value: float | None, decimals: int) -> float | None:
    # Adding zero turns -0.0 into 0.0.
    return None if value is None else round(value, decimals) + 0.0
