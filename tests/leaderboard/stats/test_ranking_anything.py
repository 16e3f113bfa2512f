"""Whatever the ratings are, every method ranks them: a board must not fail because of odd votes."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.stats import Method, make_ratings, rank_ratings
from leaderboard.stats.checks import NoGamesError

CONTESTANTS = 4


@st.composite
def any_ratings(draw):
    """Up to 12 ratings of four contestants on one or two scales, by few prompts."""
    points = draw(st.lists(st.sampled_from([2, 3, 5, 8]), min_size=1, max_size=2))
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, CONTESTANTS - 1),
                st.integers(1, CONTESTANTS - 1),
                st.floats(0, 1, exclude_max=True),
                st.sampled_from(points),
                st.integers(0, 3),
            ),
            min_size=1,
            max_size=12,
        )
    )
    first, step, share, scale, prompt = (np.array(column) for column in zip(*rows, strict=True))
    rating = 1 + (share * scale).astype(int)
    return make_ratings(first, (first + step) % CONTESTANTS, rating, scale, CONTESTANTS, prompt=prompt)


@pytest.mark.parametrize(
    "method",
    [
        Method("elo", rounds=5),
        Method("elo", rounds=5, ties=False),
        Method("bradley-terry", rounds=5),
        Method("bradley-terry", rounds=5, ties=False, intervals="sandwich"),
        Method("davidson", rounds=5),
        Method("davidson", rounds=5, intervals="sandwich"),
        Method("ordinal", rounds=5),
        Method("ordinal", rounds=5, intervals="sandwich"),
    ],
    ids=lambda method: f"{method.name} {'on' if method.ties else 'off'} {method.intervals}",
)
@settings(max_examples=40, deadline=None)
@given(ratings=any_ratings())
def test_every_method_ranks_it(method, ratings):
    try:
        found = rank_ratings(ratings, "abcd", method)
    except NoGamesError:
        assert not len(ratings.games(ties=method.ties))
        return
    values = json.loads(found.canonical_json())
    assert len(values["standings"]) == CONTESTANTS
    rated = [row for row in values["standings"] if row["games"]]
    assert all(abs(row["rating"]) < 1e5 for row in rated)
    if values["groups"] is not None:
        assert all(row["low"] <= row["high"] and row["rank_ub"] >= 1 for row in rated)
        assert {name for group in values["groups"] for name in group} == {row["contestant"] for row in rated}


TWINS = [
    "02L 12L 03= 13= 02W 12W 02W 12W 02W 12W 01W 10W",
    "02L 12L 02L 12L 02W 12W 01W 10W",
    "02= 12= 02W 12W 01W 10W 32W 32=",
    "02= 12= 02W 12W 03L 13L 03L 13L 01W 10W 23W",
]
"""Games in which a (0) and b (1) did the same against c and d: the digits of the two, the first's result."""


@pytest.mark.parametrize("games", TWINS)
@pytest.mark.parametrize("name", ["bradley-terry", "davidson", "ordinal"])
def test_rounding_errors_do_not_tell_twins_apart(name, games):
    """All prompts are alike, so every round is the study itself and finds twins equal up to rounding."""
    found = games.split() * 3
    first, second = ([int(game[side]) for game in found] for side in (0, 1))
    rating = ["W=L".index(game[2]) + 1 for game in found]
    prompt = np.repeat(np.arange(3), len(found) // 3)
    ratings = make_ratings(first, second, rating, 3, CONTESTANTS, prompt=prompt)
    rows = [row for row in rank_ratings(ratings, "abcd", Method(name, rounds=5)).standings if row.games]
    assert [row.rank_ub for row in rows] == [row.rank for row in rows]
    one, other = (row for row in rows if row.contestant in "ab")
    assert (one.rank, one.group) == (other.rank, other.group)
    assert one.p_first == pytest.approx(other.p_first)
