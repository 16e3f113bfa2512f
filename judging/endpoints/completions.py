"""Reading what an endpoint sends, in whatever form: a reply that was completed is paid for. Pure."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from arena.texts.visible import is_blank
from judging.endpoints.client import NoReplyError, Reply, storable
from judging.endpoints.logprobs import count, field_of, tokens_of

LONGEST_QUOTE: Final = 120  # characters of a body that is no JSON

BROKEN_ENDS: Final = frozenset(
    {
        *("error", "network_error", "model_error", "server_error", "internal_error", "unknown_error"),
        *("insufficient_system_resource", "abort", "aborted", "cancelled"),
    }
)
"""Reasons for the end of a reply that is not whole, in small letters."""

FILTERED: Final = re.compile(
    r"\b(?:content_?filter(?:ed)?|content_?policy_?violation(?:error)?|responsibleaipolicyviolation"
    r"|data_?inspection_?failed|guardrail_intervened|moderation_?blocked|prohibited_content|invalid_prompt)\b",
    re.IGNORECASE,
)
"""The kind of an error whose cause is a content filter."""

FILTERED_IN_WORDS: Final = re.compile(
    r"filtered due to the prompt|content management policy|result of (?:our|the) safety system"
    r"|(?:prompt|input|request|text)s? (?:was|were|has been|got) (?:flagged|blocked)"
    r"|(?:in)?put data may contain inappropriate|considered high risk|blocked by (?:a |the )?content filter"
    r"|violat\w+ (?:\w+ ){0,3}(?:usage|content|safety) polic|敏感内容|不安全",
    re.IGNORECASE,
)

NO_CREDIT: Final = re.compile(
    r"\b(?:insufficient[_ ](?:quota|balance|funds|credits?)|exceeded_current_quota\w*|billing_\w+|arrearage"
    r"|credit balance is too low|out of credits?)\b",
    re.IGNORECASE,
)
"""The kind of an error after which nobody waits: there is nothing left to pay with."""

WAIT_IN_WORDS: Final = re.compile(
    r"\b(?:try again|retry) (?:in|after) ([\d.]{1,9})\s*s(?:ec(?:ond)?s?)?\b", re.I
)

NOT_RETRYABLE: Final = frozenset(
    {*(301, 302, 303, 307, 308), *(400, 401, 402, 403, 404, 405, 410, 413, 422, 451)}
)
"""HTTP errors that the same request would meet again."""

MAY_BE_FILTERED: Final = NOT_RETRYABLE - {401, 402, 404, 405}


class FilteredError(NoReplyError):
    """A content filter kept the endpoint from replying, which is the model's answer to this question."""


def parsed(body: bytes, charset: str | None = None) -> object:
    """The JSON of a body, whatever its type is called; a stream of events as the completion it makes up.

    charset: as the endpoint states it. Raises NoReplyError.
    """
    text = text_of(body, charset)
    lines = [line for line in re.split(r"\r\n|\r|\n", text) if not line.startswith(":")]
    begin = next((line.lstrip() for line in lines if line.strip()), "")
    try:
        if begin.startswith(("data:", "event:", "id:", "retry:")):
            return _streamed(lines)
        # What follows the first value is left out.
        found, _ = json.JSONDecoder().raw_decode("\n".join(lines).lstrip())
        while isinstance(found, list) and len(found) == 1:
            found = found[0]
        return json.loads(found) if isinstance(found, str) and found.lstrip()[:1] == "{" else found
    except (ValueError, RecursionError) as error:
        raise NoReplyError("malformed", _no_json(begin, error)) from error


CHARSETS: Final = {
    *("iso-8859-1", "iso-8859-2", "iso-8859-15", "windows-1250", "windows-1251", "windows-1252", "koi8-r"),
    *("gb2312", "gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"),
}
"""Charsets that are believed: Python has others that take hours for a long body, or make no text of it."""


def text_of(body: bytes, charset: str | None = None) -> str:
    """A body as text, whatever charset is stated. Never raises."""
    try:
        return body.decode(json.detect_encoding(body)).removeprefix("\ufeff")
    except UnicodeDecodeError:
        stated = (charset or "").lower()
        return body.decode(stated if stated in CHARSETS else "utf-8", "replace")


def _no_json(begin: str, error: BaseException) -> str:
    if not begin:
        return "the reply is empty"
    quote = begin if len(begin) <= LONGEST_QUOTE else f"{begin[:LONGEST_QUOTE]}…"
    if begin.startswith("<"):
        return f"the reply is a web page: {quote}"
    return f"the reply is not valid JSON ({error}): {quote}"


