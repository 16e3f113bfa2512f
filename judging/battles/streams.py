"""The answers that this process is being given, on their way from the threads that ask to the flusher."""

import threading
import time
from collections import deque
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from arena.texts.author_names import NameFinder
from arena.texts.self_naming import finder_of
from judging.battles.holding import Held, hold
from judging.endpoints.client import storable
from judging.endpoints.streaming import StoppedError
from judging.models import BattleCall

LONGEST: Final = 200_000  # characters of an answer, which is ended there


class Stream:
    """An answer as it comes. ``fault``: why it may not be shown, as a kind of failure."""

    def __init__(self, row: BattleCall, lasts: timedelta) -> None:
        self.row, self.fault = row, ""
        self._until = time.monotonic() + lasts.total_seconds()
        self._names: NameFinder | None = finder_of(row.author.contestant)
        self._pieces: deque[str] = deque()  # not looked at yet
        self._parts: list[str] = []
        self._length = 0
        self.is_stopped = False  # end the request with its next piece
        self.begun_at: datetime | None = None
        self.held = self.stored = Held()

    def take(self, piece: str) -> None:
        """Take a piece of the answer, in the thread that asks. Raises StoppedError."""
        self.begun_at = self.begun_at or timezone.now()
        self._pieces.append(piece)
        self._length += len(piece)
        if self.is_stopped or self._length > LONGEST:
            raise StoppedError

    @property
    def is_lost(self) -> bool:
        """True of one whose end should have been stored by now."""
        return time.monotonic() > self._until

    @property
    def text(self) -> str:
        """The answer so far."""
        while self._pieces:
            self._parts.append(self._pieces.popleft())
        self._parts = ["".join(self._parts)]
        return storable(self._parts[0])

    def look(self) -> bool:
        """Look at what has come since the last time; False if all that may be shown is stored."""
        if self._pieces:
            self.held = hold(self.held, self.text, self._names, is_complete=False)
        return self.held != self.stored

    def whole(self, text: str) -> Held:
        """What may be shown of the answer once all of it is there."""
        self.held = hold(self.held, text, self._names, is_complete=True)
        return self.held


class Streams:
    """All of this process, by the ids of their calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[int, Stream] = {}

    def add(self, stream: Stream) -> None:
        with self._lock:
            self._open[stream.row.pk] = stream

    def end(self, row: BattleCall) -> None:
        """Forget the stream of this attempt; one that was asked again since stays."""
        with self._lock:
            if (stream := self._open.get(row.pk)) and stream.row.attempt == row.attempt:
                del self._open[row.pk]

    def get(self, pk: int) -> Stream | None:
        return self._open.get(pk)

    def all(self) -> list[Stream]:
        """Those that are not lost, in the order of their calls."""
        with self._lock:
            self._open = {pk: each for pk, each in sorted(self._open.items()) if not each.is_lost}
            return list(self._open.values())
