"""Filling prompt templates. Pure.

Prompts and completions are data, and hostile: each stands between markers that carry a boundary its author
could not know, so no text can close its own block or forge the end of another.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from string import Template
from typing import Final

from arena import scales

VERSION: Final = 1
"""Raised whenever this module changes what a judge reads; part of the prompt hash."""


@dataclass(frozen=True)
class Material:
    """What a judge is asked about: one prompt and two completions in presentation order.

    Prompts and completions are lists of turns. ``seed`` is the secret seed of the assignment.
    """

    prompt: Sequence[str]
    input: str
    first: Sequence[str]
    second: Sequence[str]
    seed: int

    @property
    def texts(self) -> tuple[str, ...]:
        return (*self.prompt, self.input, *self.first, *self.second)


def boundary(material: Material) -> str:
    """A word that occurs in none of the texts: derived from the seed, drawn after they were written."""
    attempt = 0
    while True:
        word = hashlib.sha256(f"{material.seed}:{attempt}".encode()).hexdigest()[:12]
        if not any(word in text for text in material.texts):
            return word
        attempt += 1


def block(label: str, word: str, body: str) -> str:
    """A text between its begin and end markers."""
    return f"<<<BEGIN {label} {word}>>>\n{body}\n<<<END {label} {word}>>>"


def turns(texts: Sequence[str], word: str) -> str:
    """All turns in order; more than one are numbered by lines that carry the boundary."""
    if len(texts) <= 1:
        return "".join(texts)
    return "\n".join(f"--- turn {number} {word} ---\n{text}" for number, text in enumerate(texts, 1))


def query(material: Material, word: str) -> str:
    """The prompt with its input, each in a block of its own."""
    blocks = [block("QUERY", word, turns(material.prompt, word))]
    if material.input:
        blocks.append(block("INPUT", word, material.input))
    return "\n\n".join(blocks)


def scale_lines(points: int) -> str:
    """The scale in words, one line per point."""
    return "\n".join(f"{rating}: {caption}" for rating, caption in enumerate(scales.CAPTIONS[points], 1))


def fill(template: str, material: Material, points: int) -> str:
    """The template with its placeholders filled; KeyError names one that does not exist."""
    word = boundary(material)
    return Template(template).substitute(
        query=query(material, word),
        answer_a=block("ANSWER A", word, turns(material.first, word)),
        answer_b=block("ANSWER B", word, turns(material.second, word)),
        boundary=word,
        points=points,
        scale=scale_lines(points),
    )
