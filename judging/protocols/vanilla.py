"""Name the better answer without a word of explanation, with or without rules and examples."""

from dataclasses import replace

from judging.parsers import Place
from judging.protocol import Parameter, Protocol, read_step
from judging.protocols.rules import RULES
from judging.protocols.sources import LLMBAR
from judging.rendering import read_text

SHOTS = Parameter(
    0,
    "how many examples with the right reply are shown; published with the rules and none, 1 or 2",
    choices=(0, 1, 2),
    texts={
        0: "",
        1: read_text("shared/example_1"),
        2: f"{read_text('shared/example_1')}\n\n{read_text('shared/example_2')}",
    },
)

VANILLA = Protocol(
    name="vanilla",
    title="Name the better answer, nothing else",
    family="LLMBar",
    citation=LLMBAR,
    steps=(read_step("vanilla", "compare"),),
    place=Place.ONLY_LINE,
    parameters={"rules": replace(RULES, default=False), "shots": SHOTS},
)

WITH_RULES = replace(
    VANILLA,
    name="rules",
    title="Name the better answer by stated rules, nothing else",
    aliases=("base",),
    parameters={"rules": RULES, "shots": SHOTS},
)
"""ReIFE calls it base."""
