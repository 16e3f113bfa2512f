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
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from tests.benchmarks.judging_load import LoadedArena
from tests.benchmarks.rating_load import SEED, Person
from tests.services.servers import postgresql, redis_server

BARE: Final = "/healthz"
ROUNDS: Final = 3

MAKE: Final = """
from arena.demo.loading import *
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
