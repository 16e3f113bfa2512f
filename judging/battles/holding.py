"""What of an answer may be shown while it is being written. Pure.

Whole sentences are shown, and none that tells who wrote it. Thinking is not shown.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from arena.texts.author_names import NameFinder
from arena.texts.marks import split_thinking, strip_end_tokens

HELD_BACK: Final = "[A sentence that tells who wrote this is held back.]"
LONGEST_RUN: Final = 400  # characters without the end of a sentence, of which words are shown then
LONGEST_NAME: Final = 60  # characters that are held where no blanks tell words apart

END: Final = re.compile(r"[.!?…][)\]\"'”’»*_]{0,3}(?=\s)\s*|[。！？]\s*|\n\s*")
"""Where a sentence or a line ends, with the blanks behind it."""


@dataclass(frozen=True)
class Held:
    """What may be shown of an answer so far. ``read``: the part of the answer that it is made from."""

    shown: str = ""
    read: str = ""
    last: str = ""
    has_named: bool = False


def hold(before: Held, text: str, names: NameFinder | None, is_complete: bool) -> Held:
    """What may be shown now that an answer has become ``text``; what was shown before stays."""
    answer = strip_end_tokens(split_thinking(text)[1])
    now = before
    if not answer.startswith(before.read):
        # What was shown turns out to be thinking, as only its end was marked.
        now = Held(f"{before.shown.rstrip()}\n\n" if before.shown else "", "", "", before.has_named)
    sentences = _sentences(answer[len(now.read) :], is_complete)
    if not sentences:
        return before
    shown, last, has_named = [now.shown], now.last, now.has_named
    for sentence in sentences:
        is_named = names is not None and names.find(last + sentence) is not None
        blanks = sentence[len(sentence.rstrip()) :]
        shown.append(f"{HELD_BACK}{blanks}" if is_named else sentence)
        last, has_named = "" if is_named else sentence, has_named or is_named
    return Held("".join(shown), now.read + "".join(sentences), last, has_named)


def _sentences(text: str, is_complete: bool) -> list[str]:
    """The whole sentences that a text begins with; of a long one without an end, its whole words."""
    starts = [0, *(found.end() for found in END.finditer(text))]
    found = [text[start:end] for start, end in pairwise(starts)]
    rest = text[starts[-1] :]
    if not is_complete:
        rest = rest[: _cut(rest)]
    return [*found, rest] if rest else found


def _cut(rest: str) -> int:
    """Where a sentence may be cut whose end has not come; 0 while it is short."""
    if len(rest) <= LONGEST_RUN:
        return 0
    return rest.rfind(" ") + 1 or len(rest) - LONGEST_NAME
