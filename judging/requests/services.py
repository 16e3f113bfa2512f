"""Requests that stand for themselves: proposals of requirements, answers that models write.

A row is a request. It is claimed, committed, asked, and its reply committed with what it brings, so a
committed reply is never asked for again. What was in flight when a process died is counted as abandoned, at
the most that it can have cost, and asked again.
"""

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Lock
from typing import Final, Generic, TypeVar

from django.conf import settings
from django.db import close_old_connections, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from arena.texts.dialogue import Message
from judging.endpoints.client import NoReplyError, Reply, RetryPolicy, attempt, refusal
from judging.judges.asked import AskedModel
from judging.models import Outage
from judging.models.requests import StandingRequest
from judging.runs import limiting
from judging.runs.calls import this_worker
from judging.runs.committing import retry_until
from judging.runs.lifecycle import FAILED_ALIKE, failed_alike
from judging.runs.limiting import EndedCall, Limits
from judging.runs.summary import kind_of_failure
from judging.spending.budgets import HOW_TO_ASK_AGAIN, why_no_more
from judging.spending.purses import prices_of, reserve, settle

State = StandingRequest.State
Row = TypeVar("Row", bound=StandingRequest)

FOR_OTHERS: Final = timedelta(seconds=10)  # until calls in flight may have left a budget more room
LONGEST: Final = timedelta(minutes=5)  # that a thread goes on; a broker gives its message to others after 15
SOON: Final = 2.0  # seconds that a thread waits for its endpoint, instead of leaving that to the next sweep
LONGEST_ERROR: Final = 600
MOST_ABANDONED: Final = 10  # attempts of a request, which may be what stops the process


