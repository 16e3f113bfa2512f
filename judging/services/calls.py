"""One assignment of a judge, from claim to submission.

Order matters here: a call is committed before the model is asked, its reply before anything is done with it.
No transaction is open while a model or the arena is asked.
"""

import logging
import os
import random
import secrets
import socket
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from arena.models import Assignment
from judging import runner
from judging.keys import KeyVariableError, read_key
from judging.llm.client import Client, NoReplyError, Reply, Request
from judging.llm.openai_client import OpenAIClient
from judging.llm.retrying import RetryPolicy
from judging.llm.simulated import SimulatedClient, Simulation
from judging.models import Judge, JudgeCall, JudgeRun, RunAssignment
from judging.parsers import ReplyText
from judging.rendering import Material
from judging.services.insisting import insist
from judging.services.submitting import LEASE, replies_of, submit, submit_again

logger = logging.getLogger(__name__)

GRACE = timedelta(seconds=30)
"""A call is taken for abandoned this long after its timeout."""


@dataclass(frozen=True)
class Work:
    """Everything needed to ask about one assignment, read before any lock is taken."""

    run: JudgeRun
    assignment: Assignment
    material: Material

    @property
    def judge(self) -> Judge:
        return self.run.judge


def judge_assignment(assignment_id: int) -> int | None:
    """Do what is next for an assignment: submit its committed reply, or ask and then submit.

    Harmless when called twice or too late. Returns the id of the run it worked for, None where there was
    nothing to do.
    """
    row = wanted(timezone.now()).filter(run__remote=False, assignment=assignment_id).first()
    work = work_of(row) if row else None
    call = _claim(work, after=None) if work else None
    if work is None or call is None:
        replied = JudgeCall.objects.unsubmitted_of(assignment_id)
        if replied:
            submit_again(replied)
        return replied.run_id if replied else None
    while call and _ask(work, call):
        if call.submit_due_at:
            submit(call)
            break
        call = _claim(work, after=call)
    return work.run.pk


def wanted(now: datetime) -> QuerySet[RunAssignment]:
    """The assignments that running runs want asked now, with their texts."""
    rows = RunAssignment.objects.filter(
        assignment__state=Assignment.State.OPEN,
        assignment__pair__isnull=False,
        run__state=JudgeRun.State.RUNNING,
        run__study__closed_at=None,
        run__judge__rater__paused_at=None,
        due_at__lte=now,
    )
    return rows.select_related(
        "run__study",
        "run__judge__rater",
        "assignment__pair__prompt",
        "assignment__pair__first",
        "assignment__pair__second",
    )


def work_of(row: RunAssignment) -> Work:
    """What to ask about, read from a row of ``wanted``."""
    pair = row.assignment.pair
    assert pair is not None  # noqa: S101 - held by wanted
    first, second = pair.shown(row.assignment.swapped)
    material = Material(pair.prompt.turns, pair.prompt.input, first.turns, second.turns, boundary_secret())
    return Work(row.run, row.assignment, material)


def _claim(work: Work, after: JudgeCall | None) -> JudgeCall | None:
    """Commit the next call of this process."""
    lease = timedelta(seconds=work.judge.timeout) + GRACE
    return commit_call(work, this_worker(), lease, is_first=after is None)


def commit_call(work: Work, worker: str, lease: timedelta, *, is_first: bool = True) -> JudgeCall | None:
    """Commit the next call, in flight; None where somebody else was faster or every step has its reply.

    ``worker`` names who asks; after ``lease`` it is taken for dead. is_first: the assignment is not held yet.
    """
    manner = work.judge.manner
    earlier = list(JudgeCall.objects.conversation(work.assignment.pk))
    questions = runner.next_questions(manner, work.material, replies_of(work.assignment.pk))
    if not questions:
        return None
    question = questions[0]
    now = timezone.now()
    deadline = now + lease
    before = Assignment.State.OPEN if is_first else Assignment.State.CLAIMED
    try:
        with transaction.atomic():
            claimed = Assignment.objects.filter(pk=work.assignment.pk, state=before).update(
                state=Assignment.State.CLAIMED, leased_until=deadline
            )
            if not claimed:
                return None
            RunAssignment.objects.filter(run=work.run, assignment=work.assignment).update(queued_until=None)
            return JudgeCall.objects.create(
                run=work.run,
                assignment=work.assignment,
                key=question.key,
                attempt=1 + sum(call.key == question.key for call in earlier),
                worker=worker,
                prompt_hash=manner.prompt_hash,
                model=work.judge.model,
                messages=list(question.messages),
                started_at=now,
                deadline=deadline,
            )
    except IntegrityError:  # another worker holds this step
        return None


@cache
def boundary_secret() -> bytes:
    """What the boundaries of prompts are made with; never leaves this process."""
    return salted_hmac("judging.rendering.boundary", "boundary", algorithm="sha256").digest()


