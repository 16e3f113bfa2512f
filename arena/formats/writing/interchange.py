"""What other programs read: votes in Chatbot Arena's columns, evalica's, and preference pairs. Pure.

The first completion of a row is the one that was shown first.
"""

from collections.abc import Mapping
from typing import Any, Final

from arena import scales
from arena.formats.writing.schema import Table, Type

WINNERS: Final[Mapping[float, str]] = {1.0: "model_a", 0.5: "tie", 0.0: "model_b"}
"""Chatbot Arena's word by the first completion's score."""

SIDES: Final[Mapping[float, str]] = {1.0: "left", 0.5: "tie", 0.0: "right"}
"""Evalica's word by the first completion's score."""

LANGUAGE_NOT_KNOWN: Final = "unknown"
"""What Chatbot Arena's files say where no language was told."""

_MESSAGES: Final = dict.fromkeys(("prompt", "chosen", "rejected"), Type.MESSAGES)
_TEXTS: Final = dict.fromkeys(("prompt", "chosen", "rejected"), Type.TEXT)
_JUDGED: Final = {
    "margin": Type.NUMBER,
    "n_raters": Type.INTEGER,
    "agreement": Type.NUMBER,
    "prompt_id": Type.TEXT,
    "category": Type.TEXT,
    "simulated": Type.FLAG,
}

ARENA: Final = Table(
    "arena",
    {
        **dict.fromkeys(("question_id", "model_a", "model_b", "winner", "judge"), Type.TEXT),
        "turn": Type.INTEGER,
        "language": Type.TEXT,
        "tstamp": Type.NUMBER,
        "score_1_8": Type.INTEGER,
        "rating": Type.INTEGER,
        "points": Type.INTEGER,
        **dict.fromkeys(("shown_first", "category", "protocol", "protocol_version", "rater_kind"), Type.TEXT),
        "simulated": Type.FLAG,
    },
    complete=True,
)
"""One row per scored comparison, in Chatbot Arena's columns and then ours."""

EVALICA: Final = Table(
    "evalica",
    dict.fromkeys(("left", "right", "winner", "prompt", "prompt_id"), Type.TEXT),
    complete=True,
    marked=False,
)
"""One row per game of the ranking; ``prompt`` numbers what was drawn together in the bootstrap."""

PREFERENCES: Final = Table("preferences", {**_TEXTS, **_JUDGED}, complete=True)
"""One row per pair, texts as strings."""

CONVERSATIONS: Final = Table("preferences", {**_MESSAGES, **_JUDGED}, complete=True)
"""The same with texts as lists of messages."""


def winner(rating: int, points: int, words: Mapping[float, str], *, ties: bool) -> str | None:
    """The verdict in the words of another format; None where the rating takes no side with ties off."""
    found = scales.score(rating, points, ties=ties)
    return None if found is None else words[found]


def question(external_id: str, subset: str) -> str:
    """A prompt's id that stays unique where subsets number theirs alike."""
    return f"{subset}/{external_id}" if subset else external_id


def messages(role: str, text: str) -> list[dict[str, Any]]:
    """One message as the list that chat templates take."""
    return [{"role": role, "content": text}]
