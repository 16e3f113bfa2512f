"""Sentences that must stand beside a ranking whose numbers could mislead."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.games import FEWEST_CROSSED, Games
from leaderboard.stats.other_raters import OtherRaters
from leaderboard.stats.pair_table import ABOVE, BELOW
from leaderboard.stats.ranking_estimates import Material, Strengths
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ranking_rows import Tally

# Intervals from fewer prompts or raters say how many.
FEWEST_CLUSTERS: Final = 30
# From this many on intervals held their level in simulations, where all have as many ratings.
FEWEST_TRIED: Final = 5
# With fewer rounds beyond an end of a percentile interval that end moves visibly with the seed.
FEWEST_BEYOND: Final = 5
NAMES_SHOWN: Final = 3
_MODELS: Final = {
    "elo": "Elo",
    "bradley-terry": "Bradley-Terry",
    "davidson": "Davidson",
    "ordinal": "the ordinal model",
}
_PRIORS: Final = {"davidson": "half a win and half a loss against the average"}
_PRIOR: Final = "one tie against the average"


@dataclass(frozen=True, eq=False)
class Findings:
    """What a ranking was made of and what it found."""

    tally: Tally
    groups: tuple[tuple[str, ...], ...]  # names of each connected group
    estimate: Strengths
    material: Material
    method: Method
    others: OtherRaters | None = None


def cautions(found: Findings) -> tuple[str, ...]:
    """The sentences that apply, the most serious first."""
    return tuple(
        sentence
        for check in (
            _disconnected,
            _without_games,
            _no_maximum,
            _no_position,
            _not_settled,
            _one_order,
            _few_clusters,
            _raters_who_differ,
            _few_rounds,
            _other_unit,
        )
        for sentence in check(found)
    )


def _disconnected(found: Findings) -> Iterator[str]:
    if len(found.groups) > 1:
        groups = "; ".join(some_names(group) for group in found.groups[:NAMES_SHOWN])
        yield (
            f"The models form {len(found.groups)} groups that never met ({groups}). Compare scores and ranks "
            "only within a group."
        )


def _without_games(found: Findings) -> Iterator[str]:
    idle = [name for name, games in zip(found.material.names, found.tally.games, strict=True) if not games]
    if idle:
        yield f"No ratings yet: {some_names(idle)}."


def _no_maximum(found: Findings) -> Iterator[str]:
    name, given = _MODELS.get(found.method.name, ""), _PRIORS.get(found.method.name, _PRIOR)
    if found.estimate.prior:
        receivers = "each model" if found.method.name == "ordinal" else "each model of such a group"
        yield (
            f"{name[0].upper()}{name[1:]} has no finite answer here because {_causes(found)}. To keep the "
            f"scores finite, {receivers} was given {given}."
        )
    elif found.estimate.prior_rounds:
        yield (
            f"In {found.estimate.prior_rounds} of {found.method.rounds} resamples {name} had no finite "
            f"answer, as when a model wins or loses every rating, and each model was given {given}. Read an "
            "end of an interval that lies far out as “far”. More ratings bring it in."
        )


def _causes(found: Findings) -> str:
    estimate = found.estimate
    if estimate.unbounded_effects:
        return f"the ratings set no limit to the effect of {some_names(estimate.unbounded_effects)}"
    if estimate.unbounded_position:
        return _cause_of_order(found)
    causes = [cause for end in (ABOVE, BELOW) for cause in _cause_of_models(found, end)]
    if not causes and not found.tally.wins.any():
        return "every rating was a tie"
    return " and ".join(causes) or "wins and ties allow differences without bound"


def _cause_of_order(found: Findings) -> str:
    """The order shown alone, or with it the models that are ahead."""
    games = found.material.games
    side, ahead, score = "first", games.a, games.score
    if found.estimate.unbounded_position == BELOW:
        side, ahead, score = "second", games.b, 1.0 - games.score
    if (score >= 0.5).all():
        return f"the model shown {side} {_record(score, ABOVE)}"
    for cause in _cause_of_models(found, ABOVE, ahead):
        return f"{cause} when shown {side}"
    return "the order shown and the models together allow differences without bound"


def _cause_of_models(found: Findings, end: str, shown: IntArray | None = None) -> Iterator[str]:
    """What the models without a limit on that side did against the others, always or as those ``shown``."""
    games, members = found.material.games, np.zeros(len(found.material.names), dtype=bool)
    for place, own in enumerate(found.estimate.unbounded):
        members[place] = own == end
    a, b = members[games.a], members[games.b]
    counted = (a != b) & (shown is None or members[shown])
    if counted.any():
        score = np.where(a, games.score, 1.0 - games.score)[counted]
        names = some_names([found.material.names[place] for place in np.flatnonzero(members)])
        yield f"{names} {_record(score, end)}{' against all the others' if (a & b).any() else ''}"


def _record(score: FloatArray, end: str) -> str:
    """What the side of ``end`` made of ratings of which it lost none, or won none."""
    kept, other = ("won", "lost") if end == ABOVE else ("lost", "won")
    decided = (score == (end == ABOVE)).all()
    return f"{kept} every rating" if decided else f"never {other} a rating"


def _no_position(found: Findings) -> Iterator[str]:
    if found.method.name == "ordinal" and found.estimate.details["position"] is None:
        yield (
            "The advantage of being shown first is not in the model: too few pairs were shown in both orders."
        )


def _not_settled(found: Findings) -> Iterator[str]:
    if found.method.name != "elo-study":
        return
    needed = found.method.elo.settling_games
    few = sorted(
        (int(games), name)
        for name, games in zip(found.material.names, found.tally.games, strict=True)
        if 0 < games < needed
    )
    if few:
        fewest, name = few[0]
        others = len(few) - 1
        more = f" and {others} other{'' if others == 1 else 's'}" if others else ""
        yield (
            f"Too few ratings of {name}{more} for Elo with K={found.method.elo.k:g} ({fewest} of about "
            f"{needed:.0f}). Use Bradley-Terry."
        )


def _one_order(found: Findings) -> Iterator[str]:
    if found.method.name == "elo-study" and found.method.rounds is not None:
        yield (
            "Each resample has one random order, so the intervals contain its noise too and more ratings do "
            "not narrow them. The method “Elo” averages it out."
        )


def _few_clusters(found: Findings) -> Iterator[str]:
    if found.method.rounds is None:
        return
    games, drawn = found.material.games, found.material.resample
    if games.units == 1:
        unit = "raters" if games.crossed_clusters == 1 else drawn.split("-")[0]
        thing = "rating" if unit == "games" else unit.removesuffix("s")
        yield f"No intervals: only one {thing} to resample."
    elif not games.say_how_uncertain:
        yield (
            f"No intervals: only {_few(found.material, FEWEST_CROSSED)}. Resampling prompts and raters takes "
            f"{FEWEST_CROSSED} of each."
        )
    elif not found.estimate.varies:
        things = drawn.replace("games", "ratings").replace("-", " ")
        yield f"No intervals: the scores are the same whichever {things} are drawn."
    elif games.clusters is not None and games.units < FEWEST_CLUSTERS:
        few = _few(found.material, FEWEST_CLUSTERS)
        yield f"The intervals come from only {few}. {_what_few_mean(found.method, games)}."


def _few(material: Material, enough: int) -> str:
    """What rounds draw too few of, in words."""
    games, drawn = material.games, material.resample.split("-")
    kinds = ((games.clusters, drawn[0]), (games.crossed_clusters, drawn[-1]))
    return " and ".join(f"{number} {name}" for number, name in kinds if number and number < enough)


def _raters_who_differ(found: Findings) -> Iterator[str]:
    if found.others is not None and found.others.differ:
        same = found.others.same
        yield f"The {same} raters differ in taste, and the intervals do not allow for other raters."


def _few_rounds(found: Findings) -> Iterator[str]:
    method = found.method
    told = found.material.games.say_how_uncertain and found.estimate.varies
    if method.rounds is None or method.sandwich or not told:
        return
    share = (100.0 - method.interval) / 200.0
    if method.rounds * share < FEWEST_BEYOND:
        needed = math.ceil(round(FEWEST_BEYOND / share, 6))
        rounds = "resample is" if method.rounds == 1 else "resamples are"
        yield (
            f"{method.rounds} {rounds} few for {method.interval:g}% intervals, whose ends change with the "
            f"seed. Draw at least {needed}."
        )


def _what_few_mean(method: Method, games: Games) -> str:
    tried = FEWEST_CLUSTERS if method.name == "elo-study" else _fewest_tried(games)
    if games.units < tried:
        return f"Nobody has tested whether they are reliable with fewer than {tried}"
    return f"In simulations with ratings spread evenly they were reliable with as few as {tried}"


def _fewest_tried(games: Games) -> int:
    """With how few units intervals were tried: of raters beside enough prompts with very few."""
    many = games.crossed is not None and (games.clusters or 0) >= FEWEST_TRIED
    return FEWEST_CROSSED if many else FEWEST_TRIED


def _other_unit(found: Findings) -> Iterator[str]:
    if found.method.rounds is not None and found.method.resample != found.material.resample:
        yield (
            "The ratings name no prompts, so single ratings were resampled. The intervals are too narrow "
            "where a prompt has several ratings."
        )


def some_names(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(names[:NAMES_SHOWN])
    rest = len(names) - NAMES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown
