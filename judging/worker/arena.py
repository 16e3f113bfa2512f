"""The arena's API as a judge worker uses it; replies are checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, get_origin, get_type_hints

from judging.endpoints.client import Reply, Request
from judging.endpoints.keys import KeyVariableError, read_key
from judging.endpoints.logprobs import expected_rating
from judging.protocols import conversation
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.protocol import ConfiguredProtocol
from judging.worker.arena_client import ArenaClient, ArenaReply, answer_to
from judging.worker.journal import Entry


class WorkerError(Exception):
    """The worker cannot go on; the message is a sentence for who started it."""


@dataclass(frozen=True)
class JudgeInfo:
    slug: str
    name: str
    model: str
    base_url: str
    key_variable: str
    protocol: str
    prompt_hash: str
    form: str
    points: int
    parameters: dict[str, Any]
    wording: dict[str, str]
    runs: int
    waiting: int

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> "JudgeInfo":
        """From GET /judges/SLUG/; raises WorkerError."""
        kinds = {name: get_origin(kind) or kind for name, kind in get_type_hints(cls).items()}
        odd = [name for name, kind in kinds.items() if not isinstance(body.get(name), kind)]
        if odd:
            raise WorkerError(
                f"This version does not understand the arena's description of the judge: {', '.join(odd)}."
            )
        if not body["base_url"]:
            raise WorkerError(f"The judge {body['slug']} has no endpoint.")
        return cls(**{name: body[name] for name in cls.__annotations__})


@dataclass(frozen=True)
class Task:
    entry: Entry
    request: Request
    lease: float

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> "Task":
        """From POST /assignments/; raises WorkerError."""
        try:
            asked = body["request"]
            entry = Entry(
                assignment=str(body["assignment"]),
                attempt=int(asked["attempt"]),
                key=str(asked["key"]),
                protocol=str(asked["protocol"]),
                prompt_hash=str(asked["prompt_hash"]),
                form=str(asked["form"]),
                points=int(asked["points"]),
                model=str(asked["model"]),
                kind=str(body["kind"]),
            )
            request = Request(
                model=entry.model,
                messages=asked["messages"],
                timeout=float(asked["timeout"]),
                max_tokens=asked["max_tokens"],
                temperature=asked["temperature"],
                options=dict(asked["options"]),
                logprobs=bool(asked.get("logprobs", False)),
            )
            return cls(entry, request, float(body["lease_seconds"]))
        except (KeyError, TypeError, ValueError, OverflowError) as error:  # int(Infinity) overflows
            raise WorkerError(f"This version does not understand the arena's work ({error!r}).") from error


def check_wording(judge: JudgeInfo) -> None:
    """Raise WorkerError unless this worker words the judge's protocol exactly as the arena does."""
    if judge.protocol not in PROTOCOLS:
        raise WorkerError(
            f'This worker knows no protocol "{judge.protocol}"; install the version of the arena here.'
        )
    try:
        protocol = PROTOCOLS.named(judge.protocol)
        configured = ConfiguredProtocol.of(
            protocol, judge.form, judge.points, judge.parameters, judge.wording
        )
        same = configured.prompt_hash == judge.prompt_hash
    except (ValueError, KeyError) as error:
        raise WorkerError(
            f"This version does not understand the arena's description of the judge ({error})."
        ) from error
    if not same:
        raise WorkerError(
            f"The arena words protocol {judge.protocol} differently from this worker, so their ratings "
            "cannot "
            "be compared. Install the arena's version here."
        )


def check_unchanged(entry: Entry, prompt_hash: str) -> None:
    """Raise WorkerError if a call is worded differently than when this worker began."""
    if entry.prompt_hash != prompt_hash:
        raise WorkerError("The arena has changed the judge's wording. Start the worker again.")


def key_of(judge: JudgeInfo, environment: Mapping[str, str], override: str = "") -> tuple[str, str]:
    """The variable with the judge's key on this machine ("" for none) and the key; raises WorkerError."""
    variable = override or judge.key_variable
    try:
        key = read_key(variable, environment)
    except KeyVariableError as error:
        raise WorkerError(str(error)) from error
    if not key:
        raise WorkerError(
            f"The environment variable {variable}, which holds the key of {judge.name}, is not set on this "
            "machine. Use --key-variable to name another."
        )
    return variable, key


class ArenaBusyError(Exception):
    """The arena cannot take this now, but may later."""


class Outcome(Enum):
    SCORED = "scored"
    REPLIED = "replies"
    UNSCORED = "unscored"
    NO_REPLY = "calls without a reply"
    TOO_LATE = "too late"
    REFUSED = "refused"


