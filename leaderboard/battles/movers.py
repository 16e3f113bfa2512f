"""By how much raters move the board."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from arena.models import Study
from leaderboard.snapshots.reading import Opinions, opinions
from leaderboard.snapshots.settings import LIVE
from leaderboard.stats.checks import StatsError
from leaderboard.stats.ranking import rank_ratings
from leaderboard.stats.ranking_method import Method

_METHOD: Final = Method(name="bradley-terry", rounds=None, robustness=False)


def moves(study: Study, raters: Collection[int]) -> dict[int, float]:
    """By how many points the leader's lead on live prompts is larger without each of these people.

    Scores are Bradley-Terry's. Left out is without whom the first two models cannot be compared.
    """
    every = opinions(study)
    read = every.at(LIVE) if every.apart else every
    people = read.by(read.people)
    scores = _scores(people)
    first_two = sorted(scores, key=lambda name: (-scores[name], name))[:2]
    if len(first_two) < 2:
        return {}
    lead = _lead(first_two, scores) or 0.0
    without = {pk: _lead(first_two, _scores(people.by(read.people - {pk}))) for pk in raters}
    return {pk: found - lead for pk, found in without.items() if found is not None}


def _scores(chosen: Opinions) -> Mapping[str, float]:
    """The scores of the models that can be compared with the most others; empty without a game."""
    players = chosen.present()
    try:
        ranked = rank_ratings(players.ratings(), players.names, _METHOD).as_dict()["standings"]
    except StatsError:
        return {}
    return {row["contestant"]: row["rating"] for row in ranked if not row["component"]}


def _lead(first_two: Collection[str], scores: Mapping[str, float]) -> float | None:
    """By how much the first is above the second; None where they cannot be compared."""
    first, second = first_two
    return scores[first] - scores[second] if scores.keys() >= set(first_two) else None
