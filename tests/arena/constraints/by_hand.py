"""A second checker, by splitting and scanning; for texts of plain words, quotation marks and contractions."""

import itertools
from collections.abc import Iterator
from typing import Any

MARKS = ".,;:!?()'-"


def readings(text: str) -> Iterator[list[str]]:
    """The words of a text in each way to count them."""
    choices: list[list[list[str]]] = []
    for piece in text.lower().split():
        for quote in '"' * piece.count('"'):
            choices.append([[], [quote]])
        word = piece.replace('"', "").strip(MARKS)
        if not word:
            continue
        stem, apostrophe, rest = word.partition("'")
        if apostrophe:
            parts = [[stem, rest], [stem[:-1], "not"] if rest == "t" else [stem, "is"]]
            choices.append([[word], *parts])
        else:
            choices.append([[word]])
        if piece.count('"') and not piece.startswith('"'):
            choices[-2:] = choices[:-3:-1]  # the word, then the mark
    for chosen in itertools.product(*choices):
        yield [word for words in chosen for word in words]


def verdict(text: str, constraint: dict[str, Any]) -> bool | None:
    kind = constraint["kind"]
    if kind == "any":
        said = [verdict(text, part) for part in constraint["of"]]
        return True if True in said else None if None in said else False
    if kind in ("has_character", "lacks_character"):
        return _of_character(text, constraint["character"], has=kind == "has_character")
    if kind == "sentences":
        return _sentences(text) == constraint["count"]
    if kind == "sum":
        return text.split("{")[-1].split("}")[0] == _added(constraint["base"], *constraint["terms"])
    said = {_of_words(words, constraint) for words in readings(text)}
    return said.pop() if len(said) == 1 else None


def _of_words(words: list[str], constraint: dict[str, Any]) -> bool:
    kind, word = constraint["kind"], constraint.get("word", "").lower()
    if kind == "words":
        return len(words) == constraint["count"]
    if kind == "words_at":
        wanted = zip(constraint["positions"], constraint["words"], strict=True)
        return all(words[place - 1 : place] == [each.lower()] for place, each in wanted)
    if kind == "last_word":
        spoken = [each for each in words if each != '"']
        return spoken[-1:] == [word]
    return (word in words) == (kind == "has_word")


def _of_character(text: str, character: str, *, has: bool) -> bool | None:
    if character in text:
        return has
    return None if character.swapcase() in text else not has


def _sentences(text: str) -> int:
    """For sentences that begin with a capital letter and end with one mark."""
    return sum(text[place] in ".!?" for place in range(len(text)))


def _added(base: int, *terms: str) -> str:
    """Column by column, from the right."""
    digits, carry = "", 0
    for column in range(max(map(len, terms)) + 1):
        carry += sum(int(term[-column - 1]) for term in terms if column < len(term))
        digits = str(carry % base) + digits
        carry //= base
    return digits.lstrip("0") or "0"
