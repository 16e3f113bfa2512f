"""Speed of the ordinal model; run by ``make bench``."""

from functools import partial

import numpy as np
import pytest
from statsmodels.miscmodels.ordinal_model import OrderedModel

from leaderboard.stats.ordinal import bootstrap_ordinal, ordinal
from tests.benchmarks.paired import Rival, race
from tests.leaderboard.stats.ordinal_studies import simulated_ratings

TWENTY = tuple(np.linspace(1.5, -1.5, 20))
ROUNDS = 1000
ADJUSTED = {"adjust": ["length"]}


def ordered_logit(ratings):
    """statsmodels' fit of the same ratings: thresholds free, position in them, otherwise the same model."""
    design = np.zeros((len(ratings), ratings.contestants))
    design[np.arange(len(ratings)), ratings.first] -= 1
    design[np.arange(len(ratings)), ratings.second] += 1
    return OrderedModel(ratings.rating, design[:, 1:], distr="logit").fit(method="bfgs", disp=0).params


def bootstrapped(ratings, **options):
    return bootstrap_ordinal(ratings, rounds=ROUNDS, **options).samples


@pytest.mark.parametrize("prompts", [10, 80])
def test_bootstrap_against_a_fit_per_round(prompts):
    ratings = simulated_ratings(prompts, theta=TWENTY)
    race(
        f"Ordinal model, 20 contestants, {len(ratings)} ratings on 8 points (update: a round)",
        Rival(f"ours, {ROUNDS} rounds", partial(bootstrapped, ratings), ROUNDS),
        Rival("ours, length adjusted", partial(bootstrapped, ratings, **ADJUSTED), ROUNDS),
        Rival("statsmodels OrderedModel, one round", partial(ordered_logit, ratings), 1),
        repeats=1,
    )


def test_growth_with_the_number_of_ratings():
    for prompts in (10, 105, 1053):
        ratings = simulated_ratings(prompts, theta=TWENTY)
        race(
            f"One ordinal fit, 20 contestants, {len(ratings)} ratings (update: a rating)",
            Rival("ratings, position, standard errors", partial(ordinal, ratings), len(ratings)),
            Rival("the same, length adjusted", partial(ordinal, ratings, **ADJUSTED), len(ratings)),
            repeats=3,
        )
