"""Submitting a committed reply through the API, like any rater. Only this is repeated when it fails."""

import logging
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from arena.api.auth import rater_token
from arena.models import Assignment
from judging import runner
from judging.arena_client import ArenaClient, ArenaUnreachableError, answer_to
from judging.models import JudgeCall
from judging.parsers import ReplyText, Verdict

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
"""So long a reply belongs to the worker that submits it; also the longest wait between two tries."""


def submit_again(call: JudgeCall) -> bool:
    """Submit a reply whose earlier submission failed or was cut short, unless somebody else is at it."""
    due = JudgeCall.objects.filter(pk=call.pk, submit_due_at=call.submit_due_at, submitted_at=None)
    call.submit_attempts += 1
    if not due.update(submit_due_at=timezone.now() + LEASE, submit_attempts=call.submit_attempts):
        return False
    return submit(call)


def submit(call: JudgeCall) -> bool:
    """Parse the committed reply and post the answer; whether the arena has it now."""
    verdict = read_verdict(call)
    judge = call.run.judge
    answer = answer_to(call.assignment.public_id, verdict, judge.points, _text(call), call.latency)
    try:
        reply = ArenaClient(rater_token(judge.rater)).post("/comparisons/", answer)
    except ArenaUnreachableError as error:
        _try_later(call, str(error))
        return False
    if reply.status in (200, 201):
        _submitted(call, verdict.status, verdict.reason, verdict.rating)
        return True
    if reply.status == 409 and isinstance(reply.body.get("comparison"), dict):
        stored = reply.body["comparison"]  # an earlier submission of this reply, read by an older parser
        _submitted(call, stored["status"], stored["reason"] or "", stored["rating"])
        return True
    if reply.refuses_answer:
        _give_up(call, reply.detail)
    else:
        _try_later(call, f"HTTP {reply.status}: {reply.detail}")
    return False


def read_verdict(call: JudgeCall) -> Verdict:
    """What the judge's replies about the assignment amount to."""
    return runner.verdict(call.run.judge.manner, replies_of(call.assignment_id))


def replies_of(assignment: int) -> dict[str, ReplyText]:
    """The committed replies about an assignment, by the key of their question."""
    calls = JudgeCall.objects.conversation(assignment)
    return {call.key: _text(call) for call in calls if call.state == JudgeCall.State.REPLIED}


def _text(call: JudgeCall) -> ReplyText:
    return ReplyText(call.raw_reply, call.finish_reason, call.refusal)


def _submitted(call: JudgeCall, status: str, reason: str, rating: int | None) -> None:
    JudgeCall.objects.filter(pk=call.pk, submitted_at=None).update(
        status=status,
        reason=reason,
        rating=rating,
        submitted_at=timezone.now(),
        submit_due_at=None,
        error="",
        given_up=False,
    )


def _try_later(call: JudgeCall, error: str) -> None:
    """Remember the failure; the sweep or the next nudge tries again, ever more slowly."""
    wait = min(LEASE.total_seconds(), 2.0 ** min(call.submit_attempts, 10))
    logger.warning("Submitting assignment %s failed: %s", call.assignment_id, error)
    JudgeCall.objects.filter(pk=call.pk, submitted_at=None).update(
        submit_due_at=timezone.now() + timedelta(seconds=wait), error=error[:600]
    )


@transaction.atomic
def _give_up(call: JudgeCall, error: str) -> None:
    """The arena refuses this answer for good (the study was closed, say): the assignment has failed."""
    JudgeCall.objects.filter(pk=call.pk, submitted_at=None).update(
        submit_due_at=None, given_up=True, error=error[:600]
    )
    Assignment.objects.filter(pk=call.assignment_id, state=Assignment.State.CLAIMED).update(
        state=Assignment.State.FAILED, leased_until=None, finished_at=timezone.now()
    )