class Arena:
    """Every method may raise ArenaUnreachableError, ArenaBusyError, WorkerError."""

    def __init__(self, client: ArenaClient, judge: str, worker: str) -> None:
        self._client = client
        self._judge = judge
        self._worker = worker

    def look_up(self) -> JudgeInfo:
        reply = self._client.get(f"/judges/{self._judge}/")
        if reply.status == 404:
            raise WorkerError(reply.detail)
        return JudgeInfo.of(_checked(reply, 200).body)

    def claim(self) -> Task | None:
        """The next assignment; None if there is nothing to do now."""
        reply = self._client.post("/assignments/", {"worker": self._worker})
        return None if reply.status == 204 else Task.of(_checked(reply, 201).body)

    def renew(self, entry: Entry) -> float | None:
        """Seconds of the new lease; None if the assignment is lost."""
        reply = self._client.post(f"/assignments/{entry.assignment}/renew/", _name(entry))
        if reply.status == 409 or (reply.status == 403 and reply.body.get("field") == "assignment"):
            return None
        try:
            return float(_about(entry, _checked(reply, 200)).body["lease_seconds"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ArenaBusyError("This version does not understand the arena's lease") from error

    def deliver(self, entry: Entry) -> Outcome:
        """Report an entry's reply or failure. Harmless when repeated."""
        if entry.reply is None:
            self._report(entry, vars(entry.failure))
            return Outcome.NO_REPLY
        expected = _expected(entry.configured_protocol, entry.reply)
        if entry.kind == "compare":
            return self._rate(entry, entry.reply, expected)
        return self._hand_in(entry, entry.reply, expected)

    def _rate(self, entry: Entry, replied: Reply, expected: float | None) -> Outcome:
        """Submit the rating that the reply holds."""
        text = replied.as_text
        verdict = conversation.verdict(entry.configured_protocol, {entry.key: text})
        answer = answer_to(entry.assignment, verdict, entry.points, text, entry.seconds, expected)
        reply = self._client.post("/comparisons/", {**answer, "call": _record(entry)})
        if reply.status == 409 and "comparison" in reply.body:
            self._report(entry, {"kind": "abandoned", "call": _record(entry)})
            return Outcome.TOO_LATE
        if reply.refuses_answer:
            return self._refused(entry, reply)
        _about(entry, _checked(reply, 200, 201))
        return Outcome.UNSCORED if verdict.rating is None else Outcome.SCORED

    def _hand_in(self, entry: Entry, replied: Reply, expected: float | None) -> Outcome:
        """Hand in the reply; the arena reads the verdict once every question about the answer has one."""
        body = {"raw_reply": replied.text, "expected": expected, "call": _record(entry)}
        reply = self._client.post(f"/assignments/{entry.assignment}/replied/", body)
        if reply.status == 409 and reply.body.get("field") == "assignment":
            return Outcome.TOO_LATE
        if reply.refuses_answer:
            return self._refused(entry, reply)
        _about(entry, _checked(reply, 200))
        return Outcome.REPLIED

    def _refused(self, entry: Entry, reply: ArenaReply) -> Outcome:
        detail = f"the arena refuses the answer: {reply.detail}"[:600]
        self._report(entry, {"kind": "refused_answer", "detail": detail, "retryable": False})
        return Outcome.REFUSED

    def _report(self, entry: Entry, failure: dict[str, object]) -> None:
        body = {**failure, **_name(entry), "seconds": entry.seconds}
        reply = self._client.post(f"/assignments/{entry.assignment}/failed/", body)
        if not reply.refuses_answer:  # an assignment that is not this judge's has nothing to be told about
            _about(entry, _checked(reply, 200))


def _expected(configured: ConfiguredProtocol, reply: Reply) -> float | None:
    step = configured.steps[-1]
    return expected_rating(reply, configured.scale_of(step), configured.place_of(step))


def _name(entry: Entry) -> dict[str, object]:
    """Names its call to the arena."""
    return {"key": entry.key, "attempt": entry.attempt}


def _record(entry: Entry) -> dict[str, object]:
    reply = entry.reply
    assert reply is not None  # noqa: S101 - only replies have one
    record = {
        **_name(entry),
        "model": entry.model,
        "model_returned": reply.model,
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
    """The reply, if it is about this assignment and not, say, a proxy's page."""
    if reply.body.get("assignment") != entry.assignment:
        raise ArenaBusyError("Another program answers at the arena's address")
    return reply


def _checked(reply: ArenaReply, *expected: int) -> ArenaReply:
    if reply.status in expected:
        return reply
    if reply.status == 401:
        raise WorkerError("The arena does not accept the token in ARENA_TOKEN. It may have been revoked.")
    raise ArenaBusyError(f"The arena answers: {reply.detail}")