def _streamed(lines: list[str]) -> dict[str, Any]:
    """The completion that the chunks of a stream make up. Raises NoReplyError, ValueError."""
    sent = [line[5:].strip() for line in lines if line.startswith("data:")]
    pieces: dict[str, list[object]] = defaultdict(list)
    logprobs: list[object] = []
    choice: dict[str, Any] = {"message": pieces, "finish_reason": None, "logprobs": {"content": logprobs}}
    whole: dict[str, Any] = {"choices": [choice]}
    for chunk in (json.loads(each) for each in sent if each and each != "[DONE]"):
        if not isinstance(chunk, dict):
            continue
        whole |= {name: chunk[name] for name in ("model", "usage", "error") if chunk.get(name)}
        part = _part(chunk)
        if part is None:
            continue
        if isinstance(part.get("message"), dict):  # a whole completion as one event
            return {**whole, "choices": chunk["choices"]}
        for name in ("content", "refusal", *THINKING):
            if said := field_of(part.get("delta"), name):
                pieces[name] += said if isinstance(said, list) else [said]
        if isinstance(told := field_of(part.get("logprobs"), "content"), list):
            logprobs += told
        choice |= {name: part[name] for name in ("finish_reason", "error") if part.get(name)}
    if "[DONE]" not in sent and not choice["finish_reason"] and "error" not in whole:
        raise NoReplyError("malformed", "the reply is a stream that ends too early")
    return whole


def _part(chunk: Mapping[str, Any]) -> dict[str, Any] | None:
    """The first choice of a chunk, if it has something of it."""
    choices = chunk.get("choices")
    part = choices[0] if isinstance(choices, list) and choices else None
    return part if isinstance(part, dict) and part.get("index", 0) in (0, None) else None


def piece_of(event: str) -> str:
    """The part of the answer that the data of one event of a stream bring. Raises ValueError."""
    chunk = json.loads(event)
    part = _part(chunk) if isinstance(chunk, dict) else None
    said = field_of(field_of(part, "delta"), "content")
    return _parts(said if isinstance(said, list) else [said])[0] if said else ""


def checked_stream(completion: object) -> Reply:
    """Like ``checked``; but an error behind a part of the answer says that the rest will not come."""
    choice = _choice(completion) if isinstance(completion, dict) else None
    error = field_of(completion, "error") or field_of(choice, "error")
    if error and not field_of(choice, "finish_reason"):
        raise failure(_status_in(error), error)
    return checked(completion)


THINKING: Final = ("reasoning_content", "reasoning")
"""Fields of a message with thinking."""


def checked(completion: object) -> Reply:
    """The reply of a chat completion in JSON; raises NoReplyError if there is none.

    Thinking in a field of its own is not the answer. Where there is nothing else it is kept as such.
    """
    if not isinstance(completion, dict):
        raise NoReplyError("malformed", "the endpoint sent text instead of a chat completion")
    choice = _choice(completion)
    message = field_of(choice, "message")
    if not isinstance(message, dict) and isinstance(field_of(choice, "text"), str):
        message = {"content": field_of(choice, "text")}  # as older servers complete a text
    text, thinking = _parts(field_of(message, "content"))
    finish_reason = _text(field_of(choice, "finish_reason"))
    error = completion.get("error") or field_of(choice, "error")
    if finish_reason.lower() in BROKEN_ENDS or (error and is_blank(text)):
        raise failure(_status_in(error), error or f"the reply ended with {finish_reason}")
    if not isinstance(message, dict):
        raise _without_message(completion, choice)
    text = text or _arguments(message)
    thinking = thinking or next((_parts(message[name])[0] for name in THINKING if message.get(name)), "")
    if is_blank(text) and not is_blank(thinking):
        text = f"<think>\n{thinking.replace('</', '< /')}\n</think>"
    usage = completion.get("usage")
    details = field_of(usage, "completion_tokens_details")
    prompt_tokens, completion_tokens = _tokens(usage, said_something=bool(text))
    return Reply(
        text=storable(text),
        refusal=_refusal(message),
        finish_reason=finish_reason[:50],
        model=_text(completion.get("model"))[:200],
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        reasoning_tokens=count(field_of(details, "reasoning_tokens")),
        tokens=tokens_of(field_of(choice, "logprobs")),
    )


def _choice(completion: Mapping[str, Any]) -> object:
    """The first choice, or what other interfaces than OpenAI's have in its place."""
    choices = completion.get("choices")
    if isinstance(choices, list) and choices:
        return choices[0]
    ended = completion.get("done_reason") or completion.get("stop_reason")
    if isinstance(completion.get("message"), dict):
        return {"message": completion["message"], "finish_reason": ended}
    names = ("content", "response", "generated_text", "output_text")
    found = next((completion[name] for name in names if isinstance(completion.get(name), str | list)), None)
    return None if found is None else {"message": {"content": found}, "finish_reason": ended}


def _arguments(message: Mapping[str, Any]) -> str:
    """Return what a model says in place of a text to a function that it was told to call; "" if to none."""
    calls = message.get("tool_calls")
    called = field_of(calls[0], "function") if isinstance(calls, list) and calls else None
    return _text(field_of(called or message.get("function_call"), "arguments"))


