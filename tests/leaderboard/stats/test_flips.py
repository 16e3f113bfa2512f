import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from arena.rules.scales import TIE_BAND
from leaderboard.stats.checks import LengthMismatchError
from leaderboard.stats.flips import flips, repeats, shift, shift_in_both_orders
from leaderboard.stats.games import games_from_ratings
from leaderboard.stats.verdicts import TieBand, preference, verdicts

ROWS = [  # pair, rater, prompt, swapped, rating on 8 points
    (1, 1, 1, 0, 1),
    (1, 1, 1, 1, 8),  # the same contents, mirrored exactly
    (2, 1, 1, 0, 2),
    (2, 1, 1, 1, 6),  # the same verdict, not as strong
    (3, 1, 2, 0, 1),
    (3, 1, 2, 1, 1),  # whatever stands first
    (4, 1, 2, 0, 4),
    (4, 1, 2, 1, 5),  # a tie both times, mirrored exactly
    (5, 1, 3, 0, 4),
    (5, 1, 3, 1, 8),  # a tie, then the second
    (6, 1, 3, 0, 3),  # one order only
    (3, 2, 2, 1, 8),  # another rater, one order only
    (3, 1, 2, 1, 8),  # asked again: the first answer counts
]


def flips_of(rows, points=8, band=None):
    pair, rater, prompt, swapped, rating = np.array(rows).T
    return flips(pair, rater, prompt, swapped, rating, np.full(len(rows), points), band=band)


def test_by_hand():
    found = flips_of(ROWS)
    assert (found["pairs"], found["prompts"], found["flipped"], found["rate"]) == (5, 3, 2, 0.4)
    assert (found["to_first"], found["to_second"], found["exact"]) == (1, 1, 2)
    assert 0 < found["low"] < 0.4 < found["high"] < 1
    # From 3 to 6 the second pair is better in one order and a tie in the other.
    found = flips_of(ROWS, band=TieBand(3, 6))
    assert (found["pairs"], found["flipped"], found["rate"]) == (5, 3, 0.6)
    assert (found["to_first"], found["to_second"], found["exact"]) == (2, 1, 2)
    found = flips_of(ROWS[:4])
    assert (found["pairs"], found["rate"], found["low"], found["high"]) == (2, 0, None, None)
    found = flips([1, 1], [1, 1], [1, 1], [False, True], [1, 8], [2, 8])
    assert (found["flipped"], found["exact"]) == (0, 1)
    assert flips_of(ROWS[-3:]) is None
    assert flips([], [], [], [], [], []) is None
    with pytest.raises(LengthMismatchError):
        flips([1], [1], [1], [True], [1, 2], [8])


@pytest.mark.parametrize("points", TIE_BAND)
def test_verdicts_follow_the_usual_ties(points):
    found = verdicts(np.arange(1, points + 1), np.full(points, points))
    ties = [rating for rating in range(1, points + 1) if rating in TIE_BAND[points]]
    expected = [0 if r in ties else -1 if r <= points / 2 else 1 for r in range(1, points + 1)]
    assert found.tolist() == expected


@pytest.mark.parametrize(("points", "band"), [(8, "3-6"), (8, "2-7"), (5, "2-4"), (3, "2-2")])
def test_verdicts_of_a_band_are_the_scores_of_games(points, band):
    rating, zeros = np.arange(1, points + 1), np.zeros(points, dtype=int)
    asked = TieBand.parse(band)
    games = games_from_ratings(zeros, zeros + 1, rating, points, ties=True, contestants=2, tie_band=asked)
    assert verdicts(rating, np.full(points, points), asked).tolist() == (1 - 2 * games.score).tolist()


def test_a_band_acts_on_its_own_scale():
    rating, points = np.array([3, 3, 2, 4]), np.array([8, 5, 3, 5])
    assert verdicts(rating, points).tolist() == [-1, 0, 0, 1]
    assert verdicts(rating, points, TieBand(3, 6)).tolist() == [0, 0, 0, 1]
    assert verdicts(rating, points, TieBand(2, 4)).tolist() == [-1, 0, 0, 0]