def _ask(work: Work, call: JudgeCall) -> bool:
    """Ask the model and commit what came of it; whether a reply was committed."""
    judge = work.judge
    request = Request(
        model=judge.model,
        messages=call.messages,
        timeout=judge.timeout,
        max_tokens=judge.max_tokens,
        temperature=judge.temperature,
        options=judge.options,
    )
    started = time.monotonic()
    try:
        reply = _client(work).ask(request)
    except NoReplyError as error:
        failure = error
    except Exception as error:
        logger.exception("Asking %s about assignment %s failed", judge.slug, work.assignment.pk)
        failure = NoReplyError("internal", f"{type(error).__name__} while asking the model")
    else:
        latency = time.monotonic() - started
        return insist(lambda: _commit_reply(work, call, reply, latency), until=call.deadline)
    latency = time.monotonic() - started
    insist(lambda: commit_failure(call, failure, latency), until=call.deadline)
    return False


def _client(work: Work) -> Client:
    judge = work.judge
    if judge.is_simulated:
        return _simulated(work)
    try:
        key = read_key(judge.api_key_env, os.environ)
    except KeyVariableError as error:
        raise NoReplyError("configuration", str(error), retryable=False) from error
    if not key:
        raise NoReplyError(
            "configuration", f"the environment variable {judge.api_key_env} is not set", retryable=False
        )
    return OpenAIClient(judge.base_url, key)


def _simulated(work: Work) -> Client:
    if not work.run.study.simulated:
        raise NoReplyError(
            "configuration", "a simulated judge may rate simulated studies only", retryable=False
        )
    assert work.assignment.pair is not None  # noqa: S101 - held by _work
    first, second = work.assignment.pair.shown(work.assignment.swapped)
    return SimulatedClient(
        Simulation.from_options(work.judge.simulation),
        first.contestant.slug if first.contestant else "",
        second.contestant.slug if second.contestant else "",
        work.judge.points,
        work.assignment.seed,
    )


def _commit_reply(work: Work, call: JudgeCall, reply: Reply, latency: float) -> bool:
    """Commit the reply before anything else happens to it.

    A call that was taken for abandoned meanwhile keeps its late reply for the record only: the assignment may
    be asked anew already. Returns whether the reply counts.
    """
    now = timezone.now()
    known = {
        **replies_of(work.assignment.pk),
        call.key: ReplyText(reply.text, reply.finish_reason, reply.refusal),
    }
    is_last = not runner.next_questions(work.judge.manner, work.material, known)
    received = {
        "raw_reply": reply.text,
        "refusal": reply.refusal,
        "finish_reason": reply.finish_reason,
        "model_returned": reply.model,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "latency": latency,
        "finished_at": now,
    }
    counts = {"state": JudgeCall.State.REPLIED, **received}
    if is_last:
        counts |= {"submit_due_at": now + LEASE, "submit_attempts": 1}
    if not JudgeCall.objects.filter(pk=call.pk, state=JudgeCall.State.IN_FLIGHT).update(**counts):
        JudgeCall.objects.filter(pk=call.pk, state=JudgeCall.State.ABANDONED).update(**received)
        return False
    for name, value in counts.items():
        setattr(call, name, value)
    return True


def commit_failure(call: JudgeCall, error: NoReplyError, latency: float | None) -> None:
    """Commit that no reply came, and when to try again; without a next try the assignment has failed."""
    now = timezone.now()
    failures = (
        1 + JudgeCall.objects.filter(run=call.run_id, assignment=call.assignment_id, state="failed").count()
    )
    rng = random.Random()  # noqa: S311 - jitter
    retry_at = retry_policy().next_try(error, failures, now, rng)
    with transaction.atomic():
        failed = JudgeCall.objects.filter(pk=call.pk, state=JudgeCall.State.IN_FLIGHT).update(
            state=JudgeCall.State.FAILED,
            error_kind=error.kind,
            error=str(error)[:600],
            latency=latency,
            finished_at=now,
            retry_at=retry_at,
            given_up=retry_at is None,
        )
        if failed:
            release(call.run_id, call.assignment_id, retry_at, now)


def release(run: int, assignment: int, due_at: datetime | None, now: datetime) -> None:
    """Put a claimed assignment back, to be asked when due; with no due time it has failed."""
    state = Assignment.State.OPEN if due_at else Assignment.State.FAILED
    Assignment.objects.filter(pk=assignment, state=Assignment.State.CLAIMED).update(
        state=state, leased_until=None, finished_at=None if due_at else now
    )
    if due_at:
        RunAssignment.objects.filter(run=run, assignment=assignment).update(due_at=due_at, queued_until=None)


def retry_policy() -> RetryPolicy:
    """How patiently this arena retries."""
    return RetryPolicy(
        settings.JUDGE_MAX_ATTEMPTS, settings.JUDGE_RETRY_SECONDS, settings.JUDGE_RETRY_MAX_SECONDS
    )


def this_worker() -> str:
    """The name of this process, different for every process that ever runs."""
    return _worker_name(os.getpid())


@cache
def _worker_name(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}:{secrets.token_hex(4)}"
