"""What refreshing and showing a generated study costs, in a process of its own.

    python -m tests.benchmarks.refresh_cost sqlite
    python -m tests.benchmarks.refresh_cost postgresql --sizes 10000,100000

Prints one line of JSON for each size. Seconds of the processor are without those of PostgreSQL. ``here`` in
place of a database measures the study that tests.benchmarks.generated_study has put into that of
DATABASE_URL, with VAR_DIR a folder into which collectstatic has collected.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.paired import medians
from tests.services.servers import postgresql

MORE: Final = 1000
PAGES: Final = 20


def costs(database, comparisons):
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        lite = f"sqlite:///{folder}/bench.sqlite3"
        url = lite if database == "sqlite" else stack.enter_context(postgresql())
        environment = {**os.environ, "VAR_DIR": folder, "DATABASE_URL": url}
        for step in (["migrate", "-v0"], ["collectstatic", "-v0", "--noinput"]):
            subprocess.run([sys.executable, "manage.py", *step], env=environment, check=True)
        make = [sys.executable, "-m", "tests.benchmarks.generated_study", str(comparisons)]
        subprocess.run(make, env=environment, check=True)
        command = [sys.executable, "-m", "tests.benchmarks.refresh_cost", "here"]
        run = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def timed(action):
    """Seconds on the clock, and of the processors."""
    clock, processor = time.perf_counter(), time.process_time()
    action()
    return round(time.perf_counter() - clock, 2), round(time.process_time() - processor, 2)


def peak():
    """The most memory this process has held so far, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


def milliseconds(ask):
    """The median of PAGES answers."""
    return round(medians(ask, PAGES)[0], 1)


def pages(slug):
    """Server time of the board, and of the answer that nothing changed."""
    from django.test import Client

    client, address = Client(), f"/studies/{slug}/"
    first = client.get(address)
    assert first.status_code == 200
    tag = first.headers["ETag"]
    assert client.get(address, headers={"If-None-Match": tag}).status_code == 304
    return {
        "page_ms": milliseconds(lambda: client.get(address)),
        "not_modified_ms": milliseconds(lambda: client.get(address, headers={"If-None-Match": tag})),
        "page_kb": round(len(first.content) / 1000),
    }


def measure():
    """A full refresh, one after MORE ratings by people, one after MORE by everybody, and pages."""
    from django.db import connection

    from arena.models import Study
    from leaderboard.refreshing import services
    from tests.benchmarks.generated_study import Maker

    if connection.vendor == "postgresql":
        connection.cursor().execute("ANALYZE")  # which a server does by itself
    study = Study.objects.get()
    maker = Maker.of(study)
    found: dict[str, Any] = {"before_mb": peak()}

    def refreshed(name, **options):
        clock, processor = timed(lambda: services.refresh(study, **options))
        found[f"{name}_s"], found[f"{name}_processor_s"] = clock, processor

    refreshed("first")  # every text is measured, once and for all
    refreshed("full", anew=True)
    refreshed("unchanged")
    maker.repeat(MORE)
    refreshed("people")
    maker.grow(MORE)
    refreshed("everybody")
    found["peak_mb"] = peak()
    snapshot = study.snapshots.first()
    assert snapshot is not None
    assert snapshot.counts["comparisons"] == study.comparisons.filter(is_current=True).count()
    return found | {
        "comparisons": snapshot.comparisons,
        "tables": snapshot.slices.count(),
        **pages(study.slug),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("database", choices=["sqlite", "postgresql", "here"])
    parser.add_argument("--sizes", default="10000,100000,1000000")
    given = parser.parse_args()
    if given.database != "here":
        for size in given.sizes.split(","):
            print(json.dumps(costs(given.database, int(size))), flush=True)
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena.settings")
    import django

    django.setup()
    from django.conf import settings

    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    print(json.dumps(measure()))


if __name__ == "__main__":
    main()
