"""Log-probabilities and thinking as endpoints send them, through the real client."""

import json
from typing import Any

import pytest

from judging.endpoints.client import NoReplyError, Reply, Request, Token
from judging.endpoints.completions import checked
from judging.endpoints.logprobs import tokens_of, tokens_of_text
from judging.endpoints.openai_client import OpenAIClient, body_of
from tests.judging.endpoints.server import Answer, ChatServer


def ask(model: ChatServer, answer: Answer, **request: Any) -> Reply:
    model.script = lambda body: answer
    return OpenAIClient(model.url, "key").ask(
        Request("m", [{"role": "user", "content": "?"}], 5.0, **request)
    )


def make_entry(**overrides: Any) -> dict[str, Any]:
    entry = {"token": "5", "logprob": -0.2, "bytes": [53], "top_logprobs": []}
    return entry | {"top_logprobs": [{"token": " 6", "logprob": -1.7, "bytes": None}]} | overrides


def test_log_probabilities_are_asked_for_only_where_wanted() -> None:
    plain, wanted = Request("m", [], 1.0), Request("m", [], 1.0, logprobs=True)
    assert not {"logprobs", "top_logprobs"} & set(body_of(plain))
    assert (body_of(wanted)["logprobs"], body_of(wanted)["top_logprobs"]) == (True, 20)


def test_tokens_and_thinking_tokens_are_read() -> None:
    usage = {"completion_tokens": 70, "completion_tokens_details": {"reasoning_tokens": 64}}
    choice = {"message": {"content": "5"}, "logprobs": {"content": [make_entry()]}}
    reply = checked({"choices": [choice], "usage": usage})
    assert reply.tokens == (Token("5", -0.2, ((" 6", -1.7),)),)
    assert (reply.completion_tokens, reply.reasoning_tokens) == (70, 64)


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        {"content": None},
        {"content": "x"},
        {"content": [None]},
        {"content": [make_entry(logprob=None)]},
        {"content": [make_entry(logprob="NaN")]},
        {"content": [make_entry(logprob=3)]},
        {"content": [make_entry(token=7, bytes=None)]},
        {"content": [make_entry(bytes=[999])]},
        {"content": [make_entry(top_logprobs=[{}])]},
    ],
)
def test_odd_log_probabilities_are_none_and_cost_no_reply(logprobs: Any) -> None:
    assert tokens_of(logprobs) == ()


@pytest.mark.parametrize("details", [None, {}, {"reasoning_tokens": None}, {"reasoning_tokens": -1}])
def test_thinking_tokens_are_unknown_where_nobody_says(details: Any) -> None:
    found = checked(
        {"choices": [{"message": {"content": "5"}}], "usage": {"completion_tokens_details": details}}
    )
    assert found.reasoning_tokens is None


@pytest.mark.parametrize("status", [400, 422])
def test_an_endpoint_without_log_probabilities_is_named_as_such(model: ChatServer, status: int) -> None:
    refusal = json.dumps({"error": {"message": "logprobs are not supported with reasoning models"}}).encode()
    with pytest.raises(NoReplyError, match="returns no logprobs for this model") as failure:
        ask(model, Answer(status=status, raw=refusal), logprobs=True)
    assert (failure.value.kind, failure.value.retryable) == (f"http_{status}", False)
    with pytest.raises(NoReplyError) as plain:
        ask(model, Answer(status=status, raw=refusal))
    assert "make a judge" not in str(plain.value)


@pytest.mark.parametrize(
    ("tokens", "kept"),
    [
        (["thinking", "\n", "Hi", " 你", "!", "<|im", "_end|>"], [2, 5]),
        (["Hi", " �", "�", "!"], [0, 4]),  # vLLM before 0.12
        (["hm", "</think>", "Hi", " �", "�", "!", "<|im_end|>"], [2, 6]),
        (["Hi", "", " 你", "!", ""], [0, 4]),  # vLLM from 0.12 on
        (["Hi", " �", "!"], [0, 0]),
        (["Hi", " 你"], [0, 0]),
    ],
)
def test_the_tokens_of_a_written_text_may_hold_parts_of_characters(
    tokens: list[str], kept: list[int]
) -> None:
    reply = Reply("Hi 你!", "stop", "m", tokens=tuple(Token(text, -1.0) for text in tokens))
    assert list(tokens_of_text(reply)) == list(reply.tokens[slice(*kept)])


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([b"ab", b"\xff", b"c"], "ab\ufffdc"),
        ([b"ab", b"\xe4", b"\xb8", b"c"], "ab\ufffdc"),
        ([b"\xff", b"\xfe", b" c"], "\ufffd\ufffd c"),
        ([b"a", b"\xe4\xb8"], "a"),  # llama.cpp leaves out the beginning of a character at the end
        ([b"a", b"\xe4\xb8"], "a\ufffd"),
    ],
)
def test_bytes_that_are_no_characters_have_tokens_too(parts: list[bytes], text: str) -> None:
    entries = [{"token": text, "bytes": list(part), "logprob": -1.0} for part in parts]
    reply = Reply(text, "stop", "m", tokens=tokens_of({"content": entries}))
    assert tokens_of_text(reply) == reply.tokens
