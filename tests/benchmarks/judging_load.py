"""A judge run under load: how soon it starts, how fast it goes, and what a call costs; on real processes.

    python -m tests.benchmarks.judging_load sqlite
    python -m tests.benchmarks.judging_load postgresql --assignments 10000 --seconds 30 --before 0

The model is a loopback server in a process of its own that answers after one second. One worker has 64
calls in flight, so 64 calls per second are ideal. Processor time is that of the arena's processes (web and
worker, not the databases), read from /proc. Machines differ, and one machine from minute to minute: so the
same request is asked by a bare HTTP client before and after, one by one and without delay.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Final

import httpx2

from tests.arena.process.processes import free_port
from tests.processes import ROOT, Arena
from tests.services.servers import postgresql, redis_server

IN_FLIGHT: Final = 64
DELAY: Final = 1.0
WARM_UP: Final = 5.0
"""Seconds between the first call and the beginning of what is measured."""

BARE_CALLS: Final = 300

TICKS: Final = os.sysconf("SC_CLK_TCK")

TEXTS: Final = """
import random
from arena.models import Completion, Prompt
from tests.factories import make_contestant
rng = random.Random(0)
words = "the a of model answer question better because which more and less is not long short".split()
field = [make_contestant(study=study) for _ in range(5)]
prompts = Prompt.objects.bulk_create(
    Prompt(study=study, external_id=f"p{{n}}", category=f"category {{n % 4}}", turns=[f"Instruction {{n}}"])
    for n in range({prompts})
)
texts = [" ".join(rng.choices(words, k=150)) for _ in range({prompts} * 5)]
Completion.objects.bulk_create(
    (Completion(prompt=prompts[n // 5], contestant=field[n % 5], turns=[text], digest=f"{{n:064x}}")
     for n, text in enumerate(texts)),
    batch_size=500,
)
"""
"""Five answers to each prompt of ``study``."""

SEED = f"""
from tests.factories import make_judge, make_study
study = make_study(slug="pairs", visibility="public")
{TEXTS}
make_judge(slug="loopback", name="Loopback", base_url="{{url}}", timeout=60.0, concurrency={{in_flight}})
"""

BEFORE = """
from arena.models import Comparison, Completion, Pair, Study
from tests.factories import make_rater
study = Study.objects.get(slug="pairs")
people = [make_rater() for _ in range(20)]
by_prompt = {{}}
for prompt, pk in Completion.objects.order_by("pk").values_list("prompt", "pk"):
    by_prompt.setdefault(prompt, []).append(pk)
pairs = Pair.objects.bulk_create(
    [Pair(prompt_id=prompt, first_id=ids[0], second_id=ids[1]) for prompt, ids in by_prompt.items()],
    batch_size=500,
)
Comparison.objects.bulk_create(
    (Comparison(study=study, pair=pairs[n // 20 % len(pairs)], rater=people[n % 20], swapped=False,
                repeat=n // 20 // len(pairs), points=8, status="scored", rating=1 + n % 8, source="import")
     for n in range({count})),
    batch_size=1000,
)
"""

NO_BOARDS = """
from datetime import timedelta
from django.utils import timezone
from arena.models import Study
from leaderboard.models import Refresh
later = timezone.now() + timedelta(days=1)
Refresh.objects.update_or_create(
    study=Study.objects.get(slug="pairs"), defaults={"wanted_at": later, "running_until": later}
)
"""

OPERATOR = "from arena.api.auth import operator_token; print(operator_token())"

TIMES = """
import json
from judging.models import JudgeCall, JudgeRun
run = JudgeRun.objects.get()
calls = JudgeCall.objects.filter(run=run)
started = calls.order_by("started_at").values_list("started_at", flat=True)
ended = calls.exclude(submitted_at=None)
print(json.dumps({{
    "first": started[0].timestamp(),
    "planned": run.started_at.timestamp(),
    "filled": started[{in_flight} - 1].timestamp(),
    "submitted": [at.timestamp() for at in ended.values_list("submitted_at", flat=True)],
    "states": {{state: calls.filter(state=state).count() for state in ("failed", "abandoned")}},
}}))
"""


@dataclass
class Load:
    """What was measured. Times in seconds, cpu in milliseconds of processor time per call.

    bare: what a call costs that nothing is done about but asking.
    """

    start: float = 0.0
    filled: float = 0.0
    rate: float = 0.0
    cpu_web: float = 0.0
    cpu_worker: float = 0.0
    bare: float = 0.0
    pages: list[float] = field(default_factory=list)
    lost: dict[str, int] = field(default_factory=dict)

    def __str__(self):
        cpu = self.cpu_web + self.cpu_worker
        return (
            f"start {self.start:.2f} s, {IN_FLIGHT} in flight after {self.filled:.2f} s, "
            f"slowest of {len(self.pages)} pages meanwhile {max(self.pages, default=0):.2f} s; "
            f"{self.rate:.1f} calls/s = {self.rate * DELAY / IN_FLIGHT:.0%} of the ideal; "
            f"{cpu:.1f} ms of processor time per call "
            f"(web {self.cpu_web:.1f}, worker {self.cpu_worker:.1f}), "
            f"{cpu / self.bare:.1f} times the {self.bare:.1f} ms of a bare HTTP client; "
            f"lost {self.lost}"
        )


class LoadedArena(Arena):
    """An arena for this benchmark; on PostgreSQL with a worker of its own, over Redis."""

    DEFAULTS = {"WORKER_CONCURRENCY": str(IN_FLIGHT), "LOG_LEVEL": "WARNING", "SWEEP_SECONDS": "5"}

    def __init__(self, folder, **environment):
        super().__init__(folder, **environment)
        self.WORKERS = int("BROKER_URL" in environment)

    def start(self):
        super().start()
        time.sleep(5 * self.WORKERS)

    def processor_seconds(self):
        """Of the web's processes, and of the worker's, since they were started."""
        return _seconds_below(self.web.pid), sum(_seconds_below(worker.pid) for worker in self._workers)


def _seconds_below(parent):
    total = 0.0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == parent:  # its process group: it leads a session of its own
                total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


@contextmanager
def model(delay):
    """The URL of a model in another process that answers after so many seconds."""
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "tests.judging.endpoints.server",
        "--port",
        str(port),
        "--delay",
        str(delay),
    ]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout
    assert process.stdout.readline()
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def bare_call():
    """Milliseconds of processor time that a bare HTTP client takes for a request of usual length."""
    body = {"model": "m", "messages": [{"role": "user", "content": "word " * 600}]}
    with model(delay=0.0) as url, httpx2.Client() as client:
        for _ in range(20):
            client.post(f"{url}/chat/completions", json=body)
        started = time.process_time()
        for _ in range(BARE_CALLS):
            client.post(f"{url}/chat/completions", json=body)
        return 1000 * (time.process_time() - started) / BARE_CALLS


def servers_of(stack, database):
    """Starts PostgreSQL and Redis, or nothing for SQLite; the variables that name them."""
    if database == "sqlite":
        return {}
    return {
        "DATABASE_URL": stack.enter_context(postgresql()),
        "BROKER_URL": stack.enter_context(redis_server()),
    }


def measure(folder, *, database, assignments, seconds, before=0, boards=False):
    """Start a run of so many assignments in a study that holds ``before`` comparisons, and watch it.

    boards: those of the study are computed meanwhile, which they are not otherwise: calls are measured.
    """
    with ExitStack() as stack:
        url = stack.enter_context(model(DELAY))
        arena = LoadedArena(folder, **servers_of(stack, database))
        arena.manage("collectstatic", "--noinput", "-v0")
        arena.run(SEED.format(prompts=assignments // 10, url=url, in_flight=IN_FLIGHT))
        if before:
            arena.run(BEFORE.format(count=before))
        early = bare_call()
        arena.start()
        stack.callback(arena.kill)
        if not boards:  # after the start, which takes every computation for abandoned
            arena.run(NO_BOARDS)
        load = _watched(arena, seconds)
        arena.kill()
        load.bare = (early + bare_call()) / 2
        return load


def _watched(arena, seconds):
    load = Load()
    token = arena.run(OPERATOR).strip()
    page = f"{arena.url}/studies/pairs/"
    _fetch(page)
    asked = time.time()
    _post(f"{arena.url}/api/v1/judge-runs/", token, {"study": "pairs", "judge": "loopback"})
    over = Event()
    watcher = Thread(target=_watch_pages, args=(page, load.pages, over))
    watcher.start()
    time.sleep(WARM_UP + 3)
    over.set()
    watcher.join()
    before, began = arena.processor_seconds(), time.time()
    time.sleep(seconds)
    after, ended = arena.processor_seconds(), time.time()
    times = json.loads(arena.run(TIMES.format(in_flight=IN_FLIGHT)))
    done = sum(began <= at < ended for at in times["submitted"])
    load.start, load.filled = times["first"] - asked, times["filled"] - asked
    load.rate = done / (ended - began)
    load.cpu_web, load.cpu_worker = (
        1000 * (late - early) / max(done, 1) for late, early in zip(after, before, strict=True)
    )
    load.lost = times["states"]
    return load


def _watch_pages(url, taken, over):
    while not over.is_set():
        started = time.perf_counter()
        _fetch(url)
        taken.append(time.perf_counter() - started)
        over.wait(0.05)


def _fetch(url):
    urllib.request.urlopen(url, timeout=60).read()  # noqa: S310


def _post(url, token, body):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310
    urllib.request.urlopen(request, timeout=60).read()  # noqa: S310


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("database", choices=["sqlite", "postgresql"])
    parser.add_argument("--assignments", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--before", type=int, default=0, help="comparisons in the study before")
    parser.add_argument("--boards", action="store_true", help="compute boards meanwhile, as arenas do")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="arena-load-") as folder:
        load = measure(Path(folder), **vars(given))
    print(f"{given.database}, {given.assignments:,} assignments, {given.before:,} before: {load}")


if __name__ == "__main__":
    main()
