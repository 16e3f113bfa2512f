"""Starting, feeding, ending and cancelling runs."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from arena import planning
from arena.models import Study
from judging import queue
from judging.models import Judge, JudgeCall, JudgeRun, RunAssignment
from judging.services.judges import JudgeError, check_usable

QUEUE_PATIENCE = timedelta(minutes=2)
"""A message that was not acted upon for so long is taken for lost."""


def start_run(
    study: Study,
    judge: Judge,
    *,
    limit: int | None = None,
    both_orders: bool = False,
    remote: bool = False,
    created_by: Any = None,
) -> JudgeRun:
    """A new run, planned by the workers, and asked by them or (``remote``) by judge workers elsewhere.

    Raises JudgeError saying why there can be none.
    """
    check_usable(judge, study, remote=remote)
    if limit is not None and limit < 1:
        raise JudgeError("The limit must be at least 1.")
    try:
        with transaction.atomic():
            run = JudgeRun.objects.create(
                study=study,
                judge=judge,
                limit=limit,
                both_orders=both_orders,
                remote=remote,
                created_by=created_by,
            )
            if not judge.prompt_hash:
                judge.prompt_hash = judge.current_prompt_hash()
                judge.save(update_fields=["prompt_hash"])
    except IntegrityError as error:
        raise JudgeError(f"{judge.name} is running over {study.name} already.") from error
    transaction.on_commit(lambda: queue.nudge_plan(run.pk))
    return run


def plan_run(run_id: int) -> None:
    """Write the assignments of a queued run and start feeding it; nothing for a run in another state."""
    with transaction.atomic():
        queued = JudgeRun.objects.select_for_update(of=("self",)).filter(
            pk=run_id, state=JudgeRun.State.QUEUED
        )
        run = queued.select_related("study", "judge__rater").first()
        if run is None:
            return
        assignments = planning.plan(run.study, run.judge.rater, limit=run.limit, both_orders=run.both_orders)
        RunAssignment.objects.bulk_create(
            (RunAssignment(run=run, assignment_id=pk) for pk in assignments), batch_size=1000
        )
        _take_over_replies(run)
        run.state = JudgeRun.State.RUNNING
        run.started_at = timezone.now()
        run.save(update_fields=["state", "started_at"])
    feed(run.pk)


def _take_over_replies(run: JudgeRun) -> None:
    """Replies of earlier runs that were never submitted are submitted by this one instead of asked again."""
    JudgeCall.objects.filter(
        state=JudgeCall.State.REPLIED,
        submit_attempts__gt=0,
        submitted_at=None,
        assignment__run_assignments__run=run,
    ).update(run=run, submit_due_at=timezone.now(), given_up=False)


def feed(run_id: int, now: datetime | None = None) -> int:
    """Tell the workers of the run's next due assignments; returns how many.

    Only so many messages are under way at a time (settings.JUDGE_QUEUE_AHEAD), topped up when half are used,
    so a run of any size starts at once and a cancelled one leaves no heap of messages. A run with nothing
    left to do becomes finished. Judge workers elsewhere ask for a remote run's assignments themselves.
    """
    now = now or timezone.now()
    free = settings.JUDGE_QUEUE_AHEAD - RunAssignment.objects.filter(run=run_id, queued_until__gt=now).count()
    if free < settings.JUDGE_QUEUE_AHEAD / 2:
        return 0
    running = JudgeRun.objects.filter(pk=run_id, state=JudgeRun.State.RUNNING)
    run = running.select_related("study", "judge__rater").first()
    if run is None or run.judge.rater.paused_at:
        return 0
    if run.study.is_closed:
        cancel_run(run, "The study was closed.")
        return 0
    if run.remote:
        finish_if_done(run)
        return 0
    with transaction.atomic():
        due = (
            run.run_assignments.select_for_update(of=("self",), skip_locked=True)
            .filter(
                Q(queued_until=None) | Q(queued_until__lte=now), assignment__state="open", due_at__lte=now
            )
            .order_by("pk")
        )
        chosen = list(due.values_list("pk", "assignment")[:free])
        RunAssignment.objects.filter(pk__in=[pk for pk, _ in chosen]).update(
            queued_until=now + QUEUE_PATIENCE
        )
        transaction.on_commit(lambda: queue.nudge_assignments(assignment for _, assignment in chosen))
    if not chosen:
        finish_if_done(run)
    return len(chosen)


def finish_if_done(run: JudgeRun) -> bool:
    """Mark a running run as finished when every assignment has its end; True if it is now finished."""
    if run.run_assignments.filter(assignment__state__in=["open", "claimed"]).exists():
        return False
    if JudgeCall.objects.filter(run=run, submit_due_at__isnull=False).exists():
        return False
    ended = JudgeRun.objects.filter(pk=run.pk, state=JudgeRun.State.RUNNING)
    return bool(ended.update(state=JudgeRun.State.FINISHED, finished_at=timezone.now()))


def cancel_run(run: JudgeRun, why: str = "") -> bool:
    """Stop asking. Calls in flight are paid for, so their replies still count; False if it had ended already.

    What was not asked stays planned and is taken up by the judge's next run over the study.
    """
    cancelled = JudgeRun.objects.active().filter(pk=run.pk)
    return bool(cancelled.update(state=JudgeRun.State.CANCELLED, finished_at=timezone.now(), error=why))
