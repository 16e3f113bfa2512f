"""What each method makes of the comparisons: ratings, and what their intervals come from."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from leaderboard.stats.bradley_terry import CENTRE, PRIOR_GAMES, SCALE, bradley_terry, connected_components
from leaderboard.stats.bradley_terry_bootstrap import bootstrap_bradley_terry
from leaderboard.stats.elo import sequential_elo
from leaderboard.stats.elo_bootstrap import bootstrap_elo
from leaderboard.stats.games import FloatArray, Games, IntArray
from leaderboard.stats.intervals import central_interval, median, percentiles
from leaderboard.stats.method import Method
from leaderboard.stats.ratings import Ratings


@dataclass(frozen=True, eq=False)
class Material:
    """What is ranked: the games, the ratings they come from where those are known, and what a round draws."""

    games: Games
    ratings: Ratings | None
    resample: str


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a method found.

    ``rating`` and ``component`` have the shape (contestants,). ``samples`` (rounds, contestants) is what
    ranks and probabilities come from, None without intervals. ``standard_error`` is None where intervals are
    percentiles of the samples. ``prior`` says whether a prior kept the ratings finite, ``prior_rounds`` in
    how many rounds it did; ``unbounded`` holds for each contestant "above", "below" or None. ``parameters``
    are the method's own, ``details`` its further results.
    """

    rating: FloatArray
    component: IntArray
    samples: FloatArray | None = None
    standard_error: FloatArray | None = None
    prior: bool = False
    prior_rounds: int | None = None
    unbounded: tuple[str | None, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)

    def interval(self, level: float) -> tuple[FloatArray, FloatArray] | None:
        """Both ends of each contestant's interval, or None."""
        if self.samples is None:
            return None
        return central_interval(self.samples, level)

    def quantiles(self, wanted: tuple[float, ...]) -> FloatArray | None:
        """The percentiles of each rating, of shape (len(wanted), contestants), or None."""
        return None if self.samples is None else percentiles(self.samples, wanted)


def estimate(material: Material, method: Method) -> Estimate:
    """Rate the contestants by the method."""
    return _ESTIMATORS[method.name](material, method)


def _elo(material: Material, method: Method) -> Estimate:
    games = material.games
    options: dict[str, Any] = asdict(method.elo)
    component = connected_components(games.a, games.b, games.contestants)
    parameters = {name: float(value) for name, value in options.items()}
    if method.rounds is None:
        rating = sequential_elo(games.a, games.b, games.score, games.contestants, **options)
        return Estimate(rating, component, parameters=parameters)
    options |= _run(method) | {"cluster": games.cluster}
    samples = bootstrap_elo(games.a, games.b, games.score, games.contestants, **options).samples
    return Estimate(median(samples), component, samples, parameters=parameters)


def _bradley_terry(material: Material, method: Method) -> Estimate:
    games = material.games
    fit = bradley_terry(games)
    samples = prior_rounds = None
    if method.rounds is not None:
        again = bootstrap_bradley_terry(
            games.a, games.b, games.score, games.contestants, cluster=games.cluster, **_run(method)
        )
        samples, prior_rounds = again.samples, again.prior_rounds
    return Estimate(
        fit.rating,
        fit.component,
        samples,
        prior=fit.prior,
        prior_rounds=prior_rounds,
        parameters=_fitted(fit.prior, prior_rounds),
    )


def _run(method: Method) -> dict[str, Any]:
    return {"rounds": method.rounds, "seed": method.seed, "threads": method.threads}


def _fitted(prior: bool, prior_rounds: int | None) -> dict[str, Any]:
    return {
        "scale": SCALE,
        "base": 10.0,
        "init": CENTRE,
        "prior_games": PRIOR_GAMES if prior else 0.0,
        "prior_rounds": prior_rounds,
    }


_ESTIMATORS: Final[Mapping[str, Callable[[Material, Method], Estimate]]] = {
    "elo": _elo,
    "bradley-terry": _bradley_terry,
}
