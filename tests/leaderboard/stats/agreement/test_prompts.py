"""Sums over prompts: rows of categories, and rounds of the bootstrap against drawing by hand."""

import numpy as np
import pytest

from leaderboard.stats.agreement_opinions import Topics, measure, resample
from leaderboard.stats.checks import ParameterError
from leaderboard.stats.resampling import cluster_draws
from tests.leaderboard.stats.agreement import rated


def counted(topics, pair, value=lambda sums: sums):
    """A measure that only counts things and adds up the numbers of their pairs."""
    pair = np.asarray(pair)
    return measure(topics, pair, [(0, np.ones(len(pair))), (1, pair.astype(float))], 2, value)


def test_rows_are_all_each_named_category_and_the_rest():
    found = rated.topics()
    assert found.rows == (None, "coding", "poems", "-coding", "-poems")
    # The categories in turn are coding, the unnamed one and poems.
    assert found.chosen.tolist() == [[1, 1, 1], [1, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 0]]


def test_one_named_category_has_no_rest():
    assert rated.topics(names=("coding", "")).rows == (None, "coding")
    assert rated.topics(names=("",)).rows == (None,)


def test_a_category_whose_name_begins_with_a_minus_is_a_category():
    found = rated.topics(names=("-poems", "poems"))
    assert found.rows == (None, "-poems", "poems", "--poems", "-poems")
    assert found.left_out == (None, None, None, "-poems", "poems")
    assert found.chosen.tolist() == [[1, 1], [1, 0], [0, 1], [0, 1], [1, 0]]


def test_each_row_adds_up_its_categories_and_cancels_nothing():
    topics = rated.topics()
    sums = np.array([0.1, 0.7, -0.2])
    assert np.concatenate(list(topics.each_row(sums[:, None]))) == pytest.approx(topics.chosen @ sums)
    alone = np.array([[0.3], [0.0], [0.0]])
    assert list(topics.each_row(alone))[3] == 0


def test_estimates_add_up_the_prompts_of_each_row():
    topics = Topics(np.array([0, 0, 1, 2]), np.array([0, 1, 0]), ("coding", "poems"))
    found = counted(topics, [0, 1, 2, 3, 3]).estimate
    assert found.tolist() == [[5, 9], [4, 7], [1, 2], [1, 2], [4, 7]]


def test_rounds_take_the_prompts_they_draw():
    topics = rated.topics()
    pair = np.arange(rated.PAIRS)
    (found,) = resample([counted(topics, pair)], rounds=70, seed=3)
    for number, drawn in enumerate(cluster_draws(3, np.arange(70), len(topics.category))):
        pairs = np.concatenate([pair[topics.prompt == prompt] for prompt in drawn])
        assert found[0, :, number].tolist() == [len(pairs), pairs.sum()]
        coding = pairs[topics.of_pairs(pairs) == 0]
        assert found[1, :, number].tolist() == [len(coding), coding.sum()]


def test_all_measures_see_the_same_draws():
    topics = rated.topics()
    whole, half = counted(topics, range(24)), counted(topics, range(0, 24, 2))
    first, second = resample([whole, half], rounds=20, seed=0)
    assert (first[0, 0] == 24).all(), "every prompt has four pairs"
    assert (second[0, 0] == 12).all()
    assert (resample([half], rounds=20, seed=0)[0] == second).all()
    assert (resample([half], rounds=20, seed=1)[0] != second).any()


def test_no_measures_have_no_rounds():
    assert resample([], rounds=10, seed=0) == []


def test_it_refuses_rounds_and_seeds_that_do_not_exist():
    for wrong in ({"rounds": 0, "seed": 0}, {"rounds": 10, "seed": -1}):
        with pytest.raises(ParameterError):
            resample([counted(rated.topics(), [0])], **wrong)
