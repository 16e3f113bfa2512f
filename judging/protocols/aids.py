"""What is written about a prompt beforehand; every protocol that wants it asks in the same words."""

from typing import Final

from judging.protocol import About, Parameter, read_step

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
