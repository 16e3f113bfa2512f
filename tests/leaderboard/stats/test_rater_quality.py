from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, t
from statsmodels.stats.inter_rater import cohens_kappa

from arena.rules import scales
from leaderboard.stats.checks import LengthMismatchError, ParameterError
from leaderboard.stats.rater_quality import (
    FEWEST_VOTES,
    apart,
    bets_of,
    consistency,
    kappa,
    majority_of_others,
    means_of_others,
    outliers,
    share_by_prompt,
    speed,
    with_others,
)
from leaderboard.stats.shares import wilson
from leaderboard.stats.verdicts import verdicts

# Agreement with others: by hand, against statsmodels and plain loops, and for any votes.


VERDICTS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(-1, 1)), min_size=1, max_size=60
)


def test_agreement_by_hand():
    # Pair 1: Ada says first, Bea and Cem second. Pair 2: Ada and Bea tie, Cem first. Pair 3: Ada alone.
    pair, rater = [1, 1, 1, 2, 2, 2, 3], [0, 1, 2, 0, 1, 2, 0]
    verdict = [-1, 1, 1, 0, 0, -1, 1]
    most, known = majority_of_others(pair, rater, verdict)
    # Of pair 1 others say to Ada second twice; to Bea first and second once each: no majority.
    assert known.tolist() == [True, False, False, False, False, True, False]
    assert most.tolist() == [1, 0, 0, 0, 0, 0, 0]
    pair, rater, verdict = [1, 1, 1], [0, 1, 2], [-1, 1, 1]
    most, known = majority_of_others(pair, rater, verdict, kept=[True, True, False])
    assert known.tolist() == [True, True, False]
    assert most.tolist() == [1, -1, 0]
    # 10 pairs, 7 agree; first 6 and second 4 against first 5 and second 5: chance 0.6 * 0.5 + 0.4 * 0.5.
    own = [-1] * 6 + [1] * 4
    most = [-1] * 4 + [1] * 2 + [1] * 3 + [-1]
    found = with_others(own, most, range(10))
    assert found.share.value == pytest.approx(0.7)
    assert found.kappa == pytest.approx((0.7 - 0.5) / 0.5)
    own, most = [1, 1, 1, 1, -1, -1] * 4, [1] * 24
    alone = with_others(own, most, range(24)).share
    together = with_others(own, most, np.repeat(range(12), 2)).share
    assert alone.value == together.value
    assert together.high - together.low > alone.high - alone.low
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


@given(VERDICTS)
def test_majorities_as_a_plain_loop_finds_them_whichever_side_is_first(votes):
    most, known = majority_of_others(*zip(*votes, strict=True))
    for number, (pair, rater, _) in enumerate(votes):
        others = Counter(said for about, who, said in votes if about == pair and who != rater)
        ranked = others.most_common(2)
        clear = len(ranked) == 1 or (len(ranked) == 2 and ranked[0][1] > ranked[1][1])
        assert known[number] == clear
        if clear:
            assert most[number] == ranked[0][0]
    pair, rater, verdict = zip(*votes, strict=True)
    mirrored, also = majority_of_others(pair, rater, [-each for each in verdict])
    assert (known == also).all()
    assert (most == -mirrored).all()


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
    kept = [who != 0 for who, _, _ in votes]
    found = run(votes, kept=kept)
    assert found[0].at == 5
    # To each of the nine the eight others are unanimous: five votes against them are no longer there.
    assert found[1].most == 1.0
    assert run(votes, kept=[not each for each in kept])[1].votes == 1


def test_who_is_alone_or_votes_seldom_raises_no_alarm():
    votes = [(1 + number, (0, 1), True) for number in range(40)] + [(0, (0, 1), False)] * (FEWEST_VOTES - 1)
    assert run(votes)[0].at is None
    assert run([(0, (0, 1), True)]) == {}
    assert outliers([], [], [], []) == {}
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


# Repeats and seconds: by hand, against independent ways, and for any answers.


REPEATS = st.lists(
    st.sampled_from(scales.POINTS).flatmap(
        lambda points: st.tuples(st.integers(1, points), st.integers(1, points), st.just(points))
    ),
    min_size=1,
    max_size=60,
)


