"""What the garbage collector is spared, and how many heaps there are."""

import gc
import platform
import subprocess
import sys
from collections.abc import Iterator

import pytest

from arena.process.memory import YOUNG, spare_what_stays

HEAPS = """
import ctypes, threading
from arena.process.memory import leave_no_gaps
{}
started = threading.Barrier(4)
threads = [threading.Thread(target=lambda: (bytearray(100_000), started.wait())) for _ in range(3)]
for thread in threads: thread.start()
started.wait()
libc = ctypes.CDLL(None)
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


@pytest.fixture
def as_before() -> Iterator[None]:
    """This process gets its collector back."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("as_before")
def test_what_is_loaded_is_not_looked_at_again() -> None:
    kept = {"loaded": "long ago"}
    spare_what_stays()
    assert gc.get_freeze_count() > 0
    assert not any(each is kept for each in gc.get_objects())
    assert gc.get_threshold()[0] == YOUNG


@pytest.mark.usefixtures("as_before")
def test_cycles_that_come_later_are_collected() -> None:
    spare_what_stays()
    cycle: list[object] = []
    cycle.append(cycle)
    del cycle
    assert gc.collect() > 0


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone has heaps for threads")
def test_threads_share_one_heap() -> None:
    def heaps(begin: str) -> int:
        command = [sys.executable, "-c", HEAPS.format(begin)]
        return subprocess.run(command, capture_output=True, check=True).stdout.count(b"<heap nr=")

    assert (heaps(""), heaps("leave_no_gaps()")) == (4, 1)
