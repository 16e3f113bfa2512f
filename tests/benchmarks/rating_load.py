"""Many raters at once: how long they wait, and whether each answer is stored exactly once; on real processes.

    python -m tests.benchmarks.rating_load postgresql --raters 100 --seconds 60
    python -m tests.benchmarks.rating_load postgresql --raters 100 --seconds 60 --pairs 300

The raters are simulated: threads of this process that send what the rating page's script sends. They think
about a pair, answer, and fetch the pair after the next one; now and then one skips, flags, takes the last
answer back, sends an answer twice, or goes offline for longer than the lease and answers then.
Client, arena and database share the machine. At the end the rows are compared with what was sent.
"""

import argparse
import json
import random
import re
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from statistics import median
from threading import Event, Thread
from typing import Any, Final
from urllib.parse import urlencode

from tests.benchmarks.judging_load import NO_BOARDS, TEXTS, LoadedArena, servers_of

LEASE_SECONDS: Final = 12.0
PAIRS_OF_A_PROMPT: Final = 10
ARRIVAL_SECONDS: Final = 15.0
"""In which all raters have opened the page for the first time."""

SKIPS, FLAGS, UNDOES, SENDS_TWICE, GOES_OFFLINE = 0.03, 0.01, 0.03, 0.03, 0.02
"""How often a simulated rater does so, for each pair."""

SEED: Final = f"""
import json
from django.test import Client
from django.utils import timezone
from arena.models import Membership
from tests.factories import make_rater, make_study, make_user
study = make_study(
    slug="pairs", simulated=True, ratings_per_pair_people={{wanted}}, pairing="{{pairing}}",
    repeat_share={{hidden}}, gold_share={{hidden}},
)
{TEXTS}
found = []
for number in range({{raters}}):
    user = make_user(username=f"simulated-{{{{number}}}}", password=None)
    rater = make_rater(user=user, simulated=True)
    Membership.objects.create(study=study, rater=rater, guidelines_read_at=timezone.now())
    client = Client()
    client.force_login(user)
    found.append([user.pk, client.cookies["sessionid"].value])
print(json.dumps(found))
"""

ROWS: Final = """
import json
from arena.models import Assignment, Comparison, Flag, Pair
print(json.dumps({
    "current": list(Comparison.objects.current().values_list(
        "assignment__public_id", "rating", "pair", "rater", "purpose", "is_late", "swapped")),
    "counted": list(Pair.objects.values_list("pk", "people_ratings")),
    "states": list(Assignment.objects.values_list("state", flat=True)),
    "flags": Flag.objects.count(),
    "all": Comparison.objects.count(),
}))
"""


@dataclass
class Seen:
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    answers: dict[str, int] = field(default_factory=dict)
    did: Counter[str] = field(default_factory=Counter)
    trouble: list[str] = field(default_factory=list)


