"""Submitting committed replies through the API, like any rater. Only this is repeated when it fails."""

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from arena.api.auth import rater_token
from arena.models import Assignment
from arena.models.comparisons import Opinion
from judging.models import Judge, JudgeCall
from judging.protocols import conversation
from judging.protocols.deciding import TextScore
from judging.protocols.protocol import ConfiguredProtocol, Protocol
from judging.protocols.replies import ReplyText, Verdict
from judging.runs.claiming import SUBMITTING, put_back
from judging.runs.committing import lock_assignments
from judging.runs.lifecycle import pause_if_unreadable
from judging.runs.work import asked_otherwise, replies_among, requirements
from judging.worker.arena_client import (
    ArenaClient,
    ArenaReply,
    ArenaUnreachableError,
    answer_to,
    answers_to,
    score_to,
)

logger = logging.getLogger(__name__)

Columns = dict[str, Any]


@dataclass(frozen=True)
class Submission:
    """The answer to an assignment, with its last call (and that call's run, study, judge and assignment).

    ``configured`` knows the criteria of the study and the requirements of the prompt.
    """

    call: JudgeCall
    calls: Sequence[JudgeCall]
    replies: Mapping[str, ReplyText]
    configured: ConfiguredProtocol

    @property
    def judge(self) -> Judge:
        return self.call.run.judge

    @cached_property
    def overall(self) -> Sequence[JudgeCall]:
        """The calls but those about a criterion."""
        return [each for each in self.calls if each.key in self._keys]

    @cached_property
    def _keys(self) -> Sequence[str]:
        return conversation.keys(replace(self.configured, criteria=None))

    @property
    def reply(self) -> ReplyText:
        """The last reply about the overall verdict."""
        keys = self._keys
        last = self.call.key if self.call.key in keys else [key for key in keys if key in self.replies][-1]
        return self.replies[last]

    @cached_property
    def verdict(self) -> Verdict | TextScore:
        if self.judge.compares:
            return conversation.verdict(self.configured, self.replies)
        return conversation.score(self.configured, self.replies)

    @property
    def _is_check(self) -> bool:
        return self.judge.task == Assignment.Kind.CHECK

    @cached_property
    def checks(self) -> Mapping[int, Verdict]:
        """On each requirement, by its position."""
        return conversation.checks(self.configured, self.replies)

    @property
    def outcome(self) -> tuple[str, str, int | None]:
        """Status, reason and rating of all; of requirements, unscored if none could be read."""
        if self._is_check:
            read = any(one.rating is not None for one in self.checks.values())
            reason = "" if read else next(iter(self.checks.values())).reason
            return _status(is_unscored=not read), reason, None
        verdict = self.verdict
        rating = verdict.rating if isinstance(verdict, Verdict) else None
        return _status(is_unscored=bool(verdict.reason)), verdict.reason, rating

    def body(self) -> dict[str, object]:
        name = self.call.assignment.public_id
        if self._is_check:
            return answers_to(name, self.checks, self._replies_to, self.seconds)
        verdict = self.verdict
        if isinstance(verdict, TextScore):
            scale = self.configured.score_range
            return score_to(name, verdict, scale, self.reply, self.seconds, self.expected)
        answer = answer_to(name, verdict, self.judge.points, self.reply, self.seconds, self.expected)
        criteria = conversation.criterion_verdicts(self.configured, self.replies)
        return answer | {"criteria": {name: one.rating or one.reason for name, one in criteria.items()}}

    def _replies_to(self, position: int) -> tuple[ReplyText, float | None]:
        """The reply about a requirement, or about all of them, and the seconds it took."""
        keys = conversation.keys_about(self.configured, position)
        last = next(key for key in reversed(keys) if key in self.replies)
        taken = [each.latency for each in self.calls if each.key in keys and each.latency is not None]
        is_of_all = len(keys) == len(conversation.keys(self.configured))
        return self.replies[last], sum(taken) if taken and not is_of_all else None

    @property
    def seconds(self) -> float | None:
        """Total latency of the calls; None if all replies were used again."""
        taken = [call.latency for call in self.calls if call.has_replied and call.latency is not None]
        return sum(taken) if taken else None

    @property
    def expected(self) -> float | None:
        """Mean expected rating of the verdicts; None without any, or where a pair is rated by two scores."""
        if self.judge.compares and has_scores(self.judge.configured_protocol.protocol):
            return None
        known = [call.expected for call in self.overall if call.has_replied and call.expected is not None]
        return sum(known) / len(known) if known else None


def _status(*, is_unscored: bool) -> str:
    return str(Opinion.Status.UNSCORED if is_unscored else Opinion.Status.SCORED)


PATHS: Final = {"compare": "comparisons", "score": "scores", "check": "answers"}
"""Where the API takes what judges of each task say."""


def has_scores(protocol: Protocol) -> bool:
    steps = any(step.score for step in protocol.steps)
    return steps or any(has_scores(part.protocol) for part in protocol.parts)


