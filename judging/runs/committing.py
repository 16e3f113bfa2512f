"""Committing the results of calls of judge runs, with the ratings that they complete."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from django.db import InterfaceError, OperationalError, close_old_connections, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from arena.models import Assignment
from judging.endpoints.client import REFUSALS, NoReplyError, Reply, refusal
from judging.endpoints.logprobs import expected_rating, verdict_logprobs
from judging.judges.asked import AskedModel
from judging.models import Judge, JudgeCall, JudgeRun, Outage, RunAssignment
from judging.protocols import conversation
from judging.protocols.conversation import Question
from judging.runs import limiting
from judging.runs.asking import CallBuilder
from judging.runs.lifecycle import pause_if_nothing_works, pause_run
from judging.runs.limiting import EndedCall
from judging.runs.recording import record
from judging.runs.work import Work, asked_otherwise, begun_anew, with_calls, with_texts
from judging.spending.reservations import settle, settle_again

logger = logging.getLogger(__name__)

UNSTORED: Final = "The arena could not store the reply."
LATE: Final = "Another worker has handed in a reply to this question."


Asked = tuple[Question | None, AskedModel]


@dataclass(frozen=True)
class Result:
    """What came of a call. expected: the expected rating, where only who asked can tell."""

    call: int
    result: Reply | NoReplyError
    seconds: float | None
    expected: float | None = None


def commit_each(results: Sequence[Result]) -> list[str]:
    """``commit``, or one by one where that fails: replies are paid for, and one must not cost the others.

    Raises OperationalError or InterfaceError if the database is away.
    """
    try:
        return commit(results)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        if len(results) == 1:
            logger.exception("The result of call %d cannot be stored", results[0].call)
            if isinstance(results[0].result, Reply):  # for good, or it would be paid for again and again
                failed = NoReplyError("internal", UNSTORED, retryable=False)
                commit_each([replace(results[0], result=failed)])
            return [UNSTORED]
        logger.exception("Committing %d results at once failed", len(results))
        return [said for each in results for said in commit_each([each])]


@transaction.atomic
def commit(results: Sequence[Result]) -> list[str]:
    """Commit results, and record the answers that are complete; for each why it was not kept, or "".

    Harmless when repeated. The late reply of an abandoned call counts if its question has no other reply,
    else it is only kept for the record. Locks assignments, then calls, limits and purses, as everywhere.
    """
    return _Commit(results).write()


class _Commit:
    def __init__(self, results: Sequence[Result]) -> None:
        self._now = timezone.now()
        about = JudgeCall.objects.filter(pk__in=[each.call for each in results])
        lock_assignments(set(about.values_list("assignment", flat=True)))
        locked = about.select_for_update(no_key=True, of=("self",)).order_by("pk")
        calls = {call.pk: call for call in locked}
        self._all = results
        first = {each.call: each for each in reversed(results)}  # a call ends once, with what was told first
        self._results = [(call, first[pk]) for pk, call in calls.items()]
        own = Exists(about.filter(run=OuterRef("run"), assignment=OuterRef("assignment")))
        # A run that asked may have been cancelled, and another one wait for the assignment now.
        rows = with_texts().filter(own | Q(run__in=JudgeRun.objects.active()))
        rows = rows.filter(assignment__in={call.assignment_id for call in calls.values()}).order_by("run")
        works = with_calls({row.assignment_id: row for row in rows}.values())
        self._works = {work.assignment.pk: work for work in works}
        self._builder = CallBuilder()

    def write(self) -> list[str]:
        ended = [(call, result) for call, result in self._results if call.is_in_flight]
        late = [(call, result) for call, result in self._results if not call.is_in_flight]
        asked = {call.pk: self._asked(call) for call, _ in ended}
        outages = self._outages(ended, asked)
        for call, result in ended:
            self._end(call, result, asked[call.pk][0], outages.get(call.pk))
        settle(call for call, _ in ended)
        for call, _ in ended:
            call.save()
        said = {call.pk: self._keep_late(call, result) for call, result in late}
        wake({call.request_hash for call, _ in ended}, self._now)
        kept = [call for call, _ in late if call.has_replied]
        self._go_on([call for call, _ in ended] + kept, {call.assignment_id for call in kept})
        self._pause(ended, asked)
        return [said.get(each.call, "") for each in self._all]  # also of those that were deleted meanwhile

    def _work(self, call: JudgeCall) -> Work:
        return self._works[call.assignment_id]

    def _asked(self, call: JudgeCall) -> Asked:
        """The question of a call, if the protocol still has it, and the model that was asked."""
        work = self._work(call)
        questions = conversation.next_questions(work.configured_protocol, work.texts, work.replies)
        question = next((each for each in questions if each.key == call.key), None)
        return question, self._builder.model(work, question.author if question else "")

    def _outages(
        self,
        ended: Sequence[tuple[JudgeCall, Result]],
        asked: Mapping[int, Asked],
    ) -> dict[int, Outage | None]:
        """The outages in which calls failed, by the call; such a failure uses up no attempt."""
        limited = [(call, one) for call, one in ended if call.rate_limit_id]
        found = limiting.end(
            [EndedCall(call, asked[call.pk][1], call.started_at, one.result) for call, one in limited]
        )
        # A question may be what stops its endpoint from answering.
        return {
            call.pk: None if self._work(call).is_to_blame(call.key) else outage
            for (call, _), outage in zip(limited, found, strict=True)
        }

    def _end(self, call: JudgeCall, result: Result, question: Question | None, outage: Outage | None) -> None:
        """Fill in how a call has ended."""
        if isinstance(result.result, Reply):
            columns = {
                "state": JudgeCall.State.REPLIED,
                **received(self._work(call).judge, result.result, result, question),
            }
        else:
            columns = {
                "state": JudgeCall.State.FAILED,
                "error_kind": result.result.kind,
                "error": str(result.result)[:600],
                "retry_at": self._retry_at(call, result.result, outage),
                "in_outage": outage is not None,
            }
        for name, value in {**columns, "latency": result.seconds, "finished_at": self._now}.items():
            setattr(call, name, value)

    def _retry_at(self, call: JudgeCall, error: NoReplyError, outage: Outage | None) -> datetime | None:
        if not outage and refusal(error) and not _is_about_one_pair(call):
            return self._now + OTHERS_FIRST  # the run is paused until somebody resumes it
        return limiting.next_try(error, 1 + self._work(call).failures(call.key), outage)

    def _keep_late(self, call: JudgeCall, result: Result) -> str:
        """Keep the reply of a call that was given up, if it is the first to its question."""
        if call.state != JudgeCall.State.ABANDONED or not isinstance(result.result, Reply):
            return ""
        columns = received(self._work(call).judge, result.result, result, self._asked(call)[0])
        return "" if take(call, columns | {"latency": result.seconds}, self._now) else LATE

    def _go_on(self, ended: Sequence[JudgeCall], late: Collection[int]) -> None:
        """Record the answers that are complete; reopen or fail the other assignments without calls.

        late: the assignments whose other calls a late reply has ended.
        """
        by_pk = {call.pk: call for call in ended}
        complete = []
        for assignment in sorted({call.assignment_id for call in ended}):
            work = self._works[assignment]
            known = JudgeCall.objects.conversations([assignment]) if assignment in late else work.calls
            work = replace(work, calls=tuple(by_pk.get(call.pk, call) for call in known))
            if any(call.is_in_flight for call in work.in_round):
                continue
            if asked_otherwise(work.configured_protocol, work.in_round):
                begun_anew(work)
            elif _is_complete(work) and not work.judge.rater.paused_at:  # else once it is resumed
                complete.append(work)
                continue
            self._release(work)
        record(complete)

    def _release(self, work: Work) -> None:
        """Reopen an assignment once its failed calls are due; fail it if one is never repeated."""
        last = {call.key: call for call in work.in_round if call.run_id == work.run.pk}
        failed = [call for call in last.values() if call.state == JudgeCall.State.FAILED]
        assignment = Assignment.objects.filter(pk=work.assignment.pk, state=Assignment.State.CLAIMED)
        if given_up := [call.pk for call in failed if call.retry_at is None]:
            JudgeCall.objects.filter(pk=given_up[0]).update(given_up=True)
            assignment.update(state=Assignment.State.FAILED, leased_until=None, finished_at=self._now)
            return
        reopen([work.assignment.pk])
        if failed:
            due_at = max(call.retry_at for call in failed if call.retry_at)
            RunAssignment.objects.filter(pk=work.row.pk).update(due_at=due_at)

    def _pause(
        self,
        ended: Sequence[tuple[JudgeCall, Result]],
        asked: Mapping[int, Asked],
    ) -> None:
        """Pause the runs whose judge is refused, or whose calls fail one like the other."""
        failed = set()
        for call, result in ended:
            if isinstance(result.result, NoReplyError):
                why, run = refusal(result.result), self._work(call).run
                if why and call.retry_at:
                    for each in _refused_with(run, asked[call.pk][1], result.result.kind):
                        pause_run(each, f"{why} Nothing was lost.")
                elif not call.in_outage:
                    failed.add(run)
        for run in sorted(failed, key=lambda run: run.pk):
            pause_if_nothing_works(run)


def _is_complete(work: Work) -> bool:
    return not conversation.open_keys(work.configured_protocol, work.replies)


def _refused_with(run: JudgeRun, model: AskedModel, kind: str) -> Iterable[JudgeRun]:
    """The run of a refused call; where its key is not valid, all that ask the address with it."""
    if kind != "http_401" or run.remote:
        return [run]
    same = {"base_url": model.endpoint.base_url, "api_key_env": model.endpoint.api_key_env}
    of_key = {f"judge__endpoint__{name}": value for name, value in same.items()}
    others = JudgeRun.objects.whole().filter(state=JudgeRun.State.RUNNING, remote=False, **of_key)
    return sorted({run, *others}, key=lambda run: run.pk)


OTHERS_FIRST: Final = timedelta(seconds=5)
"""How long a refused question waits, so that others show whether the endpoint refuses them as well."""


def _is_about_one_pair(call: JudgeCall) -> bool:
    """Whether the endpoint has answered other questions since it first refused this one."""
    asked = JudgeCall.objects.filter(run=call.run_id, cached_from=None)
    refused = asked.filter(assignment=call.assignment_id, key=call.key, error_kind__in=REFUSALS)
    first = refused.exclude(pk=call.pk).order_by("pk").first()
    return first is not None and asked.filter(pk__gt=first.pk, state=JudgeCall.State.REPLIED).exists()


def received(judge: Judge, reply: Reply, result: Result, question: Question | None) -> dict[str, Any]:
    """The columns of a call that its reply fills; ``expected`` is in the order of the assignment."""
    columns: dict[str, Any] = {
        "raw_reply": reply.text,
        "refusal": reply.refusal,
        "finish_reason": reply.finish_reason,
        "model_returned": reply.model,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "reasoning_tokens": reply.reasoning_tokens,
        "expected": result.expected,
    }
    if question and question.scale and question.place:
        columns["lacks_logprobs"] = judge.logprobs and not (reply.tokens or result.expected)
        if reply.tokens:
            expected = expected_rating(reply, question.scale, question.place)
            if expected is not None and question.other_order:
                expected = question.scale.points + 1 - expected
            logprobs = verdict_logprobs(reply, question.scale, question.place)
            columns |= {"logprobs": logprobs, "expected": expected}
    return columns


def take(call: JudgeCall, columns: Mapping[str, Any], now: datetime, outcome: Mapping[str, Any] = {}) -> bool:
    """Store a reply that is the first to its question, whatever became of the call; else only for the record.

    Returns whether it is the first, and then stores ``outcome`` with it. The assignment must be locked.
    """
    same = JudgeCall.objects.filter(assignment=call.assignment_id, key=call.key, round=call.round)
    is_first = not same.filter(state=JudgeCall.State.REPLIED).exists()
    if not is_first and call.state != JudgeCall.State.ABANDONED:
        return False
    written = {**columns, "finished_at": now}
    settled_at = call.finished_at  # None: it is in flight
    if is_first:
        others = same.in_flight().exclude(pk=call.pk).select_for_update(no_key=True)
        end_abandoned(list(others), now)
        about = {"assignment": call.assignment_id}
        JudgeCall.objects.filter(**about, given_up=True).update(given_up=False)
        RunAssignment.objects.filter(**about, put_aside=True).update(put_aside=False)
        written |= {"state": JudgeCall.State.REPLIED, "error_kind": "", "error": ""}
        written |= {"given_up": False, **outcome}
    for name, value in written.items():
        setattr(call, name, value)
    if settled_at:
        settle_again(call, settled_at)
    else:
        settle([call])
    call.save(update_fields=[*written, "cost", "reserved"])
    return is_first


def lock_assignments(assignments: Collection[int]) -> None:
    rows = Assignment.objects.filter(pk__in=assignments).select_for_update(no_key=True).order_by("pk")
    list(rows.values_list("pk", flat=True))


def end_abandoned(calls: Sequence[JudgeCall], now: datetime) -> None:
    """Mark locked calls as abandoned; the most they can have cost counts as spent."""
    for call in calls:
        call.state, call.finished_at = JudgeCall.State.ABANDONED, now
    settle(calls)
    for call in calls:
        call.save(update_fields=["state", "finished_at", "cost", "reserved"])
    wake({call.request_hash for call in calls}, now)


def reopen(assignments: Collection[int]) -> None:
    """Reopen claimed assignments, which are locked."""
    claimed = Assignment.objects.filter(pk__in=assignments, state=Assignment.State.CLAIMED)
    claimed.update(state=Assignment.State.OPEN, leased_until=None)


def wake(hashes: Collection[str], now: datetime) -> None:
    """Let the assignments be due that wait for requests which have ended. Their calls must be locked."""
    waiting = RunAssignment.objects.filter(waiting_for__in=set(hashes) - {""}).exclude(waiting_for="")
    waiting.update(waiting_for="", due_at=now)


PAUSE: Final = 0.5  # seconds between two tries

Written = TypeVar("Written")


def retry_until(write: Callable[[], Written], until: datetime) -> Written:
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
