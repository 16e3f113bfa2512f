import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from leaderboard.stats.bradley_terry import bradley_terry
from leaderboard.stats.games import make_games
from leaderboard.stats.other_raters import OtherRaters, same_raters
from leaderboard.stats.ranking import rank_ratings
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import make_ratings
from leaderboard.stats.sandwich import sandwich
from tests.leaderboard.stats.rated_studies import Design, simulate


def ratings(prompt, rater):
    number = len(prompt)
    return make_ratings([0] * number, [1] * number, [1, 2] * (number // 2), 2, 2, prompt=prompt, rater=rater)


def crossed(prompts, raters):
    """Every rater rates every prompt once."""
    cell = np.arange(prompts * raters)
    return ratings(cell // raters, cell % raters)


@pytest.mark.parametrize(
    ("prompts", "raters", "found"),
    [(10, 4, 4), (10, 3, 3), (10, 2, None), (10, 1, None), (4, 10, None), (4, 4, None)],
)
def test_fewer_raters_than_prompts_and_three_at_least(prompts, raters, found):
    assert same_raters(crossed(prompts, raters)) == found


def test_who_the_same_raters_are():
    assert same_raters(ratings(np.arange(20), np.arange(20) % 5)) == 5
    # Three raters give 30 ratings each and ten give one: 100² / (3 × 900 + 10) is 3.7, fewer than 4.
    rater = np.concatenate([np.repeat([0, 1, 2], 30), np.arange(3, 13)])
    assert same_raters(ratings(np.arange(100) % 4, rater)) == 13
    assert same_raters(ratings(np.arange(100) % 3, rater)) is None
    assert same_raters(ratings([0, 1], None)) is None
    assert same_raters(make_ratings([0], [1], [1], 2, 2, rater=[0])) is None
    nobody = make_ratings([], [], [], 2, 2, prompt=[], rater=[])
    assert same_raters(nobody) is None


@pytest.mark.parametrize("seed", [62, 213, 581])
def test_a_variance_of_nothing_is_0(seed):
    random = np.random.default_rng(seed)
    prompts, raters, models = random.integers(4, 12), 3, random.integers(2, 5)
    cell = np.arange(prompts * raters)
    first = random.integers(0, models, len(cell))
    second = (first + random.integers(1, models, len(cell))) % models
    rating = random.choice([1, 2], len(cell))
    drawn = make_ratings(first, second, rating, 2, models, prompt=cell // raters, rater=cell % raters)
    found = OtherRaters.of(drawn, ties=True)
    assert found is not None
    assert found.wider is not None
    assert found.wider >= 0.0


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=40), st.randoms())
def test_names_and_order_say_nothing(cells, random):
    cells = cells[: len(cells) // 2 * 2]
    prompt, rater = np.array(cells).T
    expected = same_raters(ratings(prompt, rater))
    random.shuffle(cells)
    prompt, rater = np.array(cells).T
    assert same_raters(ratings([f"p{-one}" for one in prompt], [f"r{-one}" for one in rater])) == expected


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ({}, 4),
        ({"resample": "games"}, None),
        ({"resample": "raters"}, None),
        ({"resample": "prompts-and-raters"}, None),
        ({"rounds": None}, None),
    ],
)
def test_it_stands_beside_intervals_over_prompts_alone(method, said):
    found = rank_ratings(crossed(10, 4), "xy", Method(**{"rounds": 5, **method}))
    assert found.parameters.get("same_raters") == said


def study(design, seed):
    games, prompt, rater = simulate(design, seed)
    rating = (3 - 2 * games.score).astype(int)
    return make_ratings(games.a, games.b, rating, 3, 4, prompt=prompt, rater=rater)


TASTES = Design(30, 6, 3, prompt_taste=150.0, rater_taste=150.0)
ALIKE = Design(30, 6, 3, prompt_taste=150.0)


def test_how_much_wider_is_the_ratio_of_the_errors_of_two_sandwiches():
    ratings = study(TASTES, 1)
    errors = [
        sandwich(games, bradley_terry(games)).standard_error.mean()
        for games in (ratings.games(ties=True, resample=drawn) for drawn in ("prompts", "prompts-and-raters"))
    ]
    found = OtherRaters.of(ratings, ties=True)
    assert found.wider == pytest.approx(errors[1] / errors[0])
    assert found.differ


def test_raters_differ_where_they_vary_more_than_cells_do_by_chance():
    for seed in range(12):
        ratings = study(Design(20, 4, 2, rater_taste=40.0), seed)
        games = ratings.games(ties=True, resample="prompts-and-raters")
        fit, cell = bradley_terry(games), games.cluster * 4 + games.crossed
        by_rater, by_cell = (
            np.trace(sandwich(make_games(games.a, games.b, games.score, 4, cluster=unit), fit).covariance)
            for unit in (games.crossed, cell)
        )
        beyond_chance = by_rater / by_cell > chi2.ppf(0.95, 9) / 9
        found = OtherRaters.of(ratings, ties=True)
        assert found.differ == (beyond_chance and found.wider > 1.15)


def test_tastes_are_said_and_chance_seldom_is():
    said = [
        sum(OtherRaters.of(study(each, seed), ties=True).differ for seed in range(25))
        for each in (TASTES, ALIKE)
    ]
    assert said[0] >= 23
    assert said[1] <= 2


def test_a_ranking_says_it_whatever_the_method():
    sentence = "The 6 raters differ in taste, and the intervals do not allow for other raters."
    for name in ("elo", "bradley-terry", "ordinal"):
        found = rank_ratings(study(TASTES, 1), "wxyz", Method(name, rounds=20, intervals="sandwich"))
        assert found.parameters["raters_differ"]
        assert found.parameters["wider_for_other_raters"] > 1.15
        assert sentence in found.warnings
    both = rank_ratings(study(TASTES, 1), "wxyz", Method("elo", rounds=20, resample="prompts-and-raters"))
    assert "raters_differ" not in both.parameters
    assert sentence not in both.warnings


def test_a_winner_of_everything_leaves_it_unknown():
    cell = np.arange(30)
    same = make_ratings(cell * 0, cell * 0 + 1, cell * 0 + 1, 2, 2, prompt=cell // 3, rater=cell % 3)
    assert OtherRaters.of(same, ties=True) == OtherRaters(3)


def test_ratings_that_take_no_side_leave_nothing_to_tell():
    cell = np.arange(30)
    ties = make_ratings(cell * 0, cell * 0 + 1, cell * 0 + 2, 3, 2, prompt=cell // 3, rater=cell % 3)
    assert OtherRaters.of(ties, ties=False) == OtherRaters(3)
