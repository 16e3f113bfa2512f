"""Speed of the rating page, and how it grows with the comparisons of a study; run by ``make bench``.

The limit is the guidelines page: same session, same permission checks, same frame, but no pair to choose.
"""

from itertools import combinations, cycle, islice
from statistics import median
from time import perf_counter

import pytest

from arena.models import Comparison, Membership, Pair
from tests import factories
from tests.arena.rating.answering import claimed

CONTESTANTS = 8
PAIRS_OF_A_PROMPT = CONTESTANTS * (CONTESTANTS - 1) // 2
RATINGS_OF_A_PAIR = 2
SHOWN = 30
OPINION = {"rating": 3, "seen": 0}
JSON = {"Accept": "application/json"}


def rated_study(comparisons):
    """A study in which every pair has two ratings by others and wants three."""
    prompts = comparisons // (PAIRS_OF_A_PROMPT * RATINGS_OF_A_PAIR)
    study = factories.make_small_study(prompts, CONTESTANTS, ratings_per_pair_people=3)
    raters = cycle([factories.make_rater() for _ in range(20)])
    for prompt in study.prompts.all():
        ids = prompt.completions.order_by("pk").values_list("pk", flat=True)
        Pair.objects.bulk_create(
            Pair(prompt=prompt, first_id=first, second_id=second) for first, second in combinations(ids, 2)
        )
    Comparison.objects.bulk_create(
        (
            Comparison(
                study=study, pair=pair, rater=rater, swapped=False, points=8, rating=3, status="scored"
            )
            for pair in Pair.objects.filter(prompt__study=study)
            for rater in islice(raters, RATINGS_OF_A_PAIR)
        ),
        batch_size=2000,
    )
    Pair.objects.recount(study)
    return study


def timed(times, response, start):
    times.append(perf_counter() - start)
    assert response.status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("comparisons", [1_000, 10_000, 50_000])
def test_rating_page(comparisons, client):
    study = rated_study(comparisons)
    rater = factories.make_member(study)
    Membership.objects.update(guidelines_read_at=study.created_at)
    assert rater.user
    client.force_login(rater.user)
    page, limit = f"/rate/{study.slug}/", f"/rate/{study.slug}/guidelines/"
    shown: list[float] = []
    answered: list[float] = []
    plain: list[float] = []
    for _ in range(SHOWN):
        start = perf_counter()
        timed(plain, client.get(limit), start)
        start = perf_counter()
        timed(shown, client.get(page), start)
        current = claimed(study, rater)
        after = claimed(study, rater, current.public_id)
        start = perf_counter()
        names = {"rater": rater.user_id, "assignment": current.public_id}
        assert client.post(page, names | OPINION, headers=JSON).status_code == 200
        timed(answered, client.get(f"{page}next/", {"after": after.public_id, "seen": 0}), start)
    assert Comparison.objects.filter(rater=rater).count() == SHOWN
    base = median(plain)
    print(
        f"\n{Comparison.objects.count():,} comparisons: show a pair {1000 * median(shown):.0f} ms "
        f"({median(shown) / base:.1f} x the guidelines page), submit and bring the next but one "
        f"{1000 * median(answered):.0f} ms ({median(answered) / base:.1f} x)"
    )
