"""Repairing what lost messages and killed processes leave behind."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from arena.models import Assignment
from arena.models.querysets import AssignmentQuerySet
from judging.judges.services import JudgeError
from judging.models import JudgeCall, JudgeRun, RunAssignment
from judging.models.calls import JudgeCallQuerySet
from judging.runs import queue
from judging.runs.calls import this_worker
from judging.runs.claiming import put_back
from judging.runs.committing import end_abandoned, lock_assignments, release
from judging.runs.lifecycle import LONGEST_ERROR, QUEUE_PATIENCE, check_wording, feed, pause_run, resume_run
from judging.spending.purses import settle_deleted

RECEIVED_WITHIN = timedelta(seconds=10)  # idle workers have begun with a message by then


def sweep(now: datetime | None = None) -> dict[str, int]:
    """Repair what is due; returns counts by kind. Called every settings.SWEEP_SECONDS."""
    now = now or timezone.now()
    abandoned = abandon(JudgeCall.objects.overdue(now), now)
    _reopen_idle(Assignment.objects.lapsed(now))
    settle_deleted()
    _go_on(now)
    unsubmitted = list(JudgeCall.objects.unsubmitted(now).values_list("assignment", flat=True)[:500])
    queue.nudge_assignments(unsubmitted)
    queued = list(JudgeRun.objects.filter(state=JudgeRun.State.QUEUED).values_list("pk", flat=True))
    for run in queued:
        queue.nudge_plan(run)
    fed = 0
    for going in JudgeRun.objects.filter(state=JudgeRun.State.RUNNING).select_related("judge__rater"):
        if _keeps_its_wording(going):
            _forget_lost_messages(going.pk, now)
            fed += feed(going.pk, now)
    return {"abandoned": abandoned, "submitting": len(unsubmitted), "planning": len(queued), "fed": fed}


def _go_on(now: datetime) -> None:
    """Resume the runs that the budget of an earlier day has paused."""
    for run in JudgeRun.objects.whole().filter(state=JudgeRun.State.PAUSED, goes_on_at__lte=now):
        try:
            resume_run(run)
        except JudgeError as error:  # it cannot be asked any more, so somebody has to
            JudgeRun.objects.filter(pk=run.pk).update(goes_on_at=None, error=str(error)[:LONGEST_ERROR])


def _keeps_its_wording(run: JudgeRun) -> bool:
    """Whether the wording is unchanged; else pauses the run."""
    try:
        check_wording(run.judge)
    except JudgeError as error:
        pause_run(run, str(error))
        return False
    return True


def abandon_orphans(now: datetime | None = None) -> int:
    """Abandon the calls in flight of a former process; returns how many there were."""
    # For the start of an arena whose only worker is this process. Queued messages died with the other one, so
    # all that was queued or waiting is due at once. Workers on other machines live on.
    now = now or timezone.now()
    in_flight = JudgeCall.objects.filter(state="in_flight", run__remote=False)
    orphans = abandon(in_flight.exclude(worker=this_worker()), now)
    _reopen_idle(Assignment.objects.claimed())
    JudgeCall.objects.filter(submit_due_at__gt=now).update(submit_due_at=now)
    for run in JudgeRun.objects.active():
        run.run_assignments.filter(queued_until__isnull=False).update(queued_until=None)
    return orphans


def _forget_lost_messages(run: int, now: datetime) -> None:
    """Feed a run anew that has messages under way and no call in flight: nobody received them."""
    if not JudgeCall.objects.filter(run=run, state=JudgeCall.State.IN_FLIGHT).exists():
        late = now + QUEUE_PATIENCE - RECEIVED_WITHIN
        RunAssignment.objects.filter(run=run, queued_until__lte=late).update(queued_until=None)


def _reopen_idle(claimed: AssignmentQuerySet) -> None:
    """Reopen assignments whose worker died between two steps; their replies are kept."""
    own = {"assignment": OuterRef("pk")}
    busy = JudgeCall.objects.filter(
        Q(state=JudgeCall.State.IN_FLIGHT) | Q(submit_due_at__isnull=False), **own
    )
    idle = claimed.filter(Exists(RunAssignment.objects.filter(**own)), ~Exists(busy))
    put_back(idle.order_by().values_list("pk", flat=True))


def abandon(calls: JudgeCallQuerySet, now: datetime) -> int:
    """Mark calls abandoned and reopen their assignments, each in a transaction; returns how many calls."""
    assignments = sorted(set(calls.values_list("assignment", flat=True)))
    return sum(_abandon(calls, assignment, now) for assignment in assignments)


@transaction.atomic
def _abandon(calls: JudgeCallQuerySet, assignment: int, now: datetime) -> int:
    lock_assignments([assignment])
    # Looked up again: a lease that was renewed meanwhile is overdue no more.
    in_flight = JudgeCall.objects.filter(assignment=assignment, state=JudgeCall.State.IN_FLIGHT)
    chosen = calls.filter(assignment=assignment, state=JudgeCall.State.IN_FLIGHT)
    lost = list(chosen.select_for_update(no_key=True).order_by("pk"))
    end_abandoned(lost, now)
    if lost and not in_flight.exists():
        release(lost[-1].run_id, assignment, now, now)
    return len(lost)