def _without_message(completion: Mapping[str, Any], choice: object) -> NoReplyError:
    if any(completion.get(name) for name in (*WORDS, *STATES)):
        return failure(_status_in(completion), dict(completion))
    found = "the reply has no choices" if choice is None else "the reply's first choice has no message"
    return NoReplyError("malformed", found)


def _parts(content: object) -> tuple[str, str]:
    """The texts of a message's content, and the thinking among its parts."""
    if content is None or isinstance(content, str):
        return content or "", ""
    if isinstance(content, dict) and not {"type", "text"} & content.keys():
        return json.dumps(content, ensure_ascii=False), ""
    texts, thinking = [], []
    for part in content if isinstance(content, list) else [content]:
        kind = str(field_of(part, "type") or "")
        if "think" in kind or "reason" in kind:
            thinking.append(_said(part))
        elif kind != "refusal":
            texts.append(_said(part))
    return "".join(texts), "".join(thinking)


def _said(part: object) -> str:
    """The text of a part, which may be parts again."""
    if isinstance(part, str):
        return part
    if isinstance(part, list):
        return "".join(map(_said, part))
    if isinstance(part, dict):
        named = (part.get(name) for name in ("text", "thinking", "reasoning", "content", "summary", "value"))
        return next((_said(found) for found in named if found), "")
    return json.dumps(part) if isinstance(part, int | float) else ""


def _refusal(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    among = [field_of(part, "refusal") for part in content] if isinstance(content, list) else []
    own = message.get("refusal")
    return "".join(map(_text, [*(own if isinstance(own, list) else [own]), *among]))


# Errors, which come with a status of their own or with 200.

LONGEST_SAID: Final = 4_000
"""Characters of an error that are searched: more could keep a process busy for hours."""

WORDS: Final = ("message", "msg", "detail", "error", "status_msg", "error_msg", "title")
STATES: Final = ("base_resp", "errors")  # which hold the words


def failure(status: int, body: object, retry_after: str = "") -> NoReplyError:
    """An error of an endpoint; status 0 if it has none."""
    words, names = said_by(body)[:LONGEST_SAID], _names(body)[:LONGEST_SAID]
    if status == 402 or NO_CREDIT.search(names) or (status in (400, 403, 429) and NO_CREDIT.search(words)):
        return NoReplyError("no_credit", words, retryable=False)
    if (status in MAY_BE_FILTERED or not status) and (
        FILTERED.search(names) or FILTERED.search(words) or FILTERED_IN_WORDS.search(words)
    ):
        return FilteredError("filtered", words, retryable=False)
    kind = "rate_limited" if status == 429 else f"http_{status}" if status else "error"
    if status in (429, 503) and not retry_after and (wait := WAIT_IN_WORDS.search(words)):
        retry_after = wait[1]
    return NoReplyError(kind, words, retryable=status not in NOT_RETRYABLE, retry_after=retry_after)


def said_by(body: object) -> str:
    """Return what an endpoint says in the body of an error, in one line."""
    while isinstance(body, list) and body:
        body = body[0]
    if isinstance(body, dict):
        found = next((body[name] for name in (*WORDS, *STATES) if body.get(name)), None)
        body = said_by(found) if found else json.dumps(body, ensure_ascii=False)
    return " ".join(str(body or "").split())


def _names(body: object) -> str:
    """Return what an error calls itself: its codes and types, also inside."""
    if isinstance(body, list):
        return " ".join(map(_names, body[:5]))
    if not isinstance(body, dict):
        return ""
    own = [str(body[name]) for name in ("code", "type", "status", "reason") if body.get(name)]
    inside = (body.get(name) for name in ("error", "innererror", "inner_error", "metadata", "details"))
    return " ".join([*own, *(_names(each) for each in inside if isinstance(each, dict | list))])


def _status_in(error: object) -> int:
    """The HTTP status that an error in a body names; 0 for none."""
    for name in ("code", "status", "status_code"):
        found = str(field_of(error, name) or "")
        if found.isdecimal() and len(found) == 3 and found[0] in "45":
            return int(found)
    inside = field_of(error, "error")
    return _status_in(inside) if isinstance(inside, dict) else 0


def _tokens(usage: object, *, said_something: bool) -> tuple[int | None, int | None]:
    """The charged tokens of prompt and reply; None where the endpoint does not say."""
    # Endpoints that do not count say 0. Some count thinking in the total alone.
    prompt = count(field_of(usage, "prompt_tokens")) or None
    reply = count(field_of(usage, "completion_tokens"))
    total = count(field_of(usage, "total_tokens"))
    if prompt is not None and reply is not None and total is not None:
        reply = max(reply, total - prompt)
    return prompt, None if said_something and not reply else reply


def _text(value: object) -> str:
    return storable(value) if isinstance(value, str) else ""
