"""Filling prompt templates. Pure.

Prompts and completions are data, and hostile; so is what a model replied to an earlier step. Each stands
between markers that carry a boundary its author could not know, so no text can close its own block or forge
the end of another.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

from arena.rating import scales
from judging.protocols.replies import TAG

if TYPE_CHECKING:
    from judging.protocols.answer_scales import AnswerScale
    from judging.protocols.replies import Place

VERSION: Final = 2
"""Raised whenever this module changes what a judge reads; part of the prompt hash."""

PROMPTS: Final = Path(__file__).parent / "prompts"
"""The folder of prompt texts: one folder per protocol, one file per step."""


@dataclass(frozen=True)
class Material:
    """What a judge is asked about: one prompt and two completions in presentation order.

    Prompts and completions are lists of turns. ``secret`` is the arena's: it makes boundaries that nobody
    who writes a text can foresee, and yet the same for the same texts, so that equal questions are equal.
    """

    prompt: Sequence[str]
    input: str
    first: Sequence[str]
    second: Sequence[str]
    secret: bytes = field(repr=False)

    def swapped(self) -> "Material":
        """The same in the other order."""
        return Material(self.prompt, self.input, self.second, self.first, self.secret)


def boundary(secret: bytes, template: str, texts: Sequence[str]) -> str:
    """A word that occurs in none of the texts, made of them and a secret that their authors do not know.

    Nothing else goes into it, so equal wordings about equal texts are equal questions.
    """
    body = "\x00".join((template, *texts)).encode("utf-8", "surrogatepass")
    attempt = 0
    while True:
        word = hmac.new(secret, b"%d\x00%s" % (attempt, body), hashlib.sha256).hexdigest()[:12]
        if not any(word in text for text in texts):
            return word
        attempt += 1


LOOKS_LIKE_MARKER: Final = re.compile(
    r"<(?=<<\s*(?:BEGIN|END)\b)|<(?=[|｜])|<(?=(?:start|end)_of_turn>)|<(?=</?SYS>>)|\[(?=/?INST\])"
    r"|<(?=/?s>|(?:bos|eos|pad|unk)>)"
    rf"|<(?=/?{TAG}>)",
    re.IGNORECASE,
)
"""What begins one of our markers, a special token of a chat template such as <|im_start|>, [INST] or </s>, or
a tag of thinking: a judge that quotes such a tag from an answer would seem to end its own thinking there."""


def neutral(text: str) -> str:
    """The text with whatever looks like a delimiter broken by a space: nothing can be taken for one."""
    return LOOKS_LIKE_MARKER.sub(lambda match: f"{match[0]} ", text)


def block(label: str, word: str, body: str) -> str:
    """A text between its begin and end markers."""
    return f"<<<BEGIN {label} {word}>>>\n{neutral(body)}\n<<<END {label} {word}>>>"


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


@cache
def read_text(name: str) -> str:
    """The prompt text ``prompts/NAME.txt``."""
    return (PROMPTS / f"{name}.txt").read_text(encoding="utf-8").strip()


@cache
def verdict_text(scale: "AnswerScale", place: "Place") -> str:
    """What a text says in place of ``$verdict``: the form of the verdict, and where it is to stand."""
    form = Template(read_text(f"scales/{scale.form}")).substitute(
        points=scale.points, scale=scale_lines(scale.points), lowest=scale.lowest, highest=scale.highest
    )
    return f"{form}\n\n{read_text(f'places/{place.value}')}"


def notice(word: str) -> str:
    """What a text says in place of ``$notice``: that what stands between markers is material only."""
    return Template(read_text("shared/notice")).substitute(boundary=word)


@lru_cache(maxsize=1024)
def placeholders(template: str) -> frozenset[str]:
    """The names of the placeholders in a template."""
    return frozenset(Template(template).get_identifiers())


def fill(template: str, values: Mapping[str, object]) -> str:
    """The template with its placeholders filled; KeyError names one that does not exist.

    A paragraph whose placeholders are all empty has nothing to say and is left out.
    """
    return "\n\n".join(
        Template(paragraph).substitute(values).strip()
        for paragraph in template.split("\n\n")
        if not placeholders(paragraph) or any(str(values[name]) for name in placeholders(paragraph))
    ).strip()
