import numpy as np
import pytest

from leaderboard.stats.checks import ParameterError
from leaderboard.stats.resampling import choices, exact_type, round_keys, words

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def scrambled(word):
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & MASK
    return word ^ (word >> 31)


def key_in_plain_integers(seed, number, purpose):
    start = scrambled(scrambled(seed) ^ purpose * GOLDEN & MASK)
    return scrambled(start + (number + 1) * GOLDEN & MASK)


def word_in_plain_integers(seed, number, step, purpose=0):
    return scrambled(key_in_plain_integers(seed, number, purpose) + (step + 1) * GOLDEN & MASK)


def choice_in_plain_integers(seed, number, step, things, purpose=0):
    return (word_in_plain_integers(seed, number, step, purpose) >> 32) * things >> 32


def test_the_mixing_is_that_of_splitmix64():
    # First outputs of the published generator for the seed 1234567.
    outputs = [scrambled(1234567 + i * GOLDEN & MASK) for i in (1, 2)]
    assert outputs == [6457827717110365317, 3203168211198807973]


@pytest.mark.parametrize("purpose", [0, 1, 2])
def test_words_equal_those_of_plain_integers(purpose):
    keys = round_keys(2**64 - 1, np.array([0, 5, 999]), purpose)
    expected = [[word_in_plain_integers(2**64 - 1, r, s, purpose) for r in (0, 5, 999)] for s in (7, 8)]
    assert words(keys, 7, 2).tolist() == expected


def test_choices_are_even_and_rounds_and_steps_are_not_correlated():
    drawn = choices(round_keys(1, np.arange(100)), 0, 1000, 7)
    share = np.bincount(drawn.ravel(), minlength=7) / drawn.size
    assert drawn.min() == 0
    assert drawn.max() == 6
    assert share == pytest.approx(np.full(7, 1 / 7), abs=0.004)
    drawn = choices(round_keys(1, np.arange(200)), 0, 500, 2**20).astype(float)
    by_round, by_step = (
        np.corrcoef(drawn[:, :-1].ravel(), drawn[:, 1:].ravel())[0, 1],
        np.corrcoef(drawn[:-1].ravel(), drawn[1:].ravel())[0, 1],
    )
    assert abs(by_round) < 0.015
    assert abs(by_step) < 0.015


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_must_fit_64_bits(seed):
    with pytest.raises(ParameterError, match=f"seed is {seed}"):
        round_keys(seed, np.array([0]))


def test_sums_are_of_32_bits_only_where_these_are_exact():
    assert exact_type(np.array([1.0, 3.0]), 1000) is np.float32
    assert exact_type(np.empty(0), 1000) is np.float32
    assert exact_type(np.array([1.0, 0.5]), 1000) is np.float64
    assert exact_type(np.array([1.0, 3.0]), 2**23) is np.float64
