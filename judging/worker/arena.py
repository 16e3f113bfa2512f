"""The arena as a worker on another machine sees it: a judge's calls over the API. Replies are checked."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_origin, get_type_hints

from judging.endpoints.client import NoReplyError, Reply, Request, Token, refusal
from judging.endpoints.keys import KeyVariableError, read_key
from judging.endpoints.logprobs import may_be_verdict
from judging.endpoints.openai_client import OpenAIClient
from judging.endpoints.reaching import RefusedAddressError
from judging.worker.arena_client import ArenaClient, ArenaReply
from judging.worker.worker import AwayError, Ended, Task

MOST_AT_ONCE: Final = 100  # results that the API takes in one request
OUTCOMES: Final = (
    *("scored", "replies", "identical", "unscored"),
    *("calls without a reply", "too late", "refused"),
)
"""What the arena says became of a call, as ``handed_in`` named it."""

MOST_CHARACTERS: Final = (1_000_000, 250_000)
"""Characters of a text that the arena takes, and those that fit into a request whatever they are."""

REFUSED: Final = frozenset({400, 413, 422})  # statuses that the same replies would get again


class WorkerError(Exception):
    """The worker cannot go on; the message is a sentence for who started it."""


@dataclass(frozen=True)
class JudgeInfo:
    slug: str
    name: str
    model: str
    base_url: str
    key_variable: str
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


def key_of(name: str, variable: str, environment: Mapping[str, str]) -> str:
    """The key of a judge in a variable on this machine; raises WorkerError."""
    try:
        key = read_key(variable, environment)
    except KeyVariableError as error:
        raise WorkerError(str(error)) from error
    if not key:
        raise WorkerError(
            f"The environment variable {variable}, which holds the key of {name}, is not set on this "
            "machine. Use --key-variable to name another."
        )
    return key


class Arena:
    """The door to a judge's calls. Raises WorkerError if the arena does not understand this worker."""

    def __init__(
        self,
        client: ArenaClient,
        judge: str,
        worker: str,
        tell: Callable[[str], None],
        key_variable: str = "",
    ) -> None:
        self._client, self._judge, self._worker, self._tell = client, judge, worker, tell
        self._key_variable = key_variable
        self.outcomes: Counter[str] = Counter()
        self.was_refused = False  # by the endpoint, which pauses the run

    def look_up(self) -> JudgeInfo:
        reply = self._client.get(f"/judges/{self._judge}/")
        if reply.status == 404:
            raise WorkerError(reply.detail)
        return JudgeInfo.of(_checked(reply, 200).body)

    def claim(self, free: int) -> list[Task]:
        tasks: list[Task] = []
        while len(tasks) < free:
            try:
                reply = self._client.post("/assignments/", {"worker": self._worker})
                if reply.status == 204:
                    break
                tasks.append(self._task(_checked(reply, 201).body))
            except AwayError:
                if not tasks:
                    raise
                break  # what was claimed is asked
        return tasks

    def _task(self, body: Mapping[str, Any]) -> Task:
        """From POST /assignments/; raises WorkerError."""
        try:
            asked, name = body["request"], str(body["assignment"])
            request = Request(
                model=str(asked["model"]),
                messages=asked["messages"],
                timeout=float(asked["timeout"]),
                max_tokens=asked["max_tokens"],
                temperature=asked["temperature"],
                options=dict(asked["options"]),
                logprobs=bool(asked["logprobs"]),
                schema=asked["reply_schema"],
            )
            call = name, str(asked["key"]), int(asked["attempt"])
            address, variable = str(asked["base_url"]), self._key_variable or str(asked["key_variable"])
            lease = float(body["lease_seconds"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:  # int(Infinity) overflows
            raise WorkerError(
                f"This version does not understand the arena's work ({error!r}). Install the arena's version "
                "here."
            ) from error
        return Task(call, lambda: _client(address, variable).ask(request), f"assignment {name}", lease)

    def replied(self, ended: Sequence[Ended]) -> None:
        for each in ended:
            if isinstance(each.result, NoReplyError) and (why := refusal(each.result)):
                if not self.was_refused:  # of several calls that are refused at once
                    self._tell(why)
                self.was_refused = True
        for one in hand_in(self._post, [handed_in(each.call, each) for each in ended]):
            self.outcomes[one["outcome"]] += 1
            if one["detail"]:
                self._tell(f"The arena says of {one['assignment']}: {one['detail']}")

    def _post(self, body: bytes) -> ArenaReply:
        reply = self._client.post_bytes("/assignments/replied/", body)
        if reply.status in (404, 405):
            raise WorkerError("The arena has an older version than this worker. Install the same version.")
        return reply if reply.status in REFUSED else _checked(reply, 200)

    def progress(self) -> str:
        counted = [f"{self.outcomes[name]} {name}" for name in OUTCOMES if self.outcomes[name]]
        return ", ".join(counted or ["0 scored"])


def _client(address: str, variable: str) -> OpenAIClient:
    """Raises NoReplyError if there is no key that can be sent, or the address may not be asked."""
    try:
        return OpenAIClient(address, key_of("the judge", variable, os.environ))
    except (WorkerError, RefusedAddressError) as error:
        raise NoReplyError("configuration", str(error), retryable=False) from error


def _checked(reply: ArenaReply, *expected: int) -> ArenaReply:
    if reply.status in expected:
        return reply
    if reply.status == 401:
        raise WorkerError("The arena does not accept the token in ARENA_TOKEN. It may have been revoked.")
    raise AwayError(f"The arena answers: {reply.detail}")


def hand_in(
    post: Callable[[bytes], ArenaReply], results: Sequence[dict[str, object]]
) -> Iterator[dict[str, Any]]:
    """Hand in results; yields what became of each. Of what is too long for the arena, less is handed in."""
    # Without escapes, which are up to three times as long as the letters of most languages.
    reply = post(json.dumps({"replies": results}, ensure_ascii=False).encode(errors="replace"))
    if reply.status not in REFUSED:
        outcomes = reply.body.get("results")
        if not isinstance(outcomes, list) or len(outcomes) != len(results):
            raise AwayError("Another program answers at the arena's address")
        yield from outcomes
    elif len(results) > 1:  # one of them, or all together are too long
        yield from (found for each in results for found in hand_in(post, [each]))
    elif less := _less(results[0], reply.detail):
        yield from hand_in(post, [less])


def _less(result: Mapping[str, Any], why: str) -> dict[str, object] | None:
    """A result without what may be too long of it: tokens, then the ends of texts, then the reply.

    A reply whose end is left out counts as cut off, as at the limit of tokens.
    """
    reply = result.get("reply")
    if reply is None:
        return None
    if reply["tokens"]:
        return {**result, "reply": {**reply, "tokens": []}}
    longest = max(len(reply["text"]), len(reply["refusal"]))
    for most in MOST_CHARACTERS:
        if longest > most:
            cut = {name: reply[name][:most] for name in ("text", "refusal")}
            return {**result, "reply": {**reply, **cut, "finish_reason": "length"}}
    detail = f"the arena refuses the reply: {why}"[:600]
    failure = {"kind": "refused_answer", "detail": detail, "retryable": False}
    return {name: result[name] for name in result if name != "reply"} | {"failure": failure}


def handed_in(call: tuple[str, str, int], ended: Ended) -> dict[str, object]:
    """A result as the API takes it; ``call``: its assignment, key and attempt."""
    found: dict[str, object] = dict(zip(("assignment", "key", "attempt"), call, strict=True))
    found["seconds"] = ended.seconds
    error = ended.result
    if isinstance(error, Reply):
        return found | {"reply": {**vars(error), "tokens": [_packed(each) for each in slim(error.tokens)]}}
    failure = {"kind": error.kind[:50], "detail": str(error)[:600], "retryable": error.retryable}
    return found | {"failure": failure | {"retry_after": error.retry_after[:100]}}


def slim(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a reply with all in a row joined that cannot be its verdict: they may be many."""
    found: list[Token] = []
    joined = False
    for token in tokens:
        if may_be_verdict(token.text):
            found.append(token)
            joined = False
        elif joined:
            found[-1] = Token(found[-1].text + token.text, 0.0)
        else:
            found.append(Token(token.text, 0.0))
            joined = True
    return found


def _packed(token: Token) -> list[object]:
    return [_bytes(token.text), token.logprob, [[_bytes(text), log] for text, log in token.alternatives]]


def _bytes(text: str) -> str:
    """The bytes of a token, each as the character of its number: a token may end within a character."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def unpacked(tokens: Sequence[Any]) -> tuple[Token, ...]:
    """Inverse of what ``handed_in`` makes of tokens."""

    def text(packed: str) -> str:
        return packed.encode("latin-1").decode("utf-8", "surrogateescape")

    return tuple(
        Token(text(one), log, tuple((text(other), likely) for other, likely in others))
        for one, log, others in tokens
    )
