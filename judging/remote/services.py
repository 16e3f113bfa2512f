"""Judges on other machines: what they may claim, keep and report. Nothing here asks a model.

A judge that is configured here is asked in its remote runs. Any other judge with a token rates pairs that are
planned as it goes along.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from arena.models import Assignment, Comparison, Rater, Study
from arena.models.comparisons import Opinion
from arena.rating import assignments as rating
from arena.rating import offering
from arena.rating.opinions import LeaseLostError, NotAllowedError
from arena.rating.recording import own_assignment
from judging.endpoints.client import NoReplyError, Reply
from judging.models import Judge, JudgeCall, JudgeRun, RunAssignment
from judging.models.calls import JudgeCallQuerySet
from judging.models.runs import JudgeRunQuerySet
from judging.protocols import conversation
from judging.remote import unconfigured
from judging.runs.claiming import Claimed, claim_of
from judging.runs.committing import LATE, Result, commit, commit_each, take
from judging.runs.lifecycle import end_if_closed, pause_if_unreadable
from judging.runs.recovery import abandon

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


def claim(rater: Rater, study: Study | None, worker: str = "") -> Claimed | Assignment | None:
    """The next call of a judge elsewhere, or its assignment if it is not configured here; None for nothing.

    Raises NotAllowedError if the study is closed or the judge may not rate it.
    """
    judge = Judge.objects.whole().filter(rater=rater).first()
    if judge:
        if study and study.is_closed:
            raise NotAllowedError("This study is closed and takes no more ratings.")
        return _claim_call(judge, study, f"remote {worker or judge.slug}")
    if study is None:
        raise NotAllowedError("Name a study, because this judge has no runs here.")
    return unconfigured.lease_next(rater, study, lease_time())


def _claim_call(judge: Judge, study: Study | None, worker: str) -> Claimed | None:
    runs = remote_runs(judge).filter(state=JudgeRun.State.RUNNING).order_by("pk")
    for run in (runs.filter(study=study) if study else runs).whole():
        for claimed in [] if end_if_closed(run) else claim_of(run, 1, worker[:200]):
            return claimed
    return None


def remote_runs(judge: Judge) -> JudgeRunQuerySet:
    return JudgeRun.objects.going_on().filter(judge=judge, remote=True)


@transaction.atomic
def renew(rater: Rater, public_id: str, name: CallName) -> datetime:
    """Extend the lease of an assignment and its call; returns its end.

    Raises NotAllowedError, or LeaseLostError if it was answered or given to somebody else.
    """
    lease = offering.lease_time() if rater.kind == Rater.Kind.PERSON else lease_time()
    assignment = rating.renew(rater, public_id, lease)
    _check_claimed_elsewhere(assignment)
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
    _check_claimed_elsewhere(assignment)
    if not _calls(assignment).exists():
        _put_back(assignment, error)
    elif error.kind == ABANDONED:
        _abandon(assignment, name, record)
    elif call := name.chosen(_in_flight(assignment)).first():
        commit([Result(call.pk, error, seconds)])
    return _with_due_time(assignment)


def _check_claimed_elsewhere(assignment: Assignment) -> None:
    """Raise NotAllowedError for an assignment of a run that only this arena has asked about."""
    of_run = RunAssignment.objects.filter(assignment=assignment)
    if of_run.exists() and not _calls(assignment).exists():
        raise NotAllowedError(UNCLAIMED)


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
    call = _call_behind(assignment, CallName.of(record))
    if call is None:
        return False
    keys = conversation.keys(call.run.judge.configured_for(call.run.study))
    if call.is_in_flight and keys != [call.key]:
        raise NotAllowedError(
            "This judge is asked several questions: hand in each reply at "
            f"/assignments/{assignment.public_id}/replied/. Install the arena's version of the judge worker."
        )
    raw_reply = "" if opinion.raw_reply == record.get("refusal") else opinion.raw_reply
    outcome = {
        "status": opinion.status,
        "reason": opinion.reason,
        "rating": opinion.rating if isinstance(opinion, Comparison) else None,
        "submitted_at": timezone.now(),
    }
    said = {"raw_reply": raw_reply, "latency": opinion.seconds, **_received(record)}
    is_new = call.submitted_at is None
    # The run that waits for the assignment now; the one that asked may have been cancelled.
    waiting = JudgeRun.objects.active().filter(run_assignments__assignment=assignment).first()
    if is_new and take(call, said, timezone.now(), outcome | {"run": waiting or call.run}):
        pause_if_unreadable(call.run)
    return True


def keep_reply(
    rater: Rater, public_id: str, raw_reply: str, expected: float | None, record: Mapping[str, Any]
) -> tuple[Assignment, datetime | None]:
    """Commit the reply to one question, and record once all have theirs; returns when the next one is due.

    Repeating is harmless. Raises NotAllowedError, or LeaseLostError if the question has another reply.
    """
    assignment = own_assignment(rater, public_id)
    call = _call_behind(assignment, CallName.of(record))
    if call is None:
        raise NotAllowedError(UNCLAIMED)
    told: dict[str, Any] = {name: record.get(name) for name in RECEIVED[3:]}
    names = ("finish_reason", "refusal", "model_returned")
    finish, refused, model = (str(record.get(name) or "") for name in names)
    reply = Reply(raw_reply, finish, model, refused, **told)
    if any(commit([Result(call.pk, reply, record.get("seconds"), expected)])):
        raise LeaseLostError(LATE)
    return _with_due_time(assignment)


class HandedIn(NamedTuple):
    """What came of a call that ``assignment``, ``key`` and ``attempt`` name."""

    assignment: str
    name: CallName
    result: Reply | NoReplyError
    seconds: float | None


def replied(rater: Rater, results: Sequence[HandedIn], *, remote: bool = True) -> list[tuple[str, str]]:
    """Commit results, and record the answers that are complete; for each its outcome, and what is amiss.

    Repeating is harmless. ``remote``: of runs that are asked elsewhere, else of those that are asked here.
    """
    asked = JudgeCall.objects.filter(assignment__rater=rater, run__remote=remote)
    calls = asked.filter(assignment__public_id__in=[each.assignment for each in results])
    named = calls.values_list("assignment__public_id", "key", "attempt", "pk")
    known = {(public_id, CallName(key, attempt)): pk for public_id, key, attempt, pk in named}
    found = [known.get((each.assignment, each.name)) for each in results]
    committed = [Result(pk, each.result, each.seconds) for pk, each in zip(found, results, strict=True) if pk]
    said = dict(zip((each.call for each in committed), commit_each(committed), strict=True))
    ended = {call.pk: call for call in asked.filter(pk__in=said)}
    return [
        (_outcome(ended[pk]), said[pk] or _amiss(ended[pk], each.result)) if pk else ("refused", UNCLAIMED)
        for pk, each in zip(found, results, strict=True)
    ]


def _amiss(call: JudgeCall, told: Reply | NoReplyError) -> str:
    """Why a reply that was told of a call does not count; "" if it does."""
    if not isinstance(told, Reply):
        return ""
    if not call.has_replied:
        return ENDED
    same = (told.text, told.refusal) == (call.raw_reply, call.refusal)
    return (call.error if call.given_up else "") if same else ANSWERED


def _outcome(call: JudgeCall) -> str:
    if call.has_replied:
        return "refused" if call.given_up else call.status or "replies"
    return "too late" if call.state == JudgeCall.State.ABANDONED else "calls without a reply"


UNCLAIMED: Final = "This question was not claimed."
ANSWERED: Final = "This call has another reply already, which counts."
ENDED: Final = "This call has ended without a reply already."


def _call_behind(assignment: Assignment, name: CallName) -> JudgeCall | None:
    """The remote call of this name; without an attempt the one in flight, or the last."""
    rows = _calls(assignment).select_related("run__study", "run__judge__rater", "run__judge__endpoint")
    calls = [call for call in rows.order_by("attempt") if name.key in (None, call.key)]
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
