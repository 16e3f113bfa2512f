"""Judges on other machines: what they may claim, keep and report. Nothing here asks a model.

A judge that is configured here is asked in its remote runs. Any other judge with a token rates pairs that are
planned as it goes along.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from arena.models import Assignment, Comparison, Rater, Study
from arena.models.comparisons import Opinion
from arena.rating import assignments as rating
from arena.rating import offering
from arena.rating.opinions import LeaseLostError, NotAllowedError
from arena.rating.recording import own_assignment
from judging.endpoints.client import REFUSALS, NoReplyError
from judging.models import Judge, JudgeCall, JudgeRun, RunAssignment
from judging.models.calls import JudgeCallQuerySet
from judging.models.runs import JudgeRunQuerySet
from judging.remote import unconfigured
from judging.runs import committing, queue
from judging.runs import work as runs_work
from judging.runs.claiming import SUBMITTING, claim_remotely
from judging.runs.committing import Outcome, Results, end_abandoned
from judging.runs.lifecycle import finish_if_done, pause_if_unreadable
from judging.runs.recovery import abandon
from judging.runs.work import Work, wanted, with_calls
from judging.spending import purses

TRIES: Final = 5  # how often a claim is tried when other workers are faster
ABANDONED: Final = "abandoned"  # kind of a report that a call was cut off; it is asked again at once

# Columns of a call that the record of a reply has, too.
RECEIVED: Final = (
    "model_returned",
    "refusal",
    "finish_reason",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
)

Claimed = tuple[Assignment, JudgeCall | None]
"""An assignment, and the call about it if the judge is configured here."""


class CallName(NamedTuple):
    """Names a call about an assignment, as far as it is told: the question, and the attempt at it."""

    key: str | None = None
    attempt: int | None = None

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "CallName":
        return cls(record.get("key"), record.get("attempt"))

    def chosen(self, calls: JudgeCallQuerySet) -> JudgeCallQuerySet:
        return calls.filter(**{name: value for name, value in self._asdict().items() if value is not None})


def lease_time() -> timedelta:
    return timedelta(seconds=settings.JUDGE_LEASE_SECONDS)


def claim(rater: Rater, study: Study | None, worker: str = "") -> Claimed | None:
    """The next assignment of a judge elsewhere; None if there is nothing to do now.

    Raises NotAllowedError if the study is closed or the judge may not rate it.
    """
    judge = Judge.objects.whole().filter(rater=rater).first()
    if judge:
        if study and study.is_closed:
            raise NotAllowedError("This study is closed and takes no more ratings.")
        return _claim_call(judge, study, f"remote {worker or judge.slug}")
    if study is None:
        raise NotAllowedError("Name a study, because this judge has no runs here.")
    leased = unconfigured.lease_next(rater, study, lease_time())
    return (leased, None) if leased else None


def _claim_call(judge: Judge, study: Study | None, worker: str) -> Claimed | None:
    for _ in range(TRIES):
        with transaction.atomic():
            row = _next(judge, study)
            if row is None:
                break
            [work] = with_calls([row])
            if runs_work.unrateable([work]):
                if not runs_work.put_waiting_aside(work.run, _waiting(work.run)):
                    runs_work.put_aside([work], Assignment.State.OPEN)
                continue
            if replied := _is_whole(work):
                _submit(replied)
                continue
            call = claim_remotely(work, worker[:200], lease_time())
        if call:
            row.assignment.leased_until = call.deadline
            return row.assignment, call
    for run in _running(judge):
        finish_if_done(run)
    return None


def _next(judge: Judge, study: Study | None) -> RunAssignment | None:
    """What waits in the judge's oldest run, locked."""
    runs = _running(judge).filter(study=study) if study else _running(judge)
    rows = (_waiting(run).select_for_update(of=("self",), skip_locked=True).first() for run in runs)
    return next(filter(None, rows), None)


def _waiting(run: JudgeRun) -> QuerySet[RunAssignment]:
    # By rater and time, assignments are found in the order of planning without those that are done.
    own = {"assignment__rater": run.judge.rater_id, "assignment__study": run.study_id}
    return wanted(timezone.now()).filter(run=run, **own).order_by("assignment__created_at")


def _running(judge: Judge) -> JudgeRunQuerySet:
    return remote_runs(judge).filter(state=JudgeRun.State.RUNNING).select_related("judge").order_by("pk")


def remote_runs(judge: Judge) -> JudgeRunQuerySet:
    return JudgeRun.objects.going_on().filter(judge=judge, remote=True)


