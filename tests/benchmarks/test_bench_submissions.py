"""Speed of submitting comparisons to the API in batches, beside a bare bulk_create; run by ``make bench``."""

import os
import subprocess
import sys
from statistics import median
from time import perf_counter, process_time

import pytest
from django.db import connection
from django.test import Client

from arena.api.auth import issue_token
from arena.models import Assignment, Comparison, Pair
from tests import factories
from tests.services.servers import postgresql

COMPARISONS = 1500


def planned(judge, count=COMPARISONS):
    """As many assignments of a judge as are submitted, each of a pair of its own."""
    study = factories.make_small_study(prompts=count // 28 + 1, contestants=8)
    for prompt in study.prompts.all():
        texts = list(prompt.completions.order_by("pk"))
        Pair.objects.bulk_create(
            Pair(prompt=prompt, first=first, second=second)
            for place, first in enumerate(texts)
            for second in texts[place + 1 :]
        )
    pairs = Pair.objects.filter(prompt__study=study)[:count]
    return Assignment.objects.bulk_create(
        Assignment(study=study, rater=judge, pair=pair, state="open") for pair in pairs
    )


@pytest.mark.django_db
@pytest.mark.parametrize("size", [10, 25, 50, 100])
def test_batches_of_comparisons(size):
    judge = factories.make_rater(kind="judge")
    assignments = planned(judge)
    client, token = Client(), issue_token(judge)
    client.get("/healthz")  # the first request of a process loads the pages
    taken: list[float] = []
    spent = process_time()
    for start in range(0, len(assignments), size):
        given = [
            {"assignment": each.public_id, "rating": 3, "raw_reply": "3"}
            for each in assignments[start : start + size]
        ]
        began = perf_counter()
        reply = client.post(
            "/api/v1/comparisons/batch/",
            {"comparisons": given},
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        taken.append(perf_counter() - began)
        assert [each["status"] for each in reply.json()["results"]] == [201] * size
    spent = process_time() - spent
    stored = list(Comparison.objects.filter(rater=judge))
    assert len(stored) == len(assignments)
    other = factories.make_rater(kind="judge")
    bare: list[float] = []
    for start in range(0, len(stored), size):
        rows = stored[start : start + size]
        for row in rows:
            row.pk, row.rater, row.assignment = None, other, None
            row._state.adding = True
        began = perf_counter()
        Comparison.objects.bulk_create(rows)
        bare.append(perf_counter() - began)
    taken.sort()
    at_99 = taken[int(len(taken) * 0.99)]
    print(
        f"\n{connection.vendor}: batches of {size}: {len(stored) / sum(taken):.0f} comparisons/s, "
        f"median {1000 * median(taken):.0f} ms, 99 % {1000 * at_99:.0f} ms, most {1000 * taken[-1]:.0f} ms, "
        f"{1000 * spent / len(stored):.2f} ms of processor time each; a bare bulk_create "
        f"{len(stored) / sum(bare):.0f}/s"
    )


def test_the_same_on_postgresql():
    command = [sys.executable, "-m", "pytest", "-q", "-s", __file__, "-k", "test_batches_of_comparisons"]
    with postgresql() as database:
        subprocess.run(command, env=os.environ | {"DATABASE_URL": database}, check=True)
