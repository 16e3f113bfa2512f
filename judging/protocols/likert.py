"""The study's own protocol: compare two answers, one number first, then why."""

from judging.parsers import Place
from judging.protocol import Protocol, read_step

LIKERT = Protocol(
    name="likert",
    title="Compare two answers: the verdict first, then an explanation",
    family="Can foundation models label data like humans?",
    steps=(read_step("likert", "rate"),),
    place=Place.FIRST_LINE,
    citation="Rajani et al. (2023), Can foundation models label data like humans?, Hugging Face blog",
)
