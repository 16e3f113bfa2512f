"""The worker: claims calls, asks them in threads, and hands in what came back, in this arena or elsewhere.

One thread claims and hands in, so that a batch of calls is one transaction; the others only wait for models.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Final, Protocol

from django.db import InterfaceError, OperationalError, close_old_connections, connection

from judging.endpoints.client import NoReplyError, Reply, attempt

logger = logging.getLogger(__name__)

IDLE: Final = 0.25  # seconds between two looks at what is due while nothing ends
LONGEST_PAUSE: Final = 15.0  # seconds between two tries while the arena is away, doubled from one to the next
TOGETHER: Final = 0.03  # seconds in which other calls may end, to be handed in with the first
BATCH: Final = 16  # results handed in at once, so that free slots do not wait long for the next claim
THREADS: Final = 4  # for each slot: a door may hand out more calls than there are free slots


@dataclass(frozen=True)
class Task:
    """A claimed call. ``call``: its name at the door. ``lease``: seconds until it counts as abandoned."""

    call: Any
    ask: Callable[[], Reply]
    about: str
    lease: float


@dataclass(frozen=True)
class Ended:
    """A call with its result, and the seconds that it took."""

    call: Any
    result: Reply | NoReplyError
    seconds: float


class AwayError(Exception):
    """The arena cannot take this now, but may later; the message is a sentence."""


class Door(Protocol):
    """The way to one kind of calls. Both methods raise AwayError while the arena is away."""

    def claim(self, free: int) -> Sequence[Task]:
        """Calls to make, about as many as there are free slots; each is committed already."""

    def replied(self, ended: Sequence[Ended]) -> None:
        """Hand in results. Harmless when repeated."""


class Worker:
    """Asks with about so many calls in flight, until it is stopped."""

    def __init__(
        self, door: Door, slots: int, name: str = "judge", tell: Callable[[str], None] = logger.warning
    ) -> None:
        self._door, self._slots, self._tell = door, slots, tell
        self._pool = ThreadPoolExecutor(THREADS * slots, thread_name_prefix=f"asking-{name}")
        self._asking: dict[Future[Ended], float] = {}  # until when each may be handed in
        self._ended: list[tuple[Ended, float]] = []  # not handed in yet
        self._stopping = threading.Event()
        self._is_held_up = False  # while replies cannot be handed in, nothing more is asked
        self._trouble = ""
        self._thread = threading.Thread(target=self._run_on, name=f"worker-of-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 0.0) -> None:
        """Claim no more, and wait so many seconds for the calls in flight."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def in_flight(self) -> int:
        return len(self._asking) + len(self._ended)

    def run(self, is_over: Callable[[], bool] = lambda: False) -> None:
        """Work until stopped, or until nothing is in flight and due and ``is_over``."""
        pause = IDLE
        while self.in_flight or not self._stopping.is_set():
            try:
                did = self._step()
                self._trouble = ""
            except (AwayError, OperationalError, InterfaceError) as error:
                self._mention(error)
                did, pause = False, min(LONGEST_PAUSE, 2 * pause)
            else:
                pause = IDLE
                if not (did or self.in_flight) and is_over():
                    return
            lend_connection()
            if not did and not self._asking:
                (time.sleep if self._stopping.is_set() else self._stopping.wait)(pause)

    def _run_on(self) -> None:
        while self.in_flight or not self._stopping.is_set():
            try:
                self.run()
            except Exception:
                logger.exception("A worker failed; it goes on")
                self._stopping.wait(1)

    def _step(self) -> bool:
        """Hand in what has ended, then claim what there is room for; False if there was nothing to do."""
        self._collect()
        has_ended = bool(self._ended)
        if not self._asking:
            self._hand_in()
        is_claiming = not (self._stopping.is_set() or self._is_held_up)
        # While others are in flight before handing in, so that slots are free no longer than a claim takes.
        free = min(self._slots - len(self._asking), self._slots + BATCH - self.in_flight)
        tasks = self._door.claim(free) if is_claiming else ()
        for task in tasks:
            self._asking[self._pool.submit(_asked, task)] = time.monotonic() + task.lease
        self._hand_in()
        return has_ended or bool(tasks)

    def _collect(self) -> None:
        """Take what has ended out of what is being asked, waiting briefly for the first."""
        if not self._asking or not wait(self._asking, 0 if self._ended else IDLE, FIRST_COMPLETED).done:
            return
        if not (self._ended or all(each.done() for each in self._asking)):
            time.sleep(TOGETHER)
        for each in [each for each in self._asking if each.done()]:
            self._ended.append((each.result(), self._asking.pop(each)))

    def _hand_in(self) -> None:
        """Hand in, and try again at the next step what could not be; a reply too late is of no use."""
        now = time.monotonic()
        if not self._ended:
            return
        self._is_held_up = True
        try:
            self._door.replied([ended for ended, _ in self._ended[:BATCH]])
        except (AwayError, OperationalError, InterfaceError):
            self._ended = [(ended, until) for ended, until in self._ended if until > now]
            self._is_held_up = bool(self._ended)
            raise
        del self._ended[:BATCH]
        self._is_held_up = False

    def _mention(self, error: Exception) -> None:
        """Tell of trouble that is waited out, once in a row."""
        if str(error) != self._trouble:
            self._trouble = str(error)
            self._tell(f"{str(error).strip()}; trying again.")


def _asked(task: Task) -> Ended:
    return Ended(task.call, *attempt(task.ask, task.about))


def lend_connection() -> None:
    """Give the connection back to the pool, for those who need it while this thread waits."""
    if not connection.in_atomic_block:
        close_old_connections()
