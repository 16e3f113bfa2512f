"""What one piece of work costs as a study grows.

    python -m tests.benchmarks.growth sqlite
    python -m tests.benchmarks.growth postgresql --sizes 10000,100000,1000000,10000000
    python -m tests.benchmarks.growth postgresql --sizes 1000000 --boards 0 --slow 20

One study grows from size to size (tests.benchmarks.growth_rows) in a database of its own, and each piece of
work is done in this process. By size a line has the processor time in milliseconds, with that of
PostgreSQL's processes, and what was read: rows and entries of indexes, of SQLite thousands of steps of its
machine. Of each the exponent of the growth from the first to the last size follows: 0 does not grow, 1
grows with the table. ``--boards`` is the largest size at which the leaderboard is computed; larger ones
show the last one. ``--slow`` prints the plans of statements that take longer than so many milliseconds.
"""

import argparse
import json
import math
import os
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final

from tests.services.servers import postgresql

RUNS: Final = 5
LONG: Final = 10_000.0
"""Milliseconds after which what takes long is not done once more."""

STEPS: Final = 100
"""SQLite tells of every so many steps of its machine."""

BATCH: Final = 20
BOARD: Final = "/studies/growing/"
JSON: Final = {"Accept": "application/json"}


@dataclass
class Cost:
    milliseconds: list[float] = field(default_factory=list)
    read: list[float] = field(default_factory=list)

    def total(self):
        return sum(self.milliseconds)

    def typical(self):
        """Medians of milliseconds and of what was read, after a first run."""
        return [median(values[1:] or values) for values in (self.milliseconds, self.read)]


class Meter:
    """Processor time of this process and of the database's, and what the database reads."""

    def __init__(self, connection, slow):
        self.cost = Cost()
        self._connection, self._slow, self._steps = connection, slow, 0
        if connection.vendor == "sqlite":
            connection.connection.set_progress_handler(self._count, STEPS)

    def _count(self):
        self._steps += 1

    @contextmanager
    def measured(self):
        read, used = self._read(), process_time() + self._others()
        with self._connection.execute_wrapper(self._explained) if self._slow else ExitStack():
            yield
        used = process_time() + self._others() - used
        self.cost.milliseconds.append(1000 * used)
        self.cost.read.append(self._read() - read)

    def _read(self):
        """Rows and entries of indexes read so far; on SQLite thousands of steps."""
        if self._connection.vendor == "sqlite":
            return self._steps * STEPS / 1000
        with self._connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_force_next_flush()")
            cursor.execute(
                "SELECT (SELECT SUM(seq_tup_read) FROM pg_stat_user_tables)"
                " + (SELECT SUM(idx_tup_read) FROM pg_stat_user_indexes)"
            )
            return float(cursor.fetchone()[0])

    def _others(self):
        """Processor seconds of PostgreSQL's processes that work for this one."""
        if self._connection.vendor == "sqlite":
            return 0.0
        with self._connection.cursor() as cursor:
            cursor.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'")
            pids = [pid for (pid,) in cursor.fetchall()]
        return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in pids) / 1e9

    def _explained(self, execute, sql, params, many, context):
        began = time.perf_counter()
        result = execute(sql, params, many, context)
        took = 1000 * (time.perf_counter() - began)
        if took > self._slow and not many and sql.startswith(("SELECT", "UPDATE", "DELETE", "INSERT")):
            given = f"EXPLAIN QUERY PLAN {sql}".replace("%s", "?")
            given = given if self._connection.vendor == "sqlite" else f"EXPLAIN {sql}"
            rows = self._connection.connection.execute(given, params).fetchall()
            plan = "\n".join(f"      {row[-1]}" for row in rows)
            print(f"    {took:.0f} ms: {sql[:1500]}\n{plan}", flush=True)
        return result


