"""How an endpoint has to be asked: found out by what it refuses, and remembered. Pure.

A refused request costs nothing and is asked again in the next way. What was found holds for this process.
"""

from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any, Final

from judging.endpoints.client import NoReplyError

Body = Mapping[str, Any]
Ways = Mapping[str, str]
"""The way that works by what is asked for: "json", "limit" and "temperature"."""

NAME: Final = "verdict"

JSON_WAYS: Final = ("json_schema", "json_object", "tools", "words")
"""How a reply in JSON is asked for, the strictest first; the last is by the words of the question alone."""

_NEXT: Final[Mapping[str, tuple[str, ...]]] = {
    "json": JSON_WAYS,
    "limit": ("max_tokens", "max_completion_tokens"),
    "temperature": ("as set", "the endpoint's"),
}
_TOLD_BY: Final = {
    "json": ("response_format", "json_schema", "json_object", "json mode", "tool", "function", "schema"),
    "limit": ("max_tokens", "max_completion_tokens"),
    "temperature": ("temperature",),
}
"""Words of a refusal by what is refused."""

_REFUSALS: Final = ("http_400", "http_422")
_UNSUPPORTED: Final = ("support", "unknown", "unrecognized", "not permitted", "extra", "invalid", "must be")


class Habits:
    """The ways that work, of each model at each address."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], dict[str, str]] = {}
        self._lock = Lock()

    def of(self, address: str, model: str) -> Ways:
        with self._lock:
            return dict(self._known.get((address, model), {}))

    def learn(self, address: str, model: str, ways: Ways) -> None:
        with self._lock:
            self._known[address, model] = dict(ways)


HABITS: Final = Habits()


_OF_JSON: Final = frozenset({"response_format", "tools", "tool_choice"})


def adapted(body: Body, schema: Body | None, ways: Ways) -> dict[str, Any]:
    """The body of a request in these ways."""
    found = dict(body)
    if ways.get("limit") == "max_completion_tokens" and "max_tokens" in found:
        found["max_completion_tokens"] = found.pop("max_tokens")
    if ways.get("temperature") == "the endpoint's":
        found.pop("temperature", None)
    if schema is None or _OF_JSON & found.keys():  # an operator's own options have the last word
        return found
    return found | _as_json(schema, ways.get("json", JSON_WAYS[0]))


def _as_json(schema: Body, way: str) -> dict[str, Any]:
    if way == "json_schema":
        strict = schema.get("additionalProperties") is False
        wanted = {"name": NAME, "schema": schema, "strict": strict}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}
    if way == "json_object":
        return {"response_format": {"type": "json_object"}}
    if way == "tools":
        function = {"name": NAME, "description": "Give the verdict.", "parameters": schema}
        choice = {"type": "function", "function": {"name": NAME}}
        return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
    return {}


def next_ways(error: NoReplyError, body: Body, ways: Ways) -> Ways | None:
    """The ways to ask in after a refusal; None where it is about something else, or there is no other way."""
    said = str(error).lower()
    if error.kind not in _REFUSALS or not any(word in said for word in _UNSUPPORTED):
        return None
    for what in _refused(said, body):
        way = ways.get(what, _NEXT[what][0])
        later = _NEXT[what][_NEXT[what].index(way) + 1 :]
        if later:
            return {**ways, what: later[0]}
    return None


def _refused(said: str, body: Body) -> Iterator[str]:
    """Yield what of the body a refusal names."""
    sent = {
        "json": "response_format" in body or "tools" in body,
        "limit": "max_tokens" in body,
        "temperature": "temperature" in body,
    }
    for what, words in _TOLD_BY.items():
        if sent[what] and any(word in said for word in words):
            yield what


def words_of(ways: Ways) -> list[str]:
    """What was found out, in sentences for operators."""
    found = []
    if (way := ways.get("json")) in JSON_WAYS[1:]:
        found.append(f"The endpoint refuses a JSON schema; replies in JSON are asked for by {_SAID[way]}.")
    if ways.get("limit") == "max_completion_tokens":
        found.append("The endpoint takes the limit of tokens as max_completion_tokens.")
    if ways.get("temperature") == "the endpoint's":
        found.append("The endpoint refuses the temperature; replies are sampled at its own.")
    return found


_SAID: Final = {"json_object": "its JSON mode", "tools": "a function to call", "words": "words alone"}
