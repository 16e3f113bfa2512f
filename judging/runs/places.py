"""Calls in flight, shared by the runs of a process: one whose endpoint hangs holds up no other."""

from collections import Counter, defaultdict, deque
from threading import Event, Lock
from typing import Final

from judging.runs.work import Asker

BUSY: Final = 8  # with so many calls in flight others are about to end
PATIENCE: Final = 2.0  # seconds that an assignment waits for a place


class Places:
    """Places for calls in flight. An asker's share is its own even while others hold every place.

    The share is an equal part for each endpoint, and of that for each of its runs, at least one.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._held: Counter[Asker] = Counter()
        self._waiting: dict[Asker, deque[Event]] = defaultdict(deque)  # first come, first let in
        self._lock = Lock()

    def enter(self, asker: Asker) -> bool:
        """Take a place, waiting briefly; False if there is none, or too many of the asker's threads wait."""
        let_in = Event()
        with self._lock:
            if self._is_crowded(asker):
                return False
            self._waiting[asker].append(let_in)
            self._let_in()
        try:
            let_in.wait(PATIENCE)
        finally:
            with self._lock:
                if not let_in.is_set():
                    self._leave(asker, let_in)
        return let_in.is_set()

    def take(self, asker: Asker, wanted: int) -> int:
        """Take up to this many places without waiting; returns how many."""
        with self._lock:
            taken = min(wanted, self._room(asker))
            self._held += Counter({asker: taken})
            return taken

    def give(self, back: Counter[Asker]) -> None:
        with self._lock:
            self._held -= back
            self._let_in()

    def _is_crowded(self, asker: Asker) -> bool:
        """Whether one more waiting thread would be one that other askers need."""
        is_alone = {asker, *self._held, *self._waiting} == {asker}
        return not is_alone and not self._room(asker) and len(self._waiting[asker]) > self._share(asker) // 2

    def _let_in(self) -> None:
        for asker in list(self._waiting):
            for _ in range(min(self._room(asker), len(self._waiting[asker]))):
                self._held[asker] += 1
                first = self._waiting[asker][0]
                self._leave(asker, first)
                first.set()

    def _leave(self, asker: Asker, waiting: Event) -> None:
        self._waiting[asker].remove(waiting)
        if not self._waiting[asker]:
            del self._waiting[asker]

    def _room(self, asker: Asker) -> int:
        return max(self._count - self._held.total(), self._share(asker) - self._held[asker], 0)

    def _share(self, asker: Asker) -> int:
        askers = {asker, *self._held}
        endpoints = {each.endpoint for each in askers}
        runs = sum(each.endpoint == asker.endpoint for each in askers)
        return max(self._count // len(endpoints) // runs, 1)

    @property
    def are_busy(self) -> bool:
        return self._held.total() >= BUSY
