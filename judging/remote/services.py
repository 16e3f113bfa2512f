"""Judges on other machines: what they may claim, keep and report. Nothing here asks a model.

A judge that is configured here is asked in its remote runs. Any other judge with a token rates pairs that are
planned as it goes along.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from arena.models import Assignment, Comparison, Rater, Study
from arena.rating import assignments as rating
from arena.rating import offering, planning
from arena.rating.recording import LeaseLostError, NotAllowedError
from judging.endpoints.client import REFUSALS, NoReplyError
from judging.models import Judge, JudgeCall, JudgeRun, RunAssignment
from judging.models.calls import JudgeCallQuerySet
from judging.models.runs import JudgeRunQuerySet
from judging.runs import committing, spending
from judging.runs import work as runs_work
from judging.runs.claiming import claim_remotely
from judging.runs.committing import Outcome, Results, end_abandoned
from judging.runs.lifecycle import finish_if_done, pause_if_unreadable
from judging.runs.recovery import abandon
from judging.runs.work import wanted, with_calls

PLANNED_AHEAD: Final = 32  # pairs planned at a time for a judge that is not configured here
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


def lease_time() -> timedelta:
    return timedelta(seconds=settings.JUDGE_LEASE_SECONDS)


def claim(rater: Rater, study: Study | None, worker: str = "") -> Claimed | None:
    """The next assignment of a judge elsewhere; None if there is nothing to do now.

    Raises NotAllowedError if the study is closed or the judge may not rate it.
    """
    judge = Judge.objects.select_related("rater").filter(rater=rater).first()
    if judge:
        if study and study.is_closed:
            raise NotAllowedError("This study is closed and takes no more ratings.")
        return _claim_call(judge, study, f"remote {worker or judge.slug}")
    if study is None:
        raise NotAllowedError("Name a study, because this judge has no runs here.")
    return _claim_planned(rater, study)


def _claim_call(judge: Judge, study: Study | None, worker: str) -> Claimed | None:
    for _ in range(TRIES):
        with transaction.atomic():
            rows = _waiting(judge, study).select_for_update(of=("self",), skip_locked=True)
            row = rows.order_by("run_id", "pk").first()
            if row is None:
                break
            [work] = with_calls([row])
            if runs_work.unrateable([work]):
                runs_work.put_waiting_aside(work.run, _waiting(judge, study))
                continue
            call = claim_remotely(work, worker[:200], lease_time())
        if call:
            row.assignment.leased_until = call.deadline
            return row.assignment, call
    for run in remote_runs(judge).filter(state=JudgeRun.State.RUNNING):
        finish_if_done(run)
    return None


def _waiting(judge: Judge, study: Study | None) -> QuerySet[RunAssignment]:
    replied = JudgeCall.objects.filter(
        assignment=OuterRef("assignment"), round=OuterRef("round"), state=JudgeCall.State.REPLIED
    )
    rows = wanted(timezone.now()).filter(~Exists(replied), run__remote=True, run__judge=judge)
    return rows.filter(run__study=study) if study else rows


def remote_runs(judge: Judge) -> JudgeRunQuerySet:
    return JudgeRun.objects.going_on().filter(judge=judge, remote=True)


@transaction.atomic
def _claim_planned(rater: Rater, study: Study) -> Claimed | None:
    """Lease the next pair planned for a judge that is not configured here, planning more if needed."""
    locked = rating.lock_open(study, rater)
    if study.imported_raters.filter(kind=Rater.Kind.JUDGE, slug=rater.slug).exists():
        raise NotAllowedError(
            f"{study.name} holds imported ratings of another judge {rater.slug}. Use a judge with another "
            "slug."
        )
    runs_work.put_planned_aside(locked, rater)
    leased = rating.lease_planned(locked, rater, lease_time())
    ahead = planning.Wanted(limit=PLANNED_AHEAD)
    if leased is None and planning.plan(locked, rater, ahead, points=study.points).assignments:
        leased = rating.lease_planned(locked, rater, lease_time())
    return (Assignment.objects.for_page().get(pk=leased.pk), None) if leased else None


@transaction.atomic
def renew(rater: Rater, public_id: str, attempt: int | None = None) -> datetime:
    """Extend the lease of an assignment and its call; returns its end.

    Raises NotAllowedError, or LeaseLostError if it was answered or given to somebody else.
    """
    lease = offering.lease_time() if rater.kind == Rater.Kind.PERSON else lease_time()
    assignment = rating.renew(rater, public_id, lease)
    assert assignment.leased_until is not None  # noqa: S101 - just set
    renewed = _in_flight(assignment, attempt).update(deadline=assignment.leased_until)
    if attempt is not None and not renewed:
        raise LeaseLostError(f"Attempt {attempt} was given up. Another worker may have this assignment.")
    return assignment.leased_until


@transaction.atomic
def report_failure(
    rater: Rater,
    public_id: str,
    error: NoReplyError,
    *,
    attempt: int | None,
    seconds: float | None,
    record: Mapping[str, Any],
) -> tuple[Assignment, datetime | None]:
    """Record that there is no answer; returns when the assignment is due again. Repeating is harmless.

    Calls of a configured judge are retried by the arena's own policy. Any other judge's assignment is open
    again at once, or skipped if the failure is not retryable.
    """
    own = Assignment.objects.named(public_id).filter(rater=rater)
    assignment = own.select_for_update(no_key=True).first()
    if assignment is None:
        raise NotAllowedError("This rater has no such assignment.")
    if rater.kind == Rater.Kind.PERSON:
        raise NotAllowedError("Only judges report failures. People skip a pair on the rating page.")
    if not _calls(assignment).exists():
        _put_back(assignment, error)
    elif error.kind == ABANDONED:
        _abandon(assignment, attempt, record)
    elif call := _in_flight(assignment, attempt).first():
        failed = JudgeCall.objects.filter(run=call.run_id, round=call.round, state=JudgeCall.State.FAILED)
        failures = failed.filter(assignment=assignment).exclude(error_kind__in=REFUSALS).count()
        committing.commit([Results([Outcome(call, error, seconds, failures=failures)])])
    assignment.refresh_from_db()
    rows = RunAssignment.objects.filter(assignment=assignment).order_by("-run_id")
    is_open = assignment.state == Assignment.State.OPEN
    return assignment, rows.values_list("due_at", flat=True).first() if is_open else None


def _abandon(assignment: Assignment, attempt: int | None, record: Mapping[str, Any]) -> None:
    abandon(_in_flight(assignment, attempt), timezone.now())
    # Without an attempt there is no telling which call the record is about.
    late = _calls(assignment).filter(attempt=attempt or 0, state=JudgeCall.State.ABANDONED)
    late.update(finished_at=timezone.now(), **_received(record))


def _in_flight(assignment: Assignment, attempt: int | None) -> JudgeCallQuerySet:
    calls = _calls(assignment).filter(state=JudgeCall.State.IN_FLIGHT)
    return calls if attempt is None else calls.filter(attempt=attempt)


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


def settle(assignment: Assignment, comparison: Comparison, record: Mapping[str, Any]) -> bool:
    """Store the record of the call behind an answer; False if no worker elsewhere made one.

    Runs in the transaction that stores the answer. An answer counts although its call was given up and
    another one is in flight. A second answer's record is kept and nothing counted.
    """
    every = list(JudgeCall.objects.filter(assignment=assignment).select_related("run").order_by("attempt"))
    call = _call_behind([each for each in every if each.run.remote], record.get("attempt"))
    if call is None:
        return False
    own = JudgeCall.objects.filter(pk=call.pk)
    if any(each.has_replied and each.round == call.round for each in every):
        late = own.filter(state=JudgeCall.State.ABANDONED)
        late.update(finished_at=timezone.now(), **_received(record))
        return True
    now = timezone.now()
    end_abandoned([each for each in every if each.is_in_flight and each != call], now)
    JudgeCall.objects.filter(assignment=assignment, given_up=True).update(given_up=False)
    # The run that waits for the assignment now; the one that asked may have been cancelled.
    waiting = JudgeRun.objects.active().filter(run_assignments__assignment=assignment)
    run = waiting.first() or call.run
    RunAssignment.objects.filter(run=run, assignment=assignment, put_aside=True).update(put_aside=False)
    raw_reply = "" if comparison.raw_reply == record.get("refusal") else comparison.raw_reply
    columns = {"latency": comparison.seconds, **_received(record)}
    if call.is_in_flight:
        columns |= _cost(call, columns)
    own.update(
        **columns,
        run=run,
        state=JudgeCall.State.REPLIED,
        raw_reply=raw_reply,
        finished_at=now,
        error_kind="",
        error="",
        given_up=False,
        status=comparison.status,
        reason=comparison.reason,
        rating=comparison.rating,
        submit_attempts=1,
        submitted_at=now,
    )
    pause_if_unreadable(run)
    return True


def _cost(call: JudgeCall, columns: Mapping[str, Any]) -> dict[str, Any]:
    call.state = JudgeCall.State.REPLIED
    for name, value in columns.items():
        setattr(call, name, value)
    spending.settle([call])
    return {"cost": call.cost, "reserved": call.reserved}


def _call_behind(calls: list[JudgeCall], attempt: object) -> JudgeCall | None:
    """The call of this attempt; without an attempt the one in flight, or the last."""
    if attempt is not None:
        return next((call for call in calls if call.attempt == attempt), None)
    in_flight = [call for call in calls if call.state == JudgeCall.State.IN_FLIGHT]
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