class Requests(ABC, Generic[Row]):
    """One kind of requests."""

    rows: type[Row]
    endpoint: str
    """The path from a row to its endpoint."""

    needed: tuple[str, ...]
    """What asking about a row reads beside it."""

    queue: str
    """Whose slots its threads take."""

    about: str
    """What a request is, in logs."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._at_work = 0
        self._taken: set[int] = set()

    @abstractmethod
    def asked(self, row: Row) -> AskedModel: ...

    @abstractmethod
    def messages(self, row: Row) -> list[Message]: ...

    @abstractmethod
    def keep(self, row: Row, reply: Reply) -> None:
        """Store what a reply brings, in the transaction that commits it."""

    @abstractmethod
    def alike(self, row: Row) -> QuerySet[Row]:
        """The requests that what keeps this one from being asked keeps, too."""

    @abstractmethod
    def nudge(self, threads: int) -> None:
        """Have so many threads work on them."""

    def why_not(self, row: Row) -> str:
        """Why a claimed row is not to be asked any more; "" if it is."""
        return ""

    def note(self, row: Row, model: AskedModel, messages: list[Message]) -> None:
        """Note in a row what is asked."""
        row.messages, row.model = messages, model.model

    def ask_soon(self, waiting: int) -> None:
        """Have threads work on so many requests, beside those of this process that do already."""
        free = settings.QUEUES[self.queue] - self._at_work
        if count := min(waiting, free):
            self.nudge(count)

    def sweep(self, now: datetime | None = None) -> int:
        """Ask again what a dead process asked, and see that the rest is asked; how many wait."""
        now = now or timezone.now()
        self._abandon(self.rows._default_manager.filter(state=State.IN_FLIGHT, deadline__lte=now))
        due = self._due().count()
        self.ask_soon(due)
        return due

    def abandon_orphans(self) -> int:
        """Ask again what a former process asked, for the start of an arena whose only worker is this one."""
        return self._abandon(self.rows._default_manager.filter(state=State.IN_FLIGHT))

    def _abandon(self, lost: QuerySet[Row]) -> int:
        return sum(self._abandon_one(pk, lost) for pk in lost.order_by("pk").values_list("pk", flat=True))

    @transaction.atomic
    def _abandon_one(self, pk: int, lost: QuerySet[Row]) -> bool:
        row = lost.filter(pk=pk).select_for_update(of=("self",), no_key=True).first()
        if row is None:
            return False
        row.state, row.due_at, row.abandoned = State.WAITING, timezone.now(), row.abandoned + 1
        _settle(row)
        if row.abandoned >= MOST_ABANDONED:
            _refuse(row, "The arena stopped each time before the reply was stored.")
        row.save()
        return True

    def work_off(self, is_stopping: Callable[[], bool] = bool) -> int:
        """Ask what is due, one after the other, until there is nothing or the process stops; how many."""
        until, asked = timezone.now() + LONGEST, 0
        waits: dict[int, float] = {}  # seconds, by endpoint
        with self._lock:
            self._at_work += 1
        try:
            while timezone.now() < until and not is_stopping():
                row = self._next(waits)
                if row is not None:
                    asked += self._ask_once(row, waits)
                elif 0 < (shortest := min(waits.values(), default=0.0)) <= SOON:
                    _lend_connection()
                    time.sleep(shortest)
                    waits = {pk: wait for pk, wait in waits.items() if wait > SOON}
                else:
                    return asked
        finally:
            with self._lock:
                self._at_work -= 1
        self.nudge(1)  # what is left gets a thread of its own
        return asked

    def _due(self) -> QuerySet[Row]:
        return self.rows._default_manager.filter(state=State.WAITING, due_at__lte=timezone.now())

    def _next(self, closed: dict[int, float]) -> Row | None:
        """The first that is due, except those of other threads and of endpoints that cannot be asked now."""
        due = self._due().exclude(**{f"{self.endpoint}__in": list(closed)}).order_by("due_at", "pk")
        with self._lock:
            row = due.exclude(pk__in=self._taken).select_related(*self.needed).first()
            if row is not None:
                self._taken.add(row.pk)
        return row

    def _ask_once(self, row: Row, waits: dict[int, float]) -> bool:
        try:
            model = self.asked(row)
            wait, asked = self._ask(row, model)
            if wait:
                waits[model.endpoint.pk] = wait
            return asked
        finally:
            with self._lock:
                self._taken.discard(row.pk)

    def _ask(self, row: Row, model: AskedModel) -> tuple[float, bool]:
        """Seconds until its endpoint can be asked, and whether it was."""
        messages = self.messages(row)
        is_claimed, wait = self._claim(row, messages, model)
        if not is_claimed:
            return wait, False
        started = timezone.now()
        _lend_connection()
        result, _ = attempt(lambda: self.ask(row, model, messages), f"{self.about} {row.pk}")
        ended = EndedCall(row, model, started, result)
        retry_until(partial(self._end, row, ended), timezone.now() + model.lease)
        return 0.0, True

    def ask(self, row: Row, model: AskedModel, messages: list[Message]) -> Reply:
        return model.client().ask(model.request(messages))

    def _held(self, row: Row) -> QuerySet[Row]:
        """A request, locked from now on."""
        rows = self.rows._default_manager.filter(pk=row.pk).select_related(*self.needed)
        return rows.select_for_update(of=("self",), no_key=True)

    def _claim(self, row: Row, messages: list[Message], model: AskedModel) -> tuple[bool, float]:
        """Tell whether this process asks, within limits and budgets, else the seconds until the next try."""
        with transaction.atomic():
            held = self._held(row).filter(state=State.WAITING, attempt=row.attempt).first()
            if held is None:
                return False, 0.0
            if why := self.why_not(held):
                _refuse(held, why)
                return False, 0.0
            self.note(held, model, messages)
            limits = Limits([model])
            if wait := limits.start(held, model, model.lease):
                held.due_at = timezone.now() + timedelta(seconds=wait)
                held.save(update_fields=["due_at"])
                return False, wait
            [price] = prices_of([model])
            granted = reserve([(held, model)])[held.payer]
            if granted.count:
                limits.save()
                row.attempt = held.attempt = held.attempt + 1
                row.rate_limit = held.rate_limit
                held.state, held.deadline = State.IN_FLIGHT, timezone.now() + model.lease
                held.worker = this_worker()
                held.currency = price.currency if price else ""
            elif why := why_no_more(granted, HOW_TO_ASK_AGAIN):
                _refuse(held, why)
            else:
                held.due_at = timezone.now() + FOR_OTHERS
            held.save()
        if why:
            self._refuse_alike(row, why)
        return bool(granted.count), 0.0

    def _end(self, row: Row, ended: EndedCall) -> None:
        if isinstance(ended.result, Reply):
            self._commit(row, ended, ended.result)
        else:
            self._put_back(row, ended, ended.result)

    @transaction.atomic
    def _commit(self, row: Row, ended: EndedCall, reply: Reply) -> None:
        # One that comes after its deadline is kept, too, unless it was asked for again.
        held = self._held(row).filter(state__in=[State.IN_FLIGHT, State.WAITING], attempt=row.attempt).first()
        if held is None:
            return
        is_late = held.state == State.WAITING  # and counted as if it had cost the most it could
        held.state, held.finished_at = State.REPLIED, timezone.now()
        held.raw_reply, held.finish_reason = reply.text or reply.refusal, reply.finish_reason
        held.prompt_tokens, held.completion_tokens = reply.prompt_tokens, reply.completion_tokens
        held.reasoning_tokens = reply.reasoning_tokens
        held.error = held.error_kind = ""
        self.keep(held, reply)
        limiting.end([ended])
        if not is_late:
            _settle(held)
        held.save()

    def _put_back(self, row: Row, ended: EndedCall, error: NoReplyError) -> None:
        """Ask again later, or give up; about everything alike, if no request can succeed."""
        said = refusal(error) or f"{kind_of_failure(error.kind)}: {error}"
        with transaction.atomic():
            held = self._held(row).filter(state=State.IN_FLIGHT, attempt=row.attempt).first()
            if held:
                [outage] = limiting.end([ended])
                held.failures += outage is None
                held.state, held.error_kind, held.error = State.FAILED, error.kind, said[:LONGEST_ERROR]
                _settle(held)
                if again := _next_try(error, held.failures, outage):
                    held.state, held.due_at = State.WAITING, again
                else:
                    held.finished_at = timezone.now()
                held.save()
        if refusal(error):
            self._refuse_alike(row, said)
        elif held and not again and self._fails_alike(row, error.kind):
            self._refuse_alike(row, failed_alike(error.kind, str(error)))

    def _fails_alike(self, row: Row, kind: str) -> bool:
        """Tell whether so many requests failed in this way that no other is worth the try."""
        ended = self.alike(row).exclude(finished_at=None).order_by("-finished_at", "-pk")
        last = ended.values_list("state", "error_kind")[:FAILED_ALIKE]
        return list(last) == [(State.FAILED, kind)] * FAILED_ALIKE

    @transaction.atomic
    def _refuse_alike(self, row: Row, why: str) -> None:
        """Give up what waits; a thread that is claiming one of these finds out by itself."""
        waiting = self.alike(row).filter(state=State.WAITING).order_by("pk")
        for each in waiting.select_for_update(of=("self",), no_key=True, skip_locked=True):
            _refuse(each, why)


def _lend_connection() -> None:
    """Give the connection back to the pool, for those who need it while this one waits."""
    if not connection.in_atomic_block:
        close_old_connections()


def _refuse(row: StandingRequest, why: str) -> None:
    row.state, row.finished_at = State.FAILED, timezone.now()
    row.error = f"Not asked. {why}"[:LONGEST_ERROR]
    row.save(update_fields=["state", "finished_at", "error"])


def _next_try(error: NoReplyError, failures: int, outage: Outage | None) -> datetime | None:
    rng, now = random.Random(), timezone.now()  # noqa: S311 - jitter
    if outage:
        next_try = datetime.fromtimestamp(outage.next_try, UTC)
        return max(next_try, now) + timedelta(seconds=rng.uniform(0, 1))
    policy = RetryPolicy(
        settings.JUDGE_MAX_ATTEMPTS, settings.JUDGE_RETRY_SECONDS, settings.JUDGE_RETRY_MAX_SECONDS
    )
    return policy.next_try(error, failures, now, rng)


def _settle(row: StandingRequest) -> None:
    """Count what an attempt has cost beside those before; the row says how it ended."""
    before = row.cost
    settle([row])
    if before is not None:
        row.cost = before + (row.cost or 0)
