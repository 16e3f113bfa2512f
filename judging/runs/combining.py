"""Doing at once what many threads want at the same moment. Pure.

A transaction costs about the same for one row as for fifty. So threads hand their items in, and whoever comes
first does the work of all: while one batch is handled the next one gathers, so that batches are large exactly
when there is much to do, and one item alone waits for nobody. There is no thread of its own, which would have
to be watched and stopped (flat combining: Hendler, Incze, Shavit, Tzafrir 2010).
"""

from collections.abc import Callable, Sequence
from threading import Event, Lock
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Combiner(Generic[Item, Result]):
    """Hands the items of many threads to ``handle`` in batches, one batch at a time.

    handle gets up to ``most`` items in the order they came in and returns one result for each, in order;
    an exception among the results is raised in the thread of its item alone, one that handle raises in every
    thread of the batch. ``linger`` says how many seconds a batch waits for more items, less when it is full
    before. ``room`` waits until there is room for an item, and says for how many there is. handle must not
    hand in items itself.
    """

    def __init__(
        self,
        handle: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        *,
        most: int,
        linger: Callable[[], float] = lambda: 0.0,
        room: Callable[[], int] | None = None,
    ) -> None:
        if most < 1:
            raise ValueError("a batch must hold at least one item")
        self._handle, self._most, self._linger = handle, most, linger
        self._room = room or (lambda: most)
        self._lock = Lock()
        self._waiting: list[_Place[Item, Result]] = []
        self._is_led = False
        self._full = Event()

    def do(self, item: Item) -> Result:
        """The result for one item, once the batch it goes into is handled."""
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
            if place.outcome is UNKNOWN:
                self._lead()
        except BaseException:  # an interrupt of this thread: nobody may wait for it
            self._leave(place, leads)
            raise
        return place.result()

    def _lead(self) -> None:
        """Handle the next batch, in which this thread is the first, and let the next thread lead."""
        room = self._room()
        if seconds := self._linger():
            self._full.wait(seconds)
            room = self._room()
        with self._lock:
            batch = self._waiting[: min(self._most, room)]
            del self._waiting[: len(batch)]
            if len(self._waiting) < self._most:
                self._full.clear()
        try:
            outcomes = self._handle([place.item for place in batch])
            if len(outcomes) != len(batch):
                raise ValueError(f"{len(outcomes)} results for {len(batch)} items")
            for place, outcome in zip(batch, outcomes, strict=True):
                place.outcome = outcome
        except BaseException as error:
            for place in batch:
                place.outcome = error
            if not isinstance(error, Exception):
                raise
        finally:
            self._pass_on()
            for place in batch:
                place.told.set()

    def _pass_on(self) -> None:
        """Let the thread that waits longest lead."""
        with self._lock:
            following = self._waiting[0] if self._waiting else None
            self._is_led = following is not None
        if following:
            following.told.set()

    def _leave(self, place: "_Place[Item, Result]", leads: bool) -> None:
        """Take an item back whose thread was interrupted while it waited."""
        with self._lock:
            if place not in self._waiting:
                return
            self._waiting.remove(place)
        if leads or place.told.is_set():
            self._pass_on()


class _Unknown:
    """No outcome yet."""


UNKNOWN: Final = _Unknown()


class _Place(Generic[Item, Result]):
    """An item, and what came of it. ``told`` is set when that is known, or when its thread is to lead."""

    __slots__ = ("item", "outcome", "told")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.outcome: Result | BaseException | _Unknown = UNKNOWN
        self.told = Event()

    def result(self) -> Result:
        """The outcome, raised where it is an exception."""
        assert not isinstance(self.outcome, _Unknown)  # noqa: S101 - the batch was handled
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome
