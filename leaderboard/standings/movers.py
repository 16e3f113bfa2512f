"""Whose votes move the board most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from arena.models import Rater, Study
from leaderboard.snapshots.reading import Opinions, opinions
from leaderboard.snapshots.settings import LIVE
from leaderboard.stats.checks import StatsError
from leaderboard.stats.ranking import rank_ratings
from leaderboard.stats.ranking_method import Method

MOST: Final = 20
"""Raters with the most votes, who alone are looked at."""

_METHOD: Final = Method(name="bradley-terry", rounds=None, robustness=False)


@dataclass(frozen=True)
class Mover:
    """A rater, their votes, and how much larger the leader's lead is without them, in points.

    ``change`` is None where the first two models cannot be compared without them.
    """

    rater: Rater
    votes: int
    change: float | None


def movers(study: Study, most: int = MOST) -> list[Mover]:
    """The people with the most votes on live prompts, those first who move the leader's lead most.

    Scores are Bradley-Terry's. A study without live prompts is looked at as a whole.
    """
    every = opinions(study)
    read = every.at(LIVE) if every.apart else every
    people = read.by(read.people)
    scores = _scores(people)
    first_two = sorted(scores, key=lambda name: (-scores[name], name))[:2]
    votes = Counter(people.rows["rater"][people.scored & people.ranked].tolist())
    if len(first_two) < 2:
        return []
    lead = scores[first_two[0]] - scores[first_two[1]]
    raters = Rater.objects.in_bulk([pk for pk, _ in votes.most_common(most)])
    found = [
        Mover(rater, votes[pk], _change(lead, first_two, _scores(people.by(votes.keys() - {pk}))))
        for pk, rater in raters.items()
    ]
    return sorted(found, key=lambda each: (each.change is not None, -abs(each.change or 0.0), -each.votes))


def _scores(chosen: Opinions) -> Mapping[str, float]:
    """The scores of the models that can be compared with the most others; empty without a game."""
    players = chosen.present()
    try:
        ranked = rank_ratings(players.ratings(), players.names, _METHOD).as_dict()["standings"]
    except StatsError:
        return {}
    return {row["contestant"]: row["rating"] for row in ranked if not row["component"]}


def _change(lead: float, first_two: Collection[str], scores: Mapping[str, float]) -> float | None:
    if not scores.keys() >= set(first_two):
        return None
    first, second = first_two
    return scores[first] - scores[second] - lead
