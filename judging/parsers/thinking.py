"""Telling the answer from the thinking before it, which models send in one text in several ways."""

import re
from dataclasses import dataclass
from typing import Final

TAG: Final = r"(?:think|thinking|thought|thoughts|reasoning)"

THINKING: Final = re.compile(rf"\s*<({TAG})>.*?</\1>", re.DOTALL | re.IGNORECASE)
"""A block of thinking before the answer."""

OPENING: Final = re.compile(rf"<{TAG}>", re.IGNORECASE)
OPENING_LINE: Final = re.compile(rf"^[ \t]*<{TAG}>", re.MULTILINE | re.IGNORECASE)
CLOSING: Final = re.compile(rf"</{TAG}>", re.IGNORECASE)

CHANNELS: Final = re.compile(r"\s*(?:<\|start\|>\s*assistant\s*)?<\|channel\|>")
"""How a reply in channels begins: thinking in one, the answer in the one named final."""

FINAL_CHANNEL: Final = re.compile(r"<\|channel\|>\s*final\b[^<>|]*<\|message\|>")
ENDS_OF_CHANNEL: Final = ("<|return|>", "<|end|>")


@dataclass(frozen=True)
class Answer:
    """The part of a reply that is no thinking: ``text[start:end]``.

    is_open: the thinking was never closed, or nobody can tell where it ends, so there is no answer. orphan:
    what stands before a closing tag that has no opening one, as some endpoints send; else "".
    """

    start: int
    end: int
    is_open: bool = False
    orphan: str = ""


def answer_of(text: str) -> Answer:
    """Where the answer stands in a reply."""
    if CHANNELS.match(text):
        return _final_channel(text)
    start = 0
    while match := THINKING.match(text, start):
        start = match.end()
    closings = [match.span() for match in CLOSING.finditer(text, start)]
    last = closings[-1][1] if closings else start
    if OPENING_LINE.search(text, last):
        return Answer(start, len(text), is_open=True)
    if not closings or OPENING.search(text, start):
        return Answer(start, len(text))
    before, after = closings[0]
    # With several, one may be the model's own and another one quoted: nobody can tell which.
    return Answer(after, len(text), is_open=len(closings) > 1, orphan=text[start:before])


def _final_channel(text: str) -> Answer:
    final = list(FINAL_CHANNEL.finditer(text))
    if len(final) != 1:
        return Answer(len(text), len(text), is_open=True)
    body = text.rstrip()
    mark = next((mark for mark in ENDS_OF_CHANNEL if body.endswith(mark)), "")
    return Answer(final[0].end(), len(body) - len(mark))


def without_thinking(text: str) -> tuple[str, bool]:
    """The answer in a reply, and whether the thinking before it was never closed."""
    answer = answer_of(text)
    return text[answer.start : answer.end], answer.is_open
