import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.stats import Method, make_ratings, rank_ratings
from leaderboard.stats.ranking import same_raters


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


def test_raters_with_prompts_of_their_own_are_the_same_ones_too():
    assert same_raters(ratings(np.arange(20), np.arange(20) % 5)) == 5


def test_those_who_rated_little_count_for_less():
    """Three raters give 30 ratings each and ten give one: 100² / (3 × 900 + 10) is 3.7, fewer than 4."""
    rater = np.concatenate([np.repeat([0, 1, 2], 30), np.arange(3, 13)])
    assert same_raters(ratings(np.arange(100) % 4, rater)) == 13
    assert same_raters(ratings(np.arange(100) % 3, rater)) is None


def test_nothing_is_said_where_prompts_or_raters_are_not_known():
    assert same_raters(ratings([0, 1], None)) is None
    assert same_raters(make_ratings([0], [1], [1], 2, 2, rater=[0])) is None
    nobody = make_ratings([], [], [], 2, 2, prompt=[], rater=[])
    assert same_raters(nobody) is None


@settings(deadline=None, max_examples=30)
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
