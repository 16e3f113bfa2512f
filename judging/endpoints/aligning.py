"""Find the begin of a text among tokens that end with it, though some hold parts of its characters. Pure.

Byte-level vocabularies split characters. Some servers tell the bytes of such tokens, which are lone
surrogates here. Others write a replacement character for each part, or the whole character with its last part
and nothing with those before.
"""

import re
from collections.abc import Iterator, Sequence
from string import whitespace
from typing import Final, NamedTuple

LEFT_OUT: Final = "�"
"""Sign for a part of a character in a token's text."""

PARTS: Final = re.compile(f"[{LEFT_OUT}\\ud800-\\udfff]")
LONGEST_CHARACTER: Final = 4  # bytes
LONGEST_PART: Final = 3  # bytes of a character that are not all of it
MOST_READINGS: Final = 200  # at once: where hundreds of characters in a row are in parts, nobody can tell
MOST_PLACES: Final = 50  # that are looked at again
BLANKS: Final = re.compile(f"[{whitespace}]+")  # which tokenizers change and leave out


def has_parts(tokens: Sequence[str]) -> bool:
    """Tell whether some of the tokens hold, or may hold, parts of characters."""
    return not all(tokens) or PARTS.search("".join(tokens)) is not None


def begins(tokens: Sequence[str], text: str, before: str = "") -> list[int]:
    """Count the tokens that may come before those that make up the text, which is last.

    The first of these may hold the end of what comes before, and blanks before the text are not of it. One
    number if the place is certain; none if the tokens do not end with the text. ``before``: a text that may
    come directly before; anything else there does not end in the midst of a character's parts.
    """
    wanted = _solid(text.lstrip())
    found, ends, number = [], {len(wanted.text)} - {0}, len(tokens)
    while ends and number:
        number -= 1
        ends |= {start for end in ends for start in _before_blanks(end, wanted)}
        ends = {start for end in ends for start in _starts(tokens[number], wanted, end)}
        if 0 in ends:
            found.append(number)
            ends.remove(0)
        if len(ends) > MOST_READINGS:
            return [number, 0]
    places = list(_with_empty(tokens, found, text.lstrip()))
    return [place for place in places if len(places) > MOST_PLACES or _may_end(tokens[:place], before)]


class _Solid(NamedTuple):
    """A text in bytes without its ASCII blanks."""

    text: bytes
    gaps: set[int]
    """Places of blanks, and its ends: nowhere else does a token have a blank at its end."""

    blanks: dict[int, int]
    """Begin of each other blank, by its end."""


def _solid(text: str) -> _Solid:
    solid, gaps, blanks = bytearray(), {0}, {}
    for character in text:
        start = len(solid)
        if character not in whitespace:
            solid += character.encode()
        if character.isspace():
            gaps |= {start, len(solid)}
            if start < len(solid):
                blanks[len(solid)] = start
    return _Solid(bytes(solid), gaps | {len(solid)}, blanks)


def _before_blanks(end: int, wanted: _Solid) -> Iterator[int]:
    while end in wanted.blanks:
        end = wanted.blanks[end]
        yield end


def _starts(token: str, wanted: _Solid, end: int) -> set[int]:
    """At which bytes a token may begin that ends there; 0 if it may hold what comes before, too."""
    if token[-1:].isspace() and end not in wanted.gaps:
        return set()
    letters = BLANKS.sub("", token)
    starts = _of_letters(letters, wanted.text, end) if letters else [end]
    return {start for start in starts if not token[:1].isspace() or start in wanted.gaps}


def _of_letters(letters: str, text: bytes, end: int) -> Iterator[int]:
    if LEFT_OUT in letters:
        yield from _of_parts(letters, text, end)
        return
    exact = letters.encode("utf-8", "surrogateescape")
    if text.endswith(exact, 0, end):
        yield end - len(exact)
    elif exact.endswith(text[:end]):
        yield 0


def _of_parts(letters: str, text: bytes, end: int) -> Iterator[int]:
    parts = letters.count(LEFT_OUT)
    rest = len(letters.replace(LEFT_OUT, "").encode("utf-8", "surrogateescape"))
    for size in range(rest + parts, min(end, rest + LONGEST_PART * parts) + 1):
        if text[end - size : end].decode("utf-8", "replace") == letters:
            yield end - size
    if end < LONGEST_CHARACTER * len(letters):
        whole = text[:end].decode("utf-8", "replace")
        if len(letters) > len(whole) and letters.endswith(whole):
            yield 0


def _with_empty(tokens: Sequence[str], found: list[int], text: str) -> Iterator[int]:
    """The numbers found, and those before them where empty tokens may hold the start of the text."""
    for number in found:
        yield number
        while number and not tokens[number - 1] and number - 1 not in found and not text[0].isascii():
            number -= 1
            yield number


def _may_end(tokens: Sequence[str], before: str) -> bool:
    """Tell whether the text before may end with these tokens."""
    last = next((token for token in reversed(tokens) if token), "")
    return not last.endswith(LEFT_OUT) or bool(begins(tokens, before))
