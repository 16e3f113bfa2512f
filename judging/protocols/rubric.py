"""Grade each answer on its own by a rubric that the operator writes; the higher grade wins."""

from dataclasses import replace

from judging.deciding import compared
from judging.parsers import Place
from judging.protocol import About, Parameter, Protocol, read_step
from judging.protocols import aids
from judging.protocols.rules import RULES_FOR_ONE
from judging.protocols.sources import LLMBAR
from judging.rendering import read_text

RUBRIC = Protocol(
    name="rubric",
    title="Grade each answer from 1 to 5 on its own, by a rubric of the operator",
    family="LLMBar",
    citation=f"{LLMBAR}; after Kim et al. (2024), Prometheus, arXiv 2310.08491",
    steps=(
        replace(aids.REFERENCE, only="with_reference", author="author"),
        read_step("rubric", "grade", about=About.COMPLETION, score=(1, 5)),
    ),
    place=Place.FIELD,
    forms=("scores",),
    decide=compared("grade"),
    parameters={
        "rubric": Parameter(
            read_text("rubric/following"), "what is graded, and what each grade from 1 to 5 means"
        ),
        "rules": replace(RULES_FOR_ONE, default=False),
        "with_reference": aids.WITH_REFERENCE,
        "author": Parameter(
            "", "the model that answers the prompt; empty for the judge's own, published with GPT-4"
        ),
    },
)
