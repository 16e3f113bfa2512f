"""The sequential outlier test: by hand, against a plain loop, and its promise to the honest."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from leaderboard.stats.checks import LengthMismatchError, ParameterError
from leaderboard.stats.rater_quality import FEWEST_VOTES, bets_of, outliers

VOTES = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([(0, 1), (1, 2), (0, 2), (2, 1)]), st.booleans()),
    min_size=1,
    max_size=60,
)


def run(votes, **options):
    rater, match, won = zip(*votes, strict=True)
    return outliers(rater, [a for a, _ in match], [b for _, b in match], won, **options)


def test_by_hand():
    # Nine others prefer 0 to 1. The tenth votes five times for 1: each p is 1 / 10 (only this vote is as far
    # against the favourite), each bet pays 1 / (2 * 0.1) = 5, so M is 5, 25, ... and 3125 after five.
    votes = [(1 + number, (0, 1), True) for number in range(9)] + [(0, (0, 1), False)] * 5
    found = run(votes)[0]
    assert found.votes == 5
    assert found.most == pytest.approx(3125.0)
    assert (found.at, found.flagged) == (5, True)
    # Each of the nine has thirteen others, eight of them for 0: with the favourite a bet loses half.
    assert run(votes)[1].most == 1.0
    assert not run(votes)[1].flagged


def test_fewer_votes_than_five_raise_no_alarm():
    votes = [(1 + number, (0, 1), True) for number in range(40)] + [(0, (0, 1), False)] * (FEWEST_VOTES - 1)
    assert run(votes)[0].at is None


def test_who_is_alone_is_not_compared():
    assert run([(0, (0, 1), True)]) == {}
    assert outliers([], [], [], []) == {}


def test_bad_input_is_refused():
    with pytest.raises(ParameterError, match="alpha is 1"):
        outliers([0], [0], [1], [True], alpha=1)
    with pytest.raises(LengthMismatchError):
        outliers([0], [0], [1, 2], [True])


@given(VOTES)
def test_as_a_plain_loop_with_fractions_finds(votes):
    found = run(votes)
    for rater in {who for who, _, _ in votes}:
        product, products = Fraction(1), []
        for who, (a, b), won in votes:
            if who != rater:
                continue
            winner = a if won else b
            bag = [x if w else y for r, (x, y), w in votes if r != rater and {x, y} == {a, b}]
            if not bag:
                continue
            bag.append(winner)
            of_winner = bag.count(winner)
            if 2 * of_winner != len(bag):
                lost = 2 * of_winner < len(bag)
                product *= Fraction(len(bag), 2 * of_winner) if lost else Fraction(1, 2)
            products.append(product)
        if not products:
            assert rater not in found
            continue
        assert found[rater].votes == len(products)
        late = products[FEWEST_VOTES - 1 :]
        assert found[rater].most == pytest.approx(float(max(late, default=1)))
        passed = [n for n, each in enumerate(products, 1) if n >= FEWEST_VOTES and each > 20]
        assert found[rater].at == (passed[0] if passed else None)


@given(VOTES)
def test_turning_a_pair_round_changes_nothing(votes):
    turned = [(who, (b, a), not won) for who, (a, b), won in votes]
    assert run(votes) == run(turned)
    assert run(votes, oriented=False) == run(turned, oriented=False)


@given(st.integers(1, 60), st.integers(0, 60))
def test_a_vote_drawn_like_the_others_pays_at_most_what_was_staked(others, of_first):
    """Given all votes of a pair, any of them may be the rater's: the mean pay is at most 1."""
    low = min(of_first, others + 1)
    bag = np.array([True] * low + [False] * (others + 1 - low))
    number = np.full(len(bag), float(others))
    for oriented in (True, False):
        paid = np.exp(bets_of(bag, number, low - bag, oriented=oriented)).mean(axis=1)
        assert (paid <= 1.0 + 1e-12).all()


def test_honest_raters_are_flagged_less_often_than_alpha():
    """300 simulated raters vote as everybody does: the number flagged is believable under 5 %."""
    rng = np.random.default_rng(7)
    contestants, raters, votes = 6, 300, 40
    first = rng.integers(0, contestants, raters * votes)
    second = (first + rng.integers(1, contestants, raters * votes)) % contestants
    chance = 1 / (1 + np.exp(0.5 * (first - second)))
    won = rng.random(raters * votes) < chance
    found = outliers(np.repeat(range(raters), votes), first, second, won)
    flagged = sum(each.flagged for each in found.values())
    assert binom.sf(flagged - 1, raters, 0.05) > 0.01


def test_votes_that_are_not_kept_are_nobody_s_measure():
    votes = [(1 + number, (0, 1), True) for number in range(9)] + [(0, (0, 1), False)] * 5
    kept = [who != 0 for who, _, _ in votes]
    found = run(votes, kept=kept)
    assert found[0].at == 5
    # To each of the nine the eight others are unanimous: five votes against them are no longer there.
    assert found[1].most == 1.0
    assert run(votes, kept=[not each for each in kept])[1].votes == 1
