"""Waiting for what other threads and processes bring about, and saying how long something may take."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def eventually(found: Callable[[], T], seconds: float = 300, every: float = 0.02) -> T:
    """Return what is found, once it is something. Raises AssertionError where it is nothing for so long."""
    deadline = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < deadline, "did not come about in time"
        time.sleep(every)
    return value


@contextmanager
def quickly(seconds: float = 1.0) -> Iterator[None]:
    """Fail where what is done takes longer of the processor, as what grows with a square soon does."""
    started = time.process_time()
    yield
    assert time.process_time() - started < seconds
