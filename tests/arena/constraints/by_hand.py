"""A second checker, by splitting and scanning; for texts of plain words, quotation marks and contractions."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

MARKS = ".,;:!?()'-"


def readings(text: str) -> Iterator[list[str]]:
    """The words of a text in each way to count them."""
    choices: list[list[list[str]]] = []
    for piece in text.lower().split():
        for part in re.split('(")', piece):
            word = part.strip(MARKS)
            stem, apostrophe, rest = word.partition("'")
            if part == '"':
                choices.append([[], [part]])
            elif apostrophe:
                spelt_out = [stem[:-1], "not"] if rest == "t" else [stem, "is"]
                choices.append([[word], [stem, rest], spelt_out])
            elif word:
                choices.append([[word]])
    for chosen in itertools.product(*choices):
        yield [word for words in chosen for word in words]


def verdict(text: str, constraint: dict[str, Any]) -> bool | None:
    kind = constraint["kind"]
    if kind == "any":
        said = [verdict(text, part) for part in constraint["of"]]
        return True if True in said else None if None in said else False
    if kind in ("has_character", "lacks_character"):
        return (constraint["character"].lower() in text.lower()) == (kind == "has_character")
    if kind == "sentences":
        return _sentences(text) == constraint["count"]
    if kind == "sum":
        return text.split("{")[-1].split("}")[0] == added(constraint["base"], *constraint["terms"])
    if kind == "words_at":
        # Each place by itself: that two words cannot be at their places at once is not looked for.
        places = zip(constraint["positions"], constraint["words"], strict=True)
        each = [{words[at - 1 : at] == [word.lower()] for words in readings(text)} for at, word in places]
        return False if {False} in each else True if all(said == {True} for said in each) else None
    said = {_of_words(words, constraint) for words in readings(text)}
    return said.pop() if len(said) == 1 else None


def _of_words(words: list[str], constraint: dict[str, Any]) -> bool:
    kind, word = constraint["kind"], constraint.get("word", "").lower()
    if kind == "words":
        return len(words) == constraint["count"]
    if kind == "last_word":
        spoken = [each for each in words if each != '"']
        return spoken[-1:] == [word]
    return (word in words) == (kind == "has_word")


def _sentences(text: str) -> int:
    """For sentences that begin with a capital letter and end with one mark."""
    return sum(text[place] in ".!?" for place in range(len(text)))


def added(base: int, *terms: str) -> str:
    """Column by column, from the right."""
    digits, carry = "", 0
    for column in range(max(map(len, terms)) + len(terms)):
        carry += sum(int(term[-column - 1]) for term in terms if column < len(term))
        digits = str(carry % base) + digits
        carry //= base
    return digits.lstrip("0") or "0"
