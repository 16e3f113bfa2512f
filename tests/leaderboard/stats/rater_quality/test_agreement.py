"""Agreement with others: by hand, against statsmodels and plain loops, and for any votes."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from leaderboard.stats.checks import LengthMismatchError
from leaderboard.stats.rater_quality import kappa, majority_of_others, with_others

VOTES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(-1, 1)), min_size=1, max_size=60)


def test_by_hand():
    # Pair 1: Ada says first, Bea and Cem second. Pair 2: Ada and Bea tie, Cem first. Pair 3: Ada alone.
    pair, rater = [1, 1, 1, 2, 2, 2, 3], [0, 1, 2, 0, 1, 2, 0]
    verdict = [-1, 1, 1, 0, 0, -1, 1]
    most, known = majority_of_others(pair, rater, verdict)
    # Of pair 1 others say to Ada second twice; to Bea first and second once each: no majority.
    assert known.tolist() == [True, False, False, False, False, True, False]
    assert most.tolist() == [1, 0, 0, 0, 0, 0, 0]


def test_kappa_by_hand():
    # 10 pairs, 7 agree; first 6 and second 4 against first 5 and second 5: chance 0.6 * 0.5 + 0.4 * 0.5.
    own = [-1] * 6 + [1] * 4
    most = [-1] * 4 + [1] * 2 + [1] * 3 + [-1]
    found = with_others(own, most, range(10))
    assert found.share.value == pytest.approx(0.7)
    assert found.kappa == pytest.approx((0.7 - 0.5) / 0.5)


def test_prompts_and_not_pairs_are_what_varies():
    own, most = [1, 1, 1, 1, -1, -1] * 4, [1] * 24
    alone = with_others(own, most, range(24)).share
    together = with_others(own, most, np.repeat(range(12), 2)).share
    assert alone.value == together.value
    assert together.high - together.low > alone.high - alone.low


def test_nothing_to_compare():
    assert with_others([], [], []).share.value is None
    assert kappa([], []) is None
    assert kappa([1, 1], [1, 1]) is None
    with pytest.raises(LengthMismatchError):
        majority_of_others([1], [1, 2], [0])


@given(st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=2, max_size=80))
def test_kappa_as_statsmodels(votes):
    one, other = zip(*votes, strict=True)
    table = np.zeros((3, 3))
    for row, column in votes:
        table[row + 1, column + 1] += 1
    ours = kappa(one, other)
    if ours is None:
        assert len(set(one) | set(other)) == 1
    else:
        with np.errstate(all="ignore"):
            assert ours == pytest.approx(cohens_kappa(table, return_results=False), abs=1e-9)


@given(VOTES)
def test_majorities_as_a_plain_loop_finds_them(votes):
    most, known = majority_of_others(*zip(*votes, strict=True))
    for number, (pair, rater, _) in enumerate(votes):
        others = Counter(said for about, who, said in votes if about == pair and who != rater)
        ranked = others.most_common(2)
        clear = len(ranked) == 1 or (len(ranked) == 2 and ranked[0][1] > ranked[1][1])
        assert known[number] == clear
        if clear:
            assert most[number] == ranked[0][0]


@given(VOTES)
def test_the_side_that_is_called_first_makes_no_difference(votes):
    pair, rater, verdict = zip(*votes, strict=True)
    most, known = majority_of_others(pair, rater, verdict)
    mirrored, also = majority_of_others(pair, rater, [-each for each in verdict])
    assert (known == also).all()
    assert (most == -mirrored).all()


def test_who_is_not_kept_is_measured_against_others_and_no_other_against_them():
    pair, rater, verdict = [1, 1, 1], [0, 1, 2], [-1, 1, 1]
    most, known = majority_of_others(pair, rater, verdict, kept=[True, True, False])
    assert known.tolist() == [True, True, False]
    assert most.tolist() == [1, -1, 0]
