"""How far the order moves ratings, and what happens when the same is asked again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from leaderboard.stats.flips import preference, repeats, shift, shift_in_both_orders
from leaderboard.stats.tie_bands import TieBand

ROWS = [  # pair, rater, prompt, swapped, rating on 8 points
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
    def test_by_hand(self):
        found = shift_in_both_orders(*columns(ROWS))
        # Prompts have the means 0.5, -0.5 and 0 of two, two and one pair.
        assert (found.n, found.prompts, found.value) == (5, 3, 0)
        left_out = np.array([-1 / 3, 1 / 3, 0.0])
        reach = t.ppf(0.975, 2) * np.sqrt(2 / 3 * ((left_out - left_out.mean()) ** 2).sum())
        assert found.high == pytest.approx(min(1.0, reach))
        assert found.low == pytest.approx(max(-1.0, -reach))

    def test_one_rating_a_prompt_has_the_interval_of_student(self):
        rng = np.random.default_rng(5)
        given = preference(rng.integers(1, 9, 40), 8)
        found = shift(given, np.arange(40))
        low, high = t.interval(0.95, 39, given.mean(), given.std(ddof=1) / np.sqrt(40))
        assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))

    def test_nobody_asked_in_both_orders(self):
        found = shift_in_both_orders(*columns(ROWS[-1:]))
        assert (found.n, found.value, found.low) == (0, None, None)

    def test_scales_of_different_length_have_the_same_ends(self):
        assert preference([1, 1, 3, 2, 8], [8, 2, 3, 3, 8]).tolist() == [-1, -1, 1, 0, 1]

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
        assert (found.exact, found.same) == (0.25, 0.5)
        assert found.distance == pytest.approx((0 + 2 / 7 + 1 / 7 + 1) / 4)
        assert 0 <= found.exact_low < 0.25 < found.exact_high <= 1

    def test_a_wider_band_of_ties_makes_other_verdicts(self):
        assert repeats(*columns(AGAIN), band=TieBand(2, 7)).same == 0.5  # 2-4 alike, 7-8 not any more
        assert repeats(*columns(AGAIN[:3]), band=TieBand(2, 7)).same == 1

    def test_nothing_was_asked_twice(self):
        found = repeats(*columns(ROWS))
        assert (found.n, found.exact, found.same, found.distance) == (0, None, None, None)

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
            assert found.exact == pytest.approx(apart.count(0) / len(apart))
            assert found.distance == pytest.approx(sum(apart) / len(apart))
