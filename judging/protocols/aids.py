"""What is written about a prompt beforehand; every protocol that wants it asks in the same words."""

from typing import Final

from judging.protocol import About, Parameter, read_step

METRICS: Final = read_step("metrics", "metrics", about=About.PROMPT, label="questions")

REFERENCE: Final = read_step("reference", "reference", about=About.PROMPT, label="reference")

WITH_METRICS: Final = Parameter(
    False, "whether questions that fit the prompt are written first, to guide the score"
)

WITH_REFERENCE: Final = Parameter(False, "whether the prompt is answered first, for reference")
