"""Whether the interval of what standing second is worth holds the bias that the judge was given.

Judges see differences of strengths in Elo points, plus bias, plus noise, over studies of four contestants.
``spread`` lets the completions of a contestant differ from prompt to prompt, which the fit knows nothing of.
"""

import numpy as np
import pytest

from leaderboard.stats.position_bias import cuts, place_worth
from leaderboard.stats.ratings import make_ratings

STUDIES = 1000
STRENGTHS = np.array([-150.0, -50.0, 50.0, 150.0])


def rated(seed, prompts, bias, noise, *, both, spread=0):
    """Every pair of every prompt, in both orders or in one that is drawn by lot."""
    rng = np.random.default_rng(seed)
    one, other = np.triu_indices(4, 1)
    own = STRENGTHS + rng.normal(0, spread, (prompts, 4))
    apart = (own[:, other] - own[:, one]).ravel()
    prompt = np.repeat(np.arange(prompts), len(one))
    one, other = np.tile(one, prompts), np.tile(other, prompts)
    swapped = rng.random(len(prompt)) < 0.5
    if both:
        one, other, apart, prompt = (np.tile(each, 2) for each in (one, other, apart, prompt))
        swapped = np.repeat([False, True], len(prompt) // 2)
    seen = np.where(swapped, -apart, apart) + bias + rng.normal(0, noise, len(prompt))
    rating = np.searchsorted(cuts(8)[1:-1], seen, side="right") + 1
    first, second = np.where(swapped, other, one), np.where(swapped, one, other)
    return make_ratings(first, second, rating, 8, 4, prompt=prompt)


@pytest.mark.parametrize("prompts", [5, 10, 30, 100])
@pytest.mark.parametrize("both", [True, False])
def test_place(prompts, both):
    for bias, noise, spread in ((0, 200, 0), (60, 200, 0), (-150, 100, 0), (300, 400, 0), (60, 200, 150)):
        fits = [
            place_worth(rated(seed, prompts, bias, noise, both=both, spread=spread))
            for seed in range(STUDIES)
        ]
        known = [(each.low, each.high, each.points) for each in fits if each.low is not None]
        low, high, points = np.array(known, dtype=float).T
        held = np.mean((low <= bias) & (bias <= high))
        print(
            f"\n{prompts} prompts, {'both orders' if both else 'one order'}, bias {bias}, noise {noise}, "
            f"spread {spread}: held {100 * held:.1f} % of {len(known)}, mean {points.mean():.1f}"
        )
        assert len(known) > 0.99 * STUDIES
        assert held > 0.91
