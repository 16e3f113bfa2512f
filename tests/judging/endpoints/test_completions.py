"""What endpoints send in place of a plain chat completion, and what is read of it."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.endpoints.client import NoReplyError, Reply
from judging.endpoints.completions import LONGEST_SAID, FilteredError, checked, failure, parsed
from tests.waiting import quickly


def read(body: bytes) -> Reply:
    return checked(parsed(body))


def completion(content: Any = "7", finish_reason: str | None = "stop", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"content": content, **message}, "finish_reason": finish_reason}
    return {"choices": [choice], "model": "m", "usage": {"prompt_tokens": 9, "completion_tokens": 2}}


def sent(found: object, **options: Any) -> bytes:
    return json.dumps(found, **options).encode()


def events(*chunks: object, end: str = "\n\n", done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(chunk)}" for chunk in chunks] + ["data: [DONE]"] * done
    return end.join(lines).encode()


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm, 3?"}]}
END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}

READ = {
    "parts": (sent(completion([THINKING, *({"type": "text", "text": said} for said in ("7", "B"))])), "7B"),
    "parts of other names": (sent(completion([{"type": "output_text", "text": "7"}, "\nB."])), "7\nB."),
    "a part with a value": (sent(completion([{"type": "text", "text": {"value": "7"}}])), "7"),
    "one part": (sent(completion({"type": "text", "text": "7"})), "7"),
    "a number": (sent(completion(7)), "7"),
    "an object": (sent(completion({"rating": 7})), '{"rating": 7}'),
    "a completion of a text": (sent({"choices": [{"text": "7", "finish_reason": "stop"}]}), "7"),
    "thinking beside the answer": (sent(completion("7", reasoning_content="3?")), "7"),
    "thinking alone": (sent(completion(None, reasoning_content="3?")), "<think>\n3?\n</think>"),
    "thinking alone under another name": (sent(completion("", reasoning="3?")), "<think>\n3?\n</think>"),
    "thinking alone as a part": (sent(completion([THINKING])), "<think>\nHm, 3?\n</think>"),
    "thinking that closes itself": (
        sent(completion("", reasoning_content="</think>\n7")),
        "<think>\n< /think>\n7\n</think>",
    ),
    "an error without a cause beside a reply": (sent({**completion(), "error": {"message": ""}}), "7"),
    "a call of a function": (
        sent(completion(None, "tool_calls", tool_calls=[{"function": {"arguments": '{"rating": 7}'}}])),
        '{"rating": 7}',
    ),
    "the interface of Ollama": (sent({"message": {"content": "7"}, "done_reason": "stop"}), "7"),
    "the interface of Anthropic": (sent({"content": [{"type": "text", "text": "7"}]}), "7"),
    "a list of one": (sent([completion()]), "7"),
    "JSON in a text": (sent(json.dumps(completion())), "7"),
    "a mark of byte order": (b"\xef\xbb\xbf" + sent(completion()), "7"),
    "UTF-16": (json.dumps(completion("7\nÄ"), ensure_ascii=False).encode("utf-16"), "7\nÄ"),
    "Latin-1": (json.dumps(completion("7\nÄ"), ensure_ascii=False).encode("latin-1"), "7\n\ufffd"),
    "half a character": (sent(completion("7\n\ud83d")), "7\n\ufffd"),
    "comments before it": (b": processing\n\n: processing\n\n" + sent(completion(), indent=1), "7"),
    "blanks before it": (b"\n   \n" + sent(completion()), "7"),
    "something after it": (sent(completion()) + b"\n<!-- proxy -->", "7"),
    "a stream": (events(delta(role="assistant"), delta(content="7"), delta(content="\nB."), END), "7\nB."),
    "a stream of lines": (events(delta(content="7"), END, end="\r\n"), "7"),
    "a stream that ends without a mark": (events(delta(content="7"), END, done=False), "7"),
    "a stream without a reason": (events(delta(content="7")), "7"),
    "a stream of parts": (events(delta(content=[THINKING]), delta(content=[{"text": "7"}]), END), "7"),
    "a stream of thinking": (events(delta(reasoning_content="3"), delta(reasoning_content="?"), END),
        "<think>\n3?\n</think>"),
    "a stream with comments and names": (b": hi\n\nevent: message\n" + events(delta(content="7"), END), "7"),
    "a stream of two choices": (
        events(delta(content="7"), {"choices": [{"index": 1, "delta": {"content": "2"}}]}, END),
        "7",
    ),
    "a stream of a whole completion": (events(completion()), "7"),
    "a stream with a line separator": (
        b'data: {"choices": [{"delta": {"content": "7\xe2\x80\xa8B."}}]}\n\ndata: [DONE]',
        "7\u2028B.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "text"), READ.values(), ids=READ.keys())
def test_a_reply_is_read_in_whatever_form_it_comes(body: bytes, text: str) -> None:
    assert read(body).text == text


def test_a_stream_keeps_all_that_a_completion_has() -> None:
    entry = {"token": "7", "logprob": -0.1, "top_logprobs": [{"token": "7", "logprob": -0.1}]}
    said = delta(content="7") | {"model": "m-1"}
    said["choices"][0]["logprobs"] = {"content": [entry]}
    cut = {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}
    usage = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    reply = read(events(delta(refusal="No"), said, cut, usage))
    assert (reply.model, reply.finish_reason, reply.refusal) == ("m-1", "length", "No")
    assert (reply.prompt_tokens, reply.completion_tokens) == (9, 2)
    assert [token.text for token in reply.tokens] == ["7"]


def test_refusals_among_the_parts_are_refusals() -> None:
    reply = read(sent(completion([{"type": "refusal", "refusal": "I will not."}])))
    assert (reply.text, reply.refusal) == ("", "I will not.")


ERRORS = {
    "an error": ({"error": {"message": "overloaded"}}, "error", "overloaded", True),
    "an error that is a text": ({"error": "no slot"}, "error", "no slot", True),
    "an error of a status": ({"error": {"code": 503, "message": "busy"}}, "http_503", "busy", True),
    "a limit": ({"error": {"code": "429", "message": "slow"}}, "rate_limited", "slow", True),
    "a wrong key": ({"error": {"code": 401, "message": "key"}}, "http_401", "key", False),
    "an error of a choice": (
        {"choices": [{"error": {"code": 502, "message": "gone"}, "finish_reason": "error"}]},
        "http_502",
        "gone",
        True,
    ),
    "an end by an error": (completion("Half a", "error"), "error", "the reply ended with error", True),
    "an end for lack of room": (
        completion("7", "insufficient_system_resource"),
        "error",
        "the reply ended with insufficient_system_resource",
        True,
    ),
    "words of another form": ({"code": 1211, "msg": "no such model"}, "error", "no such model", True),
    "words in a field": (
        {"choices": None, "base_resp": {"status_code": 1004, "status_msg": "login fail"}},
        "error",
        "login fail",
        True,
    ),
    "a list of errors": ([{"error": {"code": 400, "message": "bad"}}], "http_400", "bad", False),
    "no credit": (
        {"error": {"type": "insufficient_quota", "message": "You exceeded"}},
        "no_credit",
        "You exceeded",
        False,
    ),
    "nothing at all": ({"id": "x"}, "malformed", "the reply has no choices", True),
}


@pytest.mark.parametrize(("body", "kind", "words", "retryable"), ERRORS.values(), ids=ERRORS.keys())
def test_an_error_with_status_200_is_one(body: object, kind: str, words: str, *, retryable: bool) -> None:
    with pytest.raises(NoReplyError, match=words) as found:
        read(sent(body))
    assert (found.value.kind, found.value.retryable) == (kind, retryable)


def test_an_error_in_a_stream_is_one() -> None:
    with pytest.raises(NoReplyError, match="overloaded"):
        read(b"event: error\n" + events({"error": {"message": "overloaded"}}, done=False))


AZURE = {
    "code": "content_filter",
    "message": "The response was filtered due to the prompt.",
    "innererror": {"code": "ResponsibleAIPolicyViolation"},
}
FILTERS: dict[str, tuple[int, object]] = {
    "Azure": (400, AZURE),
    "Azure's inner error alone": (400, {"code": None, "innererror": AZURE["innererror"], "message": "No."}),
    "LiteLLM": (
        400,
        {"code": "400", "message": "litellm.BadRequestError: litellm.ContentPolicyViolationError: No."},
    ),
    "OpenAI": (400, {"code": "invalid_prompt", "message": "Your prompt was flagged."}),
    "OpenAI in words": (
        400,
        {"code": None, "message": "Your request was rejected as a result of our safety system."},
    ),
    "OpenRouter": (
        403,
        {"code": 403, "message": "Moderated. Your input was flagged", "metadata": {"reasons": ["violence"]}},
    ),
    "DashScope": (
        400,
        {"code": "data_inspection_failed", "message": "Input data may contain inappropriate content."},
    ),
    "Moonshot": (400, {"type": "content_filter", "message": "The request was rejected"}),
    "Zhipu": (400, {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容"}),
    "Anthropic": (400, {"type": "invalid_request_error", "message": "Output blocked by content filter"}),
    "a guard of a proxy": (451, {"type": "guardrail_intervened", "message": "Blocked"}),
    "with status 200": (0, AZURE),
}  # fmt: skip


@pytest.mark.parametrize(("status", "error"), FILTERS.values(), ids=FILTERS.keys())
def test_a_content_filter_is_known_by_name_and_by_words(status: int, error: object) -> None:
    assert isinstance(failure(status, error), FilteredError)


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, {"code": "model_not_found", "message": "The model x does not exist"}, "http_400"),
        (400, {"message": "Your request contains invalid content filter policy."}, "http_400"),
        (401, {"message": "Your account was flagged"}, "http_401"),
        (500, {"message": "content_filter crashed"}, "http_500"),
        (429, {"code": "rate_limit_exceeded", "message": "Requests per minute"}, "rate_limited"),
        (402, {"message": "Insufficient Balance"}, "no_credit"),
        (400, {"message": "Your credit balance is too low to access the API."}, "no_credit"),
        (429, {"type": "exceeded_current_quota_error", "message": "check your plan"}, "no_credit"),
    ],
)
def test_other_errors_are_what_their_status_says(status: int, error: object, kind: str) -> None:
    assert failure(status, error).kind == kind


@pytest.mark.parametrize("word", ["violat", "violates ", "try again in ", "9.", "billing_", "input was "])
def test_of_a_long_error_the_begin_is_searched(word: str) -> None:
    words = word * 50_000  # as a whole, some would take minutes
    for status in (0, 400, 403, 429):
        with quickly():
            found = failure(status, {"message": f"No. {words}", "code": words, "error": {"type": words}})
        assert str(found) == f"No. {words}"[:LONGEST_SAID]


@pytest.mark.parametrize(
    ("header", "words", "wait"),
    [
        ("7", "Please try again in 20s.", "7"),
        ("", "Please try again in 20s.", "20"),
        ("", "Please retry in 36.5 s", "36.5"),
        ("", "Rate limit reached", ""),
    ],
)
def test_how_long_to_wait_is_in_a_header_or_in_words(header: str, words: str, wait: str) -> None:
    assert failure(429, {"message": words}, header).retry_after == wait


NAMES = ["choices", "message", "content", "error", "code", "text", "type", "delta", "reasoning", "usage"]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@given(json_values | st.builds(lambda found: {"choices": [found]}, json_values), st.booleans())
def test_whatever_comes_is_a_reply_or_an_error(found: object, streamed: bool) -> None:
    with suppress(NoReplyError):
        read(events(found) if streamed else sent(found)).text.encode()
