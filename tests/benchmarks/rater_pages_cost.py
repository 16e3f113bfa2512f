"""What the pages about raters cost: processor time, size and queries, over a study that has a snapshot.

Run with: python -m tests.benchmarks.rater_pages_cost STUDY, with DATABASE_URL naming its database and VAR_DIR
a folder with collected static files. tests.benchmarks.generated_study makes a study, `manage.py refresh` its
snapshot.
"""

import sys
from typing import Final

from tests.benchmarks.paired import medians

ROUNDS: Final = 15


def measure(slug):
    """Print a line for each page: median over ROUNDS requests after a first one."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from arena.models import Study
    from leaderboard.models import Snapshot

    snapshot = Snapshot.objects.newest(Study.objects.get(slug=slug))
    if snapshot is None:
        sys.exit(f"The study {slug} has no snapshot: manage.py refresh {slug}")
    kinds = [entry["selector"] for entry in snapshot.counts["raters"]]
    client = Client(HTTP_HOST="127.0.0.1")
    for page in ("raters/", *(f"raters/{kind}/" for kind in kinds), "agreement/"):
        address = f"/studies/{slug}/{page}"
        size = len(client.get(address).content)
        _, spent = medians(lambda address=address: client.get(address), ROUNDS)
        with CaptureQueriesContext(connection) as captured:
            client.get(address)
        print(f"{page:32} {spent:6.1f} ms {size / 1024:6.0f} kB {len(captured):4} queries")


def main():
    import os

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena.settings")
    import django

    django.setup()
    measure(sys.argv[1])


if __name__ == "__main__":
    main()
