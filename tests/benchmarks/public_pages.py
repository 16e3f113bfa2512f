"""How fast public pages are sent, kept and rendered anew, beside a bare view; on real processes.

    python -m tests.benchmarks.public_pages sqlite
    python -m tests.benchmarks.public_pages postgresql --seconds 3 --raters 30

The client is asyncio over loopback in this process, on the machine of the arena, and sends the next request
of a connection when it has read a whole reply. The bare view is /healthz. All addresses take turns in each of
three rounds, so that one round's neighbours on the machine slow all of them; the ratio of a page is the
median of its ratios in the rounds. With ``--raters`` people rate meanwhile, as in rating_load.
"""

import argparse
import asyncio
import json
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from threading import Event
from typing import Final

from tests.benchmarks.judging_load import NO_BOARDS, LoadedArena
from tests.benchmarks.rating_load import PAIRS_OF_A_PROMPT, SEED, Person
from tests.services.servers import postgresql, redis_server

BARE: Final = "/healthz"
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

    def percentile(self, share):
        return 1000 * sorted(self.seconds)[int(share * (len(self.seconds) - 1))]


async def _connection(port, address, until, sent):
    request = f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n".encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while time.perf_counter() < until:
            began = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.lower().split(b"\r\n")
            size = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
            await reader.readexactly(size)
            sent.seconds.append(time.perf_counter() - began)
            sent.failed += b" 200 " not in lines[0]
            if b"connection: close" in lines:
                writer.close()
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
    finally:
        writer.close()


def load(port, address, connections, seconds):
    """What so many connections were sent in so many seconds."""
    sent = Sent()

    async def run():
        until = time.perf_counter() + seconds
        await asyncio.gather(*(_connection(port, address, until, sent) for _ in range(connections)))

    began = time.perf_counter()
    asyncio.run(run())
    sent.lasted = time.perf_counter() - began
    return sent


@dataclass
class Measured:
    """By address the rates in each round, and the slowest hundredth in milliseconds."""

    rates: dict[str, list[float]] = field(default_factory=dict)
    slow: dict[str, float] = field(default_factory=dict)
    failed: int = 0

    def add(self, address, sent):
        self.rates.setdefault(address, []).append(sent.rate)
        self.slow[address] = max(self.slow.get(address, 0.0), sent.percentile(0.99))
        self.failed += sent.failed

    def __str__(self):
        lines = []
        for address, rates in self.rates.items():
            ratio = median(rate / bare for rate, bare in zip(rates, self.rates[BARE], strict=True))
            slow = f"99 % {self.slow[address]:5.0f} ms"
            lines.append(f"  {address:<48} {median(rates):6.0f} requests/s, {ratio:4.0%} of bare, {slow}")
        return "\n".join([*lines, f"  replies other than 200: {self.failed}"])


def measured(port, addresses, connections, seconds):
    found = Measured()
    for address in addresses:
        load(port, address, 1, 0.3)
    for _ in range(ROUNDS):
        for address in addresses:
            found.add(address, load(port, address, connections, seconds))
    return found


def measure(folder, database, *, seconds=2.0, raters=0, kept=True, processes=1):
    """Lines of what was measured with 8 and 200 connections, and of the raters meanwhile."""
    with ExitStack() as stack:
        environment = {"PAGE_CACHE_MB": "32" if kept else "0"}
        if database == "postgresql":
            environment |= {
                "DATABASE_URL": stack.enter_context(postgresql()),
                "BROKER_URL": stack.enter_context(redis_server()),
                "WEB_WORKERS": str(processes),
            }
        arena = LoadedArena(folder, **environment)
        arena.manage("collectstatic", "--noinput", "-v0")
        arena.manage("load_demo", "-v0")
        seed = SEED.format(
            prompts=2000 // PAIRS_OF_A_PROMPT, raters=max(raters, 1), wanted=3, pairing="balanced", hidden=0.0
        )
        accounts = json.loads(arena.manage("shell", "-v0", "-c", seed).splitlines()[-1])
        arena.manage("shell", "-v0", "-c", NO_BOARDS)
        model = arena.manage("shell", "-v0", "-c", MODEL).split()[-1]
        arena.start()
        stack.callback(arena.kill)
        port = int(arena.environment["PORT"])
        over = Event()
        people = [
            Person(number, port, user, session, 5.0, over)
            for number, (user, session) in enumerate(accounts[:raters])
        ]
        for person in people:
            person.start()
        addresses = [BARE, *(page.format(model=model) for page in PAGES)]
        for connections in (8, 200) if kept else (8,):
            yield f"{database}, {connections} connections, {'kept' if kept else 'each rendered anew'}:"
            yield str(measured(port, addresses, connections, seconds))
        over.set()
        for person in people:
            person.join(30.0)
        if people:
            taken = sorted(each for person in people for each in person.seen.seconds["submit"])
            trouble = [each for person in people for each in person.seen.trouble]
            slow = f"median {1000 * median(taken):.0f} ms, 95 % {1000 * taken[int(0.95 * len(taken))]:.0f} ms"
            yield f"  meanwhile {raters} raters: {len(taken)} ratings, {slow}, trouble: {trouble or 'none'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("database", choices=["sqlite", "postgresql"])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each address in each round")
    parser.add_argument("--raters", type=int, default=0, help="people who rate meanwhile")
    parser.add_argument("--processes", type=int, default=1, help="processes of the web, on PostgreSQL")
    given = vars(parser.parse_args())
    for kept in (True, False):
        with tempfile.TemporaryDirectory(prefix="arena-pages-") as folder:
            for line in measure(Path(folder), kept=kept, **given):
                print(line, flush=True)


if __name__ == "__main__":
    main()
