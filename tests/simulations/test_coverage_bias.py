"""Whether intervals of position, flips and length hold the truth, and the level of the mirror test.

Studies of four contestants, every pair of a prompt rated by three raters who share an opinion of each prompt.
"""

import numpy as np
import pytest
from scipy.special import expit, ndtr
from scipy.stats import chi2, f

from leaderboard.stats.flips import flips
from leaderboard.stats.length_bias import length_effect
from leaderboard.stats.position_bias import counts_by_prompt, position

STUDIES = 1000
PAIRS = 6
RATERS = 3
CUTS = np.array([-2.1, -1.4, -0.7, 0.0, 0.7, 1.4, 2.1])


def rated(seed, prompts, lean, orders):
    """Ratings on 8 points, their prompts and whether they were swapped.

    ``orders`` is "each" where the order is drawn for every rating, "pair" where all raters of a pair see the
    same, and "taste" where moreover every prompt draws raters to one of the places, equally often to either.
    """
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 1, (prompts, 4))
    one, other = np.triu_indices(4, 1)
    quality = (strength[:, one] - strength[:, other])[:, :, None]
    swapped = rng.random((prompts, PAIRS, RATERS)) < 0.5
    if orders == "pair":
        swapped = np.broadcast_to(swapped[:, :, :1], swapped.shape)
    place = rng.normal(0, 0.8, prompts)[:, None, None] if orders == "taste" else 0.0
    seen = np.where(swapped, quality, -quality) + place - lean + rng.normal(0, 0.7, swapped.shape)
    prompt = np.broadcast_to(np.arange(prompts)[:, None, None], swapped.shape)
    return (np.searchsorted(CUTS, seen) + 1).ravel(), prompt.ravel(), swapped.ravel()


def truth(lean, orders):
    """The share preferring the first and the mean rating of infinitely many prompts."""
    spread = np.sqrt(2.0 + 0.49 + (0.64 if orders == "taste" else 0.0))
    above = 1.0 - ndtr((CUTS + lean) / spread)  # the chance of a rating beyond each cut
    return float(1.0 - above[3]), float(1.0 + above.sum())


@pytest.mark.parametrize("prompts", [10, 30, 100])
@pytest.mark.parametrize("orders", ["each", "pair", "taste"])
def test_position(prompts, orders):
    line = []
    for lean in (0.0, 0.6):
        share, mean = truth(lean, orders)
        held = []
        for seed in range(STUDIES):
            rating, prompt, _ = rated(seed, prompts, lean, orders)
            found = position(rating, 8, prompt)
            held.append(
                (
                    found["share_first_low"] <= share <= found["share_first_high"],
                    found["mean_low"] <= mean <= found["mean_high"],
                )
            )
        line += [100 * each for each in np.mean(held, axis=0)]
    print(
        f"\n{prompts} prompts, order by {orders}: share {line[0]:.1f} and {line[2]:.1f} %, "
        f"mean {line[1]:.1f} and {line[3]:.1f} % (without bias, with)"
    )
    assert min(line) > 92


def hotelling(counts):
    """The Wald test with the covariance between prompts, as Hotelling's T squared."""
    difference = (counts - counts[:, ::-1])[:, :4]
    difference = difference[:, difference.any(axis=0)]
    n, k = difference.shape
    total, covariance = difference.sum(axis=0), np.cov(difference, rowvar=False) * n
    statistic = total @ np.linalg.pinv(np.atleast_2d(covariance)) @ total
    return float(f.sf(statistic * (n - k) / (k * (n - 1)), k, n - k))


@pytest.mark.parametrize("prompts", [6, 10, 30, 100])
@pytest.mark.parametrize("orders", ["each", "pair", "taste"])
def test_mirror_test_without_bias(prompts, orders):
    """How often tests at 5 % find a bias that is not there."""
    found = []
    for seed in range(STUDIES):
        rating, prompt, _ = rated(seed, prompts, 0.0, orders)
        one = position(rating, 8, prompt)
        wald = hotelling(counts_by_prompt(rating, 8, prompt))
        assert one["p_independent"] == pytest.approx(chi2.sf(one["chi2"], one["df"]))
        found.append((one["p_independent"] < 0.05, wald < 0.05, one["p"] < 0.05))
    independent, wald, clustered = 100 * np.mean(found, axis=0)
    print(
        f"\n{prompts} prompts, order by {orders}: chi-squared {independent:.1f} %, Wald {wald:.1f} %, "
        f"Rao-Scott {clustered:.1f} %"
    )
    assert clustered < 7


@pytest.mark.parametrize("prompts", [10, 30, 100])
def test_flips(prompts):
    """Every rater rates every pair in both orders."""

    def study(seed, prompts):
        rng = np.random.default_rng(seed)
        quality = rng.normal(0, 1.4, (prompts, PAIRS, 1))
        lean = rng.normal(0.3, 0.5, (prompts, 1, 1))
        noise = rng.normal(0, 0.5, (2, prompts, PAIRS, RATERS))
        shape = (prompts, PAIRS, RATERS)
        ratings = [
            np.searchsorted(CUTS, np.broadcast_to(sign * quality - lean, shape) + noise[order]) + 1
            for order, sign in enumerate((1, -1))
        ]
        prompt, pair, rater = (each.ravel() for each in np.indices(shape))
        twice = (np.tile(each, 2) for each in (prompt * PAIRS + pair, rater, prompt))
        swapped = np.repeat([False, True], len(prompt))
        rating = np.concatenate([each.ravel() for each in ratings])
        return flips(*twice, swapped, rating, np.full(len(rating), 8))

    true = study(10**6, 40_000)["rate"]
    held = [(found := study(seed, prompts))["low"] <= true <= found["high"] for seed in range(STUDIES)]
    print(f"\n{prompts} prompts: flip rate {100 * np.mean(held):.1f} %")
    assert np.mean(held) > 0.92


def compared(seed, prompts, slope):
    """Lengths of both completions, points and prompts; prompts differ in how much length counts."""
    rng = np.random.default_rng(seed)
    words = np.exp(rng.normal(5, 0.6, (prompts, 4))).astype(int) + 1
    one, other = np.triu_indices(4, 1)
    shape = (prompts, PAIRS, RATERS)
    first, second = (np.broadcast_to(words[:, side][:, :, None], shape) for side in (one, other))
    own = rng.normal(slope, 0.8, (prompts, 1, 1))
    chance = expit(own * np.log2((first + 1) / (second + 1)) + rng.normal(0, 0.7, (prompts, PAIRS, 1)))
    points = rng.binomial(2, chance) / 2
    prompt = np.broadcast_to(np.arange(prompts)[:, None, None], shape)
    return first.ravel(), second.ravel(), points.ravel(), prompt.ravel()


@pytest.mark.parametrize("prompts", [10, 30, 100])
@pytest.mark.parametrize("slope", [0.0, 0.6])
def test_length(prompts, slope):
    large = length_effect(*compared(10**6, 60_000, slope))
    held = []
    for seed in range(STUDIES):
        found = length_effect(*compared(seed, prompts, slope))
        held.append(
            (
                found["slope_low"] <= large["slope"] <= found["slope_high"],
                found["longer_low"] <= large["longer_wins"] <= found["longer_high"],
            )
        )
    of_slope, of_share = 100 * np.mean(held, axis=0)
    print(f"\n{prompts} prompts, slope {slope:g}: slope {of_slope:.1f} %, longer wins {of_share:.1f} %")
    assert of_share > 92
    assert of_slope > 85
