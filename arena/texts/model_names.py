"""Tells names of models and judges from those of people. Pure."""

import re
from typing import Final

from arena.texts.author_names import KNOWN, vocabulary

_FAMILIES: Final = KNOWN | vocabulary(
    """
    chatglm ernie exaone gemma glm granite haiku hunyuan internlm mpt nemotron olmo openchat phi prometheus
    qwq sonnet starling tulu wizardlm yi zephyr
    """
)
_ROLES: Final = vocabulary("ai autograder autorater bot chatbot judge llm llms model models")
_SIZE: Final = re.compile(
    r"(?<![a-z\d.])\d+(?:\.\d+)?(?:x\d+)?b(?![a-z])|(?<![a-z])(?:o\d|instruct|turbo)(?![a-z])"
)
_WORD: Final = re.compile(r"[a-z]+")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def names_family(name: str) -> bool:
    """Returns whether a name has a word of a model family or maker in it, or the size of a model."""
    return not _words(name).isdisjoint(_FAMILIES) or _SIZE.search(name.casefold()) is not None


def looks_like_model(name: str) -> bool:
    """Returns whether a name is that of a model or a judge rather than of a person."""
    return names_family(name) or not _words(name).isdisjoint(_ROLES)


def _words(name: str) -> set[str]:
    return {*_WORD.findall(name.casefold()), *_WORD.findall(_CAMEL.sub(" ", name).casefold())}
