"""Conversations as lists of messages with role and content. Pure."""

import ast
import json
import re
from typing import Any, Final, NamedTuple

from arena.data.formats.pairs import Turns
from arena.data.formats.reading import Fields
from arena.data.formats.values import unstorable

MAX_PYTHON: Final = 1024 * 1024  # longest cell parsed as a Python list, which takes much memory

_ROLES: Final = {
    **dict.fromkeys(("user", "human", "prompter"), "user"),
    **dict.fromkeys(("assistant", "model", "gpt", "bot", "ai"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
}

_TRANSCRIPT: Final = re.compile(r"(?:\A|\n\n)(Human|Assistant): ?")
"""The beginning of each message of a conversation in one text."""


class Dialogue(NamedTuple):
    """The turns of the user and of the model, and what the model was told before them."""

    user: Turns = ()
    model: Turns = ()
    system: str = ""


def conversation(fields: Fields, name: str) -> Dialogue:
    """The conversation of a field, which ends with the model."""
    found = dialogue(fields, name, listed(fields, name, "a list of turns with role and content"))
    if len(found.user) != len(found.model) and not fields.problems:
        fields.problem(name, "the roles are not user and assistant in turn")
    return found


def dialogue(fields: Fields, name: str, messages: list[Any]) -> Dialogue:
    """The messages as turns, those of the user first; a system message may come before them."""
    said = [
        (_role(message), _content(fields, f"{name}[{number}]", message))
        for number, message in enumerate(messages, start=1)
    ]
    system = "\n\n".join(text for role, text in said if role == "system")
    spoken = [(role, text) for role, text in said if role != "system"]
    late = any(role == "system" for role, _ in said[len(said) - len(spoken) :])
    expected = ["user", "assistant"] * (len(spoken) // 2 + 1)
    if late or [role for role, _ in spoken] != expected[: len(spoken)]:
        if not fields.problems:
            fields.problem(name, "the roles are not user and assistant in turn")
        return Dialogue()
    texts = [text for _, text in spoken]
    return Dialogue(tuple(texts[::2]), tuple(texts[1::2]), system)


def transcript(text: str) -> list[Any] | None:
    """The messages of a text that says "Human: ..." and "Assistant: ..." in turn; None for another text."""
    first, *parts = _TRANSCRIPT.split(text)
    if first.strip() or not parts:
        return None
    if parts[-2] == "Assistant" and not parts[-1].strip():  # what the model is to go on with
        parts = parts[:-2]
    return [{"role": who, "content": said} for who, said in zip(parts[::2], parts[1::2], strict=True)]


def listed(fields: Fields, name: str, wanted: str) -> list[Any]:
    """A list that is not empty, or in a cell its JSON or Python text."""
    value = fields.take(name)
    if isinstance(value, str):
        value = parsed(value)
    if not isinstance(value, list) or not value:
        fields.problem(name, f"expected {wanted}")
        return []
    if reason := unstorable(value):
        fields.problem(name, reason)
        return []
    return value


def parsed(text: str) -> Any:
    """The value written in a text, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text) if len(text) <= MAX_PYTHON else None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _role(message: Any) -> str:
    """The role of a message, under OpenAI's name or ShareGPT's."""
    said = (message.get("role") or message.get("from")) if isinstance(message, dict) else None
    return _ROLES.get(said.lower(), "") if isinstance(said, str) else ""


def _content(fields: Fields, name: str, message: Any) -> str:
    """The text of a message or of its parts."""
    content = message
    if isinstance(message, dict):
        content = message["content"] if "content" in message else message.get("value")
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        texts = [part.get("text") if isinstance(part, dict) else None for part in content]
        spoken = [text for text in texts if isinstance(text, str)]
        if len(spoken) == len(content):
            return "\n\n".join(spoken)
    fields.problem(name, "expected a text; images and other things cannot be imported")
    return ""
