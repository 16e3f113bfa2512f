"""What a few ratings on another scale do to the ordinal model, simulated."""

import numpy as np
import pytest

from leaderboard.stats.bradley_terry import POINTS_PER_UNIT
from leaderboard.stats.ordinal import ordinal
from leaderboard.stats.ratings import make_ratings
from tests.leaderboard.stats.ordinal_studies import THETA, simulated_ratings

STUDIES = 400
TRUTH = 1000 + POINTS_PER_UNIT * (np.array(THETA) - np.mean(THETA))


def with_some_of(main, other, few, seed):
    """The main ratings and a few of the others, drawn at random."""
    drawn = np.random.default_rng(seed).choice(len(other), few, replace=False)
    columns = (
        np.append(getattr(main, name), getattr(other, name)[drawn])
        for name in ("first", "second", "rating", "points")
    )
    return make_ratings(*columns, main.contestants)


@pytest.mark.parametrize("points", [2, 3, 5])
@pytest.mark.parametrize("few", [1, 3, 10, 30])
def test_they_do_no_harm(points, few):
    errors, moves, held = [], [], []
    for seed in range(STUDIES):
        main = simulated_ratings(10, seed=seed)
        other = simulated_ratings(10, points=points, seed=seed + STUDIES)
        alone, both = ordinal(main), ordinal(with_some_of(main, other, few, seed))
        errors.append([np.mean((fit.rating - TRUTH) ** 2) for fit in (alone, both)])
        moves.append(np.abs(both.rating - alone.rating).max() / both.rating_se.mean())
        held.append(np.mean(np.abs(both.rating - TRUTH) < 1.96 * both.rating_se))
    without, within = np.sqrt(np.mean(errors, axis=0))
    print(
        f"\n{few} on {points} points beside 60 on 8: root mean squared error {within:.1f}, without them "
        f"{without:.1f}; 95 % intervals hold {100 * np.mean(held):.1f} %; furthest move in standard errors "
        f"{np.median(moves):.2f} (median), {max(moves):.2f} (most)"
    )
    assert within < 1.01 * without
