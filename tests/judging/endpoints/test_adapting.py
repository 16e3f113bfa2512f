"""Endpoints that refuse a way of asking are asked in the next, and in the same from then on."""

import json

import pytest

from judging.endpoints.adapting import HABITS, JSON_WAYS, Habits, adapted, next_ways, words_of
from judging.endpoints.client import NoReplyError, Request
from judging.endpoints.openai_client import OpenAIClient
from judging.protocols.answer_scales import answer_scale
from judging.protocols.replies import Place
from judging.protocols.structured import schema_of
from tests.judging.endpoints.server import Answer, ChatServer

SCHEMA = schema_of(answer_scale("likert", 8), Place.ONLY_LINE)
SAID = json.dumps({"rating": 6})


def refusal(words):
    error = {"error": {"message": words, "type": "invalid_request_error"}}
    return Answer(status=400, raw=json.dumps(error).encode())


def called(body):
    call = {"id": "1", "type": "function", "function": {"name": "verdict", "arguments": SAID}}
    choice = {
        "index": 0,
        "finish_reason": "tool_calls",
        "message": {"role": "assistant", "tool_calls": [call]},
    }
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    return Answer(raw=json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode())


def only(way):
    """An endpoint that takes one way of asking for JSON, and words in none."""

    def script(body):
        form = body.get("response_format", {}).get("type")
        if form and form != way:
            return refusal(f"response_format type {form} is not supported by this model")
        if "tools" in body:
            return called(body) if way == "tools" else refusal("tools are not supported")
        return Answer(SAID)

    return script


def asked(server, **options):
    request = {"max_tokens": 50, "temperature": 0.0, "schema": SCHEMA, **options}
    messages = [{"role": "user", "content": "Which? Reply with JSON."}]
    return OpenAIClient(server.url, "key").ask(Request("m", messages, 10.0, **request))


@pytest.mark.parametrize("way", JSON_WAYS)
def test_the_way_that_an_endpoint_takes_is_found_and_remembered(way):
    with ChatServer(only(way)) as server:
        assert asked(server).text == SAID
        tries = len(server.requests)
        assert tries == 1 + JSON_WAYS.index(way)
        assert asked(server).text == SAID
        assert len(server.requests) == tries + 1, "the second question is asked in the way that worked"
        told = OpenAIClient(server.url, "key").habits("m")
    assert len(told) == (way != "json_schema")


def test_newer_names_of_limits_and_a_refused_temperature_are_found():
    def script(body):
        if "max_tokens" in body:
            return refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        if "temperature" in body:
            return refusal("Unsupported value: 'temperature' does not support 0.0. Only the default (1) is.")
        return Answer(SAID)

    with ChatServer(script) as server:
        assert asked(server, schema=None).text == SAID
        assert (server.requests[-1]["max_completion_tokens"], len(server.requests)) == (50, 3)
        asked(server, schema=None)
        assert len(server.requests) == 4
        told = " ".join(OpenAIClient(server.url, "key").habits("m"))
    assert "max_completion_tokens" in told
    assert "temperature" in told


@pytest.mark.parametrize(
    "answer",
    [
        refusal("This model's maximum context length is 10 tokens"),
        refusal("messages must not be empty"),
        Answer(status=401, raw=b'{"error": {"message": "temperature of the key is not supported"}}'),
        Answer(status=500, raw=b'{"error": {"message": "response_format is not supported"}}'),
    ],
)
def test_other_refusals_are_told_and_not_tried_again(answer):
    with ChatServer(lambda body: answer) as server:
        with pytest.raises(NoReplyError):
            asked(server)
        assert len(server.requests) == 1
        assert HABITS.of(server.url, "m") == {}


def test_an_endpoint_that_refuses_every_way_is_asked_few_times():
    answer = refusal("temperature, max_tokens and response_format are invalid")
    with ChatServer(lambda body: answer) as server:
        with pytest.raises(NoReplyError):
            asked(server)
        assert len(server.requests) <= 6
        assert HABITS.of(server.url, "m") == {}


def test_an_operators_own_response_format_has_the_last_word():
    own = {"response_format": {"type": "json_object"}}
    assert adapted(own, SCHEMA, {}) == own


def test_habits_are_of_one_model_at_one_address():
    habits = Habits()
    habits.learn("http://a/v1", "m", {"json": "tools"})
    assert habits.of("http://a/v1", "m") == {"json": "tools"}
    assert habits.of("http://a/v1", "n") == habits.of("http://b/v1", "m") == {}
    assert words_of({}) == []
    assert next_ways(NoReplyError("timeout", "temperature is not supported"), {"temperature": 0}, {}) is None


def test_a_refusal_that_no_other_way_changes_is_told_at_once():
    answer = refusal("response_format is not supported")
    with ChatServer(lambda body: answer) as server:
        with pytest.raises(NoReplyError):
            asked(server, options={"response_format": {"type": "json_object"}})
        assert len(server.requests) == 1
