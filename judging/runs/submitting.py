"""Submitting committed replies through the API, like any rater. Only this is repeated when it fails."""

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from arena.api.auth import rater_token
from arena.models import Assignment
from judging.models import Judge, JudgeCall
from judging.protocols import conversation
from judging.protocols.protocol import Protocol
from judging.protocols.replies import ReplyText, Verdict
from judging.runs.claiming import SUBMITTING
from judging.runs.work import replies_among, text_of
from judging.worker.arena_client import ArenaClient, ArenaReply, ArenaUnreachableError, answer_to

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Submission:
    """The answer to an assignment: its last call (with run, judge and assignment), all calls of the round,
    the verdict.
    """

    call: JudgeCall
    calls: Sequence[JudgeCall]
    verdict: Verdict

    @classmethod
    def of(
        cls, call: JudgeCall, calls: Sequence[JudgeCall], replies: Mapping[str, ReplyText]
    ) -> "Submission":
        """The answer that replies, by key, amount to."""
        return cls(call, calls, conversation.verdict(call.run.judge.configured_protocol, replies))

    @property
    def judge(self) -> Judge:
        return self.call.run.judge

    def answer(self) -> dict[str, object]:
        """The body that the API is sent."""
        name, points = self.call.assignment.public_id, self.judge.points
        return answer_to(name, self.verdict, points, text_of(self.call), self.seconds, self.expected)

    @property
    def seconds(self) -> float | None:
        """Total latency of the calls; None if all replies were used again."""
        taken = [call.latency for call in self.calls if call.has_replied and call.latency is not None]
        return sum(taken) if taken else None

    @property
    def expected(self) -> float | None:
        """Mean expected rating over the verdicts; None if there is none, or single answers are scored."""
        if has_scores(self.judge.configured_protocol.protocol):
            return None
        known = [call.expected for call in self.calls if call.has_replied and call.expected is not None]
        return sum(known) / len(known) if known else None


def has_scores(protocol: Protocol) -> bool:
    """Whether a protocol, or a part of it, scores single answers."""
    steps = any(step.score for step in protocol.steps)
    return steps or any(has_scores(part.protocol) for part in protocol.parts)


@dataclass(frozen=True)
class SubmissionOutcome:
    """What to write about a submitted call. has_failed: the arena refuses the answer for good."""

    call: JudgeCall
    columns: Mapping[str, Any]
    has_failed: bool = False

    @property
    def is_stored(self) -> bool:
        """Whether the arena has the answer."""
        return self.columns.get("submitted_at") is not None


def submission_of(assignment: int) -> Submission | None:
    """The due submission of an assignment, reserved for this worker; None if there is none.

    A committed reply is due again some time after its submission failed or its worker died.
    """
    call = JudgeCall.objects.unsubmitted_of(assignment)
    if call is None:
        return None
    due = JudgeCall.objects.filter(pk=call.pk, submit_due_at=call.submit_due_at, submitted_at=None)
    call.submit_attempts += 1
    if not due.update(submit_due_at=timezone.now() + SUBMITTING, submit_attempts=call.submit_attempts):
        return None
    calls = [each for each in JudgeCall.objects.conversations([assignment]) if each.round == call.round]
    return Submission.of(call, calls, replies_among(calls))


def post(submissions: Sequence[Submission]) -> list[SubmissionOutcome | Exception]:
    """Post answers; returns what to write about each. Nothing is written here."""
    outcomes: list[SubmissionOutcome | Exception] = [LookupError("not posted")] * len(submissions)
    by_judge: dict[int, list[int]] = defaultdict(list)
    for number, submission in enumerate(submissions):
        by_judge[submission.judge.pk].append(number)
    for numbers in by_judge.values():
        for number, outcome in zip(numbers, _post([submissions[each] for each in numbers]), strict=True):
            outcomes[number] = outcome
    return outcomes


def _post(submissions: Sequence[Submission]) -> Iterator[SubmissionOutcome]:
    client = ArenaClient(rater_token(submissions[0].judge.rater))
    replies = client.submit([each.answer() for each in submissions])
    for submission, reply in zip(submissions, replies, strict=True):
        if isinstance(reply, ArenaUnreachableError):
            yield _later(submission.call, str(reply))
        else:
            yield outcome_of(submission.call, submission.verdict, reply)


def outcome_of(call: JudgeCall, verdict: Verdict, reply: ArenaReply) -> SubmissionOutcome:
    """What the arena's reply to a submitted answer means for its call."""
    if reply.status in (200, 201):
        return _stored(call, str(reply.body["status"]), verdict.reason, verdict.rating)
    if reply.status == 409 and isinstance(reply.body.get("comparison"), dict):
        stored = reply.body["comparison"]  # an earlier submission of this reply, read by an older parser
        return _stored(call, stored["status"], stored["reason"] or "", stored["rating"])
    if reply.refuses_answer:  # for good: the study was closed, say
        return SubmissionOutcome(
            call, {"submit_due_at": None, "given_up": True, "error": reply.detail[:600]}, has_failed=True
        )
    return _later(call, f"HTTP {reply.status}: {reply.detail}")


def _stored(call: JudgeCall, status: str, reason: str, rating: int | None) -> SubmissionOutcome:
    columns = {
        "status": status,
        "reason": reason,
        "rating": rating,
        "submitted_at": timezone.now(),
        "submit_due_at": None,
        "error": "",
        "given_up": False,
    }
    return SubmissionOutcome(call, columns)


def _later(call: JudgeCall, error: str) -> SubmissionOutcome:
    """Due again after a pause that doubles with each try."""
    wait = min(SUBMITTING.total_seconds(), 2.0 ** min(call.submit_attempts, 10))
    logger.warning("Submitting assignment %s failed: %s", call.assignment_id, error)
    return SubmissionOutcome(
        call, {"submit_due_at": timezone.now() + timedelta(seconds=wait), "error": error[:600]}
    )


def submit(submissions: Sequence[Submission]) -> list[bool | Exception]:
    """Post answers and write the outcomes; returns whether the arena has each."""
    outcomes = post(submissions)
    written = iter(write([outcome for outcome in outcomes if isinstance(outcome, SubmissionOutcome)]))
    return [next(written) if isinstance(outcome, SubmissionOutcome) else outcome for outcome in outcomes]


@transaction.atomic
def write(outcomes: Sequence[SubmissionOutcome]) -> list[bool]:
    """Write the outcomes of submitted answers; returns whether the arena has each. Harmless when repeated."""
    failed = [outcome.call.assignment_id for outcome in outcomes if outcome.has_failed]
    if failed:
        claimed = Assignment.objects.filter(pk__in=failed, state=Assignment.State.CLAIMED)
        list(claimed.select_for_update(no_key=True).order_by("pk").values_list("pk"))
        claimed.update(state=Assignment.State.FAILED, leased_until=None, finished_at=timezone.now())
    calls = [outcome.call.pk for outcome in outcomes]
    list(
        JudgeCall.objects.filter(pk__in=calls).select_for_update(no_key=True).order_by("pk").values_list("pk")
    )
    alike: dict[frozenset[tuple[str, Any]], list[SubmissionOutcome]] = defaultdict(list)
    for outcome in outcomes:  # those with the same rating in one update, at one moment
        alike[
            frozenset(outcome.columns.items() - {("submitted_at", outcome.columns.get("submitted_at"))})
        ].append(outcome)
    for some in alike.values():
        rows = JudgeCall.objects.filter(pk__in=[outcome.call.pk for outcome in some], submitted_at=None)
        rows.update(**some[0].columns)
    return [outcome.is_stored for outcome in outcomes]
