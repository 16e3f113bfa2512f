"""How often the intervals of a board of live battles hold the strengths that its votes were drawn from.

Pairs are drawn as visitors get them, by what earlier votes say; each visitor has several battles, and each
battle is a prompt of its own. Seeds are fixed, so the numbers are the same every time.
"""

import random

import numpy as np
import pytest

from leaderboard.stats.bradley_terry import bootstrap_bradley_terry, bradley_terry
from leaderboard.stats.games import make_games
from leaderboard.stats.intervals import central_interval
from tests.simulations.battle_balance import Season

STUDIES = 200
ROUNDS = 400
OF_A_VISITOR = 6
STRENGTHS = [850.0, 950.0, 1000.0, 1050.0, 1150.0]


class Voted(Season):
    """A season whose votes are kept, as first model, second model and score of the first."""

    def _vote(self, pair):
        before = self.won[pair[0]]
        super()._vote(pair)
        self.votes = [*getattr(self, "votes", ()), (*pair, self.won[pair[0]] - before)]


def ends(season, unit):
    """The 95 % interval of every model; a resample draws battles, or visitors with all of theirs."""
    a, b, score = (np.array(column) for column in zip(*season.votes, strict=True))
    battle = np.arange(len(a))
    cluster = battle if unit == "prompts" else battle // OF_A_VISITOR
    games = make_games(a, b, score, len(STRENGTHS), cluster=cluster)
    drawn = bootstrap_bradley_terry(a, b, score, len(STRENGTHS), rounds=ROUNDS, cluster=cluster)
    assert np.isfinite(bradley_terry(games).rating).all()
    return central_interval(drawn.samples, 95.0, games.units)


@pytest.mark.parametrize("unit", ["prompts", "raters"])
@pytest.mark.parametrize("battles", [300, 900])
def test_coverage(battles, unit):
    inside = []
    for seed in range(STUDIES):
        season = Voted(STRENGTHS, random.Random(seed), ties=0.0)
        season.play(battles)
        low, high = ends(season, unit)
        inside.append((low <= STRENGTHS) & (np.array(STRENGTHS) <= high))
    share = 100 * np.mean(inside)
    print(f"\n{battles} battles, resampled {unit}: {share:.1f} % hold the strength", flush=True)
    assert 93 <= share <= 97.5
