"""Chatbot Arena battles: model_a, shown first, model_b and the winner. Pure."""

import ast
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from arena.data.formats import verdicts
from arena.data.formats.files import InputFile
from arena.data.formats.reading import (
    Companions,
    Fields,
    Format,
    Head,
    Kind,
    Mentions,
    digest,
    read_rows,
)
from arena.data.formats.records import ComparisonRecord, CompletionRecord, Item, PromptRecord
from arena.data.formats.values import unstorable
from arena.rating.subsets import NO_PROMPT_SUBSET

FLAGS: Final = {"winner_model_a": "first", "winner_tie": "tie", "winner_model_b": "second"}
"""Columns instead of a winner, of which exactly one is 1."""

COMMON_PROMPT: Final = "battles"  # prompt of battles without a question
UNNAMED: Final = "anonymous"  # rater of battles that name none
MAX_PYTHON: Final = 1024 * 1024  # longest cell parsed as a Python list, which takes much memory
Turns = tuple[str, ...]


class Texts(NamedTuple):
    """The turns of a battle; empty if the file lacks them."""

    user: Turns = ()
    first: Turns = ()
    second: Turns = ()


class Conversation(NamedTuple):
    user: Turns = ()
    model: Turns = ()


def recognise(head: Head) -> Kind | None:
    verdict = "winner" in head.fields or FLAGS.keys() <= head.fields
    return Kind.COMPARISONS if verdict and {"model_a", "model_b"} <= head.fields else None


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    mentions = Mentions()
    return read_rows(file, lambda fields: _records(fields, mentions))


def _records(fields: Fields, mentions: Mentions) -> Iterator[Item]:
    texts = _texts(fields)
    comparison = _battle(fields, texts)
    if fields.problems:
        return
    prompt, subset, place = comparison.prompt, comparison.subset, comparison.place
    asked = PromptRecord(id=prompt, subset=subset, turns=texts.user, implied=True, place=place)
    yield from mentions.prompt(fields, asked)
    for name, turns in ((comparison.first, texts.first), (comparison.second, texts.second)):
        answer = CompletionRecord(
            prompt=prompt, subset=subset, contestant=name, turns=turns, implied=True, place=place
        )
        yield from mentions.answer(fields, answer)
    yield comparison


def _battle(fields: Fields, texts: Texts) -> ComparisonRecord:
    first, second = fields.two_names("model_a", "model_b", "model")
    word, better = _winner(fields, first, second)
    moment, anony = fields.moment("tstamp"), fields.flag("anony")
    prompt = _prompt_id(fields, texts)
    record = ComparisonRecord(
        prompt=prompt or COMMON_PROMPT,
        subset="" if prompt else NO_PROMPT_SUBSET,
        first=first,
        second=second,
        rater=fields.text("judge") or fields.text("judge_hash") or UNNAMED,
        rater_kind=fields.choice("rater_kind", ("person", "judge")) or "",
        points=3,
        rating=verdicts.RATINGS[3][better],
        created_at=None if fields.flag("tstamp_known") is False else moment,
        derived_from=fields.texts("derived_from"),
    )
    # The two kinds of tie are one rating; the file's word for it is kept.
    said: dict[str, Any] = {"winner": word} if better == "tie" and word != "tie" else {}
    if anony is not None:
        said["anony"] = anony
    return replace(record, extra={**fields.rest(), **said}, place=fields.place)


def _prompt_id(fields: Fields, texts: Texts) -> str:
    """The question's id, or for texts the battle's id or a digest; empty where there is neither."""
    named = fields.text("question_id")
    if named or not texts.user:
        return named
    return fields.text("id") or digest(*texts.user)


def _winner(fields: Fields, first: str, second: str) -> tuple[str, str]:
    """The winner in the file's words, and its side; a tie after adding a problem."""
    if "winner" in fields or not any(name in fields for name in FLAGS):
        word = fields.peek("winner")
        return str(word), verdicts.take(fields, "winner", first, second)
    problems = len(fields.problems)
    won = [side for name, side in FLAGS.items() if fields.integer(name, most=1) == 1]
    if len(won) != 1 and len(fields.problems) == problems:
        fields.problem("winner_model_a", f"exactly one of {', '.join(FLAGS)} must be 1")
    return "tie", won[0] if len(won) == 1 else "tie"


def _texts(fields: Fields) -> Texts:
    """The texts of two conversations, or of a prompt and two lists of responses."""
    if "conversation_a" in fields or "conversation_b" in fields:
        # This one repeats both conversations.
        fields.take("full_conversation")
        first, second = _conversation(fields, "conversation_a"), _conversation(fields, "conversation_b")
        if first.user != second.user and not fields.problems:
            fields.problem("conversation_b", "the user's turns are not those of conversation_a")
        return Texts(first.user, first.model, second.model)
    if "response_a" not in fields and "response_b" not in fields:
        return Texts()
    user, first_turns, second_turns = (
        _turns(fields, name) for name in ("prompt", "response_a", "response_b")
    )
    for name, turns in (("response_a", first_turns), ("response_b", second_turns)):
        if len(turns) != len(user) and not fields.problems:
            fields.problem(name, f"{len(turns)} responses to {len(user)} turns of the prompt")
    return Texts(user, first_turns, second_turns)


def _turns(fields: Fields, name: str) -> Turns:
    """A list of texts; null, where a model said nothing, is an empty text."""
    value = _list(fields, name, "a list of texts")
    if not all(turn is None or isinstance(turn, str) for turn in value):
        fields.problem(name, "expected a list of texts")
        return ()
    return tuple(turn or "" for turn in value)


def _conversation(fields: Fields, name: str) -> Conversation:
    value = _list(fields, name, "a list of turns with role and content")
    texts = [_content(fields, f"{name}[{number}]", turn) for number, turn in enumerate(value, start=1)]
    roles = [turn.get("role") if isinstance(turn, dict) else None for turn in value]
    if roles != ["user", "assistant"] * (len(roles) // 2) and not fields.problems:
        fields.problem(name, "the roles are not user and assistant in turn")
    return Conversation(tuple(texts[::2]), tuple(texts[1::2]))


def _content(fields: Fields, name: str, turn: Any) -> str:
    """The text of a turn or of its parts."""
    content = turn.get("content") if isinstance(turn, dict) else turn
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        texts = [part.get("text") if isinstance(part, dict) else None for part in content]
        spoken = [text for text in texts if isinstance(text, str)]
        if len(spoken) == len(content):
            return "\n\n".join(spoken)
    fields.problem(name, "expected a text; images and other things cannot be imported")
    return ""


def _list(fields: Fields, name: str, wanted: str) -> list[Any]:
    """A list that is not empty, or in a cell its JSON or Python text."""
    value = fields.take(name)
    if isinstance(value, str):
        value = _parsed(value)
    if not isinstance(value, list) or not value:
        fields.problem(name, f"expected {wanted}")
        return []
    if reason := unstorable(value):
        fields.problem(name, reason)
        return []
    return value


def _parsed(text: str) -> Any:
    """The value written in a text, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text) if len(text) <= MAX_PYTHON else None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


FORMAT = Format(
    "arena-battles",
    "Chatbot Arena battles",
    "model_a, model_b and winner or winner_model_a, winner_model_b and winner_tie",
    recognise,
    read,
)
