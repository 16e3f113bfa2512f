import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats.agreement_opinions import (
    FIRST,
    NO_VERDICT,
    SECOND,
    TIE,
    Topics,
    mean_verdicts,
    measure,
    opinion_rows,
    pair_sums,
    resample,
)
from leaderboard.stats.checks import LengthMismatchError, ParameterError, RatingError
from leaderboard.stats.games import games_from_ratings
from leaderboard.stats.resampling import cluster_draws
from leaderboard.stats.verdicts import TieBand
from tests.leaderboard.stats import agreement_studies


def counted(topics, pair, value=lambda sums: sums):
    """A measure that only counts things and adds up the numbers of their pairs."""
    pair = np.asarray(pair)
    return measure(topics, pair, [np.ones(len(pair)), pair.astype(float)], value)


def test_rows_are_all_each_named_category_and_the_rest():
    found = agreement_studies.topics()
    assert found.rows == (None, "coding", "poems", "-coding", "-poems")
    # The categories in turn are coding, the unnamed one and poems.
    assert found.chosen.tolist() == [[1, 1, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 0]]
    assert agreement_studies.topics(names=("coding", "")).rows == (None, "coding")
    assert agreement_studies.topics(names=("",)).rows == (None,)
    found = agreement_studies.topics(names=("-poems", "poems"))
    assert found.rows == (None, "-poems", "poems", "--poems", "-poems")
    assert found.left_out == (None, None, None, "-poems", "poems")
    assert found.chosen.tolist() == [[1, 1], [1, 0], [0, 1], [0, 1], [1, 0]]


def test_without_ties_ratings_in_the_middle_are_left_out_and_4_and_5_of_8_are_sides():
    given = [0, 1, 2, 3], 1, [4, 5, 2, 3], [8, 8, 3, 5], [False, True, False, False]
    assert opinion_rows(*given).verdict.tolist() == [TIE] * 4
    rows = opinion_rows(*given, ties=False)
    assert (rows.pair.tolist(), rows.verdict.tolist()) == ([0, 1], [FIRST, FIRST])
    assert rows.only(rows.pair == 1).verdict.tolist() == [FIRST]


def test_the_verdict_of_a_mean_is_a_tie_as_far_from_the_middle_as_4_and_5_of_8():
    given = [0, 0, 1, 1, 2, 2, 4], 1, [1, 8, 4, 5, 1, 4, 2], [8, 8, 8, 8, 8, 8, 3], False
    rows = opinion_rows(*given)
    assert mean_verdicts(rows, pair_sums(rows, 5)).tolist() == [TIE, TIE, FIRST, NO_VERDICT, TIE]
    wide = opinion_rows(*given, TieBand(2, 7))
    assert mean_verdicts(wide, pair_sums(wide, 5)).tolist() == [TIE, TIE, TIE, NO_VERDICT, TIE]
    sides = opinion_rows(*given, ties=False)
    assert mean_verdicts(sides, pair_sums(sides, 5)).tolist() == [*[NO_VERDICT] * 2, FIRST, *[NO_VERDICT] * 2]


def test_estimates_add_up_the_prompts_of_each_row():
    topics = agreement_studies.topics()
    sums = np.array([0.1, 0.7, -0.2])
    assert np.concatenate(list(topics.each_row(sums[:, None]))) == pytest.approx(topics.chosen @ sums)
    alone = np.array([[0.3], [0.0], [0.0]])
    assert list(topics.each_row(alone))[3] == 0
    topics = Topics(np.array([0, 0, 1, 2]), np.array([0, 1, 0]), ("coding", "poems"))
    found = counted(topics, [0, 1, 2, 3, 3]).estimate
    assert found.tolist() == [[5, 9], [4, 7], [1, 2], [1, 2], [4, 7]]


def test_rounds_take_the_prompts_they_draw():
    topics = agreement_studies.topics()
    pair = np.arange(agreement_studies.PAIRS)
    (found,) = resample([counted(topics, pair)], rounds=70, seed=3)
    for number, drawn in enumerate(cluster_draws(3, np.arange(70), len(topics.category))):
        pairs = np.concatenate([pair[topics.prompt == prompt] for prompt in drawn])
        assert found[0, :, number].tolist() == [len(pairs), pairs.sum()]
        coding = pairs[topics.of_pairs(pairs) == 0]
        assert found[1, :, number].tolist() == [len(coding), coding.sum()]


