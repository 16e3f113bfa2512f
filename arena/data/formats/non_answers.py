"""Tells an imported answer from what is none: errors, thinking and end tokens. Pure."""

from dataclasses import replace
from typing import Any, Final

from arena.data.formats.records import CompletionRecord
from arena.texts.errors import is_error
from arena.texts.marks import split_thinking, strip_end_tokens

THINKING: Final = "thinking"
FAILURE: Final = "failure"
END_TOKENS: Final = "end_tokens"

NOTES: Final = {
    FAILURE: "the first answer that is the message of a program that failed; such answers count as missing",
    THINKING: "the first answer with thinking, which is set apart: raters and judges do not see it",
    END_TOKENS: "the first answer that ends with tokens of a chat template, which are taken off",
}
"""Notes about the first answer with each of these in its extra."""


def told_apart(record: CompletionRecord) -> CompletionRecord:
    """The record with the answer alone as its text; the rest is in ``extra``, by the names above.

    An error of a contestant leaves the text unknown.
    """
    extra = dict(record.extra)
    if (given := extra.pop(THINKING, None)) is not None:
        name = THINKING if (thoughts := _texts(given)) is not None else f"given_{THINKING}"
        extra[name] = given if thoughts is None else thoughts
    if record.contestant and any(map(is_error, record.turns)):
        return replace(record, turns=(), extra={**extra, FAILURE: list(record.turns)})
    split = [split_thinking(turn) for turn in record.turns]
    answers = tuple(strip_end_tokens(answer) for _, answer in split)
    if any(thought for thought, _ in split):
        extra[THINKING] = [thought for thought, _ in split]
    if any(answer != said for answer, (_, said) in zip(answers, split, strict=True)):
        extra[END_TOKENS] = [
            said.removeprefix(answer) for answer, (_, said) in zip(answers, split, strict=True)
        ]
    return record if extra == record.extra else replace(record, turns=answers, extra=extra)


def _texts(given: Any) -> list[str] | None:
    """The thinking in a file's own field, by turn; None if it is something else."""
    texts = [given] if isinstance(given, str) else given
    is_said = isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts)
    return texts if is_said else None


def kept(record: CompletionRecord) -> dict[str, Any]:
    """The fields to store as they are."""
    return {name: value for name, value in record.extra.items() if name != THINKING}
