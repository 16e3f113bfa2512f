"""A study rated by made-up people, one of whom clicks at random, for the tests of rating quality."""

import random

from arena.models import Pair
from tests import factories as make


def rated_study(prompts=30, people=4, seed=1, **overrides):
    """Alpha beats beta beats gamma; the last of the people says anything at all."""
    rng = random.Random(seed)
    study = make.make_study(**overrides)
    field = [make.make_contestant(study=study, name=name) for name in ("alpha", "beta", "gamma")]
    raters = [make.make_member(study, name=f"Person {number}") for number in range(1, people + 1)]
    for _ in range(prompts):
        prompt = make.make_prompt(study=study)
        texts = [make.make_completion(prompt=prompt, contestant=each) for each in field]
        for one, other in ((0, 1), (0, 2), (1, 2)):
            pair = make.make_pair(prompt=prompt, first=texts[one], second=texts[other])
            for rater in raters:
                swapped = rng.random() < 0.5
                rate(pair, rater, straight=_opinion(rng, careless=rater == raters[-1]), swapped=swapped)
    Pair.objects.recount(study)
    return study


def _opinion(rng, *, careless):
    return rng.randint(1, 8) if careless else min(8, max(1, round(rng.gauss(2.5, 1.2))))


def rate(pair, rater, straight, *, swapped=False, **more):
    """A rating given in terms of the pair, stored as it was shown."""
    rating = 9 - straight if swapped else straight
    given = {"seconds": 20.0, "study": pair.prompt.study, **more}
    return make.make_comparison(pair=pair, rater=rater, rating=rating, swapped=swapped, **given)