class Person(Thread):
    def __init__(self, number, port, user, session, think, over):
        super().__init__(daemon=True)
        self.seen = Seen()
        self._rng = random.Random(number)
        self._port, self._user, self._session = port, user, session
        self._think, self._over = think, over
        self._token = ""
        self._connection: HTTPConnection | None = None

    def run(self):
        self._over.wait(self._rng.uniform(0, ARRIVAL_SECONDS))
        try:
            self._token = self._ask("token", "GET", "/account/token/")["token"]
            while not self._over.is_set():
                on_screen = self._ask("page", "GET", "/rate/pairs/")["assignment"]
                while on_screen and not self._over.is_set():
                    on_screen = self._one_pair(on_screen)
                self._over.wait(1.0)
        except Exception as error:  # told at the end
            self.seen.trouble.append(repr(error))

    def _one_pair(self, on_screen):
        """Do what a person does with a pair; the one that is on screen then."""
        address = f"/rate/pairs/next/?after={on_screen}&seen=0.1"
        ready = str(self._ask("ahead", "GET", address)["assignment"])
        if self._over.wait(self._rng.expovariate(1 / self._think)):
            return ""  # or all of them would answer at the same moment
        chance = self._rng.random()
        if chance < SKIPS:
            self._send("skip", on_screen)
        elif chance < SKIPS + FLAGS:
            self._send("flag", on_screen, reason="other", comment="A simulated flag.")
        else:
            if chance > 1 - GOES_OFFLINE:
                self.seen.did["offline"] += 1
                time.sleep(LEASE_SECONDS * self._rng.uniform(1.2, 2.0))
            self._answer(on_screen)
            if self._rng.random() < SENDS_TWICE:
                self._answer(on_screen, self.seen.answers[on_screen])
        if self._rng.random() < UNDOES:
            again = str(self._send("undo", "").get("assignment", ""))
            if again:
                self._answer(again)
        return ready

    def _answer(self, assignment, rating=None):
        rating = rating or self._rng.randint(1, 8)
        reply = self._send("submit", assignment, rating=rating, seconds=1)
        if reply["status"] in ("stored", "same"):
            self.seen.answers[assignment] = rating
        else:
            self.seen.trouble.append(str(reply))

    def _send(self, what, assignment, **more):
        self.seen.did[what] += 1
        path = "/rate/pairs/" if what == "submit" else f"/rate/pairs/{what}/"
        return self._ask(what, "POST", path, {"assignment": assignment, "rater": self._user, **more})

    def _ask(self, what, method, path, form=None):
        headers = {
            "Accept": "application/json",
            "Cookie": f"sessionid={self._session}; csrftoken={self._token[:32]}",
        }
        body = None
        if form is not None:
            body = urlencode({**form, "csrfmiddlewaretoken": self._token})
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        while True:
            started = time.perf_counter()
            try:
                status, sent, text = self._exchange(method, path, body, headers)
            except (OSError, HTTPException):
                # An idle connection was closed by the server: the page's script would send again as well.
                self.seen.did["connected again"] += 1
                self._connection = None
                continue
            self.seen.seconds[what].append(time.perf_counter() - started)
            break
        if status >= 500 or status in (401, 403):
            raise RuntimeError(f"{method} {path}: {status} {text[:200]}")
        if what == "token":
            found = re.search(r"csrftoken=(\w+)", sent)
            assert found
            return {"token": found[1]}
        return json.loads(text) if text else {}

    def _exchange(self, method, path, body, headers):
        self._connection = self._connection or HTTPConnection("127.0.0.1", self._port, timeout=30)
        self._connection.request(method, path, body, headers)
        reply = self._connection.getresponse()
        return reply.status, reply.headers.get("Set-Cookie", ""), reply.read().decode()


@dataclass
class Load:
    people: list[Seen]
    rows: dict[str, Any]
    wanted: int
    pairs: int
    seconds: float
    processor: float

    def problems(self):
        for seen in self.people:
            yield from seen.trouble
        stored = {name: rating for name, rating, *_ in self.rows["current"]}
        sent = {name: rating for seen in self.people for name, rating in seen.answers.items()}
        lost = [name for name, rating in sent.items() if stored.get(name) != rating]
        made_up = [name for name in stored if name not in sent]
        if lost or made_up:
            yield f"{len(lost)} answers were lost or changed, {len(made_up)} were never sent"
        ratings, in_time = Counter[int](), Counter[int]()
        twice = Counter[tuple[int, int, str]]()
        for _, _, pair, rater, purpose, is_late, _ in self.rows["current"]:
            twice[pair, rater, purpose] += 1
            if purpose == "study":
                ratings[pair] += 1
                in_time[pair] += not is_late
        if max(twice.values(), default=0) > 1:
            yield "somebody rated a pair twice"
        if over := [pair for pair, n in in_time.items() if n > self.wanted]:
            yield f"{len(over)} pairs have more ratings in time than were wanted"
        if wrong := [pair for pair, n in self.rows["counted"] if ratings[pair] != n]:
            yield f"{len(wrong)} pairs are counted wrongly"

    def __str__(self):
        taken: dict[str, list[float]] = defaultdict(list)
        did = Counter[str]()
        for seen in self.people:
            did += seen.did
            for what, some in seen.seconds.items():
                taken[what] += some
        lines = [f"{len(self.people)} simulated raters for {self.seconds:.0f} s, {self.pairs:,} pairs"]
        lines[0] += (
            f" wanting {self.wanted} ratings each; {len(taken['submit']) / self.seconds:.1f} answers/s"
        )
        lines.append(f"  processor time of the web: {self.processor / self.seconds:.2f} cores")
        for what in ("submit", "ahead", "skip", "flag", "undo", "page"):
            some = sorted(taken[what])
            if some:
                at = [some[min(len(some) - 1, int(len(some) * share))] for share in (0.95, 0.99)]
                lines.append(
                    f"  {what:<7} {len(some):>6} requests: median {1000 * median(some):4.0f} ms, "
                    f"95 % {1000 * at[0]:4.0f} ms, 99 % {1000 * at[1]:4.0f} ms, "
                    f"most {1000 * some[-1]:4.0f} ms"
                )
        lines.append("  " + ", ".join(f"{what} {times}" for what, times in sorted(did.items())))
        current = self.rows["current"]
        given = Counter(n for _, n in self.rows["counted"])
        given[0] += self.pairs - sum(given.values())
        late = sum(is_late for *_, is_late, _ in current)
        over = sum(max(0, n - self.wanted) * pairs for n, pairs in given.items())
        lines.append(
            f"  {len(current)} answers stand ({self.rows['all']} rows with revised ones), "
            f"{dict(Counter(purpose for *_, purpose, _, _ in current))}; "
            f"swapped {sum(swapped for *_, swapped in current) / max(1, len(current)):.1%}; "
            f"flags {self.rows['flags']}; {dict(Counter(self.rows['states']))}"
        )
        lines.append(
            f"  pairs by number of ratings: {dict(sorted(given.items()))}; late answers {late}, "
            f"ratings beyond the {self.wanted} wanted {over}"
        )
        lines.append("  problems: " + ("; ".join(sorted(set(self.problems()))) or "none"))
        return "\n".join(lines)


