"""What is written about a prompt beforehand; every protocol that wants it asks in the same words."""

from dataclasses import replace
from typing import Final

from judging.protocols.protocol import About, Parameter, read_step
from judging.protocols.rendering import read_text

# Where protocols were published.


SEED_STUDY: Final = "Rajani et al. (2023), Can foundation models label data like humans?, Hugging Face blog"

LLMBAR: Final = (
    "Zeng et al. (2024), LLMBar: Evaluating Large Language Models at Evaluating Instruction Following, "
    "arXiv 2310.07641"
)

REIFE: Final = "Liu et al. (2024), ReIFE: Re-evaluating Instruction-Following Evaluation, arXiv 2410.07069"


# What counts in an answer, as a parameter that protocols share. The rules are LLMBar's, in our words.


RULES: Final = Parameter(
    default=True,
    meaning="whether the judge is told what counts: doing exactly what is asked first, no bias of position",
    texts={True: read_text("shared/rules"), False: ""},
)

RULES_FOR_ONE: Final = replace(RULES, texts={True: read_text("shared/rules_single"), False: ""})
"""The same, worded for one answer alone."""


METRICS: Final = read_step("metrics", "metrics", about=About.PROMPT, label="questions")

REFERENCE: Final = read_step("reference", "reference", about=About.PROMPT, label="reference")

WITH_METRICS: Final = Parameter(
    False, "whether questions that fit the prompt are written first, to guide the score"
)

WITH_REFERENCE: Final = Parameter(False, "whether the prompt is answered first, for reference")


def author(works: str) -> Parameter:
    """Who writes ``works`` for the judge."""
    return Parameter(
        "gpt-4o",
        f"who writes {works}: a model at the judge's endpoint, or judge:SLUG for the model of another judge",
    )
