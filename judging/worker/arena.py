"""Speaking with the arena: every exchange of a judge worker, and what its replies mean."""

from enum import Enum, auto

from judging.endpoints.client import Reply
from judging.endpoints.expected import expected_rating
from judging.protocols import runner
from judging.protocols.protocol import Manner
from judging.protocols.replies import ReplyText, Verdict
from judging.worker.arena_client import ArenaClient, ArenaReply, answer_to
from judging.worker.assignments import JudgeInfo, Task, WorkerError
from judging.worker.journal import Entry


class ArenaBusyError(Exception):
    """The arena cannot take this now, but may later; the message is a sentence."""


class Outcome(Enum):
    """What became of a delivered entry."""

    SCORED = auto()
    UNSCORED = auto()
    NO_REPLY = auto()
    TOO_LATE = auto()
    REFUSED = auto()


class Arena:
    """The arena as one judge sees it. Every method may raise ArenaUnreachableError and ArenaBusyError."""

    def __init__(self, client: ArenaClient, judge: str, worker: str) -> None:
        self._client = client
        self._judge = judge
        self._worker = worker

    def look_up(self) -> JudgeInfo:
        """How the judge is asked and what is left; raises WorkerError."""
        reply = self._client.get(f"/judges/{self._judge}/")
        if reply.status == 404:
            raise WorkerError(reply.detail)
        return JudgeInfo.of(_checked(reply, 200).body)

    def claim(self) -> Task | None:
        """The next assignment; None where there is nothing to do now. Raises WorkerError."""
        reply = self._client.post("/assignments/", {"worker": self._worker})
        return None if reply.status == 204 else Task.of(_checked(reply, 201).body)

    def renew(self, entry: Entry) -> float | None:
        """Seconds of the new lease; None where the assignment is lost. Raises WorkerError."""
        reply = self._client.post(f"/assignments/{entry.assignment}/renew/", {"attempt": entry.attempt})
        if reply.status == 409 or (reply.status == 403 and reply.body.get("field") == "assignment"):
            return None
        try:
            return float(_about(entry, _checked(reply, 200)).body["lease_seconds"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ArenaBusyError("The arena renews a lease in a way unknown here") from error

    def deliver(self, entry: Entry) -> Outcome:
        """Give the arena what there is to say about a call; raises WorkerError.

        Whatever is delivered twice counts once.
        """
        if entry.reply is None:
            self._report(entry, vars(entry.failure))
            return Outcome.NO_REPLY
        text = ReplyText(entry.reply.text, entry.reply.finish_reason, entry.reply.refusal)
        verdict = runner.verdict(entry.manner, {entry.key: text})
        expected = _expected(entry.manner, entry.reply)
        answer = answer_to(entry.assignment, verdict, entry.points, text, entry.seconds, expected)
        reply = self._client.post("/comparisons/", {**answer, "call": _record(entry)})
        if reply.status == 409 and "comparison" in reply.body:
            self._report(entry, {"kind": "abandoned", "call": _record(entry)})
            return Outcome.TOO_LATE
        if reply.refuses_answer:
            detail = f"the arena refuses the answer: {reply.detail}"[:600]
            self._report(entry, {"kind": "refused_answer", "detail": detail, "retryable": False})
            return Outcome.REFUSED
        _about(entry, _checked(reply, 200, 201))
        return _outcome(verdict)

    def _report(self, entry: Entry, failure: dict[str, object]) -> None:
        body = {**failure, "attempt": entry.attempt, "seconds": entry.seconds}
        reply = self._client.post(f"/assignments/{entry.assignment}/failed/", body)
        if not reply.refuses_answer:  # an assignment that is not this judge's has nothing to be told about
            _about(entry, _checked(reply, 200))


def _expected(manner: Manner, reply: Reply) -> float | None:
    """The expected rating of the one question that such a judge is asked."""
    step = manner.steps[-1]
    return expected_rating(reply, manner.scale_of(step), manner.place_of(step))


def _outcome(verdict: Verdict) -> Outcome:
    return Outcome.UNSCORED if verdict.rating is None else Outcome.SCORED


def _record(entry: Entry) -> dict[str, object]:
    """The record of the call, as the arena takes it with an answer."""
    reply = entry.reply
    assert reply is not None  # noqa: S101 - only replies have one
    record = {
        "model": entry.model,
        "model_returned": reply.model,
        "attempt": entry.attempt,
        "prompt_hash": entry.prompt_hash,
        "seconds": entry.seconds,
        "finish_reason": reply.finish_reason,
        "refusal": reply.refusal or None,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "reasoning_tokens": reply.reasoning_tokens,
    }
    return {name: value for name, value in record.items() if value is not None}


def _about(entry: Entry, reply: ArenaReply) -> ArenaReply:
    """The reply, if it is about this assignment and not, say, the page of a proxy that is in the way."""
    if reply.body.get("assignment") != entry.assignment:
        raise ArenaBusyError("Something else than the arena answers at its address")
    return reply


def _checked(reply: ArenaReply, *expected: int) -> ArenaReply:
    """The reply, if its status is one of those expected."""
    if reply.status in expected:
        return reply
    if reply.status == 401:
        raise WorkerError("The arena does not accept the token in ARENA_TOKEN; it may have been revoked.")
    raise ArenaBusyError(f"The arena answers: {reply.detail}")
