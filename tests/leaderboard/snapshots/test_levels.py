import json
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.snapshots.levels import at_level
from leaderboard.stats.ranking import rank_ratings
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import make_ratings

NAMES = ("Alpaca", "Dolly", "Koala", "Oasst", "Vicuna")


def played(games=300, seed=5):
    random = np.random.default_rng(seed)
    first = random.integers(0, 5, games)
    second = (first + random.integers(1, 5, games)) % 5
    rating = np.clip(np.round(4.5 + (second - first) * 0.4 + random.normal(0, 2, games)), 1, 8).astype(int)
    return make_ratings(first, second, rating, 8, 5, prompt=random.integers(0, 40, games))


def content(ratings, method):
    return json.loads(rank_ratings(ratings, NAMES, method).canonical_json())


@pytest.mark.parametrize(
    ("name", "intervals"),
    [
        ("elo", "bootstrap"),
        ("bradley-terry", "bootstrap"),
        ("bradley-terry", "sandwich"),
        ("davidson", "bootstrap"),
        ("davidson", "sandwich"),
        ("ordinal", "sandwich"),
    ],
)
def test_every_number_is_that_of_a_ranking_at_the_level(name, intervals):
    method = Method(name, intervals=intervals)
    stored = content(played(), method)
    for level in ("50", "80", "90", "95", "99"):
        assert at_level(stored, level) == content(played(), replace(method, interval=float(level)))


@pytest.mark.parametrize(("stored", "level"), [(99, "90"), (90, "99")])
def test_a_level_the_rounds_are_too_few_for_is_computed_with_its_caution(stored, level):
    found = content(played(), Method(rounds=200, interval=float(stored)))
    assert any("few for 99% intervals" in warning for warning in found["warnings"]) == (stored == 99)
    assert at_level(found, level) is None


def test_several_groups_contestants_without_games_and_one_prompt():
    ratings = make_ratings([0, 1, 0, 2, 3], [1, 0, 1, 3, 2], [1, 2, 8, 1, 3], 8, 5, prompt=[1, 2, 3, 1, 2])
    method = Method("bradley-terry", intervals="sandwich")
    assert at_level(content(ratings, method), "80") == content(ratings, replace(method, interval=80.0))
    ratings = make_ratings([0, 0, 0, 0], [1, 2, 3, 4], [1, 2, 3, 8], 8, 5, prompt=[1] * 4)
    method = Method(rounds=1000)
    assert at_level(content(ratings, method), "80") == content(ratings, replace(method, interval=80.0))


def test_more_groups_than_letters():
    # Rated one after the other with certainty: 30 contestants, 30 groups, from a to z, then aa to ad.
    games = [(i, j) for i in range(30) for j in range(i + 1, 30)] * 4
    first, second = np.array(games).T
    upset = np.arange(len(games)) % 7 == 0
    ratings = make_ratings(first, second, np.where(upset, 8, 1), 8, 30, prompt=np.arange(len(games)) % 60)
    names = [f"model {number:02}" for number in range(30)]
    stored, wanted = (
        json.loads(rank_ratings(ratings, names, Method(interval=level)).canonical_json())
        for level in (95, 80)
    )
    assert at_level(stored, "80")["groups"] == wanted["groups"]


def test_what_is_not_held_is_not_guessed():
    stored = content(played(), Method(rounds=1000))
    assert at_level(stored, "95") is stored
    assert at_level(stored, "97.5") is None
    for row in stored["standings"]:  # a table of an earlier version
        del row["groups_at"]
    assert at_level(stored, "90") is None
    stored = content(played(), Method(rounds=None))
    assert at_level(stored, "90") is stored
