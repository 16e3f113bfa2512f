"""Conversations as lists of messages with role and content. Pure."""

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from arena.data.formats.pairs import Asides, Turns
from arena.data.formats.reading import Fields
from arena.data.formats.values import unstorable

Aside: TypeAlias = dict[str, Any]

LONGEST_PART: Final = 2000  # characters of a part that is no text
LONGEST_START: Final = 50

MAX_PYTHON: Final = 1024 * 1024  # longest cell parsed as a Python list, which takes much memory

_ROLES: Final = {
    **dict.fromkeys(("user", "human", "prompter"), "user"),
    **dict.fromkeys(("assistant", "model", "gpt", "bot", "ai"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "observation", "ipython"), "tool"),
    **dict.fromkeys(("function_call", "tool_call"), "call"),
}

_TRANSCRIPT: Final = re.compile(r"(?:\A|\n\n)(Human|Assistant): ?")
"""The beginning of each message of a conversation in one text."""


class Dialogue(NamedTuple):
    """The turns of the user and of the model, and what stands beside them: of the prompt, of the answer."""

    user: Turns = ()
    model: Turns = ()
    asked: Asides = ()
    told: Asides = ()


def conversation(fields: Fields, name: str) -> Dialogue:
    """The conversation of a field, which ends with the model."""
    found = dialogue(fields, name, listed(fields, name, "a list of turns with role and content"))
    if len(found.user) != len(found.model) and not fields.problems:
        fields.problem(name, "the roles are not user and assistant in turn")
    return found


def dialogue(fields: Fields, name: str, messages: list[Any]) -> Dialogue:
    """The messages as turns, those of the user first; what else was said stands beside them."""
    talk = _Talk()
    for number, message in enumerate(messages, start=1):
        if not talk.take(_role(message), message, *_content(fields, f"{name}[{number}]", message)):
            break
    found = talk.ended()
    if found is None and not fields.problems:
        fields.problem(name, "the roles are not user and assistant in turn")
    return found or Dialogue()


@dataclass
class _Talk:
    """A conversation as it is read, message by message."""

    user: list[str] = field(default_factory=list)
    model: list[str] = field(default_factory=list)
    asked: list[Aside] = field(default_factory=list)
    told: list[Aside] = field(default_factory=list)
    is_in_order: bool = True

    @property
    def _is_answered(self) -> bool:
        return len(self.user) == len(self.model)

    def take(self, role: str, message: Any, text: str, parts: Sequence[Aside]) -> bool:
        """Take the next message, with its text and other parts; False if it is out of turn."""
        self.is_in_order = getattr(self, f"_{role or 'nobody'}")(message, text, parts)
        return self.is_in_order

    def ended(self) -> Dialogue | None:
        """The conversation; None if its messages are not in turn."""
        self._answer_of_tools()
        late = any(each["turn"] > len(self.user) for each in self.asked)
        if late or not self.is_in_order:
            return None
        return Dialogue(tuple(self.user), tuple(self.model), tuple(self.asked), tuple(self.told))

    def _answer_of_tools(self) -> None:
        """A turn that ends with a tool has an answer without words."""
        if not self._is_answered and any(each["turn"] == len(self.user) for each in self.told):
            self.model.append("")

    def _nobody(self, message: Any, text: str, parts: Sequence[Aside]) -> bool:
        return False

    def _system(self, message: Any, text: str, parts: Sequence[Aside]) -> bool:
        turn = len(self.user) + self._is_answered
        self.asked += _beside(turn, aside("system", text), *parts)
        return True

    def _user(self, message: Any, text: str, parts: Sequence[Aside]) -> bool:
        self._answer_of_tools()
        if not self._is_answered:
            return False
        self.user.append(text)
        self.asked += _beside(len(self.user), *parts)
        return True

    def _assistant(self, message: Any, text: str, parts: Sequence[Aside]) -> bool:
        if self._is_answered:
            return False
        self.told += _beside(len(self.user), *parts)
        if calls := _calls(message):
            self.told += _beside(len(self.user), *([aside("said", text)] if text else []), *calls)
        else:
            self.model.append(text)
        return True

    def _call(self, message: Any, text: str, parts: Sequence[Aside]) -> bool:
        return self._beside_answer(aside("call", text), *parts)

    def _tool(self, message: Any, text: str, parts: Sequence[Aside]) -> bool:
        name = message.get("name")
        return self._beside_answer(aside("tool", text, name if isinstance(name, str) else ""), *parts)

    def _beside_answer(self, *found: Aside) -> bool:
        if not self.user:
            return False
        if self._is_answered:  # what was said led to the tool
            self.told += _beside(len(self.user), aside("said", self.model.pop()))
        self.told += _beside(len(self.user), *found)
        return True


def aside(kind: str, text: str, name: str = "") -> Aside:
    return {"kind": kind, "text": text, **({"name": name} if name else {})}


def _beside(turn: int, *found: Aside) -> list[Aside]:
    return [{"turn": turn, **each} for each in found]


def _calls(message: Any) -> list[Aside]:
    """What tools the model called, as OpenAI writes it."""
    given = message.get("tool_calls") if isinstance(message, dict) else None
    listed = given if isinstance(given, list) else []
    if isinstance(message, dict) and isinstance(message.get("function_call"), dict):
        listed = [*listed, {"function": message["function_call"]}]
    calls = [each.get("function", each) for each in listed if isinstance(each, dict)]
    return [
        aside("call", _written(each.get("arguments", "")), str(each.get("name", "")))
        for each in calls
        if isinstance(each, dict)
    ]


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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


def _content(fields: Fields, name: str, message: Any) -> tuple[str, list[Aside]]:
    """The text of a message, or of its parts, and its other parts."""
    content = message
    if isinstance(message, dict):
        content = message["content"] if "content" in message else message.get("value")
    if content is None or isinstance(content, str):
        return content or "", []
    if isinstance(content, list) and all(isinstance(part, dict | str) for part in content):
        texts = [_text_of(part) for part in content]
        others = [_other(part) for part, text in zip(content, texts, strict=True) if text is None]
        return "\n\n".join(text for text in texts if text is not None), others
    fields.problem(name, "expected a text, or a list of parts")
    return "", []


def _text_of(part: Any) -> str | None:
    """The text of a part; None if it is something else."""
    if isinstance(part, str):
        return part
    is_text = isinstance(part.get("text"), str) and "image" not in str(part.get("type", ""))
    return part["text"] if is_text else None


def _other(part: dict[str, Any]) -> Aside:
    """An image as its alternative text and address, and any other part as it is written."""
    kind = str(part.get("type", ""))
    if "image" not in kind and "image_url" not in part:
        return aside("part", _written(part)[:LONGEST_PART])
    source = next((part[each] for each in ("image_url", "source", "image", "url") if part.get(each)), "")
    if isinstance(source, dict):
        source = source.get("url") or source.get("data") or source
    address = _written(source)
    if address.startswith("data:") or len(address) > LONGEST_PART:
        address = f"{address[:LONGEST_START].partition(',')[0]} ({len(address):,} characters)"
    words = next((part[each] for each in ("alt", "alt_text", "text") if isinstance(part.get(each), str)), "")
    return aside("image", " ".join(filter(None, (words, address))))
