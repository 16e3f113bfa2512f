from dataclasses import replace

import numpy as np
import pytest

from leaderboard.pages.standings.sentences import (
    few_units,
    first_names,
    leading_group,
    leading_sentence,
    marked_sentence,
)
from leaderboard.stats.games import make_games
from leaderboard.stats.ranking import rank_games, rank_ratings
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import make_ratings
from leaderboard.terminal.standings_text import standings_table


def make_standings(**overrides):
    """Three contestants, each pair twice with one win each but the first."""
    a, b, score = np.array([[0, 1, 1], [1, 2, 1], [0, 2, 1], [1, 0, 1], [2, 1, 1], [0, 2, 0.5]]).T
    games = make_games(a.astype(int), b.astype(int), score, 3)
    return rank_games(games, ("x", "y", "z"), Method(**{"name": "bradley-terry", "rounds": 20, **overrides}))


def test_a_warning_of_few_prompts_names_them():
    ratings = make_ratings([0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 2, 2], [8] * 4, 2, prompt=[0, 1, 2, 3])
    told = rank_ratings(ratings, ("x", "y"), Method(name="bradley-terry")).warnings
    assert "4 prompts" in map(few_units, told)
    assert few_units("No ratings yet: x.") == ""


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


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            ranked(["w", "x", "z"], games=12),
            "w is first, but provisional: it has fewer than 30 ratings. "
            "It cannot be told apart from x and z.",
        ),
        (
            ranked(["w"], wins=40, losses=0),
            "w is first, but provisional: it won every rating, so its score has no upper limit.",
        ),
        (
            ranked(["w"], unbounded="above"),
            "w is first, but provisional: the ratings set no upper limit to its score.",
        ),
        (ranked(["w"]) | {"groups": None}, "w leads."),
    ],
)
def test_a_provisional_leader_is_said_to_be_so(content, sentence):
    assert leading_sentence(content) == sentence


def test_who_is_provisional_is_named_beside_the_leader_and_marked():
    content = ranked(["w", "x", "y"])
    content["standings"][1] |= {"games": 12}
    assert leading_sentence(content) == "w leads, but cannot be told apart from x and y."
    assert leading_group(content) == ["w", "x", "y"]
    assert marked_sentence(content).startswith("A bar beside the rank marks w and the models that cannot")
    for row in content["standings"]:
        row["games"] = 12
    assert leading_sentence(content) == (
        "w is first, but all scores are provisional. It cannot be told apart from x and y."
    )


def test_scores_that_look_the_same_are_not_shared():
    content = ranked(["w", "x", "y"])
    content["standings"][1] |= {"rating": 999.8}
    assert leading_sentence(content) == "w leads, but cannot be told apart from x and y."


@pytest.mark.parametrize(
    ("first", "games", "groups", "sentence"),
    [
        (2, 40, [], "w and x share the first place."),
        (2, 40, ["wx"], "w and x share the first place."),
        (
            *(2, 40, ["wxy"]),
            "w and x share the first place, but at least one of them cannot be told apart from y.",
        ),
        (2, 12, ["wx"], "w and x share the first place, but the score of w is provisional."),
        (3, 40, ["wxy"], "w and 2 others share the first place."),
        (4, 40, ["wxyz"], "All 4 models share the first place."),
    ],
)
def test_equal_leaders_share_the_first_place(first, games, groups, sentence):
    content = ranked(*map(list, groups), games=games)
    for row in content["standings"][:first]:
        row["rank"] = 1
    assert leading_sentence(content) == sentence
    assert first_names(content) == list("wxyz"[:first])


def test_models_that_were_never_compared_with_the_leader_are_counted():
    content = ranked(["w"], ["x"], ["z"])
    content["standings"][3] |= {"component": 1, "rank": 1}
    assert leading_sentence(content) == (
        "w leads, ahead of all it was compared with beyond chance. 1 model was never compared with it, "
        "directly or through others."
    )
    assert first_names(content) == ["w"]


def test_what_the_bar_marks():
    both = ranked(["w", "x"])
    both["standings"][1]["rank"] = 1
    assert marked_sentence(both) == "A bar beside the rank marks the models that share the first place."
    both["groups"] = [["w", "x", "y"]]
    assert "and those that cannot be told apart from them" in marked_sentence(both)
    assert marked_sentence(ranked(["w"], ["x", "y"])) == ""


def test_the_leading_group_is_everyone_who_shares_a_group_with_the_leader():
    assert leading_group(ranked(["w", "y"], ["x", "y"])) == ["w", "y"]
    assert leading_group(ranked(p_first=None) | {"groups": None}) == []