def test_repeats_by_hand():
    # 2 and 3 are both first, 4 and 5 both ties, 6 and 3 differ: two of three; |1| + |1| + |3| points apart.
    found = consistency([2, 4, 6], [3, 5, 3], [8, 8, 8], [1, 2, 3])
    assert (found.same.count, found.same.n, found.apart) == (2, 3, pytest.approx(5 / 3))
    # Three prompts: the jackknife's variance is 2/9 / 2, so two observations count, and t has two degrees.
    assert (found.same.low, found.same.high) == pytest.approx(wilson(2 / 3, 2, t.ppf(0.975, 2)))
    assert consistency([2, 4, 6], [3, 5, 3], [8, 8, 8], [1, 1, 1]).same.low is None
    found = consistency([], [], [], [])
    assert (found.same.n, found.same.value, found.apart) == (0, None, None)
    with pytest.raises(LengthMismatchError):
        consistency([1], [1, 2], [8], [1])


@given(REPEATS)
def test_verdicts_are_those_of_the_scale(repeats):
    rating, _, points = (np.array(each) for each in zip(*repeats, strict=True))
    wanted = [round(2 * (0.5 - scales.score(r, p, ties=True))) for r, _, p in repeats]
    assert verdicts(rating, points).tolist() == wanted


@given(REPEATS)
def test_neither_the_order_nor_the_side_of_the_two_answers_matters(repeats):
    before, again, points = (np.array(each) for each in zip(*repeats, strict=True))
    prompt = np.arange(len(before)) // 2
    found = consistency(before, again, points, prompt)
    assert found == consistency(again, before, points, prompt)
    assert found == consistency(points + 1 - before, points + 1 - again, points, prompt)
    assert consistency(before, before, points, prompt).same.value == 1.0


@given(st.lists(st.booleans(), min_size=2, max_size=20), st.integers(2, 6))
def test_more_pairs_of_the_same_prompts_make_no_share_surer(right, copies):
    one = share_by_prompt(right, np.arange(len(right)))
    more = share_by_prompt(np.repeat(right, copies), np.repeat(np.arange(len(right)), copies))
    assert (more.count, more.n, more.value) == (copies * one.count, copies * one.n, pytest.approx(one.value))
    assert (more.low, more.high) == pytest.approx((one.low, one.high))


def test_seconds_by_hand():
    found = speed([1.0, 2.0, 4.0, 8.0, 16.0, float("nan")])
    assert (found.n, found.lower, found.median, found.upper) == (5, 2.0, 4.0, 8.0)
    assert (found.below.count, found.below.n) == (2, 5)
    assert speed([float("nan")]).median is None


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.floats(0.1, 100))
def test_speed_as_the_standard_library_counts(seconds, floor):
    import statistics

    found = speed(seconds, floor)
    assert found.median == pytest.approx(statistics.median(seconds))
    assert found.below.count == sum(each < floor for each in seconds)
    assert found.lower <= found.median <= found.upper


# Scores apart from those of others: by hand, and against plain loops.


def test_scores_apart_from_others_by_hand() -> None:
    # Two texts: 1, 2 and 6 by raters 0, 1 and 2, of whom 2 does not count; and 4 by rater 0 only.
    text, rater, score = [0, 0, 0, 1], [0, 1, 2, 0], [1.0, 2.0, 6.0, 4.0]
    means = means_of_others(text, rater, score, [True, True, False, True])
    np.testing.assert_array_equal(means, [2.0, 1.0, 1.5, np.nan])
    own = apart(np.array(score)[[0, 3]], means[[0, 3]])
    assert (own.n, own.absolute, own.signed) == (1, 1.0, -1.0)
    assert apart([], []).absolute is None


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 10), st.booleans()), max_size=40)
)
def test_means_of_others_are_those_of_plain_loops(rows: list[tuple[int, int, int, bool]]) -> None:
    text, rater, score, kept = (list(each) for each in zip(*rows, strict=True)) if rows else ([], [], [], [])
    found = means_of_others(text, rater, score, kept)
    for (here, who, _, _), mean in zip(rows, found, strict=True):
        others = [given for there, by, given, counts in rows if there == here and by != who and counts]
        assert np.isnan(mean) if not others else mean == pytest.approx(sum(others) / len(others))
