import numpy as np
import pytest

from leaderboard.stats.checks import ParameterError
from leaderboard.stats.resampling import (
    BLOCK,
    CLUSTER_DRAWS,
    CROSSED_DRAWS,
    cluster_draws,
    exact_type,
    generator,
    times_drawn,
)


def test_rounds_are_the_same_in_whatever_blocks_they_are_asked_for():
    whole = [drawn.tolist() for drawn in cluster_draws(3, np.arange(60), 9)]
    for rounds in (np.arange(17, 53), np.array([59, 3, 4, 40, 3])):
        assert [drawn.tolist() for drawn in cluster_draws(3, rounds, 9)] == [whole[r] for r in rounds]
        expected = [np.bincount(whole[r], minlength=9).tolist() for r in rounds]
        assert times_drawn(3, rounds, 9).tolist() == expected


def test_streams_of_seeds_purposes_and_blocks_differ():
    streams = [
        next(cluster_draws(seed, np.array([number]), 1000, purpose)).tolist()
        for seed in (0, 1, 2**64 - 1)
        for purpose in (CLUSTER_DRAWS, CROSSED_DRAWS)
        for number in (0, 1, BLOCK)
    ]
    assert len({tuple(drawn) for drawn in streams}) == len(streams)


def test_clusters_are_drawn_evenly_and_rounds_are_not_correlated():
    drawn = np.array(list(cluster_draws(1, np.arange(200), 500)))
    assert np.bincount(drawn.ravel(), minlength=500).std() == pytest.approx(200**0.5, rel=0.15)
    for one, other in ((drawn[:-1], drawn[1:]), (drawn[:, :-1], drawn[:, 1:])):
        assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 0.015


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_must_fit_64_bits(seed):
    with pytest.raises(ParameterError, match=f"seed is {seed}"):
        generator(seed, CLUSTER_DRAWS)


def test_sums_are_of_32_bits_only_where_these_are_exact():
    assert exact_type(np.array([1.0, 3.0]), 1000) is np.float32
    assert exact_type(np.empty(0), 1000) is np.float32
    assert exact_type(np.array([1.0, 0.5]), 1000) is np.float64
    assert exact_type(np.array([1.0, 3.0]), 2**23) is np.float64
