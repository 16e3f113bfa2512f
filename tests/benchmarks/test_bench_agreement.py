"""What the tables of agreement cost by the number of comparisons; run by ``make bench``."""

import time

import numpy as np
import pytest

from leaderboard.raters.agreement.coefficients import agreement
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.stats.ranking_method import Method

PEOPLE, JUDGES = range(1, 41), (100, 101, 102)
CATEGORIES = ("brainstorming", "closed-qa", "coding", "extraction", "rewriting", "summarising")
FIELDS = [
    *(("pair", "i8"), ("prompt", "i8"), ("category", "i8"), ("rater", "i8")),
    *(("swapped", "?"), ("points", "i2"), ("rating", "i2")),
]


def opinions(prompts):
    """Ten pairs to a prompt, each rated by two of forty people and in both orders by three judges."""
    generator = np.random.default_rng(0)
    quality = generator.normal(size=(prompts, 5))
    first, second = np.triu_indices(5, 1)
    truth = (quality[:, second] - quality[:, first]).ravel()
    parts = []
    for raters in (PEOPLE, *((judge,) for judge in JUDGES)):
        for order in (False, True):
            rows = np.zeros(len(truth), dtype=FIELDS)
            rows["pair"] = np.arange(len(truth))
            rows["prompt"] = rows["pair"] // 10
            rows["category"] = rows["prompt"] % len(CATEGORIES)
            rows["rater"] = generator.choice(raters, len(truth))
            rating = np.clip(np.rint(((truth + generator.normal(size=len(truth))) / 5 + 0.5) * 7) + 1, 1, 8)
            rows["swapped"], rows["points"], rows["rating"] = order, 8, 9 - rating if order else rating
            parts.append(rows)
    kinds = {"people": PEOPLE, "group:first": PEOPLE[:10], **{f"judge:{judge}": (judge,) for judge in JUDGES}}
    choices = tuple(Choice(selector, selector, frozenset(ids), False) for selector, ids in kinds.items())
    return Opinions(np.concatenate(parts), (), (), CATEGORIES, (0, 0, 0), prompts, raters=choices)


@pytest.mark.parametrize("comparisons", [10_000, 100_000, 1_000_000])
def test_bench_agreement(comparisons):
    read = opinions(comparisons // 80)
    assert len(read) == comparisons
    start = time.process_time()
    made = list(agreement(read, Method()))
    seconds, size = time.process_time() - start, sum(len(table.payload) for table in made)
    print(f"\n{comparisons:,} comparisons: {len(made)} tables, {size / 1000:.0f} kB, {seconds:.2f} s of CPU")
    assert len(made) == 9
