"""The drill: a judge run over pairs, and everything that happens to it meanwhile."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from tests.faults.places import Place, Production
from tests.judging.endpoints.server import ChatServer

FLUSHED_AT = (0.02, 0.45, 0.8)
RESTARTED_AT = (0.3, 0.7)
WEB_STOPPED_AT = 0.55
"""Parts of the run after which a fault happens; the kills are spread over all of it."""

PATIENCE_SECONDS = 300.0
"""A run in which the model is asked nothing for so long has stalled: the drill ends, and its checks fail."""

Say = Callable[[str], None]
Fault = Callable[[], str]
"""Does something bad and says what there is to say about it."""


@dataclass
class Course:
    """What was done to a run: how often each fault, and how many calls were in flight at each.

    ended: at the end of the process that made them. kept: at a restart of the database, which may lose none.
    """

    faults: Counter[str] = field(default_factory=Counter)
    ended: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)


class Drill:
    """One run in one place, with ``kills`` killed workers and a web server that is away for a while."""

    def __init__(self, place: Place, model: ChatServer, *, calls: int, kills: int, away: float) -> None:
        self._place, self._model, self._calls, self._away = place, model, calls, away
        self._course = Course()
        self._web_back_at: float | None = None
        self._due = sorted(self._planned(kills), key=lambda fault: fault[0])

    def run(self, say: Say) -> Course:
        """Start the place, let everything happen, and wait for the end of the run."""
        moved = time.monotonic()
        self._place.start()
        seen = -1
        while self._due or self._web_back_at or not self._settled():
            self._bring_web_back(say)
            self._next_fault(say)
            if (asked := len(self._model.requests)) != seen:
                seen, moved = asked, time.monotonic()
            if time.monotonic() - moved > PATIENCE_SECONDS:
                say(f"nothing was asked for {PATIENCE_SECONDS:g} s; giving up")
                break
            time.sleep(0.1)
        say(f"the run is {self._place.run_state()}")
        return self._course

    def _settled(self) -> bool:
        """Whether the run has ended and its answers are on the board."""
        return self._place.run_state() == "finished" and not self._place.board_behind()

    def _planned(self, kills: int) -> Iterator[tuple[float, str, Fault]]:
        """Every fault with its name and the number of requests after which it happens."""
        for number in range(1, kills + 1):
            yield self._calls * number / (kills + 1), "worker killed", self._kill
        yield self._calls * WEB_STOPPED_AT, "web stopped", self._stop_web
        if isinstance(self._place, Production):
            yield from self._hurt_services(self._place)

    def _hurt_services(self, place: Production) -> Iterator[tuple[float, str, Fault]]:
        for part in FLUSHED_AT:
            yield self._calls * part, "Redis flushed", partial(self._flush, place)
        for part in RESTARTED_AT:
            yield self._calls * part, "PostgreSQL restarted", partial(self._restart, place)

    def _next_fault(self, say: Say) -> None:
        if not self._due or len(self._model.requests) < self._due[0][0]:
            return
        if self._web_back_at and self._place.web_is_worker:
            return
        _, name, fault = self._due.pop(0)
        told = fault()
        self._course.faults[name] += 1
        say(f"{len(self._model.requests)} requests: {name} ({told})")

    def _kill(self) -> str:
        return self._lost(self._place.kill_worker())

    def _stop_web(self) -> str:
        told = self._lost(self._place.stop_web())
        self._web_back_at = time.monotonic() + self._away
        return told

    def _lost(self, calls: int) -> str:
        self._course.ended.append(calls)
        return f"{calls} calls in flight"

    @staticmethod
    def _flush(place: Production) -> str:
        return f"{place.broker.flush()} messages"

    def _restart(self, place: Production) -> str:
        calls = place.in_flight()
        place.database.restart()
        self._course.kept.append(calls)
        return f"{calls} calls in flight"

    def _bring_web_back(self, say: Say) -> None:
        if self._web_back_at and time.monotonic() >= self._web_back_at:
            self._place.start_web()
            self._web_back_at = None
            say("the web server is back")
