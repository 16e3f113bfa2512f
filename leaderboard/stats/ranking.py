"""Standings: strengths, intervals, ranks and counts of contestants, with everything that made them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from leaderboard.stats.checks import FloatArray, IntArray, NoGamesError, ParameterError
from leaderboard.stats.choices import PROMPTS_AND_RATERS, SHARING
from leaderboard.stats.games import Games, names_of
from leaderboard.stats.other_raters import OtherRaters
from leaderboard.stats.plain_values import DECIMALS, rounded
from leaderboard.stats.ranking_cautions import Findings, cautions
from leaderboard.stats.ranking_estimates import Material, Strengths, estimate
from leaderboard.stats.ranking_method import METHODOLOGY, Method
from leaderboard.stats.ranking_rows import Certainty, Standing, Tally, rows
from leaderboard.stats.ratings import Ratings, ratings_of_games
from leaderboard.stats.separation import probability_above


@dataclass(frozen=True)
class Standings:
    """A ranking; standings go by component, then strength, best first, then name."""

    method: str
    parameters: Mapping[str, Any]
    games: int
    left_out: int
    standings: tuple[Standing, ...]
    components: tuple[tuple[str, ...], ...]  # names of connected groups, which have no common scale
    groups: tuple[tuple[str, ...], ...] | None  # names of those that cannot be told apart, by letter
    warnings: tuple[str, ...]  # sentences to show
    details: Mapping[str, Any] = field(default_factory=dict)  # results of one method alone
    probability_above: tuple[tuple[float | None, ...], ...] | None = None  # rows and columns as standings

    def as_dict(self, decimals: int = DECIMALS) -> dict[str, Any]:
        """Plain values for JSON; rounded to six decimals they are the same on any machine."""
        values = {
            "method": self.method,
            "parameters": dict(self.parameters),
            "games": self.games,
            "left_out": self.left_out,
            "standings": [standing.as_dict(decimals) for standing in self.standings],
            "components": [list(names) for names in self.components],
            "groups": None if self.groups is None else [list(names) for names in self.groups],
            **rounded(self.details, decimals),
            "warnings": list(self.warnings),
        }
        if self.probability_above is not None:
            values["probability_above"] = rounded(self.probability_above, decimals)
        return values

    def canonical_json(self) -> str:
        """One line of JSON with sorted keys: equal text means equal standings."""
        return json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)


def rank_ratings(ratings: Ratings, names: Sequence[str], method: Method) -> Standings:
    """Rank the contestants of ``ratings``, called ``names`` in the order of their numbers.

    Where no prompt is known rounds draw games, with a warning. Raises a StatsError where there is nothing to
    rank, or the ratings lack what the method needs.
    """
    if ratings.expected is not None and method.name not in SHARING:
        known = " or ".join(SHARING)
        raise ParameterError(f"method is {method.name!r}, which takes no expected ratings; choose {known}")
    resample = drawn_by(method, ratings)
    games = ratings.games(ties=method.ties, resample=resample, tie_band=method.tie_band)
    return _ranked(Material(games, ratings, resample, names_of(names, games.contestants)), method)


def drawn_by(method: Method, ratings: Ratings) -> str:
    """What rounds draw: games in place of prompts where no prompt is known."""
    return "games" if method.resample == "prompts" and ratings.prompt is None else method.resample


def rank_games(games: Games, names: Sequence[str], method: Method) -> Standings:
    """Rank the contestants of ``games``; rounds draw their clusters, called what ``method.resample`` says.

    The ordinal model takes scores for ratings on three points. Raises a StatsError.
    """
    if method.resample == PROMPTS_AND_RATERS:
        if games.crossed is None:
            raise ParameterError(f"resample is {method.resample!r}, but the games have one kind of cluster")
    else:
        games = replace(games, cluster=None if method.resample == "games" else games.cluster, crossed=None)
    resample = "games" if games.cluster is None else method.resample
    labels = names_of(names, games.contestants)
    material = Material(games, ratings_of_games(games, resample), resample, labels)
    return _ranked(material, replace(method, resample=resample))


def _ranked(material: Material, method: Method) -> Standings:
    games, labels = material.games, material.names
    _check_some(games)
    others = _other_raters(material, method)
    found, tally = estimate(material, method), Tally.of(games)
    # What is the same in every round, as with a single unit, would look like certainty.
    sure = Certainty.of(found, method.interval) if games.say_how_uncertain and found.varies else None
    components = _components(labels, found.component, tally.games)
    standings = rows(labels, found, tally, sure)
    above = None
    if method.pairwise and sure is not None and found.samples is not None:
        above = _pairwise(labels, standings, found.samples, found.component)
    return Standings(
        method.name,
        _parameters(material, method, found, others),
        len(games),
        games.left_out,
        standings,
        components,
        None if sure is None else _named_groups(labels, sure, tally),
        cautions(Findings(tally, components, found, material, method, others)),
        found.details,
        above,
    )


def _check_some(games: Games) -> None:
    if not len(games):
        raise NoGamesError(
            f"there are no ratings to rank by: with ties off all {games.left_out} are left out"
            if games.left_out
            else "there are no ratings to rank by"
        )


def _components(names: tuple[str, ...], component: IntArray, played: IntArray) -> tuple[tuple[str, ...], ...]:
    numbers = sorted(set(component[played > 0].tolist()))
    return tuple(
        tuple(sorted(name for name, own in zip(names, component, strict=True) if own == number))
        for number in numbers
    )


def _named_groups(names: tuple[str, ...], sure: Certainty, tally: Tally) -> tuple[tuple[str, ...], ...]:
    named = (tuple(names[i] for i in group if tally.games[i]) for group in sure.groups.members)
    return tuple(group for group in named if group)


def _pairwise(
    names: tuple[str, ...], standings: tuple[Standing, ...], samples: FloatArray, component: IntArray
) -> tuple[tuple[float | None, ...], ...]:
    """The probability of the row's contestant being above the column's, in the order of the standings."""
    place = {name: number for number, name in enumerate(names)}
    order = [place[row.contestant] for row in standings]
    share = probability_above(samples, component)[np.ix_(order, order)]
    return tuple(tuple(None if np.isnan(value) else float(value) for value in row) for row in share)


def _other_raters(material: Material, method: Method) -> OtherRaters | None:
    if method.rounds is None or material.resample != "prompts":
        return None
    return OtherRaters.of(material.ratings, ties=method.ties, tie_band=method.tie_band)


def _parameters(
    material: Material, method: Method, found: Strengths, others: OtherRaters | None
) -> dict[str, Any]:
    resampled = method.rounds is not None
    games = material.games
    return {
        "ties": "on" if method.ties else "off",
        "tie_band": None if method.tie_band is None else str(method.tie_band),
        "rounds": method.rounds,
        "interval": method.interval if resampled else None,
        "intervals": method.intervals if resampled else None,
        "seed": method.seed if resampled else None,
        "resample": material.resample if resampled else None,
        "clusters": games.clusters if resampled else None,
        "units": games.units if resampled else None,
        **(_of_raters(material, others) if resampled else {}),
        "methodology": METHODOLOGY,
        **({"ratings": "expected"} if material.ratings.expected is not None else {}),
        **({"adjust": list(method.adjust)} if method.name == "ordinal" else {}),
        **found.parameters,
    }


def _of_raters(material: Material, others: OtherRaters | None) -> dict[str, Any]:
    """How many raters rounds draw beside the prompts; where they draw prompts alone, whose opinions stay."""
    if material.games.crossed_clusters is not None:
        return {"raters_drawn": material.games.crossed_clusters}
    if others is None:
        return {}
    return {
        "same_raters": others.same,
        "wider_for_other_raters": rounded(others.wider),
        "raters_differ": others.differ,
    }