@given(st.lists(st.tuples(st.integers(1, 8), st.integers(1, 8)), min_size=1, max_size=20))
def test_swapping_every_order_swaps_the_places_and_names_change_nothing(ratings):
    rows = [
        (pair, 7, pair // 3, swapped, rating)
        for pair, both in enumerate(ratings)
        for swapped, rating in enumerate(both)
    ]
    one = flips_of(rows)
    renamed = flips_of([(pair, rater, prompt, 1 - swapped, r) for pair, rater, prompt, swapped, r in rows])
    assert renamed == one  # which completion is called the first of a pair is arbitrary
    mirrored = flips_of([(pair, rater, prompt, swapped, 9 - r) for pair, rater, prompt, swapped, r in rows])
    assert (mirrored["to_first"], mirrored["to_second"]) == (one["to_second"], one["to_first"])
    assert (mirrored["flipped"], mirrored["exact"], mirrored["rate"]) == (
        one["flipped"],
        one["exact"],
        one["rate"],
    )
    assert one["flipped"] == one["to_first"] + one["to_second"] <= one["pairs"] - one["exact"]


# How far the order moves ratings, and what happens when the same is asked again.


ORDERS = [  # pair, rater, prompt, swapped, rating on 8 points
    (1, 1, 1, 0, 1),
    (1, 1, 1, 1, 8),  # the same contents, mirrored: 0
    (2, 1, 1, 0, 8),
    (2, 1, 1, 1, 8),  # the second both times: 1
    (3, 1, 2, 0, 5),
    (3, 1, 2, 1, 4),  # 0
    (4, 1, 2, 0, 1),
    (4, 1, 2, 1, 1),  # the first both times: -1
    (5, 1, 3, 0, 8),
    (5, 1, 3, 1, 1),  # 0
    (6, 1, 3, 0, 8),  # one order only
]
AGAIN = [  # the same order, asked again
    (1, 1, 1, 0, 2),
    (1, 1, 1, 0, 2),  # exactly
    (1, 1, 1, 0, 4),  # once more: a tie, 2 of 7 steps away from the answer before
    (2, 1, 2, 0, 7),
    (2, 2, 2, 0, 7),  # somebody else
    (2, 1, 2, 1, 7),  # the other order
    (2, 1, 2, 0, 8),  # the same verdict, one step away
    (3, 1, 3, 1, 1),
    (3, 1, 3, 1, 8),  # the other end
]


def columns(rows, points=8):
    return (*np.array(rows).T, np.full(len(rows), points))


class TestShift:
    def test_by_hand_and_with_one_rating_a_prompt_as_student(self):
        found = shift_in_both_orders(*columns(ORDERS))
        # Prompts have the means 0.5, -0.5 and 0 of two, two and one pair.
        assert (found.n, found.prompts, found.value) == (5, 3, 0)
        left_out = np.array([-1 / 3, 1 / 3, 0.0])
        reach = t.ppf(0.975, 2) * np.sqrt(2 / 3 * ((left_out - left_out.mean()) ** 2).sum())
        assert found.high == pytest.approx(min(1.0, reach))
        assert found.low == pytest.approx(max(-1.0, -reach))
        found = shift_in_both_orders(*columns(ORDERS[-1:]))
        assert (found.n, found.value, found.low) == (0, None, None)
        assert preference([1, 1, 3, 2, 8], [8, 2, 3, 3, 8]).tolist() == [-1, -1, 1, 0, 1]
        rng = np.random.default_rng(5)
        given = preference(rng.integers(1, 9, 40), 8)
        found = shift(given, np.arange(40))
        low, high = t.interval(0.95, 39, given.mean(), given.std(ddof=1) / np.sqrt(40))
        assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))

    @given(st.lists(st.tuples(st.integers(1, 8), st.integers(1, 8)), min_size=2, max_size=20))
    def test_mirrored_ratings_turn_the_sign(self, answers):
        rows = [
            (pair, 1, pair // 2, order, rating)
            for pair, both in enumerate(answers)
            for order, rating in enumerate(both)
        ]
        turned = [(*row[:3], 1 - row[3], 9 - row[4]) for row in rows]
        one, other = shift_in_both_orders(*columns(rows)), shift_in_both_orders(*columns(turned))
        assert one.value == pytest.approx(-other.value)
        assert (one.low is None) == (other.low is None)


class TestRepeats:
    def test_by_hand(self):
        found = repeats(*columns(AGAIN))
        assert (found.n, found.prompts) == (4, 3)
        assert (found.exact.value, found.same.value) == (0.25, 0.5)
        assert found.distance.value == pytest.approx((0 + 2 / 7 + 1 / 7 + 1) / 4)
        assert 0 <= found.exact.low < 0.25 < found.exact.high <= 1
        assert repeats(*columns(AGAIN), band=TieBand(2, 7)).same.value == 0.5  # 2-4 alike, 7-8 not any more
        assert repeats(*columns(AGAIN[:3]), band=TieBand(2, 7)).same.value == 1
        found = repeats(*columns(ORDERS))
        assert (found.n, found.exact.value, found.same.value, found.distance.value) == (0, None, None, None)

    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(1, 8)), min_size=1))
    def test_against_a_walk_through_the_answers(self, answers):
        rows = [(pair, 1, pair, swapped, rating) for pair, swapped, rating in answers]
        before, apart = {}, []
        for pair, swapped, rating in answers:
            if (pair, swapped) in before:
                apart.append(abs(rating - before[pair, swapped]) / 7)
            before[pair, swapped] = rating
        found = repeats(*columns(rows))
        assert found.n == len(apart)
        if apart:
            assert found.exact.value == pytest.approx(apart.count(0) / len(apart))
            assert found.distance.value == pytest.approx(sum(apart) / len(apart))
