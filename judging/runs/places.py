"""Calls in flight, shared by the runs of a process: one whose endpoint hangs holds up no other."""

from collections import Counter
from threading import Condition
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
        self._waiting: Counter[Asker] = Counter()
        self._changed = Condition()

    def enter(self, asker: Asker) -> bool:
        """Take a place, waiting briefly; False if there is none, or too many of the asker's threads wait."""
        with self._changed:
            # They would use up the threads that others need.
            if not self._room(asker) and self._waiting[asker] > self._count // 4:
                return False
            self._waiting[asker] += 1
            try:
                has_room = self._changed.wait_for(lambda: self._room(asker) > 0, PATIENCE)
            finally:
                self._waiting -= Counter([asker])
            self._held += Counter({asker: int(has_room)})
            return has_room

    def take(self, asker: Asker, wanted: int) -> int:
        """Take up to this many places without waiting; returns how many."""
        with self._changed:
            taken = min(wanted, self._room(asker))
            self._held += Counter({asker: taken})
            return taken

    def give(self, back: Counter[Asker]) -> None:
        with self._changed:
            self._held -= back
            self._changed.notify_all()

    def _room(self, asker: Asker) -> int:
        askers = {asker, *self._held}
        endpoints = {each.endpoint for each in askers}
        runs = sum(each.endpoint == asker.endpoint for each in askers)
        share = max(self._count // len(endpoints) // runs, 1)
        return max(self._count - self._held.total(), share - self._held[asker], 0)

    @property
    def are_busy(self) -> bool:
        return self._held.total() >= BUSY
