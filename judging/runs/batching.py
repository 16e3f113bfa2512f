"""Combining what many threads want at the same moment into batches. Pure.

A transaction costs about the same for one row as for fifty. The first thread to come does the work of all
that wait (flat combining: Hendler, Incze, Shavit, Tzafrir 2010).
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Event, Lock
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Combiner(Generic[Item, Result]):
    """Hands items of many threads to ``handle``, up to ``most`` in a batch, one batch at a time.

    handle returns a result for each item, in order; an exception among them is raised in its item's thread,
    one that handle raises in all. linger: seconds that a batch waits to fill up. handle must not hand in
    items itself.
    """

    def __init__(
        self,
        handle: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        *,
        most: int,
        linger: Callable[[], float] = lambda: 0.0,
    ) -> None:
        if most < 1:
            raise ValueError("a batch must hold at least one item")
        self._handle, self._most, self._linger = handle, most, linger
        self._lock = Lock()
        self._waiting: list[_Place[Item, Result]] = []
        self._is_led = False
        self._full = Event()

    def do(self, item: Item) -> Result:
        place: _Place[Item, Result] = _Place(item)
        with self._lock:
            self._waiting.append(place)
            leads = not self._is_led
            self._is_led = True
            if len(self._waiting) >= self._most:
                self._full.set()
        try:
            if not leads:
                place.told.wait()
            if not place.outcome.done():
                self._lead()
        except BaseException:  # an interrupt of this thread: nobody may wait for it
            self._leave(place, leads)
            raise
        return place.outcome.result()

    def _lead(self) -> None:
        """Handle the next batch, then let the next thread lead."""
        if seconds := self._linger():
            self._full.wait(seconds)
        with self._lock:
            batch = self._waiting[: self._most]
            del self._waiting[: len(batch)]
            if len(self._waiting) < self._most:
                self._full.clear()
        try:
            outcomes = self._handle([place.item for place in batch])
            if len(outcomes) != len(batch):
                raise ValueError(f"{len(outcomes)} results for {len(batch)} items")
            for place, outcome in zip(batch, outcomes, strict=True):
                place.settle(outcome)
        except BaseException as error:
            for place in batch:
                place.settle(error)
            if not isinstance(error, Exception):
                raise
        finally:
            self._pass_on()
            for place in batch:
                place.told.set()

    def _pass_on(self) -> None:
        with self._lock:
            following = self._waiting[0] if self._waiting else None
            self._is_led = following is not None
        if following:
            following.told.set()

    def _leave(self, place: "_Place[Item, Result]", leads: bool) -> None:
        """Take back the item of an interrupted thread."""
        with self._lock:
            if place not in self._waiting:
                return
            self._waiting.remove(place)
        if leads or place.told.is_set():
            self._pass_on()


class _Place(Generic[Item, Result]):
    """``told`` is set when the outcome is known or the item's thread is to lead."""

    __slots__ = ("item", "outcome", "told")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.outcome: Future[Result] = Future()
        self.told = Event()

    def settle(self, outcome: Result | BaseException) -> None:
        if self.outcome.done():  # handed out before an interrupt came
            return
        if isinstance(outcome, BaseException):
            self.outcome.set_exception(outcome)
        else:
            self.outcome.set_result(outcome)
