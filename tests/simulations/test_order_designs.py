"""What it costs to draw every order by itself, against showing each pair once in each order.

Studies of four contestants, every pair of 30 prompts rated by two raters, who lean to the first place. For
each design: the standard error of the share preferring the first answer, how often its 95% interval holds the
mean of all studies, and the standard error of the share that a contestant wins.
"""

import numpy as np
from scipy.special import expit

from leaderboard.stats.position_bias import position

STUDIES = 2000
PROMPTS = 30
LEAN = 0.4  # logits; the first of two equal answers wins in 60%


def study(rng, design):
    """Wins of the pair's first text, by prompt, pair and rater, and whether they were shown swapped."""
    strength = np.array([0.6, 0.2, -0.2, -0.6]) + rng.normal(0, 0.5, (PROMPTS, 4))
    one, other = np.triu_indices(4, 1)
    quality = (strength[:, one] - strength[:, other])[:, :, None]
    swapped = rng.random((PROMPTS, len(one), 2)) < 0.5
    if design == "each order once":
        swapped[:, :, 1] = ~swapped[:, :, 0]
    wins = rng.random(swapped.shape) < expit(quality + np.where(swapped, -LEAN, LEAN))
    return wins, swapped


def measured(rng, design):
    wins, swapped = study(rng, design)
    prompt = np.broadcast_to(np.arange(PROMPTS)[:, None, None], wins.shape)
    found = position(np.where(wins ^ swapped, 1, 2).ravel(), 2, prompt.ravel())
    one, other = np.triu_indices(4, 1)
    share = wins.mean(axis=(0, 2))
    scores = np.zeros(4)  # mean shares won: what any score grows with
    np.add.at(scores, one, share / 3)
    np.add.at(scores, other, (1 - share) / 3)
    return found["share_first"], found["share_first_low"], found["share_first_high"], *scores


def test_independent_orders_cost_next_to_nothing():
    errors = {}
    for design in ("each order once", "a coin each time"):
        rng = np.random.default_rng(7)
        found = np.array([measured(rng, design) for _ in range(STUDIES)])
        truth = found[:, 0].mean()
        held = np.mean((found[:, 1] <= truth) & (truth <= found[:, 2]))
        first, won = found[:, 0].std(), found[:, 3:].std(axis=0).mean()
        print(f"{design}: share first {truth:.4f} ± {first:.4f} (held {held:.3f}), share won ± {won:.4f}")
        assert held > 0.94
        errors[design] = np.array([first, won])
    first, won = errors["a coin each time"] / errors["each order once"]
    assert first < 1.15
    assert won < 1.05
