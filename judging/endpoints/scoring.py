"""Having a model read a text that is there: requests, and the tokens of what it says. Pure.

OpenAI's own interface of chats cannot do this. vLLM and servers like it have ``prompt_logprobs`` of a chat;
older servers have ``echo`` of a text, which is for models without a chat template.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from typing import Any, Final

from arena.texts.dialogue import Message
from judging.endpoints.aligning import begins, has_parts
from judging.endpoints.client import NoReplyError, Token
from judging.endpoints.logprobs import MOST_ALTERNATIVES, MOST_TOKENS, count, exact, field_of, logprob_of

NAMED_BYTES: Final = re.compile(r"\\x([0-9a-f]{2})")


class Way(StrEnum):
    PROMPT_LOGPROBS = "prompt_logprobs"
    ECHO = "echo"


@dataclass(frozen=True)
class ToRead:
    """A conversation whose last message is the answer to read."""

    model: str
    messages: Sequence[Message]
    timeout: float  # seconds


@dataclass(frozen=True)
class Read:
    """The tokens of all that the model read but the first, and how many of them come before the answer."""

    tokens: tuple[Token, ...]
    before: int
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


def path_of(way: Way) -> str:
    return "/chat/completions" if way is Way.PROMPT_LOGPROBS else "/completions"


def body_of(way: Way, wanted: ToRead) -> dict[str, Any]:
    body: dict[str, Any] = {"model": wanted.model, "max_tokens": 1, "temperature": 0}
    if way is Way.ECHO:
        return body | {"prompt": plain(wanted.messages), "echo": True, "logprobs": MOST_ALTERNATIVES}
    return body | {
        "messages": list(wanted.messages),
        "prompt_logprobs": MOST_ALTERNATIVES,
        "return_token_ids": True,
        "add_generation_prompt": False,
        "continue_final_message": True,
    }


def plain(messages: Sequence[Message]) -> str:
    """The conversation as one text: messages below each other, the answer last."""
    return "\n\n".join(message["content"] for message in messages)


def read_from(way: Way, wanted: ToRead, reply: object) -> Read:
    """Read an endpoint's reply about the text. Raises NoReplyError."""
    usage = field_of(reply, "usage")
    counts = [field_of(usage, name) for name in ("prompt_tokens", "completion_tokens")]
    prompt_tokens, completion_tokens = (count(each) for each in counts)
    if way is Way.PROMPT_LOGPROBS:
        found = _of_prompt(reply)
    else:
        found = _of_echo(reply, len(plain(wanted.messages)), completion_tokens)
    if len(found) > MOST_TOKENS:
        raise _malformed(f"it has more than {MOST_TOKENS:,} tokens")
    before = before_answer([token.text for token in found], wanted.messages)
    return Read(tuple(found), before, prompt_tokens, completion_tokens)


def before_answer(tokens: Sequence[str], messages: Sequence[Message]) -> int:
    """Count the tokens before those that make up the answer, which is the last message.

    The first of these may hold the end of what comes before. Raises NoReplyError where the tokens end in
    another text, or nobody can tell where the answer begins.
    """
    *before, answer = (message["content"] for message in messages)
    found = begins(tokens, answer, before[-1] if before else "")
    if not found:
        raise _malformed("what it read does not end with the answer")
    if len(found) > 1:
        raise _malformed("its tokens hold parts of characters, so where the answer begins cannot be told")
    return found[0]


def _of_prompt(reply: object) -> list[Token]:
    steps, ids = field_of(reply, "prompt_logprobs"), field_of(reply, "prompt_token_ids")
    if not isinstance(steps, list) or len(steps) < 2:
        raise _malformed("it has no prompt_logprobs")
    known = ids if isinstance(ids, list) and len(ids) == len(steps) else [None] * len(steps)
    return [_of_step(step, one) for step, one in zip(steps[1:], known[1:], strict=True)]


def _of_step(step: object, number: object) -> Token:
    if not isinstance(step, dict) or not step:
        raise _malformed("a token has no log-probability")
    # Without its id the token is the one beyond the likeliest, or else the first, as vLLM writes them.
    own = step.get(str(number)) or max(step.values(), key=lambda each: _rank(each, len(step)), default=None)
    likely = [_entry(each) for each in step.values() if _rank(each, 0) <= MOST_ALTERNATIVES]
    return Token(*_entry(own), tuple(sorted(likely, key=lambda each: -each[1])[:MOST_ALTERNATIVES]))


def _rank(entry: object, usual: int) -> int:
    """Rank of a token among all by likelihood; ``usual`` where it is among the likeliest, or not told."""
    rank = field_of(entry, "rank")
    return rank if isinstance(rank, int) and rank > MOST_ALTERNATIVES else usual


def _entry(entry: object) -> tuple[str, float]:
    text = field_of(entry, "decoded_token")
    try:
        return exact(entry, text if isinstance(text, str) else ""), logprob_of(entry)
    except (TypeError, ValueError) as error:
        raise _malformed("a token has no log-probability") from error


def _of_echo(reply: object, characters: int, written: int | None) -> list[Token]:
    """The tokens of the text alone: the reply goes on with those it has written."""
    choices = field_of(reply, "choices")
    said = field_of(choices[0], "logprobs") if isinstance(choices, list) and choices else None
    tokens, logs, tops, offsets = (
        field_of(said, name) for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset")
    )
    if not isinstance(tokens, list) or not isinstance(logs, list) or len(tokens) != len(logs):
        raise _malformed("it has no logprobs of the text")
    tops = tops if isinstance(tops, list) and len(tops) == len(tokens) else [None] * len(tokens)
    texts = [_named(str(token)) for token in tokens]
    places = (
        offsets
        if isinstance(offsets, list) and len(offsets) == len(tokens)
        else [0, *accumulate(map(len, texts))]
    )
    end = next((n for n, place in enumerate(places) if isinstance(place, int) and place >= characters), None)
    if has_parts(texts[1:end]):  # so places count no characters
        end = len(texts) - (1 if written is None else written)
    return [_echoed(*each) for each in list(zip(texts, logs, tops, strict=True))[1:end]]


def _echoed(text: str, log: object, top: object) -> Token:
    likely = top if isinstance(top, Mapping) else {}
    pairs = ((_named(str(name)), _log(value)) for name, value in likely.items())
    return Token(text, _log(log), tuple(sorted(pairs, key=lambda each: -each[1])[:MOST_ALTERNATIVES]))


def _named(token: str) -> str:
    """The token; its bytes where it names them, as "bytes:\\xe4\\xbd"."""
    if not token.startswith("bytes:") or not NAMED_BYTES.search(token):
        return token
    raw = NAMED_BYTES.sub(lambda found: chr(int(found[1], 16)), token.removeprefix("bytes:"))
    return raw.encode("latin-1", "replace").decode("utf-8", "surrogateescape")


def _log(value: object) -> float:
    try:
        return logprob_of({"logprob": value})
    except (TypeError, ValueError) as error:
        raise _malformed("a token has no log-probability") from error


def _malformed(reason: str) -> NoReplyError:
    return NoReplyError("malformed", f"the endpoint read the text, but {reason}", retryable=False)
