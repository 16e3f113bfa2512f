"""The worked numbers of docs/methodology.md on position, length and texts are those the code computes."""

from pathlib import Path

import numpy as np
import pytest

from leaderboard.stats.descriptive import describe
from leaderboard.stats.length_bias import length_effect
from leaderboard.stats.position_bias import position
from leaderboard.stats.style import size_of, tokenizer_name

PAGE = " ".join((Path(__file__).parents[3] / "docs" / "methodology.md").read_text().split())
RATINGS = [1, 8, 1, 1, 8, 1, 1, 2]


def test_position():
    found = position(RATINGS, 8, range(8))
    assert f"Six of eight prefer the first, {100 * found.share_first:.0f} %." in PAGE
    assert f"9/7 + 1 = {found.chi2:.3f}." in PAGE
    assert found.chi2 == pytest.approx(9 / 7 + 1)
    assert f"in {100 * found.p_independent:.1f} % of the cases (p = {found.p_independent:.3f})" in PAGE
    low, high = 100 * found.share_first_low, 100 * found.share_first_high
    assert f"75 % of eight prompts has the 95 % interval {low:.1f} to {high:.1f} %" in PAGE


def test_nine_raters_on_the_same_prompts():
    once = position(RATINGS, 8, range(8))
    found = position(np.repeat(RATINGS, 9), 8, np.repeat(range(8), 9))
    assert f"There are {found.n} ratings now" in PAGE
    assert f"p is {found.p_independent:.5f}, but there are still only eight prompts" in PAGE
    assert f"The p that is printed takes that into account: it is {found.p:.3f}." in PAGE
    assert (found.share_first_low, found.p) == pytest.approx((once.share_first_low, once.p))


def test_length():
    found = length_effect([19] * 10, [9] * 10, [1] * 8 + [0] * 2, range(10))
    low, high = 100 * found.longer_low, 100 * found.longer_high
    assert f"The longer win {100 * found.longer_wins:.1f} % (95 % interval {low:.1f} to {high:.1f} %)" in PAGE
    assert f"the slope is ln(8 / 2) = {found.slope:.3f} per doubling" in PAGE


def test_texts():
    assert size_of(["Don’t stop!"]).words == size_of(["snake_case"]).words == 2
    found = size_of(["The cat saw the CAT."])
    words = f"has {found.words} words, {found.unique_words} of them unique, and {found.tokens} tokens"
    assert words in PAGE
    vocabulary, package = tokenizer_name().split(" (")
    assert f"{vocabulary} as the package {package.split()[0]} counts them" in PAGE


def test_summaries():
    found = describe([1, 2, 4, 9])
    assert f"have the mean {found.mean:g}, the standard deviation {found.sd:.2f}" in PAGE
    assert f"the quartiles {found.q1}, {found.median:g} and {found.q3}" in PAGE
