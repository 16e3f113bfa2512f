"""Committing the results of calls, in batches, before anything else happens to them."""

import logging
import random
import time
from collections.abc import Callable, Collection, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, transaction
from django.utils import timezone

from arena.models import Assignment
from judging.endpoints.client import NoReplyError, Reply, RetryPolicy
from judging.endpoints.limits import Outage
from judging.endpoints.logprobs import expected_rating, verdict_logprobs
from judging.models import JudgeCall, RunAssignment
from judging.protocols.conversation import Question
from judging.runs import queue, spending
from judging.runs.claiming import SUBMITTING
from judging.runs.lifecycle import QUEUE_PATIENCE

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """The result of a call.

    failures: how often this question failed before in this run. outage: the outage of its endpoint in which
    it failed; such a failure uses up no attempt.
    """

    call: JudgeCall
    result: Reply | NoReplyError
    seconds: float | None
    question: Question | None = None
    failures: int = 0
    outage: Outage | None = None


@dataclass(frozen=True)
class Failed:
    """A failed call and when it is repeated; None for never."""

    call: JudgeCall
    retry_at: datetime | None


@dataclass(frozen=True)
class Results:
    """Results of calls about one assignment.

    is_last: no other call about it is in flight, so its next state is decided. earlier: failures among calls
    committed before. answered: the call whose reply completed the answer, to be submitted.
    """

    outcomes: Sequence[Outcome]
    is_last: bool = True
    earlier: tuple[Failed, ...] = ()
    answered: JudgeCall | None = None


@dataclass(frozen=True)
class Committed:
    """The calls of committed results that replied or failed, as stored; those abandoned before are in
    neither.
    """

    replied: Sequence[JudgeCall]
    failed: Sequence[Failed]


def commit_each(batch: Sequence[Results]) -> list[Committed | Exception]:
    """Commit results together, or one by one where that fails, so that one cannot cost the others their
    replies.

    Raises OperationalError or InterfaceError if the database is away.
    """
    if len(batch) > 1:
        try:
            return list(commit(batch))
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            logger.exception("Committing %d results at once failed", len(batch))
    return [_commit_alone(results) for results in batch]


def _commit_alone(results: Results) -> Committed | Exception:
    try:
        return commit([results])[0]
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:  # of this one alone
        return error


@transaction.atomic
def commit(batch: Sequence[Results]) -> list[Committed]:
    """Commit results. Harmless when repeated. Locks assignments, then calls, then runs, as everywhere.

    The late reply of an abandoned call is kept for the record only: the assignment may be asked anew already.
    """
    now = timezone.now()
    outcomes = [outcome for results in batch for outcome in results.outcomes]
    lock_assignments({outcome.call.assignment_id for outcome in outcomes})
    live = _live({outcome.call.pk for outcome in outcomes})
    ended = [
        [
            _Ended(one, now, is_answer=one.call == results.answered)
            for one in results.outcomes
            if one.call.pk in live
        ]
        for results in batch
    ]
    every = [one for each in ended for one in each]
    spending.settle(one.call for one in every)
    for one in sorted(every, key=lambda one: one.call.pk):
        one.write()
    _keep_late([outcome for outcome in outcomes if outcome.call.pk not in live], now)
    wake({one.call.request_hash for one in every}, now)
    return [_decide(results, each, now) for results, each in zip(batch, ended, strict=True)]


def _live(calls: Collection[int]) -> set[int]:
    """The ids of the calls that are in flight, locked until the transaction ends."""
    rows = JudgeCall.objects.filter(pk__in=calls, state=JudgeCall.State.IN_FLIGHT)
    return set(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))


def _keep_late(outcomes: Sequence[Outcome], now: datetime) -> None:
    for outcome in outcomes:
        if isinstance(outcome.result, Reply):
            late = JudgeCall.objects.filter(pk=outcome.call.pk, state=JudgeCall.State.ABANDONED)
            late.update(**received(outcome.result, outcome, now))


def _decide(results: Results, ended: Sequence["_Ended"], now: datetime) -> Committed:
    """What was committed; sets the next state of an assignment whose calls have all ended."""
    replied = [one.call for one in ended if one.call.has_replied]
    failed = [Failed(one.call, one.retry_at) for one in ended if not one.call.has_replied]
    every = [*results.earlier, *failed]
    if results.is_last and every and results.answered not in replied:
        _put_aside(every, now)
    return Committed(replied, failed)


def _put_aside(failed: Sequence[Failed], now: datetime) -> None:
    """Reopen the assignment once all its failed calls are due; fail it if one is never repeated."""
    given_up = [one.call for one in failed if one.retry_at is None]
    if given_up:
        JudgeCall.objects.filter(pk=given_up[0].pk).update(given_up=True)
    due_at = None if given_up else max(one.retry_at for one in failed if one.retry_at)
    release(failed[0].call.run_id, failed[0].call.assignment_id, due_at, now)


def lock_assignments(assignments: Collection[int]) -> None:
    """Lock assignments until the transaction ends, in the order of their ids."""
    rows = Assignment.objects.filter(pk__in=assignments).select_for_update(no_key=True).order_by("pk")
    list(rows.values_list("pk", flat=True))


