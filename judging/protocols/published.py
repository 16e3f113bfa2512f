"""Prompts as others published them: files with roles and placeholders of their own. Pure.

A file is a text with ``<|im_start|>ROLE`` and ``<|im_end|>`` around its messages (LLMBar, AlpacaEval, ReIFE),
one line of FastChat's ``judge_prompts.jsonl``, or a plain text, which is one message of the user. Nothing is
added to what it says: no markers around what others wrote, and no notice that this is material.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Final

from arena.texts.dialogue import Message
from judging.protocols.neutralizing import neutral
from judging.protocols.rendering import OneText, Texts, numbered_turns, own_reference

MESSAGE: Final = re.compile(
    r"<\|im_start\|>(?P<role>\w*)\n(?P<content>(?:(?!<\|im_start\|>).)*?)\n?<\|im_end\|>", re.DOTALL
)
PLACEHOLDER: Final = re.compile(r"(?P<brace>\{\{|\}\})|\{\$?(?P<name>[A-Za-z]\w*)\}")
TURN: Final = re.compile(r"[1-9][0-9]{0,2}")  # 0 would be all turns
ROLES: Final = ("system", "user", "assistant")

FIRST: Final = ("output_1", "output_a", "answer_a", "answer_1", "response_a", "response_1", "candidate_a")
SECOND: Final = ("output_2", "output_b", "answer_b", "answer_2", "response_b", "response_2", "candidate_b")
NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "query": ("input", "instruction", "question", "query", "prompt", "user_query"),
    "answer_a": FIRST,
    "answer_b": SECOND,
    "answer": ("answer", "output", "response"),
    "reference": ("ref_answer", "reference", "reference_answer"),
}
"""What the placeholders of published prompts stand for, in small letters."""

TURNS: Final[Mapping[str, str]] = {
    "question": "query",
    "answer_a": "answer_a",
    "answer_b": "answer_b",
    "answer": "answer",
    "ref_answer": "reference",
}
"""The same, of names that end with the number of a turn."""

OF_A_PAIR: Final = ("query", "answer_a", "answer_b")
OF_AN_ANSWER: Final = ("query", "answer")


class PublishedPromptError(ValueError):
    """The message is a sentence about the file."""


def messages_of(text: str) -> list[Message]:
    """The messages of a file, with their placeholders. Raises PublishedPromptError."""
    if text.lstrip().startswith("{") and '"prompt_template"' in text:
        return _of_json(text)
    if "<|im_start|>" not in text and "<|im_end|>" not in text:
        return [{"role": "user", "content": text.strip()}]
    if MESSAGE.sub("", text).strip():
        raise PublishedPromptError("a message lacks its <|im_start|>ROLE or its <|im_end|>")
    return [match.groupdict() for match in MESSAGE.finditer(text)]


def _of_json(text: str) -> list[Message]:
    try:
        found = [json.loads(text)]
    except (ValueError, RecursionError):
        try:
            found = [json.loads(line) for line in text.strip().splitlines() if line.strip()]
        except (ValueError, RecursionError) as error:
            raise PublishedPromptError(f"it is not JSON: {error}") from error
    if len(found) > 1:
        names = ", ".join(str(one.get("name")) for one in found if isinstance(one, dict))
        raise PublishedPromptError(f"it holds {len(found)} prompts ({names}): leave one line in it")
    given = {"system": found[0].get("system_prompt", ""), "user": found[0].get("prompt_template")}
    if not all(isinstance(content, str) for content in given.values()):
        raise PublishedPromptError("system_prompt and prompt_template must be texts")
    return [{"role": role, "content": content} for role, content in given.items() if content.strip()]


def source_of(name: str, shown: Sequence[str]) -> tuple[str, int]:
    """What a placeholder stands for among those ``shown``, and its turn; 0 is all turns, "" is unknown."""
    known = name.lower()
    for source, names in NAMES.items():
        if known in names and source in (*shown, "reference"):
            return source, 0
    stem, _, turn = known.rpartition("_")
    source = TURNS.get(stem, "")
    is_turn = TURN.fullmatch(turn) and source in (*shown, "reference")
    return (source, int(turn)) if is_turn else ("", 0)


RUN: Final = 5  # words in a row that say two texts share a wording


def shared_wording(text: str, other: str) -> float:
    """The share of the runs of five words of a text that the other has, too; 0 for a shorter text."""
    own, others = _runs(text), set(_runs(other))
    return sum(run in others for run in own) / len(own) if own else 0.0


def _runs(text: str) -> list[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9']+", PLACEHOLDER.sub(" ", text).lower())
    return list(zip(*(words[start:] for start in range(RUN)), strict=False))


def _named(text: str) -> Iterator[str]:
    return (match["name"] for match in PLACEHOLDER.finditer(text) if match["name"])


def names_turns(text: str) -> bool:
    """Tell whether a file says at which turn its texts stand."""
    named = (name.lower().rpartition("_") for name in _named(text))
    return any(stem in TURNS and TURN.fullmatch(number) for stem, _, number in named)


def takes_references(text: str) -> bool:
    return any(source_of(name, ())[0] == "reference" for name in _named(text))


def problems(text: str, shown: Sequence[str]) -> list[str]:
    """What is wrong with a file that must show a prompt and its answers: a sentence for each fault."""
    try:
        messages = messages_of(text)
    except PublishedPromptError as error:
        return [f"{error}."]
    found = [
        f"{message['role'] or 'nobody'} is no role of a message: use {', '.join(ROLES)}."
        for message in messages
        if message["role"] not in ROLES
    ]
    if not messages or messages[-1]["role"] != "user":
        found.append("its last message must be the user's.")
    names = list(dict.fromkeys(name for message in messages for name in _named(message["content"])))
    known = ", ".join(f"{{{one}}}" for source in (*shown, "reference") for one in NAMES[source])
    found += [
        f"{{{name}}} is no placeholder that can be filled. Known are {known}, and some with the number of a "
        "turn, such as {question_1}."
        for name in names
        if not source_of(name, shown)[0]
    ]
    shows = {source_of(name, shown)[0] for name in names}
    found += [f"it must show {{{NAMES[one][0]}}}." for one in shown if one not in shows]
    return found


def messages(text: str, texts: Texts) -> list[Message]:
    """What the file asks about these texts. Raises PublishedPromptError.

    What others wrote stands in it as it is, but for signs that would begin or end a message.
    """
    shown = OF_AN_ANSWER if isinstance(texts, OneText) else OF_A_PAIR
    first, *others = texts.prompt
    said = [f"{first}\n\n{texts.input}" if texts.input else first, *others]
    whole = numbered_turns(said)
    of: dict[str, Sequence[str]] = {"reference": texts.references[0] if texts.references else []}
    if not isinstance(texts, OneText):
        of |= {"query": said, "answer_a": texts.first, "answer_b": texts.second}
    elif texts.dialogue:
        whole = "\n\n".join(map("{}:\n{}".format, cycle(("User", "Assistant")), said))
        of |= {"query": said[::2], "answer": [*said[1::2], *texts.text]}
    else:
        of |= {"query": said, "answer": texts.text}

    def filled(match: re.Match[str]) -> str:
        if match["brace"]:
            return match["brace"][0]
        source, turn = source_of(match["name"], shown)
        if turn:
            return neutral("".join(of[source][turn - 1 : turn]))
        if source == "reference":
            return neutral(own_reference(texts.references)) if texts.references else ""
        if source == "query":
            return neutral(whole)
        # At a turn of a conversation the answer is the last one.
        return neutral(numbered_turns(texts.text if isinstance(texts, OneText) else of[source]))

    return [
        {"role": message["role"], "content": PLACEHOLDER.sub(filled, message["content"])}
        for message in messages_of(text)
    ]