def submission_of(assignment: int) -> Submission | None:
    """The due submission of an assignment, reserved for this worker."""
    # A reply is due again some time after its submission failed or its worker died.
    call = JudgeCall.objects.unsubmitted_of(assignment)
    if call is None:
        return None
    due = JudgeCall.objects.filter(pk=call.pk, submit_due_at=call.submit_due_at, submitted_at=None)
    call.submit_attempts += 1
    if not due.update(submit_due_at=timezone.now() + SUBMITTING, submit_attempts=call.submit_attempts):
        return None
    calls = [each for each in JudgeCall.objects.conversations([assignment]) if each.round == call.round]
    configured = _configured(call)
    if asked_otherwise(configured, calls):  # while the replies waited; they are asked for anew
        JudgeCall.objects.filter(pk=call.pk).update(submit_due_at=None)
        put_back([assignment])
        return None
    return Submission(call, calls, replies_among(calls), configured)


def _configured(call: JudgeCall) -> ConfiguredProtocol:
    configured = call.run.judge.configured_for(call.run.study)
    completion = call.assignment.completion
    if completion is None:
        return configured
    return configured.asking(requirements([completion.prompt_id]).get(completion.prompt_id, {}))


def submit(submissions: Sequence[Submission]) -> list[bool]:
    """Post answers and write what became of them; returns whether the arena has each."""
    by_judge: dict[int, list[Submission]] = defaultdict(list)
    for submission in submissions:
        by_judge[submission.judge.pk].append(submission)
    outcomes = [outcome for some in by_judge.values() for outcome in _post(some)]
    _write(outcomes)
    stored = {call.pk for call, columns in outcomes if "submitted_at" in columns}
    return [submission.call.pk in stored for submission in submissions]


def _post(submissions: Sequence[Submission]) -> Iterator[tuple[JudgeCall, Columns]]:
    """Post answers of one judge; yields what to write about each call."""
    client = ArenaClient(rater_token(submissions[0].judge.rater))
    replies = client.submit([each.body() for each in submissions], PATHS[submissions[0].judge.task])
    now = timezone.now()
    for submission, reply in zip(submissions, replies, strict=True):
        yield submission.call, _outcome(submission, reply, now)


def _outcome(submission: Submission, reply: ArenaReply | ArenaUnreachableError, now: datetime) -> Columns:
    if isinstance(reply, ArenaUnreachableError):
        return _later(submission.call, str(reply), now)
    if reply.status in (200, 201):
        status, reason, rating = submission.outcome
        return _stored(str(reply.body.get("status") or status), reason, rating, now)
    if reply.status == 409 and isinstance(reply.body.get("comparison"), dict):
        stored = reply.body["comparison"]  # an earlier submission of this reply, read by an older parser
        return _stored(stored["status"], stored["reason"] or "", stored["rating"], now)
    if reply.status == 409 and reply.body.keys() & {"score", "answers"}:
        return _stored(*submission.outcome, now)
    if reply.refuses_answer:  # for good: the study was closed, say
        return {"submit_due_at": None, "given_up": True, "error": reply.detail[:600]}
    return _later(submission.call, f"HTTP {reply.status}: {reply.detail}", now)


def _stored(status: str, reason: str, rating: int | None, now: datetime) -> Columns:
    return {
        "status": status,
        "reason": reason,
        "rating": rating,
        "submitted_at": now,
        "submit_due_at": None,
        "error": "",
        "given_up": False,
    }


def _later(call: JudgeCall, error: str, now: datetime) -> Columns:
    """Due again after a pause that doubles with each try."""
    wait = min(SUBMITTING.total_seconds(), 2.0 ** min(call.submit_attempts, 10))
    logger.warning("Submitting assignment %s failed: %s", call.assignment_id, error)
    return {"submit_due_at": now + timedelta(seconds=wait), "error": error[:600]}


@transaction.atomic
def _write(outcomes: Sequence[tuple[JudgeCall, Columns]]) -> None:
    """Write the outcomes of submitted answers. Harmless when repeated. Locks assignments, then calls."""
    failed = [call.assignment_id for call, columns in outcomes if columns.get("given_up")]
    if failed:
        lock_assignments(failed)
        claimed = Assignment.objects.filter(pk__in=failed, state=Assignment.State.CLAIMED)
        claimed.update(state=Assignment.State.FAILED, leased_until=None, finished_at=timezone.now())
    calls = JudgeCall.objects.filter(pk__in=[call.pk for call, _ in outcomes])
    list(calls.select_for_update(no_key=True).order_by("pk").values_list("pk"))
    alike: dict[frozenset[tuple[str, Any]], list[int]] = defaultdict(list)
    for call, columns in outcomes:  # those with the same rating in one update
        alike[frozenset(columns.items())].append(call.pk)
    for columns_of_some, some in alike.items():
        JudgeCall.objects.filter(pk__in=some, submitted_at=None).update(**dict(columns_of_some))
    for run in {call.run for call, columns in outcomes if columns.get("status") == "unscored"}:
        pause_if_unreadable(run)