class Work:
    """The pieces of work on one study. A method does one once, and says which part of that is measured."""

    def __init__(self, grown, folder, meter):
        from django.test import Client

        from arena.api.auth import issue_token
        from tests import factories

        self.grown, self.study, self.folder = grown, grown.study, folder
        self.measured = meter.measured
        person = factories.make_member(self.study)
        self.rater = Client()
        self.rater.force_login(person.user)
        self.account = person.user.pk
        self.operator = Client()
        self.operator.force_login(factories.make_user(is_staff=True))
        self.reader = Client()
        self.newcomer = factories.make_rater(kind="judge")
        self.tokens = {
            name: f"Bearer {issue_token(rater)}"
            for name, rater in (
                ("new", self.newcomer),
                ("old", grown.judge),
                ("run", grown.remote.judge.rater),
            )
        }
        self.on_screen = ""
        self.number = 0

    def _next(self):
        self.number += 1
        return self.number

    def first_claim(self):
        """A person's first pair after the study has changed."""
        self.grown.study.touch()
        self.claim()

    def claim(self):
        with self.measured():
            reply = self.rater.get("/rate/growing/", headers=JSON).json()
        self.on_screen = reply["assignment"]
        assert self.on_screen

    def answer(self):
        """A rating on the page, and the pair after the one that is there already."""
        ahead = self._ahead()
        form = {"assignment": self.on_screen, "rater": self.account, "rating": 3, "seconds": 9}
        self.on_screen = ahead
        with self.measured():
            reply = self.rater.post("/rate/growing/", form, headers=JSON).json()
            following = self._ahead()
        assert reply["status"] == "stored", reply
        assert following, reply

    def _ahead(self):
        asked = {"after": self.on_screen, "seen": "0.1"}
        return self.rater.get("/rate/growing/next/", asked, headers=JSON).json()["assignment"]

    def batch(self):
        from arena.models import Assignment, Pair

        taken = Assignment.objects.filter(rater=self.newcomer).values("pair")
        pairs = Pair.objects.exclude(pk__in=taken).order_by("pk")[:BATCH]
        given = Assignment.objects.bulk_create(
            Assignment(study=self.study, rater=self.newcomer, pair=pair, state="open") for pair in pairs
        )
        rows = [{"assignment": each.public_id, "rating": 3, "raw_reply": "3"} for each in given]
        with self.measured():
            reply = self._post("comparisons/batch/", {"comparisons": rows}, "new")
        assert [each["status"] for each in reply["results"]] == [201] * len(rows)

    def judge_claim(self):
        """Of a judge that is not configured here: every 32nd claim plans what the others get."""
        with self.measured():
            reply = self._post("assignments/", {"study": "growing"}, "old")
        self._post("comparisons/", {"assignment": reply["assignment"], "rating": 3, "raw_reply": "3"}, "old")

    def judge_plan(self):
        from arena.models import Assignment

        Assignment.objects.filter(rater=self.grown.judge, state__in=["open", "claimed"]).delete()
        self.judge_claim()

    def call_claim(self):
        """Of a run on another machine, which wants every pair."""
        with self.measured():
            self._post("assignments/", {"study": "growing"}, "run")

    def run_claim(self):
        """What the arena's own worker does before it asks."""
        from django.utils import timezone

        from judging.models import JudgeCall, JudgeRun
        from judging.runs.claiming import claim_of

        run = JudgeRun.objects.whole().get(pk=self.grown.local.pk)
        with self.measured():
            claimed = claim_of(run, 1, "growth")
        assert len(claimed) == 1
        # Others ask the same question, and would wait for its answer.
        JudgeCall.objects.filter(pk=claimed[0].call.pk).update(state="abandoned", finished_at=timezone.now())

    def _post(self, path, body, token):
        reply = self.reader.post(
            f"/api/v1/{path}",
            body,
            content_type="application/json",
            headers={"Authorization": self.tokens[token]},
        )
        assert reply.status_code in (200, 201), reply.content
        return reply.json()

    def page(self):
        """For an address that nobody has asked for yet."""
        with self.measured():
            reply = self.reader.get(BOARD, headers={"Host": f"h{self._next()}.localhost"})
        assert reply.status_code == 200

    def kept_page(self):
        self.reader.get(BOARD)
        with self.measured():
            assert self.reader.get(BOARD).status_code == 200

    def unchanged_page(self):
        tag = self.reader.get(BOARD).headers["ETag"]
        with self.measured():
            assert self.reader.get(BOARD, headers={"If-None-Match": tag}).status_code == 304

    def home(self):
        with self.measured():
            reply = self.reader.get("/", headers={"Host": f"h{self._next()}.localhost"})
        assert reply.status_code == 200

    def list_of_studies(self):
        with self.measured():
            assert self.rater.get("/rate/").status_code == 200

    def progress(self):
        with self.measured():
            assert self.operator.get("/operate/growing/progress/").status_code == 200

    def metrics(self):
        with self.measured():
            assert self.reader.get("/metrics").status_code == 200

    def export(self, rows=1000):
        from arena.data import export

        with self.measured():
            assert len(list(islice(export.rows(self.study, "comparisons"), rows))) == rows

    def imports(self, rows=1000):
        from arena.data.importing.imports import import_files
        from arena.models import Pair

        path, rater = self.folder / "more.jsonl", f"Somebody {self._next()}"
        related = ("prompt", "first__contestant", "second__contestant")
        lines = [
            {
                "prompt": pair.prompt.external_id,
                "first": pair.first.contestant.name,
                "second": pair.second.contestant.name,
                "rating": 2,
                "points": 8,
                "rater": rater,
            }
            for pair in Pair.objects.select_related(*related).order_by("-pk")[:rows]
        ]
        path.write_text("\n".join(map(json.dumps, lines)))
        with self.measured():
            report = import_files("growing", [path])
        assert report.counts["comparisons"].added == rows, report

    def refresh(self):
        from leaderboard.refreshing import services

        with self.measured():
            assert services.refresh(self.study, anew=True).made


