"""What is known of an import while it runs: how far it is, that a worker is at it, that it is to stop.

Kept in the cache, not in the database: on SQLite the import's own transaction keeps every other writer out.
All of it may be forgotten, also because the cache is away; what counts is the state in the job's row.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from django.core.cache import cache

logger = logging.getLogger(__name__)

BEAT_SECONDS: Final = 5
ALIVE_SECONDS: Final = 30
"""A worker that was not heard of for this long is taken for dead."""

KEPT_SECONDS: Final = 24 * 3600


@dataclass(frozen=True)
class Progress:
    """How far a check or an import has come; ``share`` is that of all bytes, 0 to 1."""

    share: float = 0.0
    records: int = 0
    file: str = ""

    @property
    def percent(self) -> int:
        return int(100 * self.share)


def begin(job: int) -> None:
    """Forget how far the job had come, and an earlier wish to stop."""
    _try(lambda: cache.delete_many([_key(job, "progress"), _key(job, "stop")]))


def tell(job: int, progress: Progress) -> None:
    _try(lambda: cache.set(_key(job, "progress"), progress, KEPT_SECONDS))


def progress_of(job: int) -> Progress:
    found = _try(lambda: cache.get(_key(job, "progress")))
    return found if isinstance(found, Progress) else Progress()


def ask_to_stop(job: int) -> None:
    _try(lambda: cache.set(_key(job, "stop"), True, KEPT_SECONDS))


def is_to_stop(job: int) -> bool:
    return bool(_try(lambda: cache.get(_key(job, "stop"))))


def has_runner(job: int) -> bool:
    """Whether a worker says that it is at this job."""
    return bool(_try(lambda: cache.get(_key(job, "runner"))))


def first_nudge(job: int) -> bool:
    """Whether nobody asked the workers for this job lately; to be asked by whoever wants to."""
    return bool(_try(lambda: cache.add(_key(job, "nudged"), True, ALIVE_SECONDS), default=True))


@contextmanager
def runner(job: int) -> Iterator[bool]:
    """Whether this worker may take the job: no other one is at it. While inside, this one says so."""
    key = _key(job, "runner")
    if not _try(lambda: cache.add(key, True, ALIVE_SECONDS), default=True):
        yield False
        return
    done = threading.Event()

    def beat() -> None:
        while not done.wait(BEAT_SECONDS):
            _try(lambda: cache.set(key, True, ALIVE_SECONDS))

    thread = threading.Thread(target=beat, name=f"import-{job}", daemon=True)
    thread.start()
    try:
        yield True
    finally:
        done.set()
        thread.join()
        _try(lambda: cache.delete_many([key, _key(job, "nudged")]))


def _key(job: int, what: str) -> str:
    return f"import-{job}-{what}"


def _try(ask: Callable[[], Any], default: Any = None) -> Any:
    """The cache's answer; the default where the cache is away, which must not end an import."""
    try:
        return ask()
    except Exception as error:
        logger.warning("The cache does not answer: %s", error)
        return default
