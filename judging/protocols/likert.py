"""The study's own protocol: compare two answers, one number first, then why."""

from judging.parsers import first_line_number
from judging.protocol import Protocol, read_step

LIKERT = Protocol(
    name="likert",
    title="Likert: one number on the rating scale, then an explanation",
    steps=(read_step("likert", "rate"),),
    parse=first_line_number,
    verdict_place="the first non-empty line, which holds one whole number of the scale and nothing else",
    citation="Rajani et al. (2023), Can foundation models label data like humans?, Hugging Face blog",
)
