"""What each method makes of the comparisons: strengths, and what their intervals come from."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np

from leaderboard.stats.bootstrap import Bootstrap
from leaderboard.stats.bradley_terry import (
    CENTRE,
    POINTS_PER_UNIT,
    PRIOR_GAMES,
    SCALE,
    BradleyTerryFit,
    bootstrap_fit,
    bradley_terry,
)
from leaderboard.stats.checks import FloatArray, IntArray, NotIdentifiedError
from leaderboard.stats.choices import RATER_EFFECTS
from leaderboard.stats.davidson import bootstrap_davidson, davidson
from leaderboard.stats.elo import sequential_elo
from leaderboard.stats.elo_bootstrap import bootstrap_elo
from leaderboard.stats.elo_mean import bootstrap_mean_elo, mean_elo
from leaderboard.stats.games import Games
from leaderboard.stats.intervals import KEPT_PERCENTILES, bounds, percentiles, student_quantiles
from leaderboard.stats.ordinal import OrdinalFit, bootstrap_ordinal, ordinal
from leaderboard.stats.pair_table import connected_components
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import Ratings
from leaderboard.stats.robustness import fewest_removals
from leaderboard.stats.sandwich import sandwich, sandwich_samples
from leaderboard.stats.separation import SAME, difference_errors

_SCALE: Final = {"scale": SCALE, "base": 10.0, "init": CENTRE}


@dataclass(frozen=True, eq=False)
class Material:
    """What is ranked."""

    games: Games
    ratings: Ratings
    resample: str  # what a round draws
    names: tuple[str, ...]  # of the contestants


@dataclass(frozen=True, eq=False)
class Strengths:
    """What a method found."""

    rating: FloatArray  # strengths (contestants,)
    component: IntArray  # (contestants,)
    samples: FloatArray | None = None  # (rounds, contestants), None without intervals
    standard_error: FloatArray | None = None  # None where intervals are percentiles of the samples
    difference_error: FloatArray | None = None  # (contestants, contestants), as difference_errors gives it
    units: int = 0  # behind the samples and errors
    prior: bool = False  # whether a prior kept strengths finite
    prior_rounds: int | None = None
    unbounded: tuple[str | None, ...] = ()  # "above", "below" or None
    unbounded_position: str | None = None  # likewise, of the advantage of being shown first
    unbounded_effects: tuple[str, ...] = ()  # names of covariates
    parameters: Mapping[str, Any] = field(default_factory=dict)  # of this method
    details: Mapping[str, Any] = field(default_factory=dict)  # further results

    @property
    def varies(self) -> bool:
        """Whether anything tells how uncertain a strength is: rounds that differ, or an error."""
        if self.standard_error is not None:
            return bool((self.standard_error > SAME).any())
        return self.samples is not None and bool((np.ptp(self.samples, axis=0) > SAME).any())

    def quantiles(self, wanted: tuple[float, ...]) -> FloatArray | None:
        """The percentiles (len(wanted), contestants) of each strength, None without intervals."""
        if self.standard_error is not None:
            return student_quantiles(self.rating, self.standard_error, self.units, wanted)
        return None if self.samples is None else percentiles(self.samples, wanted, self.units)


def estimate(material: Material, method: Method) -> Strengths:
    return _ESTIMATORS[method.name](material, method)


def _elo(material: Material, method: Method) -> Strengths:
    fit, scale = mean_elo(material.games, method.elo), asdict(method.elo)
    if method.rounds is None or method.sandwich:
        return _fitted(fit, {}, scale, **_sandwich(material.games, fit, method))
    again = bootstrap_mean_elo(material.games, fit, **_run(method))
    return _fitted(fit, {}, scale, **_resampled(material.games, fit, again))


def _elo_of_one_order(material: Material, method: Method) -> Strengths:
    games = material.games
    options: dict[str, Any] = asdict(method.elo)
    component = connected_components(games.a, games.b, games.contestants)
    parameters = {name: float(value) for name, value in options.items()}
    if method.rounds is None:
        rating = sequential_elo(games.a, games.b, games.score, games.contestants, **options)
        return Strengths(rating, component, parameters=parameters)
    options |= _run(method) | _units(games)
    samples = bootstrap_elo(games.a, games.b, games.score, games.contestants, **options).samples
    return Strengths(
        np.median(samples, axis=0),
        component,
        samples,
        difference_error=difference_errors(np.cov(samples, rowvar=False)),
        units=games.units,
        parameters=parameters,
    )


def _bradley_terry(material: Material, method: Method) -> Strengths:
    games = material.games
    fit = bradley_terry(games)
    details = {"robustness": _robustness(material)} if method.robustness else {}
    if method.rounds is None or method.sandwich:
        return _fitted(fit, details, **_sandwich(games, fit, method))
    return _fitted(fit, details, **_resampled(games, fit, bootstrap_fit(games, fit, **_run(method))))


def _robustness(material: Material) -> dict[str, Any]:
    found, names = fewest_removals(material.games), material.names
    return {
        "first": names[found.first],
        "instead": None if found.instead is None else names[found.instead],
        "games": found.removed,
        "share": found.share,
        "sentence": found.sentence(names),
    }


def _davidson(material: Material, method: Method) -> Strengths:
    games = material.games
    fit = davidson(games)
    ties: dict[str, Any] = {"nu": fit.nu, "low": None, "high": None}
    if method.rounds is None or method.sandwich:
        return _fitted(fit, {"davidson": ties}, **_sandwich(games, fit, method))
    again = bootstrap_davidson(
        games.a, games.b, games.score, games.contestants, **_units(games), **_run(method)
    )
    if games.say_how_uncertain:
        nu = again.others["nu"][:, None]
        ties |= _interval(lambda wanted: np.maximum(0.0, percentiles(nu, wanted, games.units)[:, 0]), method)
    return _fitted(fit, {"davidson": ties}, **_resampled(games, fit, again))


def _sandwich(games: Games, fit: BradleyTerryFit, method: Method) -> dict[str, Any]:
    """The standard errors and draws that go with them; nothing where no intervals are wanted."""
    if method.rounds is None:
        return {}
    found = sandwich(games, fit)
    return {
        "samples": sandwich_samples(fit, found.covariance, method.rounds, method.seed, units=games.units),
        "standard_error": found.standard_error,
        "difference_error": difference_errors(found.covariance, found.pull),
        "units": games.units,
    }


def _resampled(games: Games, fit: BradleyTerryFit, again: Bootstrap) -> dict[str, Any]:
    """The samples of a bootstrap, and the errors of the differences that tell two models apart."""
    found = sandwich(games, fit)
    return {
        "samples": again.samples,
        "prior_rounds": again.prior_rounds,
        "difference_error": difference_errors(found.covariance, found.pull),
        "units": games.units,
    }


def _ordinal(material: Material, method: Method) -> Strengths:
    options: dict[str, Any] = {
        "resample": material.resample,
        "adjust": tuple(name for name in method.adjust if name != RATER_EFFECTS),
        "raters": RATER_EFFECTS in method.adjust,
    }
    fit, options["position"] = _ordinal_fit(material.ratings, options)
    details = _ordinal_details(fit, options["position"])
    if method.rounds is None:
        return _fitted(fit, details)
    if method.sandwich:
        for found in (*details["effects"].values(), *filter(None, [details["position"]])):
            if material.games.say_how_uncertain:
                found |= _student_ends(found, fit.units, method)
        return _fitted(fit, details, **_ordinal_sandwich(fit, method.rounds, method.seed))
    again = bootstrap_ordinal(material.ratings, **options, **_run(method))
    if material.games.say_how_uncertain:
        if options["position"]:
            details["position"] |= _named_ends(again.others["position"], fit.units, method)
        for name, samples in again.effects.items():
            details["effects"][name] |= _named_ends(samples, fit.units, method)
    return _fitted(
        fit,
        details,
        samples=again.samples,
        prior_rounds=again.prior_rounds,
        difference_error=difference_errors(_ordinal_covariance(fit)),
        units=fit.units,
    )


def _ordinal_fit(ratings: Ratings, options: dict[str, Any]) -> tuple[OrdinalFit, bool]:
    """The fit, and whether the position is in it: not where nothing tells it from the contestants."""
    try:
        return ordinal(ratings, position=True, **options), True
    except NotIdentifiedError as error:
        if error.effects != ("position",):
            raise
        return ordinal(ratings, position=False, **options), False


def _ordinal_covariance(fit: OrdinalFit) -> FloatArray:
    contestants = len(fit.rating)
    return np.asarray(fit.covariance[:contestants, :contestants] * POINTS_PER_UNIT**2)


def _ordinal_sandwich(fit: OrdinalFit, rounds: int, seed: int) -> dict[str, Any]:
    covariance = _ordinal_covariance(fit)
    return {
        "samples": sandwich_samples(fit, covariance, rounds, seed, units=fit.units),
        "standard_error": fit.rating_se,
        "difference_error": difference_errors(covariance),
        "units": fit.units,
    }


def _ordinal_details(fit: OrdinalFit, position: bool) -> dict[str, Any]:
    """Position and effects in log-odds and points, with their standard errors in log-odds."""
    first = {"log_odds": fit.position, "se": fit.position_se, "points": fit.position_points}
    return {
        "position": first if position else None,
        "effects": {name: asdict(effect) for name, effect in fit.effects.items()},
        "thresholds": {str(points): row.tolist() for points, row in fit.thresholds.items()},
        "rater_lean_sd": fit.lean_sd,
    }


def _named_ends(log_odds: FloatArray, units: int, method: Method) -> dict[str, Any]:
    """The interval of an effect, in points, and its kept percentiles, from its samples."""
    points = log_odds[:, None] * POINTS_PER_UNIT
    return _interval(lambda wanted: percentiles(points, wanted, units)[:, 0], method)


def _student_ends(effect: Mapping[str, Any], units: int, method: Method) -> dict[str, Any]:
    points, error = np.array([effect["points"]]), np.array([effect["se"] * POINTS_PER_UNIT])
    return _interval(lambda wanted: student_quantiles(points, error, units, wanted)[:, 0], method)


def _interval(quantiles: Callable[[tuple[float, ...]], FloatArray], method: Method) -> dict[str, Any]:
    """Both ends, and the kept percentiles by their number as text; empty where the ends are equal."""
    low, high = quantiles(bounds(method.interval)).tolist()
    if high - low <= SAME:
        return {}
    kept = zip(KEPT_PERCENTILES, quantiles(KEPT_PERCENTILES).tolist(), strict=True)
    return {"low": low, "high": high, "quantiles": {f"{each:g}": value for each, value in kept}}


def _units(games: Games) -> dict[str, Any]:
    return {"cluster": games.cluster, "crossed": games.crossed}


def _run(method: Method) -> dict[str, Any]:
    return {"rounds": method.rounds, "seed": method.seed, "threads": method.threads}


def _fitted(
    fit: BradleyTerryFit | OrdinalFit,
    details: Mapping[str, Any],
    scale: Mapping[str, float] = _SCALE,
    **drawn: Any,
) -> Strengths:
    parameters: dict[str, Any] = {
        **scale,
        "prior_games": PRIOR_GAMES if fit.prior else 0.0,
        "prior_rounds": drawn.get("prior_rounds"),
    }
    return Strengths(
        fit.rating,
        fit.component,
        prior=fit.prior,
        unbounded=getattr(fit, "unbounded", ()),
        unbounded_position=getattr(fit, "unbounded_position", None),
        unbounded_effects=getattr(fit, "unbounded_effects", ()),
        parameters=parameters,
        details=details,
        **drawn,
    )


_ESTIMATORS: Final[Mapping[str, Callable[[Material, Method], Strengths]]] = {
    "elo": _elo,
    "elo-study": _elo_of_one_order,
    "bradley-terry": _bradley_terry,
    "davidson": _davidson,
    "ordinal": _ordinal,
}
