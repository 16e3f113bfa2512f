"""Requests that stand for themselves: proposals of requirements, answers that models write.

A row is a request, and a kind of requests is a door of the worker: it claims, and stores each reply with what
it brings in one transaction, so a committed reply is never asked for again. What was in flight when a process
died is counted as abandoned, at the most that it can have cost, and asked again.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Generic, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from arena.texts.dialogue import Message
from judging.endpoints.client import NoReplyError, Reply, refusal
from judging.judges.asked import AskedModel
from judging.models.limits import Outage
from judging.models.requests import StandingRequest
from judging.runs import limiting
from judging.runs.committing import UNSTORED
from judging.runs.heartbeat import this_worker
from judging.runs.lifecycle import FAILED_ALIKE, failed_alike
from judging.runs.limiting import EndedCall, Limits
from judging.runs.summary import kind_of_failure
from judging.spending.budgets import HOW_TO_ASK_AGAIN, why_no_more
from judging.spending.reservations import prices_of, release, reserve, settle
from judging.worker.worker import Ended, Task

logger = logging.getLogger(__name__)

State = StandingRequest.State
Row = TypeVar("Row", bound=StandingRequest)

FOR_OTHERS: Final = timedelta(seconds=10)  # until calls in flight may have left a budget more room
LONGEST_ERROR: Final = 600
MOST_ABANDONED: Final = 10  # attempts of a request, which may be what stops the process
BUDGET: Final = "budget"  # the kind of what is not asked because a budget is used up
STOPPED_EACH_TIME: Final = "The arena stopped each time before the reply was stored."


class Requests(ABC, Generic[Row]):
    """One kind of requests."""

    rows: type[Row]
    endpoint: str
    """The path from a row to its endpoint."""

    needed: tuple[str, ...]
    """What asking about a row reads beside it."""

    about: str
    """What a request is, in logs."""

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

    def why_not(self, row: Row) -> str:
        """Why a row is not to be asked any more, for the first time or again; "" if it is."""
        return ""

    def lease(self, row: Row, model: AskedModel) -> timedelta:
        """Until a request counts as abandoned."""
        return model.lease

    def note(self, row: Row, model: AskedModel, messages: list[Message]) -> None:
        """Note in a row what is asked."""
        row.messages, row.model = messages, model.model

    def ask(self, row: Row, model: AskedModel, messages: list[Message]) -> Reply:
        return model.client().ask(model.request(messages))

    def words(self, row: Row, error: NoReplyError) -> str:
        """What is stored of why a request failed."""
        return refusal(error) or f"{kind_of_failure(error.kind)}: {error}"

    def put_off(self, row: Row, seconds: float) -> None:
        """Have a locked row wait, as its endpoint cannot be asked before."""
        row.due_at = timezone.now() + timedelta(seconds=seconds)
        row.save(update_fields=["due_at"])

    def next_try(self, row: Row, error: NoReplyError, outage: Outage | None) -> datetime | None:
        """When to ask again after a failure; None to give up."""
        return limiting.next_try(error, row.failures, outage)

    def sweep(self, now: datetime | None = None) -> int:
        """Ask again what a dead process asked; how many."""
        lost = self.rows._default_manager.filter(state=State.IN_FLIGHT, deadline__lte=now or timezone.now())
        return self._abandon(lost)

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
        settle([row])
        if why := self.why_not(row) or (row.abandoned >= MOST_ABANDONED and STOPPED_EACH_TIME):
            refuse(row, why)
        row.save()
        return True

    def claim(self, free: int) -> list[Task]:
        """Claim requests that are due, but for those of endpoints that cannot be asked now."""
        tasks: list[Task] = []
        closed: list[int] = []
        while len(tasks) < free:
            due = self.rows._default_manager.filter(state=State.WAITING, due_at__lte=timezone.now())
            row = due.exclude(**{f"{self.endpoint}__in": closed}).order_by("due_at", "pk").first()
            if row is None:
                break
            tasks += self._claim(row.pk, closed)
        return tasks

    def replied(self, ended: Sequence[Ended]) -> None:
        for each in ended:
            row, model, started_at = each.call
            try:
                self._end(row, EndedCall(row, model, started_at, each.result))
            except (OperationalError, InterfaceError):  # the database is away, for all of them
                raise
            except Exception:
                logger.exception("What came of %s %d cannot be stored", self.about, row.pk)
                failed = NoReplyError("internal", UNSTORED, retryable=False)
                self._end(row, EndedCall(row, model, started_at, failed))

    def _end(self, row: Row, ended: EndedCall) -> None:
        if isinstance(ended.result, Reply):
            self._commit(row, ended, ended.result)
        else:
            self._put_back(row, ended, ended.result)

    def _held(self, pk: int) -> QuerySet[Row]:
        """A request, locked from now on."""
        rows = self.rows._default_manager.filter(pk=pk).select_related(*self.needed)
        return rows.select_for_update(of=("self",), no_key=True)

    def _claim(self, pk: int, closed: list[int]) -> list[Task]:
        """Claim a request within limits and budgets; else it is refused, or gets a time to come back."""
        why = ""
        tasks: list[Task] = []
        with transaction.atomic():
            held = self._held(pk).filter(state=State.WAITING).first()
            if held is None:
                return []
            if why := self.why_not(held):
                refuse(held, why)
                return []
            model, messages = self.asked(held), self.messages(held)
            self.note(held, model, messages)
            limits, lease = Limits([model]), self.lease(held, model)
            if wait := limits.start(held, model, lease):
                closed.append(model.endpoint.pk)
                self.put_off(held, wait)
                return []
            [price] = prices_of([model])
            granted = reserve([(held, model)])[held.payer]
            if granted.count:
                limits.save()
                held.attempt += 1
                held.state, held.deadline = State.IN_FLIGHT, timezone.now() + lease
                held.worker = this_worker()
                held.currency = price.currency if price else ""
                ask, about = partial(self.ask, held, model, messages), f"{self.about} {pk}"
                claimed = held, model, timezone.now()
                tasks.append(Task(claimed, ask, about, lease.total_seconds()))
            elif why := why_no_more(granted, HOW_TO_ASK_AGAIN):
                refuse(held, why, BUDGET)
            else:
                held.due_at = timezone.now() + FOR_OTHERS
            held.save()
        if why:
            self._refuse_alike(held, why, BUDGET)
        return tasks

    @transaction.atomic
    def _commit(self, row: Row, ended: EndedCall, reply: Reply) -> None:
        # One that comes after its deadline is kept, too, unless it was asked for again.
        held = self._held(row.pk).filter(attempt=row.attempt).exclude(state=State.REPLIED).first()
        if held is None:
            return
        is_late = held.state != State.IN_FLIGHT  # and counted as if it had cost the most it could
        held.state, held.finished_at = State.REPLIED, timezone.now()
        held.raw_reply, held.finish_reason = reply.text or reply.refusal, reply.finish_reason
        held.prompt_tokens, held.completion_tokens = reply.prompt_tokens, reply.completion_tokens
        held.reasoning_tokens = reply.reasoning_tokens
        held.error = held.error_kind = ""
        self.keep(held, reply)
        limiting.end([ended])
        if not is_late:
            settle([held])
        held.save()

    def _put_back(self, row: Row, ended: EndedCall, error: NoReplyError) -> None:
        """Ask again later, or give up; about everything alike, if no request can succeed."""
        with transaction.atomic():
            held = self._held(row.pk).filter(state=State.IN_FLIGHT, attempt=row.attempt).first()
            if held:
                [outage] = limiting.end([ended])
                held.failures += outage is None
                held.state, held.error_kind = State.FAILED, error.kind
                held.error = self.words(held, error)[:LONGEST_ERROR]
                settle([held])
                again = None if self.why_not(held) else self.next_try(held, error, outage)
                if again:
                    held.state, held.due_at = State.WAITING, again
                else:
                    held.finished_at = timezone.now()
                held.save()
        if said := refusal(error):
            self._refuse_alike(row, said)
        elif held and not again and self._fails_alike(row, error.kind):
            self._refuse_alike(row, failed_alike(error.kind, str(error)))

    def _fails_alike(self, row: Row, kind: str) -> bool:
        """Tell whether so many requests failed in this way that no other is worth the try."""
        ended = self.alike(row).exclude(finished_at=None).order_by("-finished_at", "-pk")
        last = ended.values_list("state", "error_kind")[:FAILED_ALIKE]
        return list(last) == [(State.FAILED, kind)] * FAILED_ALIKE

    @transaction.atomic
    def _refuse_alike(self, row: Row, why: str, kind: str = "") -> None:
        """Give up what waits; a thread that is claiming one of these finds out by itself."""
        waiting = self.alike(row).filter(state=State.WAITING).order_by("pk")
        for each in waiting.select_for_update(of=("self",), no_key=True, skip_locked=True):
            refuse(each, why, kind)


def refuse(row: StandingRequest, why: str, kind: str = "") -> None:
    """Ask no more about a row that waits, for a transaction that has locked it."""
    row.state, row.finished_at, row.error_kind = State.FAILED, timezone.now(), kind
    row.error = f"Not asked. {why}"[:LONGEST_ERROR]
    release([row])
    row.save(update_fields=["state", "finished_at", "error", "error_kind", "reserved"])


def kinds() -> list[Requests[Any]]:
    """Every kind of requests, as settings.DOORS names them."""
    doors = map(import_string, settings.DOORS.values())
    return [door for door in doors if isinstance(door, Requests)]


def sweep() -> int:
    """Ask again what dead processes asked; how many requests those were."""
    return sum(kind.sweep() for kind in kinds())


def abandon_orphans() -> int:
    """Ask again what a former process asked, for the start of an arena whose only worker is this one."""
    return sum(kind.abandon_orphans() for kind in kinds())
