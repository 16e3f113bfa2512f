"""How fast public pages are sent, kept and rendered anew, beside a bare view; on real processes.

    python -m tests.benchmarks.public_pages sqlite
    python -m tests.benchmarks.public_pages postgresql --seconds 3 --raters 30

**Most at once**: 8 connections ask again at once, or one where each page is rendered anew. All addresses take
turns in each of three rounds, so that one round's neighbours on the machine slow all of them; the ratio of a
page to a view that does nothing is the median of its ratios in the rounds. What a page costs is the processor
time of the arena's web processes.

**Readers**: 200 connections stay open, and each asks for some page about once a second at a random time. A
request is timed from the moment it was due, so that one that had to wait for its turn counts as slow. With
``--raters`` people rate alone first, and then meanwhile, as in rating_load.

The client is asyncio over loopback in this process, on the machine of the arena.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from threading import Event
from typing import Final

from tests.benchmarks.judging_load import NO_BOARDS, LoadedArena, servers_of
from tests.benchmarks.rating_load import ARRIVAL_SECONDS, PAIRS_OF_A_PROMPT, SEED, Person

BARE: Final = "/bare"  # tests.benchmarks.bare.urls
ROUNDS: Final = 3

PAGES: Final = (
    "/",
    "/studies/demo-closed/",
    "/studies/demo-closed/agreement/",
    "/studies/demo-closed/contestants/{model}/",
    "/studies/demo-closed/standings.json",
)

MODEL: Final = """
from arena.models import Contestant
print(Contestant.objects.filter(study__slug="demo-closed", kind="model").order_by("pk")[0].slug)
"""


@dataclass
class Sent:
    seconds: list[float] = field(default_factory=list)
    failed: int = 0
    lasted: float = 0.0

    @property
    def rate(self):
        return len(self.seconds) / self.lasted

    def slow(self, *shares):
        there = sorted(self.seconds)
        return ", ".join(
            f"{100 * share:.0f} % {1000 * there[int(share * (len(there) - 1))]:.0f} ms" for share in shares
        )


class Connection:
    """Stays open; opened anew where the server closed it."""

    def __init__(self, port):
        self._port = port
        self._writer = None

    async def open(self):
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)

    async def ask(self, address):
        """Whether the reply, read to its end, is 200."""
        if self._writer is None:
            await self.open()
        request = f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n"
        self._writer.write(request.encode())
        lines = (await self._reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
        size = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
        await self._reader.readexactly(size)
        if b"connection: close" in lines:
            self.close()
        return b" 200 " in lines[0]

    def close(self):
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def load(port, address, connections, seconds):
    """What so many connections were sent in so many seconds, each asking again at once."""
    sent, until = Sent(), time.perf_counter() + seconds

    async def one():
        connection = Connection(port)
        while (began := time.perf_counter()) < until:
            sent.failed += not await connection.ask(address)
            sent.seconds.append(time.perf_counter() - began)
        connection.close()

    return _together(one, connections, sent)


def read(port, addresses, connections, seconds, every=1.0):
    """What so many readers were sent, each asking about once in ``every`` seconds, from when it was due."""
    sent, until = Sent(), time.perf_counter() + seconds

    async def one():
        connection, due = Connection(port), time.perf_counter()
        await connection.open()
        while (due := due + random.expovariate(1 / every)) < until:
            await asyncio.sleep(max(due - time.perf_counter(), 0.0))
            sent.failed += not await connection.ask(random.choice(addresses))
            sent.seconds.append(time.perf_counter() - due)
        connection.close()

    return _together(one, connections, sent)


def _together(one, connections, sent):
    async def run():
        await asyncio.gather(*(one() for _ in range(connections)))

    began = time.perf_counter()
    asyncio.run(run())
    sent.lasted = time.perf_counter() - began
    return sent


@dataclass
class Measured:
    """By address the rates in each round, and the milliseconds of processor time of a request."""

    rates: dict[str, list[float]] = field(default_factory=dict)
    costs: dict[str, list[float]] = field(default_factory=dict)
    failed: int = 0

    def add(self, address, sent, processor_seconds):
        self.rates.setdefault(address, []).append(sent.rate)
        self.costs.setdefault(address, []).append(1000 * processor_seconds / len(sent.seconds))
        self.failed += sent.failed

    def __str__(self):
        lines = []
        for address, rates in self.rates.items():
            ratio = median(rate / bare for rate, bare in zip(rates, self.rates[BARE], strict=True))
            cost = f"{median(self.costs[address]):5.1f} ms of processor time"
            lines.append(f"  {address:<48} {median(rates):6.0f} requests/s, {ratio:4.0%} of bare, {cost}")
        return "\n".join([*lines, f"  replies other than 200: {self.failed}"])


def most_at_once(arena, addresses, seconds, connections):
    found, port = Measured(), int(arena.environment["PORT"])
    for address in addresses:
        load(port, address, 1, 0.3)
    for _ in range(ROUNDS):
        for address in addresses:
            before, _ = arena.processor_seconds()
            sent = load(port, address, connections, seconds)
            found.add(address, sent, arena.processor_seconds()[0] - before)
    return found


class Raters:
    """People who rate until they are told to stop."""

    def __init__(self, port, accounts):
        self._over = Event()
        self._people = [
            Person(number, port, user, session, 5.0, self._over)
            for number, (user, session) in enumerate(accounts)
        ]
        for person in self._people:
            person.start()

    def _submits(self):
        return [list(person.seen.seconds["submit"]) for person in self._people]

    def during(self, what):
        """What ``what`` returns, and how long submitting took meanwhile."""
        before = self._submits()
        found = what()
        after = self._submits()
        taken = [each for old, new in zip(before, after, strict=True) for each in new[len(old) :]]
        times = Sent(taken).slow(0.5, 0.95) if taken else "none"
        return found, f"{len(self._people)} raters: {len(taken)} ratings, {times}"

    def stop(self):
        """What went wrong."""
        self._over.set()
        for person in self._people:
            person.join(30.0)
        return [each for person in self._people for each in person.seen.trouble]


def readers(arena, addresses, accounts, seconds, connections=200):
    """Lines about readers who each ask once a second, and the raters beside them."""
    port = int(arena.environment["PORT"])
    raters = Raters(port, accounts)
    if accounts:
        time.sleep(ARRIVAL_SECONDS)
        yield f"  alone, {raters.during(lambda: time.sleep(seconds))[1]}"
    for name, asked in (("the bare view", [BARE]), ("pages", addresses)):
        sent, rated = raters.during(lambda asked=asked: read(port, asked, connections, seconds))
        times = sent.slow(0.5, 0.95, 0.99)
        yield f"  {connections} readers of {name}: {sent.rate:.0f} requests/s, {times}; failed: {sent.failed}"
        if accounts:
            yield f"  meanwhile, {rated}"
    if accounts:
        yield f"  trouble of raters: {raters.stop() or 'none'}"


def started(stack, folder, database, *, raters, kept, processes):
    """A running arena with the demo studies and one to rate, accounts of raters, and addresses of pages."""
    environment = {
        "PAGE_CACHE_MB": "32" if kept else "0",
        "DJANGO_SETTINGS_MODULE": "tests.benchmarks.bare.settings",
    }
    if servers := servers_of(stack, database):
        environment |= servers | {"WEB_WORKERS": str(processes)}
    arena = LoadedArena(folder, **environment)
    arena.manage("collectstatic", "--noinput", "-v0")
    arena.manage("load_demo", "-v0")
    seed = SEED.format(
        prompts=2000 // PAIRS_OF_A_PROMPT, raters=max(raters, 1), wanted=3, pairing="balanced", hidden=0.0
    )
    accounts = json.loads(arena.run(seed).splitlines()[-1])
    arena.run(NO_BOARDS)
    model = arena.run(MODEL).split()[-1]
    arena.start()
    stack.callback(arena.kill)
    return arena, accounts[:raters], [page.format(model=model) for page in PAGES]


def measure(folder, database, *, seconds=2.0, raters=0, kept=True, processes=1):
    with ExitStack() as stack:
        arena, accounts, addresses = started(
            stack, folder, database, raters=raters, kept=kept, processes=processes
        )
        yield f"{database}, {'kept' if kept else 'each rendered anew'}:"
        # What a page costs is told by one connection: several take turns.
        yield str(most_at_once(arena, [BARE, *addresses], seconds, connections=8 if kept else 1))
        if kept:
            yield from readers(arena, addresses, accounts, 10 * seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("database", choices=["sqlite", "postgresql"])
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="for an address in a round; readers: tenfold"
    )
    parser.add_argument("--raters", type=int, default=0, help="people who rate meanwhile")
    parser.add_argument("--processes", type=int, default=1, help="processes of the web, on PostgreSQL")
    given = vars(parser.parse_args())
    sys.setswitchinterval(0.001)  # threads of raters must not keep readers waiting here
    for kept in (True, False):
        with tempfile.TemporaryDirectory(prefix="arena-pages-") as folder:
            for line in measure(Path(folder), kept=kept, **given):
                print(line, flush=True)


if __name__ == "__main__":
    main()
