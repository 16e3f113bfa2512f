"""Speed of the comparison browser on a generated study; run as a program on a scratch database.

DATABASE_URL=sqlite:////tmp/scratch.sqlite3 python -m tests.benchmarks.browsing COMPARISONS

Makes the study where the database has none, and its index, but no standings: the browser does not need them.
"""

import os
import sys
import time
from typing import Final

from tests.benchmarks.paired import medians

RUNS: Final = 15
QUESTIONS: Final = {
    "everything": "",
    "last page": "?page=1000000",
    "most disagreement": "?sort=disagreement",
    "flipped": "?only=flipped",
    "judges unlike people": "?only=judges&raters=judge:strict&sort=disagreement",
    "people differ": "?only=people&category=coding",
    "unparsable": "?answer=unparsable&raters=judge:kind",
    "refused (none)": "?answer=refused",
    "two contestants": "?contestant=contestant-3&against=contestant-7",
    "one rating": "?rating=8-8&raters=people",
    "search": "?search=rain+roof",
    "search (none)": "?search=zebra",
    "everything at once": (
        "?search=rain&category=coding&contestant=contestant-3&raters=judge:strict&answer=side&only=flipped"
        "&sort=disagreement"
    ),
}


def timed(name, action):
    wall, cpu = medians(action, RUNS)
    print(f"{name}: {wall:.0f} ms, {cpu:.0f} of them of the processor")


def indexed(study):
    """Make the study's index, and a snapshot that has nothing but counts: seconds, and bytes."""
    from leaderboard.comparisons import stored
    from leaderboard.models import Snapshot
    from leaderboard.refreshing import tables
    from leaderboard.snapshots.reading import opinions

    read = opinions(study)
    start = time.perf_counter()
    payload = stored.packing(study, read.rows, read.people)()
    stored.store(study, payload)
    taken = time.perf_counter() - start
    revision, comparisons, last = read.mark
    Snapshot.objects.create(
        study=study,
        revision=revision,
        comparisons=comparisons,
        last_comparison=last,
        methodology="-",
        seed=0,
        parameters={"interval": 95.0},
        counts=tables.counts(read, {}),
        seconds=0,
    )
    return taken, len(payload)


def measure(study):
    from django.test import Client

    from leaderboard.comparisons import stored

    start = time.perf_counter()
    index = stored.newest(study)
    print(f"reading the index: {1000 * (time.perf_counter() - start):.0f} ms, once for each refresh")
    assert index is not None
    client, page = Client(), f"/studies/{study.slug}/comparisons/"
    for name, query in QUESTIONS.items():
        assert client.get(page + query).status_code == 200
        timed(name, lambda query=query: client.get(page + query))
    one = f"{page}{int(index.pair[len(index.pair) // 2])}/?only=flipped"
    timed("one pair, with its neighbours", lambda: client.get(one))


def main():
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena.settings")
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.utils import timezone

    from arena.models import Study
    from tests.benchmarks.generated_study import make

    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    study = Study.objects.first() or make(int(sys.argv[1])).study
    Study.objects.filter(pk=study.pk).update(closed_at=timezone.now())
    seconds, size = indexed(study)
    print(f"{study.comparisons.count():,} comparisons; index: {seconds:.1f} s, {size / 1e6:.1f} MB")
    measure(study)


if __name__ == "__main__":
    main()
