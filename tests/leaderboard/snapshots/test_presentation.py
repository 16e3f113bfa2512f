from dataclasses import replace

import numpy as np
import pytest

from leaderboard.snapshots.presentation import leading_group, leading_sentence, plain_warning
from leaderboard.stats import Method, make_games, make_ratings, rank_games, rank_ratings
from leaderboard.terminal.standings_text import standings_table


def make_standings(**overrides):
    """Three contestants, each pair twice with one win each but the first."""
    a, b, score = np.array([[0, 1, 1], [1, 2, 1], [0, 2, 1], [1, 0, 1], [2, 1, 1], [0, 2, 0.5]]).T
    games = make_games(a.astype(int), b.astype(int), score, 3)
    return rank_games(games, ("x", "y", "z"), Method(**{"name": "bradley-terry", "rounds": 20, **overrides}))


def test_a_warning_of_few_prompts_is_short_on_pages():
    ratings = make_ratings([0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 2, 2], [8] * 4, 2, prompt=[0, 1, 2, 3])
    told = rank_ratings(ratings, ("x", "y"), Method(name="bradley-terry")).warnings
    assert ("With only 4 prompts, intervals tend to be too narrow.", False) in map(plain_warning, told)
    assert plain_warning("No ratings yet: x.") == ("No ratings yet: x.", False)


def test_the_shares_are_of_rounds_or_draws_and_many_letters_are_cut():
    text = standings_table(make_standings())
    assert "if every rating were independent (20 resamples; 6 ratings); seed 0." in text
    assert "first: share of the 20 resamples in which it is first." in text
    text = standings_table(make_standings(intervals="sandwich"))
    assert "(robust covariance; 6 ratings); first and groups from 20 draws; seed 0." in text
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
    assert "for other prompts of this kind (20 resamples; 50 prompts, same 4 raters); seed 0." in text
    text = standings_table(rank_ratings(ratings, "xy", replace(method, resample="prompts-and-raters")))
    assert "for other prompts and raters (20 resamples; 50 prompts, 4 raters); seed 0." in text


def ranked(*groups, **changes):
    """Four models by score; ``changes`` are of the first."""
    rows = [
        {
            **{"contestant": name, "rating": 1000.0 - place, "rank": place + 1, "component": 0},
            **{"p_first": 0.0, "games": 40, "wins": 20, "losses": 20},
        }
        for place, name in enumerate("wxyz")
    ]
    rows[0] |= {"p_first": 0.84} | changes
    return {"standings": rows, "groups": list(groups)}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (ranked(["w"]), "w leads, ahead of all others beyond chance."),
        (ranked(["w", "x"], ["x", "y"]), "w leads, but cannot be told apart from x."),
        (ranked(["w", "x"], ["w", "y"]), "w leads, but cannot be told apart from x and y."),
        (ranked(["w", "x", "y", "z"]), "w leads, but cannot be told apart from x and 2 others."),
        (ranked(p_first=None), "w leads. These ratings give no interval."),
        ({"standings": ranked()["standings"][:1]}, ""),
    ],
)
def test_who_leads_and_from_whom_the_leader_cannot_be_told_apart(content, sentence):
    assert leading_sentence(content) == sentence


def test_a_provisional_model_neither_leads_nor_is_named():
    content = ranked(["w", "x", "y", "z"], games=12)
    content["standings"][2] |= {"wins": 40}
    assert leading_sentence(content) == "x leads, but cannot be told apart from z."
    assert leading_group(content) == ["x", "z"]
    for row in content["standings"]:
        row["games"] = 12
    assert leading_sentence(content) == "All scores are provisional, so no model leads yet."


def test_leaders_whose_scores_read_the_same_share_the_top():
    content = ranked(["w", "x", "y"])
    content["standings"][1] |= {"rating": 999.8}
    assert leading_sentence(content) == "w and x share the top (1000)."


def test_equal_leaders_share_the_first_place():
    content = ranked()
    content["standings"][1] |= {"rank": 1}
    assert leading_sentence(content) == "w and x share the first place."


def test_the_leading_group_is_everyone_who_shares_a_group_with_the_leader():
    assert leading_group(ranked(["w", "y"], ["x", "y"])) == ["w", "y"]
    assert leading_group(ranked(p_first=None) | {"groups": None}) == []