class _Ended:
    """A call that has ended, about to be written. is_answer: its reply completed the answer."""

    def __init__(self, outcome: Outcome, now: datetime, *, is_answer: bool) -> None:
        # A copy: should this transaction fail, the next one begins with what is stored.
        self.call = copy(outcome.call)
        self.retry_at: datetime | None = None
        if isinstance(outcome.result, Reply):
            self._columns = {
                "state": JudgeCall.State.REPLIED,
                **received(outcome.result, outcome, now),
            }
            if is_answer:
                self._columns |= {"submit_due_at": now + SUBMITTING, "submit_attempts": 1}
        else:
            rng = random.Random()  # noqa: S311 - jitter
            if outcome.outage:
                next_try = datetime.fromtimestamp(outcome.outage.next_try, UTC)
                self.retry_at = max(next_try, now) + timedelta(seconds=rng.uniform(0, 1))
            else:
                self.retry_at = retry_policy().next_try(outcome.result, 1 + outcome.failures, now, rng)
            self._columns = {
                "state": JudgeCall.State.FAILED,
                "error_kind": outcome.result.kind,
                "error": str(outcome.result)[:600],
                "latency": outcome.seconds,
                "finished_at": now,
                "retry_at": self.retry_at,
                "in_outage": outcome.outage is not None,
            }
        for name, value in self._columns.items():
            setattr(self.call, name, value)

    def write(self) -> None:
        columns = {**self._columns, "cost": self.call.cost, "reserved": self.call.reserved}
        JudgeCall.objects.filter(pk=self.call.pk).update(**columns)


def received(reply: Reply, outcome: Outcome, now: datetime) -> dict[str, Any]:
    """The columns of a call that its reply fills. The expected rating is in the order of the assignment."""
    columns: dict[str, Any] = {
        "raw_reply": reply.text,
        "refusal": reply.refusal,
        "finish_reason": reply.finish_reason,
        "model_returned": reply.model,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "reasoning_tokens": reply.reasoning_tokens,
        "latency": outcome.seconds,
        "finished_at": now,
    }
    asked = outcome.question
    if reply.tokens and asked and asked.scale and asked.place:
        expected = expected_rating(reply, asked.scale, asked.place)
        if expected is not None and asked.other_order:
            expected = asked.scale.points + 1 - expected
        columns |= {"logprobs": verdict_logprobs(reply, asked.scale, asked.place), "expected": expected}
    return columns


def end_abandoned(calls: Sequence[JudgeCall], now: datetime) -> None:
    """Mark locked calls in flight as abandoned; the most they can have cost counts as spent."""
    for call in calls:
        call.state, call.finished_at = JudgeCall.State.ABANDONED, now
    spending.settle(calls)
    for call in calls:
        call.save(update_fields=["state", "finished_at", "cost", "reserved"])
    wake({call.request_hash for call in calls}, now)


def release(run: int, assignment: int, due_at: datetime | None, now: datetime) -> None:
    """Reopen a claimed assignment for its due time; without one it has failed."""
    state = Assignment.State.OPEN if due_at else Assignment.State.FAILED
    Assignment.objects.filter(pk=assignment, state=Assignment.State.CLAIMED).update(
        state=state, leased_until=None, finished_at=None if due_at else now
    )
    if due_at:
        RunAssignment.objects.filter(run=run, assignment=assignment).update(due_at=due_at, queued_until=None)


def wake(hashes: Collection[str], now: datetime) -> None:
    """Send messages about the assignments that wait for requests which have ended, however they ended.

    Call it in the transaction that ends the calls, after they are locked.
    """
    waiting = RunAssignment.objects.filter(waiting_for__in=set(hashes) - {""}).exclude(waiting_for="")
    rows = dict(waiting.values_list("pk", "assignment")[: settings.JUDGE_QUEUE_AHEAD])
    waiting.update(waiting_for="", due_at=now)
    if rows:
        RunAssignment.objects.filter(pk__in=rows).update(queued_until=now + QUEUE_PATIENCE)
        transaction.on_commit(lambda: queue.nudge_assignments(rows.values()))


def retry_policy() -> RetryPolicy:
    return RetryPolicy(
        settings.JUDGE_MAX_ATTEMPTS, settings.JUDGE_RETRY_SECONDS, settings.JUDGE_RETRY_MAX_SECONDS
    )


# Writes that must not be lost because the database was away for a moment.


PAUSE: Final = 0.5  # seconds between two tries

Result = TypeVar("Result")


def retry_until(write: Callable[[], Result], until: datetime) -> Result:
    """The result of a write, repeated while the database is away or locked, but not after ``until``.

    A failed try may have written, so the write must be harmless when repeated.
    """
    while True:
        try:
            return write()
        except (OperationalError, InterfaceError) as error:
            if timezone.now() >= until:
                raise
            logger.warning("The database is away, a write waits for it: %s", error)
            close_old_connections()  # the broken one; the next try opens another
            time.sleep(PAUSE)
