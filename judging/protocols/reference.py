"""The judge answers the prompt first; the comparison is made with that answer at hand."""

from judging.parsers import Place
from judging.protocol import Protocol, read_step
from judging.protocols import aids
from judging.protocols.rules import RULES
from judging.protocols.sources import LLMBAR

REFERENCE = Protocol(
    name="reference",
    title="Answer the prompt, then compare with that answer as a reference",
    family="LLMBar",
    citation=f"{LLMBAR}; after Zheng et al. (2023), arXiv 2306.05685",
    steps=(aids.REFERENCE, read_step("reference", "compare")),
    place=Place.ONLY_LINE,
    parameters={"rules": RULES},
)
