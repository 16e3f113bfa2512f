"""Committing the results of calls, in batches, before anything else happens to them."""

import logging
import random
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, transaction
from django.utils import timezone

from arena.models import Assignment
from arena.models.compiled import save_each
from judging.endpoints.client import REFUSALS, NoReplyError, Reply, RetryPolicy, refusal
from judging.endpoints.logprobs import expected_rating, verdict_logprobs
from judging.models import JudgeCall, JudgeRun, Outage, RunAssignment
from judging.runs import limiting, queue
from judging.runs.asking import PreparedCall
from judging.runs.claiming import SUBMITTING
from judging.runs.lifecycle import QUEUE_PATIENCE, pause_if_nothing_works, pause_run
from judging.runs.limiting import EndedCall
from judging.spending.purses import settle

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    call: JudgeCall
    result: Reply | NoReplyError
    seconds: float | None
    asked: PreparedCall | None = None
    failures: int = 0  # of this question before, in this run
    is_to_blame: bool = False  # the question may be what stops its endpoint from answering


@dataclass(frozen=True)
class Results:
    """Results of calls about one assignment."""

    outcomes: Sequence[Outcome]
    is_last: bool = True  # no other call about the assignment is in flight
    earlier: Sequence[JudgeCall] = ()  # calls about it that ended before
    answered: JudgeCall | None = None  # its reply completed the answer


