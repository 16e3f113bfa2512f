"""Studies of people and judges who agree, contradict each other, or rate by lot."""

from collections.abc import Mapping

import numpy as np

from arena.models import Comparison, Pair
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.judges.studies import imported, make_field, make_judge_rater

CONTRARY, LIKE, MIDDLE, BY_LOT = "contrary", "like", "middle", "by-lot"
"""How a rater answers: 9 minus the first person's rating, nearly the same, always a tie, or by lot."""


def rating(how, told, generator):
    return {
        CONTRARY: 9 - told,
        LIKE: int(np.clip(told + generator.integers(-1, 2), 1, 8)),
        MIDDLE: 4 + int(generator.integers(0, 2)),
        BY_LOT: int(generator.integers(1, 9)),
    }[how]


def make_rated_study(people=(), judges: Mapping[str, str] = {}, prompts=24, panels=(), **overrides):
    """A closed study of three models in which Ann rates every pair, and everybody else as told of her."""
    study = make_field(prompts, **overrides)
    generator = np.random.default_rng(5)
    raters = [factories.make_rater(name=f"Person {number}") for number in range(1 + len(people))]
    named = [
        make_judge_rater(
            slug, study=study, name=slug.title(), derived_from=["a", "b"] if slug in panels else []
        )
        for slug in judges
    ]
    ways = dict(zip([*raters[1:], *named], [*people, *judges.values()], strict=True))
    rows = []
    for pair in Pair.objects.filter(prompt__study=study).order_by("pk"):
        told = int(generator.integers(1, 9))
        swapped = bool(generator.integers(0, 2))
        given = {raters[0]: told} | {one: rating(how, told, generator) for one, how in ways.items()}
        rows += [
            imported(study=study, pair=pair, rater=rater, swapped=swapped, points=8, rating=value)
            for rater, value in given.items()
        ]
    Comparison.objects.bulk_create(rows)
    services.refresh(study)
    return study
