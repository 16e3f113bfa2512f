from dataclasses import replace

import numpy as np

from leaderboard.stats import Method, make_games, make_ratings, rank_games, rank_ratings
from leaderboard.terminal.standings_text import standings_table


def make_standings(**overrides):
    """Three contestants, each pair twice with one win each but the first."""
    a, b, score = np.array([[0, 1, 1], [1, 2, 1], [0, 2, 1], [1, 0, 1], [2, 1, 1], [0, 2, 0.5]]).T
    games = make_games(a.astype(int), b.astype(int), score, 3)
    return rank_games(games, ("x", "y", "z"), Method(**{"name": "bradley-terry", "rounds": 20, **overrides}))


def test_the_shares_are_of_rounds_or_draws_and_many_letters_are_cut():
    text = standings_table(make_standings())
    assert "of 20 rounds resampling 6 games; seed 0." in text
    assert "first: share of the 20 rounds in which it is first." in text
    text = standings_table(make_standings(intervals="sandwich"))
    assert "from the robust covariance over 6 games; first and groups from 20 draws; seed 0." in text
    assert "first: share of the 20 draws in which it is first." in text
    standings = make_standings()
    assert "+3" not in standings_table(standings)
    rows = tuple(replace(row, group="a b c d e f aa") for row in standings.standings)
    text = standings_table(replace(standings, standings=rows))
    assert text.count("a b c d +3") == 3
    assert "+3 means three more letters, which --format json has." in text


def test_intervals_say_that_raters_stay_the_same_or_are_drawn_too():
    cell = np.arange(200)
    ratings = make_ratings(cell % 2, 1 - cell % 2, 1 + cell % 7, 8, 2, prompt=cell // 4, rater=cell % 4)
    method = Method("bradley-terry", rounds=20)
    text = standings_table(rank_ratings(ratings, "xy", method))
    assert "20 rounds resampling 50 prompts, so for other prompts and these same 4 raters; seed 0." in text
    text = standings_table(rank_ratings(ratings, "xy", replace(method, resample="prompts-and-raters")))
    assert "20 rounds resampling 50 prompts and 4 raters; seed 0." in text