@transaction.atomic
def renew(rater: Rater, public_id: str, name: CallName) -> datetime:
    """Extend the lease of an assignment and its call; returns its end.

    Raises NotAllowedError, or LeaseLostError if it was answered or given to somebody else.
    """
    lease = offering.lease_time() if rater.kind == Rater.Kind.PERSON else lease_time()
    assignment = rating.renew(rater, public_id, lease)
    assert assignment.leased_until is not None  # noqa: S101 - just set
    renewed = name.chosen(_in_flight(assignment)).update(deadline=assignment.leased_until)
    if name.attempt is not None and not renewed:
        raise LeaseLostError(f"Attempt {name.attempt} was given up. Another worker may have this assignment.")
    return assignment.leased_until


@transaction.atomic
def report_failure(
    rater: Rater,
    public_id: str,
    error: NoReplyError,
    *,
    name: CallName,
    seconds: float | None,
    record: Mapping[str, Any],
) -> tuple[Assignment, datetime | None]:
    """Record that there is no answer; returns when the assignment is due again. Repeating is harmless.

    Calls of a configured judge are retried by the arena's own policy. Any other judge's assignment is open
    again at once, or skipped if the failure is not retryable.
    """
    assignment = own_assignment(rater, public_id)
    if rater.kind == Rater.Kind.PERSON:
        raise NotAllowedError("Only judges report failures. People skip a pair on the rating page.")
    if not _calls(assignment).exists():
        _put_back(assignment, error)
    elif error.kind == ABANDONED:
        _abandon(assignment, name, record)
    elif call := name.chosen(_in_flight(assignment)).first():
        failed = JudgeCall.objects.filter(run=call.run_id, round=call.round, state=JudgeCall.State.FAILED)
        failures = failed.filter(assignment=assignment).exclude(error_kind__in=REFUSALS).count()
        committing.commit([Results([Outcome(call, error, seconds, failures=failures)])])
    return _with_due_time(assignment)


def _with_due_time(assignment: Assignment) -> tuple[Assignment, datetime | None]:
    assignment.refresh_from_db()
    rows = RunAssignment.objects.filter(assignment=assignment).order_by("-run_id")
    is_open = assignment.state == Assignment.State.OPEN
    return assignment, rows.values_list("due_at", flat=True).first() if is_open else None


def _abandon(assignment: Assignment, name: CallName, record: Mapping[str, Any]) -> None:
    abandon(name.chosen(_in_flight(assignment)), timezone.now())
    # Without an attempt there is no telling which call the record is about.
    if name.attempt is not None:
        late = name.chosen(_calls(assignment)).filter(state=JudgeCall.State.ABANDONED)
        late.update(finished_at=timezone.now(), **_received(record))


def _in_flight(assignment: Assignment) -> JudgeCallQuerySet:
    return _calls(assignment).filter(state=JudgeCall.State.IN_FLIGHT)


def _put_back(assignment: Assignment, error: NoReplyError) -> None:
    claimed = Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.CLAIMED)
    if error.retryable:
        claimed.update(state=Assignment.State.OPEN, leased_until=None)
    else:
        claimed.update(
            state=Assignment.State.SKIPPED,
            leased_until=None,
            finished_at=timezone.now(),
            skip_reason=f"{error.kind}: {error}"[:500],
        )


def asked_remotely(assignments: Sequence[int]) -> set[int]:
    calls = JudgeCall.objects.filter(assignment__in=assignments, run__remote=True).order_by()
    return set(calls.values_list("assignment", flat=True))


def settle(assignment: Assignment, opinion: Opinion, record: Mapping[str, Any]) -> bool:
    """Store the record of the call behind an answer; False if no worker elsewhere made one.

    Runs in the transaction that stores the answer. An answer counts although its call was given up and
    another one is in flight. A second answer's record is kept and nothing counted.
    """
    every = _every_call(assignment)
    call = _call_behind(every, CallName.of(record))
    if call is None:
        return False
    raw_reply = "" if opinion.raw_reply == record.get("refusal") else opinion.raw_reply
    columns = {"raw_reply": raw_reply, "latency": opinion.seconds, **_received(record)}
    outcome = {
        "status": opinion.status,
        "reason": opinion.reason,
        "rating": opinion.rating if isinstance(opinion, Comparison) else None,
        "submit_attempts": 1,
        "submitted_at": timezone.now(),
    }
    if run := _keep(call, every, columns, outcome):
        pause_if_unreadable(run)
    return True


