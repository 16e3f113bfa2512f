"""The seed study's variant with two scores instead of one rating."""

from judging.parsers import Place
from judging.protocol import Protocol, read_step
from judging.protocols.sources import SEED_STUDY

SCORES = Protocol(
    name="scores",
    title="Give each of two answers a score, then explain; the higher score wins, equal scores are a tie",
    family="Can foundation models label data like humans?",
    citation=f"{SEED_STUDY}; the range from 1 to 10 is FastChat's, the study names none",
    steps=(read_step("scores", "rate"),),
    place=Place.FIRST_LINE,
    forms=("scores",),
)
