"""What a model is asked to split a prompt into requirements, and reading its reply. Pure.

Prompt and reply are hostile: the prompt stands in a fence, and of the reply only short texts are taken.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from arena.texts.dialogue import Message
from arena.texts.marks import without_thinking
from judging.protocols.rendering import PairTexts, boundary, fill, notice, query

MOST: Final = 30  # requirements that are asked for and taken
LONGEST: Final = 500  # characters of a requirement
MOST_LABELS: Final = 5
LONGEST_LABEL: Final = 40

Proposal = tuple[str, tuple[str, ...], bool]
"""A requirement's text, its labels, and whether an answer must meet it."""


@cache
def _template() -> str:
    return Path(__file__).with_name("ask.txt").read_text(encoding="utf-8").strip()


def messages(turns: Sequence[str], material: str, secret: bytes) -> list[Message]:
    texts = PairTexts(turns, material, (), (), secret)
    word = boundary(secret, _template(), [*turns, material])
    values = {"notice": notice(word), "query": query(texts, word), "most": MOST}
    return [{"role": "user", "content": fill(_template(), values)}]


def read(reply: str) -> list[Proposal]:
    """The requirements in a reply, each once; none if it holds no list of them."""
    text, _ = without_thinking(reply)
    start, end = text.find("["), text.rfind("]")
    try:
        found = json.loads(text[start : end + 1]) if 0 <= start < end else []
    except (ValueError, RecursionError):
        return []
    proposals = filter(None, map(_proposal, found if isinstance(found, list) else []))
    return list({proposal[0]: proposal for proposal in proposals}.values())[:MOST]


def _proposal(item: Any) -> Proposal | None:
    if not isinstance(item, dict):
        return None
    text, labels = _line(item.get("question")), item.get("labels")
    if not text or len(text) > LONGEST:
        return None
    named = map(_line, labels if isinstance(labels, list) else [])
    kept = [label for label in dict.fromkeys(named) if 0 < len(label) <= LONGEST_LABEL]
    return text, tuple(kept[:MOST_LABELS]), item.get("required") is not False


def _line(value: object) -> str:
    """The text in one line, without what a database cannot hold; "" for anything else."""
    if not isinstance(value, str):
        return ""
    known = value.replace("\0", "").encode("utf-8", "ignore").decode()
    return " ".join(known.split())
