"""Reason first, then name the better answer."""

from judging.parsers import Place
from judging.protocol import Protocol, read_step
from judging.protocols.rules import RULES
from judging.protocols.sources import LLMBAR

COT = Protocol(
    name="cot",
    title="Reason first, then the verdict",
    family="LLMBar",
    citation=f"{LLMBAR}; after Wei et al. (2022), arXiv 2201.11903",
    steps=(read_step("cot", "compare"),),
    place=Place.LAST_LINE,
    parameters={"rules": RULES},
)