def test_all_measures_see_the_same_draws():
    topics = agreement_studies.topics()
    whole, half = counted(topics, range(24)), counted(topics, range(0, 24, 2))
    first, second = resample([whole, half], rounds=20, seed=0)
    assert (first[0, 0] == 24).all(), "every prompt has four pairs"
    assert (second[0, 0] == 12).all()
    assert (resample([half], rounds=20, seed=0)[0] == second).all()
    assert (resample([half], rounds=20, seed=1)[0] != second).any()
    assert resample([], rounds=10, seed=0) == []
    for wrong in ({"rounds": 0, "seed": 0}, {"rounds": 10, "seed": -1}):
        with pytest.raises(ParameterError):
            resample([counted(agreement_studies.topics(), [0])], **wrong)


def test_preferences_mirrors_and_verdicts_by_hand():
    rows = opinion_rows([0] * 6, 1, [1, 4, 8, 2, 3, 2], [8, 8, 8, 2, 5, 3], False)
    assert rows.preference.tolist() == [-28, -4, 28, 28, 0, 0]
    rows = opinion_rows([0, 0], 1, [1, 4], 8, [True, False])
    assert rows.rating.tolist() == [8, 4]
    rows = opinion_rows(range(9), 1, [3, 4, 5, 6, 2, 3, 2, 1, 2], [8, 8, 8, 8, 5, 5, 3, 2, 2], False)
    assert rows.verdict.tolist() == [FIRST, TIE, TIE, SECOND, FIRST, TIE, TIE, FIRST, SECOND]
    # It acts on 8 points alone, and goes with the rows that are picked.
    rows = opinion_rows(range(6), 1, [2, 3, 6, 7, 3, 2], [8, 8, 8, 8, 5, 5], False, TieBand(3, 6))
    assert rows.verdict.tolist() == [FIRST, TIE, TIE, SECOND, TIE, FIRST]
    assert rows.only(np.array([1, 5])).verdict.tolist() == [TIE, FIRST]


@given(
    st.sampled_from([(2, None), (3, None), (5, None), (8, None), (8, "3-6"), (8, "2-7"), (5, "2-4")]),
    st.data(),
)
def test_verdicts_are_those_of_games(scale, data):
    points, band = scale[0], scale[1] and TieBand.parse(scale[1])
    rating = data.draw(st.lists(st.integers(1, points), min_size=1, max_size=20))
    zeros = np.zeros(len(rating), dtype=int)
    games = games_from_ratings(zeros, zeros + 1, rating, points, ties=True, contestants=2, tie_band=band)
    verdict = opinion_rows(zeros, 1, rating, points, False, band).verdict
    assert (verdict == 2 - 2 * games.score).all()


def test_sums_of_a_pair():
    # 1 and 3 of 3 points cancel out; 4 of 8 is a tie, 4 steps towards the first.
    found = pair_sums(opinion_rows([0, 0, 2], [1, 2, 1], [1, 3, 4], [3, 3, 8], False), 3)
    assert found.count.tolist() == [2, 0, 1]
    assert found.mean == pytest.approx([0, 0, -1 / 7])
    assert found.squares.tolist() == [2 * 28**2, 0, 16]
    assert found.verdicts.tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    # (2 of 8, 3 of 8, 3 of 8) and (1, 3, 4), and twice one of them.
    pair = [0] * 3 + [1] * 3 + [2] * 6
    rating = [2, 3, 3, 1, 3, 4, 2, 3, 3, 3, 3, 2]
    found = pair_sums(opinion_rows(pair, 1, rating, 8, False), 3)
    assert found.mean[0] == found.mean[1] == found.mean[2]


def test_it_refuses_arrays_that_do_not_fit():
    with pytest.raises(LengthMismatchError, match="3 pairs but 2 ratings"):
        opinion_rows([0, 1, 2], 1, [1, 2], 8, False)


@pytest.mark.parametrize(("rating", "points"), [(9, 8), (0, 8), (1, 4), (1.5, 8), (float("nan"), 8)])
def test_it_refuses_ratings_off_the_scale(rating, points):
    with pytest.raises(RatingError):
        opinion_rows([0], 1, [rating], points, False)
