"""The judge worker: threads that claim, ask and deliver, while leases are renewed."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from judging.endpoints.client import Client, Reply, attempt, refusal
from judging.worker.arena import Arena, ArenaBusyError, JudgeInfo, Outcome, Task, WorkerError, check_unchanged
from judging.worker.arena_client import ArenaUnreachableError
from judging.worker.journal import Entry, Failure, Journal, JournalError

logger = logging.getLogger(__name__)

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 15.0  # seconds between two tries, doubled from one to the next
TICK: Final = 0.5  # seconds between two looks at the leases
PROGRESS_SECONDS: Final = 10.0  # seconds between two lines of progress


@dataclass
class Lease:
    """Renewed when a third of it has passed."""

    entry: Entry
    seconds: float
    since: float = field(default_factory=time.monotonic)

    def is_due(self) -> bool:
        return time.monotonic() - self.since > self.seconds / 3


class Worker:
    """Judges for one arena until stopped or, with ``drain``, until no work is left.

    Each thread delivers its assignment before it claims another, so while the arena is away at most one reply
    of each waits in the journal.
    """

    def __init__(
        self,
        arena: Arena,
        model: Client,
        journal: Journal,
        tell: Callable[[str], None],
        *,
        prompt_hash: str,
        concurrency: int,
        drain: bool,
    ) -> None:
        self._arena = arena
        self._model = model
        self._journal = journal
        self._tell = tell
        self._prompt_hash = prompt_hash
        self._drain = drain
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._leases: dict[str, Lease] = {}
        self._trouble = ""
        self._fatal: Exception | None = None
        self._told = time.monotonic()
        self.outcomes: Counter[Outcome] = Counter()
        self.was_refused = False  # by the endpoint, which pauses the run
        self._threads = [
            threading.Thread(target=self._guarded, name=f"judge-{number}", daemon=True)
            for number in range(1, concurrency + 1)
        ]

    def run(self) -> None:
        """Deliver what an earlier process left, then judge. Raises WorkerError or JournalError.

        Ctrl-C lets the calls under way come in; a second one leaves them to the journal.
        """
        left = list(self._journal.entries())
        if left:
            self._tell(f"Delivering {len(left)} replies of an earlier worker from {self._journal.folder}.")
        for entry in left:
            self._deliver(entry)
        for thread in self._threads:
            thread.start()
        try:
            self._watch()
        except KeyboardInterrupt:
            self.stop()
            self._tell(f"Stopping after {len(self._leases)} calls (press Ctrl-C again to stop now).")
            self._watch()
        if self._fatal:
            raise self._fatal

    def stop(self) -> None:
        self._stopping.set()

    def progress(self) -> str:
        count = self.outcomes
        shown = [outcome for outcome in Outcome if count[outcome]] or [Outcome.SCORED]
        return ", ".join(f"{count[outcome]} {outcome.value}" for outcome in shown)

    def _watch(self) -> None:
        while any(thread.is_alive() for thread in self._threads):
            next(thread for thread in self._threads if thread.is_alive()).join(TICK)
            with self._lock:
                due = [(name, lease) for name, lease in self._leases.items() if lease.is_due()]
            for name, lease in due:
                self._renew(name, lease)
            if time.monotonic() - self._told > PROGRESS_SECONDS and self.outcomes:
                self._told = time.monotonic()
                self._tell(f"{self.progress()}.")

    def _renew(self, name: str, lease: Lease) -> None:
        try:
            seconds = self._arena.renew(lease.entry)
        except (ArenaUnreachableError, ArenaBusyError, WorkerError) as error:
            self._mention(error)
            return
        with self._lock:
            if seconds is None:  # lost: the reply is still worth delivering, it may be the first to arrive
                self._leases.pop(name, None)
            elif name in self._leases:
                self._leases[name] = Lease(lease.entry, seconds)

    def _guarded(self) -> None:
        try:
            self._judge()
        except (WorkerError, JournalError) as error:
            self._fatal = self._fatal or error
            self.stop()
        except Exception as error:
            logger.exception("A thread of the judge worker failed")
            self._fatal = self._fatal or WorkerError(f"The judge worker failed: {type(error).__name__}.")
            self.stop()

    def _judge(self) -> None:
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            try:
                task = self._arena.claim()
                self._fine()
                if task:
                    self._work(task)
                    pause = FIRST_PAUSE
                    continue
                if self._drain and self._arena.look_up().runs == 0:
                    return
            except (ArenaUnreachableError, ArenaBusyError) as error:
                self._mention(error)
            self._stopping.wait(pause)
            pause = min(LONGEST_PAUSE, 2 * pause)

    def _work(self, task: Task) -> None:
        entry = task.entry
        try:
            check_unchanged(entry, self._prompt_hash)
            self._journal.write(entry)
        except (WorkerError, JournalError):
            self.stop()
            self._deliver(entry)  # nothing was asked: back with it
            raise
        with self._lock:
            self._leases[entry.assignment] = Lease(entry, task.lease)
        try:
            answered = self._ask(task)
            try:
                self._journal.write(answered)
            finally:  # even if the disk is full: the reply is in hand
                self._deliver(answered)
        finally:
            with self._lock:
                self._leases.pop(entry.assignment, None)

    def _ask(self, task: Task) -> Entry:
        result, seconds = attempt(
            lambda: self._model.ask(task.request), f"assignment {task.entry.assignment}"
        )
        if isinstance(result, Reply):
            return task.entry.replied(result, seconds)
        if why := refusal(result):
            self._tell(why)
            self.was_refused = True
        return task.entry.failed(Failure.of(result), seconds)

    def _deliver(self, entry: Entry) -> None:
        """Deliver until the arena takes it; once stopping, try only once."""
        pause = FIRST_PAUSE
        while True:
            try:
                outcome = self._arena.deliver(entry)
                self._fine()
                break
            except (ArenaUnreachableError, ArenaBusyError) as error:
                self._mention(error)
            if self._stopping.wait(pause):
                return
            pause = min(LONGEST_PAUSE, 2 * pause)
        with self._lock:
            self.outcomes[outcome] += 1
        if outcome is Outcome.REFUSED:
            kept = self._journal.refuse(entry)
            self._tell(f"The arena refuses the rating of {entry.assignment}. The reply is kept in {kept}.")
        else:
            self._journal.remove(entry)

    def _mention(self, error: Exception) -> None:
        """Tell of an error that is waited out, once in a row."""
        with self._lock:
            known, self._trouble = self._trouble, str(error)
        if str(error) != known:
            self._tell(f"{error}; trying again.")

    def _fine(self) -> None:
        self._trouble = ""


def look_up_patiently(arena: Arena, tell: Callable[[str], None]) -> JudgeInfo:
    """Waits until the arena answers; raises WorkerError."""
    pause, known = FIRST_PAUSE, ""
    while True:
        try:
            return arena.look_up()
        except (ArenaUnreachableError, ArenaBusyError) as error:
            if str(error) != known:
                tell(f"{error}; trying again.")
            known = str(error)
        time.sleep(pause)
        pause = min(LONGEST_PAUSE, 2 * pause)
