"""What counts in an answer, as a parameter that protocols share. The rules are LLMBar's, in our words."""

from dataclasses import replace
from typing import Final

from judging.protocol import Parameter
from judging.rendering import read_text

RULES: Final = Parameter(
    default=True,
    meaning="whether the judge is told what counts: doing exactly what is asked first, no bias of position",
    texts={True: read_text("shared/rules"), False: ""},
)

RULES_FOR_ONE: Final = replace(RULES, texts={True: read_text("shared/rules_single"), False: ""})
"""The same, worded for one answer alone."""
