"""Repairing what lost messages and killed processes leave behind."""

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from arena.models import Assignment
from arena.models.querysets import AssignmentQuerySet
from judging.judges.services import JudgeError
from judging.models import JudgeCall, JudgeRun, RunAssignment
from judging.models.calls import JudgeCallQuerySet
from judging.runs import queue
from judging.runs.committing import end_abandoned, lock_assignments, reopen
from judging.runs.heartbeat import this_worker
from judging.runs.lifecycle import (
    LONGEST_ERROR,
    check_wording,
    end_if_closed,
    finish_if_done,
    pause_run,
    resume_run,
)
from judging.spending.reservations import settle_deleted


def sweep(now: datetime | None = None) -> dict[str, int]:
    """Repair what is due; returns counts by kind. Called every settings.SWEEP_SECONDS."""
    now = now or timezone.now()
    abandoned = abandon(JudgeCall.objects.overdue(now), now)
    _reopen_idle(Assignment.objects.lapsed(now))
    settle_deleted()
    _go_on(now)
    queued = list(JudgeRun.objects.filter(state=JudgeRun.State.QUEUED).values_list("pk", flat=True))
    for run in queued:
        queue.nudge_plan(run)
    for going in JudgeRun.objects.whole().filter(state=JudgeRun.State.RUNNING):
        if _keeps_its_wording(going) and not end_if_closed(going):
            finish_if_done(going)
    return {"abandoned": abandoned, "planning": len(queued)}


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
    # For the start of an arena whose only worker is this process. Workers on other machines live on.
    now = now or timezone.now()
    in_flight = JudgeCall.objects.filter(state="in_flight", run__remote=False)
    orphans = abandon(in_flight.exclude(worker=this_worker()), now)
    _reopen_idle(Assignment.objects.claimed())
    return orphans


def _reopen_idle(claimed: AssignmentQuerySet) -> None:
    """Reopen assignments whose worker died between two steps; their replies are kept."""
    own = {"assignment": OuterRef("pk")}
    busy = JudgeCall.objects.filter(state=JudgeCall.State.IN_FLIGHT, **own)
    idle = claimed.filter(Exists(RunAssignment.objects.filter(**own)), ~Exists(busy))
    found = list(idle.order_by().values_list("pk", flat=True))  # in the order of ids SQLite would read all
    with transaction.atomic():
        held = idle.filter(pk__in=found).order_by("pk").select_for_update(of=("self",), no_key=True)
        reopen([row.pk for row in held.only("pk")])


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
        reopen([assignment])
    return len(lost)