WORK: Final = {
    "refresh": "leaderboard computed anew",
    "first_claim": "first claim in a process",
    "claim": "claim of a pair",
    "answer": "answer with the next pair",
    "page": "leaderboard rendered anew",
    "kept_page": "leaderboard kept, sent again",
    "unchanged_page": "leaderboard not modified (304)",
    "home": "first page rendered anew",
    "list_of_studies": "rater's list of studies",
    "batch": f"{BATCH} ratings over the API",
    "judge_plan": "claim of a judge elsewhere, planning 32",
    "judge_claim": "claim of a judge elsewhere",
    "call_claim": "claim of a run elsewhere",
    "run_claim": "claim of a run here",
    "progress": "operator's progress page",
    "metrics": "/metrics",
    "export": "first 1,000 rows of an export",
    "imports": "import of 1,000 more ratings",
}
ONCE: Final = ("refresh", "first_claim", "imports")


def costs(work, meter, with_board, only):
    """The cost of each piece of work, by what it is called."""
    from django.conf import settings
    from django.utils.module_loading import import_string

    def sweep(path):
        with meter.measured():
            import_string(path)()

    found = {}
    pieces = {title: (name, getattr(work, name)) for name, title in WORK.items()}
    pieces |= {f"sweep: {path}": (path, lambda path=path: sweep(path)) for path in settings.SWEEPS}
    pieces |= {title: pieces.pop(title) for title in (WORK["export"], WORK["imports"])}  # they take longest
    for title, (name, do) in pieces.items():
        if only not in name or (name == "refresh" and not with_board):
            continue
        meter.cost = Cost()
        while len(meter.cost.read) < (1 if name in ONCE else RUNS + 1) and meter.cost.total() < LONG:
            do()
        found[title] = meter.cost.typical()
        print(f"  {title:<60} {found[title][0]:12,.1f} ms {found[title][1]:14,.1f} read", flush=True)
    return found


def exponent(values, sizes):
    """Of the growth from the first to the last; empty where there is next to nothing."""
    if len(values) < 2 or min(values) <= 0:
        return ""
    return f"{math.log(values[-1] / values[0]) / math.log(sizes[-1] / sizes[0]):.2f}"


def table(found):
    """Lines of Markdown: costs by size."""
    sizes = list(found)
    yield f"| | {' | '.join(f'{size:,}' for size in sizes)} | exponent of time | of what is read |"
    yield f"|---|{'--:|' * (len(sizes) + 2)}"
    for title in dict.fromkeys(title for costs in found.values() for title in costs):
        known = {size: costs[title] for size, costs in found.items() if title in costs}
        cells = [
            f"{known[size][0]:,.1f} ms, {known[size][1]:,.0f}" if size in known else "" for size in sizes
        ]
        slopes = [exponent([cost[place] for cost in known.values()], list(known)) for place in (0, 1)]
        yield f"| {title} | {' | '.join([*cells, *slopes])} |"


@contextmanager
def filling(connection):
    """Have PostgreSQL take copies of rows unchecked, index them at the end, and vacuum as it does in time."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("SET maintenance_work_mem = '1GB'")
        cursor.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND indexname NOT IN"
            " (SELECT conname FROM pg_constraint)"
        )
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f'DROP INDEX "{name}"')
        yield
        for _, definition in indexes:
            cursor.execute(definition)
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("VACUUM ANALYZE")


def measure(folder, sizes, boards, slow, only):
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection

    from leaderboard.refreshing.services import refresh
    from tests.benchmarks.growth_rows import GrowingStudy

    settings.ALLOWED_HOSTS = ["*"]
    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    grown = GrowingStudy()
    if "page" in (only or "page"):
        refresh(grown.study)  # so that there are pages
    meter = Meter(connection, slow)
    work = Work(grown, folder, meter)
    found = {}
    for size in sizes:
        began = time.perf_counter()
        with filling(connection):
            grown.grow(size)
        print(f"{grown.comparisons:,} comparisons after {time.perf_counter() - began:.0f} s", flush=True)
        found[size] = costs(work, meter, size <= boards, only)
    print("\n".join(table(found)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("database", choices=["sqlite", "postgresql"])
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--boards", type=int, default=100_000)
    parser.add_argument("--slow", type=float, default=0.0)
    parser.add_argument("--only", default="", help="only work whose name has this in it")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-growth-"))
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "arena.settings",
            "VAR_DIR": folder,
            "DATABASE_URL": f"sqlite:///{folder}/growth.sqlite3"
            if given.database == "sqlite"
            else stack.enter_context(postgresql()),
        }
        sizes = [int(size) for size in given.sizes.split(",")]
        measure(Path(folder), sizes, given.boards, given.slow, given.only)


if __name__ == "__main__":
    main()
