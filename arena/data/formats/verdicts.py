"""Words and names that say which of two answers is better. Pure."""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from arena.data.formats.reading import Fields

SIDES: Final = ("first", "tie", "second")

RATINGS: Final = {2: {"first": 1, "second": 2}, 3: {"first": 1, "tie": 2, "second": 3}}
"""Ratings of a verdict, by points."""

_KNOWN: Final = (
    "model_a, left, first, a or 1; tie, draw, both bad or neither; model_b, right, second, b or 2; or the "
    "name of one of the two models"
)
"""Verdicts, for messages."""

NOUN: Final = (
    "answer|assistant|bot|candidate|choice|completion|generation|llm|model|option|output|reply|response|"
    "result|side|story|summary|system|text|translation"
)
"""Subjects that the words of a side may be about."""

FIRST: Final = "first|left|one|a|1"
SECOND: Final = "second|right|two|b|2"

_SIDE: Final = re.compile(
    rf"(?:the_)?(?:(?:{NOUN})_?)?(?:(?P<first>{FIRST})|(?P<second>{SECOND}))(?:_(?:{NOUN}|one))?"
    r"(?:_(?:is|was))?(?:_the)?(?:_(?:better|best|preferred|wins?|won))?"
)
_TIE: Final = re.compile(
    r"(?:a_)?(?:tied?|draw)(?:_\(?(?:both_?)?(?:bad|good)\)?)?"
    r"|both(?:_are|_answers|_responses)?(?:_?(?:are_)?(?:equally_)?(?:bad|good|equal|same|the_same))?"
    r"|neither|no_(?:preference|difference)|(?:about_)?(?:the_)?same|equal|equally_(?:bad|good)|a_?=_?b"
)
_BOTH_BAD: Final = re.compile(r"(?:tie_)?\(?both_?bad\)?")
"""The tie of Chatbot Arena that says neither answer is acceptable."""


@lru_cache(maxsize=1024)
def plain(text: str) -> str:
    """The text without case, brackets and marks around it, with underscores between its words."""
    return re.sub(r"[\s_]+|(?<=\w)-+(?=\w)", "_", text.strip().strip("[]\"'.!").casefold()).strip("_")


def side(value: str, first: Collection[str] = (), second: Collection[str] = ()) -> str | None:
    """Returns the better side or ``tie`` that a value tells; None if it tells nothing, or two things.

    Beside the known words, a value may be what is called ``first`` or ``second``, such as a model's name.
    """
    told = {_by_word(plain(value)), named(value, first, second)} - {None}
    return told.pop() if len(told) == 1 else None


def unknown(value: str) -> str:
    """Returns what is wrong with a value that tells no side."""
    return f'"{value}" does not say which is better; use {_KNOWN}'


def take(fields: Fields, name: str, first: str = "", second: str = "") -> str:
    """Returns the side that a field tells; a tie after adding a problem."""
    value = fields.required_text(name)
    found = side(value, [first], [second])
    if value.strip() and found is None:
        fields.problem(name, unknown(value))
    return found or "tie"


def accepts_neither(value: str) -> bool:
    """Tells whether a winner in Chatbot Arena's words says that both answers are bad."""
    return _BOTH_BAD.fullmatch(plain(value)) is not None


def named(value: str, first: Collection[str], second: Collection[str]) -> str | None:
    """Returns the side that alone is called like this, in whatever case."""
    ours, theirs = (plain(value) in map(plain, filter(None, names)) for names in (first, second))
    return None if ours == theirs else "first" if ours else "second"


def _by_word(word: str) -> str | None:
    if found := _SIDE.fullmatch(word):
        return "first" if found["first"] else "second"
    return "tie" if _TIE.fullmatch(word) else None
