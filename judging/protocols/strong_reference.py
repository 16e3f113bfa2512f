"""A strong model's answer to the prompt as a reference."""

from dataclasses import replace

from judging.protocols.aids import author
from judging.protocols.reference import REFERENCE
from judging.protocols.sources import REIFE

_WRITE, _COMPARE = REFERENCE.steps

STRONG_REFERENCE = replace(
    REFERENCE,
    name="strong-reference",
    title="As reference, but another model that is named writes the reference answer",
    family="ReIFE",
    citation=REIFE,
    aliases=("gpt4-reference",),
    steps=(replace(_WRITE, author="author"), _COMPARE),
    parameters={"author": author("the reference answers"), **REFERENCE.parameters},
    note="The author is by default the one that ReIFE took for what it calls gpt4-reference.",
)