def keep_reply(
    rater: Rater, public_id: str, raw_reply: str, expected: float | None, record: Mapping[str, Any]
) -> tuple[Assignment, datetime | None]:
    """Commit the reply to one question, and submit once all have theirs; returns when the next one is due.

    Repeating is harmless. Raises NotAllowedError, or LeaseLostError if the question has another reply.
    """
    with transaction.atomic():
        assignment = own_assignment(rater, public_id)
        every = _every_call(assignment)
        call = _call_behind(every, CallName.of(record))
        if call is None:
            raise NotAllowedError("This question was not claimed.")
        is_kept = call.has_replied
        columns = {"raw_reply": raw_reply, "expected": expected, **_received(record)}
        if not is_kept and (run := _keep(call, every, columns)):
            is_kept = True
            _go_on(run, assignment)
    if not is_kept:
        raise LeaseLostError("Another worker has handed in a reply to this question.")
    return _with_due_time(assignment)


def _go_on(run: JudgeRun, assignment: Assignment) -> None:
    """Have the next question asked, or the replies submitted."""
    [work] = runs_work.with_calls(RunAssignment.objects.filter(run=run, assignment=assignment))
    if last := _is_whole(work):
        _submit(last)
    else:
        now = timezone.now()
        committing.release(run.pk, assignment.pk, now, now)


def _is_whole(work: Work) -> JudgeCall | None:
    """The last reply about an assignment, if nothing is left to ask."""
    replied = [call for call in work.in_round if call.has_replied]
    return replied[-1] if replied and not work.open_questions(work.replies) else None


def _submit(last: JudgeCall) -> None:
    """Have the arena's own workers read the verdict and submit it."""
    now = timezone.now()
    JudgeCall.objects.filter(pk=last.pk, submitted_at=None).update(submit_due_at=now)
    unfinished = Assignment.objects.filter(pk=last.assignment_id, finished_at=None)
    unfinished.update(state=Assignment.State.CLAIMED, leased_until=now + SUBMITTING)
    transaction.on_commit(lambda: queue.nudge_assignments([last.assignment_id]))


def _keep(
    call: JudgeCall, every: Sequence[JudgeCall], columns: dict[str, Any], outcome: Mapping[str, Any] = {}
) -> JudgeRun | None:
    """Store the reply of a call; None if its question has one, and then only what this one took."""
    own = JudgeCall.objects.filter(pk=call.pk)
    now = timezone.now()
    if any(each.has_replied and (each.round, each.key) == (call.round, call.key) for each in every):
        received = {name: columns[name] for name in (*RECEIVED, "latency") if columns.get(name) is not None}
        own.filter(state=JudgeCall.State.ABANDONED).update(finished_at=now, **received)
        return None
    end_abandoned([each for each in every if each.is_in_flight and each != call], now)
    JudgeCall.objects.filter(assignment=call.assignment_id, given_up=True).update(given_up=False)
    # The run that waits for the assignment now; the one that asked may have been cancelled.
    waiting = JudgeRun.objects.active().filter(run_assignments__assignment=call.assignment_id)
    run = waiting.first() or call.run
    planned = RunAssignment.objects.filter(run=run, assignment=call.assignment_id, put_aside=True)
    planned.update(put_aside=False)
    if call.is_in_flight:
        columns |= _cost(call, columns)
    ended = {"state": JudgeCall.State.REPLIED, "finished_at": now, "error_kind": "", "error": ""}
    own.update(**columns, **ended, **outcome, run=run, given_up=False)
    return run


def _cost(call: JudgeCall, columns: Mapping[str, Any]) -> dict[str, Any]:
    call.state = JudgeCall.State.REPLIED
    for name, value in columns.items():
        setattr(call, name, value)
    purses.settle([call])
    return {"cost": call.cost, "reserved": call.reserved}


def _every_call(assignment: Assignment) -> list[JudgeCall]:
    return list(JudgeCall.objects.filter(assignment=assignment).select_related("run").order_by("attempt"))


def _call_behind(every: Sequence[JudgeCall], name: CallName) -> JudgeCall | None:
    """The remote call of this name; without an attempt the one in flight, or the last."""
    calls = [call for call in every if call.run.remote and name.key in (None, call.key)]
    if name.attempt is not None:
        return next((call for call in calls if call.attempt == name.attempt), None)
    in_flight = [call for call in calls if call.is_in_flight]
    return next(iter(in_flight or calls[::-1]), None)


def _received(record: Mapping[str, Any]) -> dict[str, Any]:
    columns = {name: record.get(name) for name in RECEIVED} | {"latency": record.get("seconds")}
    return {name: value for name, value in columns.items() if value is not None}


def _calls(assignment: Assignment) -> JudgeCallQuerySet:
    return JudgeCall.objects.filter(assignment=assignment, run__remote=True)


def work_left(judge: Judge) -> tuple[int, int]:
    runs = list(remote_runs(judge).values_list("pk", flat=True))
    without_end = RunAssignment.objects.filter(run__in=runs, assignment__state__in=["open", "claimed"])
    return len(runs), without_end.count()