def commit_each(batch: Sequence[Results]) -> list[list[JudgeCall] | Exception]:
    """``commit``, or one by one where that fails: replies are paid for, and one must not cost the others.

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


def _commit_alone(results: Results) -> list[JudgeCall] | Exception:
    try:
        return commit([results])[0]
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:  # of this one alone
        return error


@transaction.atomic
def commit(batch: Sequence[Results]) -> list[list[JudgeCall]]:
    """Commit results; for each, in order, the calls that have ended, as stored. Harmless when repeated.

    The late reply of an abandoned call is only kept for the record: the assignment may be asked anew already.
    Locks assignments, then calls, then limits, then purses, as everywhere.
    """
    now = timezone.now()
    outcomes = [outcome for results in batch for outcome in results.outcomes]
    lock_assignments({outcome.call.assignment_id for outcome in outcomes})
    live = _live({outcome.call.pk for outcome in outcomes})
    outages = _outages([outcome for outcome in outcomes if outcome.call.pk in live])
    written = {
        outcome.call.pk: _ended(
            outcome, now, outages.get(outcome.call.pk), is_answer=outcome.call == results.answered
        )
        for results in batch
        for outcome in results.outcomes
        if outcome.call.pk in live
    }
    settle(written.values())
    save_each(list(written.values()), OF_END)
    _keep_late([outcome for outcome in outcomes if outcome.call.pk not in live], now)
    wake({call.request_hash for call in written.values()}, now)
    ended = [[written[one.call.pk] for one in results.outcomes if one.call.pk in live] for results in batch]
    for results, calls in zip(batch, ended, strict=True):
        _release(results, calls, now)
    _pause([outcome for outcome in outcomes if outcome.call.pk in live], written)
    return ended


def _pause(outcomes: Sequence[Outcome], written: Mapping[int, JudgeCall]) -> None:
    """Pause the runs whose judge is refused, or whose calls fail one like the other."""
    failed = set()
    for outcome in outcomes:
        if isinstance(outcome.result, NoReplyError):
            why = refusal(outcome.result)
            if why and written[outcome.call.pk].retry_at:
                for run in _refused_with(outcome, outcome.result.kind):
                    pause_run(run, f"{why} Nothing was lost.")
            elif not written[outcome.call.pk].in_outage:
                failed.add(outcome.call.run)
    for run in sorted(failed, key=lambda run: run.pk):
        pause_if_nothing_works(run)


def _refused_with(outcome: Outcome, kind: str) -> Iterable[JudgeRun]:
    """The run of a refused call; where its key is not valid, all that ask the address with it."""
    if kind != "http_401" or outcome.asked is None:
        return [outcome.call.run]
    endpoint = outcome.asked.model.endpoint
    same = {"base_url": endpoint.base_url, "api_key_env": endpoint.api_key_env}
    of_key = {f"judge__endpoint__{name}": value for name, value in same.items()}
    others = JudgeRun.objects.whole().filter(state=JudgeRun.State.RUNNING, remote=False, **of_key)
    return sorted({outcome.call.run, *others}, key=lambda run: run.pk)


def _outages(outcomes: Sequence[Outcome]) -> dict[int, Outage | None]:
    """The outages in which calls failed, by the call; such a failure uses up no attempt."""
    limited = [one for one in outcomes if one.asked and one.call.rate_limit_id]
    found = limiting.end(
        [
            EndedCall(one.call, one.asked.model, one.call.started_at, one.result)
            for one in limited
            if one.asked
        ]
    )
    return {
        one.call.pk: None if one.is_to_blame else outage for one, outage in zip(limited, found, strict=True)
    }


def _live(calls: Collection[int]) -> set[int]:
    """The ids of the calls that are in flight, locked from now on."""
    rows = JudgeCall.objects.filter(pk__in=calls, state=JudgeCall.State.IN_FLIGHT)
    return set(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))


def _keep_late(outcomes: Sequence[Outcome], now: datetime) -> None:
    for outcome in outcomes:
        if isinstance(outcome.result, Reply):
            late = JudgeCall.objects.filter(pk=outcome.call.pk, state=JudgeCall.State.ABANDONED)
            late.update(**received(outcome.result, outcome, now))


def _release(results: Results, ended: Sequence[JudgeCall], now: datetime) -> None:
    """Reopen an unanswered assignment once its failed calls are due; fail it if one is never repeated."""
    failed = [call for call in (*results.earlier, *ended) if not call.has_replied]
    if results.is_last and failed and results.answered not in ended:
        given_up = [call for call in failed if call.retry_at is None]
        if given_up:
            JudgeCall.objects.filter(pk=given_up[0].pk).update(given_up=True)
        due_at = None if given_up else max(call.retry_at for call in failed if call.retry_at)
        release(failed[0].run_id, failed[0].assignment_id, due_at, now)


def lock_assignments(assignments: Collection[int]) -> None:
    rows = Assignment.objects.filter(pk__in=assignments).select_for_update(no_key=True).order_by("pk")
    list(rows.values_list("pk", flat=True))


def _ended(outcome: Outcome, now: datetime, outage: Outage | None, *, is_answer: bool) -> JudgeCall:
    """A call that has ended, as it is to be stored. is_answer: its reply completed the answer."""
    if isinstance(outcome.result, Reply):
        columns = {"state": JudgeCall.State.REPLIED, **received(outcome.result, outcome, now)}
        if is_answer:
            columns |= {"submit_due_at": now + SUBMITTING, "submit_attempts": 1}
    else:
        columns = {
            "state": JudgeCall.State.FAILED,
            "error_kind": outcome.result.kind,
            "error": str(outcome.result)[:600],
            "latency": outcome.seconds,
            "finished_at": now,
            "retry_at": _retry_at(outcome, outcome.result, now, outage),
            "in_outage": outage is not None,
        }
    # A copy: should this transaction fail, the next one begins with what is stored.
    call = copy(outcome.call)
    for name, value in columns.items():
        setattr(call, name, value)
    return call


OF_END: Final = (
    "state",
    "raw_reply",
    "refusal",
    "finish_reason",
    "model_returned",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "latency",
    "finished_at",
    "logprobs",
    "expected",
    "lacks_logprobs",
    "error_kind",
    "error",
    "retry_at",
    "in_outage",
    "submit_due_at",
    "submit_attempts",
    "cost",
    "reserved",
)
"""What the end of a call sets. Until then nobody else writes these columns."""


def _retry_at(outcome: Outcome, error: NoReplyError, now: datetime, outage: Outage | None) -> datetime | None:
    rng = random.Random()  # noqa: S311 - jitter
    if outage:
        next_try = datetime.fromtimestamp(outage.next_try, UTC)
        return max(next_try, now) + timedelta(seconds=rng.uniform(0, 1))
    if refusal(error) and not _is_about_one_pair(outcome.call):
        return now + OTHERS_FIRST  # the run is paused until somebody resumes it
    policy = RetryPolicy(
        settings.JUDGE_MAX_ATTEMPTS, settings.JUDGE_RETRY_SECONDS, settings.JUDGE_RETRY_MAX_SECONDS
    )
    return policy.next_try(error, 1 + outcome.failures, now, rng)


OTHERS_FIRST: Final = timedelta(seconds=5)
"""How long a refused question waits, so that others show whether the endpoint refuses them as well."""


def _is_about_one_pair(call: JudgeCall) -> bool:
    """Whether the endpoint has answered other questions since it first refused this one."""
    asked = JudgeCall.objects.filter(run=call.run_id, cached_from=None)
    refused = asked.filter(assignment=call.assignment_id, key=call.key, error_kind__in=REFUSALS)
    first = refused.exclude(pk=call.pk).order_by("pk").first()
    return first is not None and asked.filter(pk__gt=first.pk, state=JudgeCall.State.REPLIED).exists()


def received(reply: Reply, outcome: Outcome, now: datetime) -> dict[str, Any]:
    """The columns of a call that its reply fills; ``expected`` is in the order of the assignment."""
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
    asked = outcome.asked and outcome.asked.question
    columns["lacks_logprobs"] = bool(outcome.asked and outcome.asked.request.logprobs and not reply.tokens)
    if reply.tokens and asked and asked.scale and asked.place:
        expected = expected_rating(reply, asked.scale, asked.place)
        if expected is not None and asked.other_order:
            expected = asked.scale.points + 1 - expected
        columns |= {"logprobs": verdict_logprobs(reply, asked.scale, asked.place), "expected": expected}
    return columns


def end_abandoned(calls: Sequence[JudgeCall], now: datetime) -> None:
    """Mark locked calls as abandoned; the most they can have cost counts as spent."""
    for call in calls:
        call.state, call.finished_at = JudgeCall.State.ABANDONED, now
    settle(calls)
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
    """Send for the assignments that wait for requests which have ended. Their calls must be locked."""
    waiting = RunAssignment.objects.filter(waiting_for__in=set(hashes) - {""}).exclude(waiting_for="")
    rows = dict(waiting.values_list("pk", "assignment")[: settings.JUDGE_QUEUE_AHEAD])
    if rows:
        waiting.update(waiting_for="", due_at=now)
        RunAssignment.objects.filter(pk__in=rows).update(queued_until=now + QUEUE_PATIENCE)
        transaction.on_commit(lambda: queue.nudge_assignments(rows.values()))


PAUSE: Final = 0.5  # seconds between two tries

Result = TypeVar("Result")


def retry_until(write: Callable[[], Result], until: datetime) -> Result:
    """The result of a write, repeated while the database is away, but not after ``until``.

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