def measure(
    folder,
    *,
    database,
    raters=100,
    seconds=60.0,
    pairs=2000,
    wanted=3,
    think=3.0,
    pairing="balanced",
    hidden=0.0,
    boards=False,
    processes=2,
):
    """Let so many simulated raters rate for a while, and count what came of it."""
    with ExitStack() as stack:
        environment = {
            "LEASE_MINUTES": str(LEASE_SECONDS / 60),
            "SWEEP_SECONDS": "2",
            "WORKER_CONCURRENCY": "2",
        }
        if servers := servers_of(stack, database):
            environment |= servers | {"WEB_WORKERS": str(processes)}
        arena = LoadedArena(folder, **environment)
        arena.manage("collectstatic", "--noinput", "-v0")
        seed = SEED.format(
            prompts=pairs // PAIRS_OF_A_PROMPT, raters=raters, wanted=wanted, pairing=pairing, hidden=hidden
        )
        accounts = json.loads(arena.run(seed).splitlines()[-1])
        if not boards:
            arena.run(NO_BOARDS)
        arena.start()
        stack.callback(arena.kill)
        over = Event()
        port = int(arena.environment["PORT"])
        people = [
            Person(number, port, user, session, think, over)
            for number, (user, session) in enumerate(accounts)
        ]
        before, began = arena.processor_seconds()[0], time.monotonic()
        for person in people:
            person.start()
        time.sleep(seconds)
        over.set()
        for person in people:
            person.join(LEASE_SECONDS * 3)
        processor, lasted = arena.processor_seconds()[0] - before, time.monotonic() - began
        rows = json.loads(arena.run(ROWS))
        return Load([person.seen for person in people], rows, wanted, pairs, lasted, processor)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("database", choices=["sqlite", "postgresql"])
    parser.add_argument("--raters", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--wanted", type=int, default=3, help="ratings wanted for each pair")
    parser.add_argument(
        "--think", type=float, default=3.0, help="seconds a rater thinks about a pair on average"
    )
    parser.add_argument("--pairing", choices=["balanced", "adaptive"], default="balanced")
    parser.add_argument("--hidden", type=float, default=0.0, help="share of repeats, and of checks")
    parser.add_argument("--boards", action="store_true", help="compute boards meanwhile, as arenas do")
    parser.add_argument("--processes", type=int, default=2, help="processes of the web, on PostgreSQL")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="arena-load-") as folder:
        print(f"{given.database}: {measure(Path(folder), **vars(given))}")


if __name__ == "__main__":
    main()
