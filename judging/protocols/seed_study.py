"""The seed study's own protocol and its variants: compare two answers on one scale."""

from dataclasses import replace

from judging.protocols.catalogue_parts import SEED_STUDY
from judging.protocols.protocol import Protocol, read_step
from judging.protocols.replies import Place

LIKERT = Protocol(
    name="likert",
    title="Compare two answers: the verdict first, then an explanation",
    family="Can foundation models label data like humans?",
    citation=SEED_STUDY,
    steps=(read_step("likert", "rate"),),
    place=Place.FIRST_LINE,
    aliases=("likert-rating-first",),
)

LIKERT_EXPLANATION_FIRST = replace(
    LIKERT,
    name="likert-explanation-first",
    title="Compare two answers: an explanation first, then the verdict",
    place=Place.LAST_LINE,
    aliases=(),
)
"""The study suspects that a model which gives its rating first cannot reason about it."""

LIKERT_DEBIAS = replace(
    LIKERT,
    name="likert-debias",
    title="As likert, and a request to counter one's own bias of position",
    steps=(read_step("likert-debias", "rate"),),
    aliases=(),
)


# The seed study's variant with two scores instead of one rating.


SCORES = Protocol(
    name="scores",
    title="Give each of two answers a score, then explain; the higher score wins, equal scores are a tie",
    family="Can foundation models label data like humans?",
    citation=f"{SEED_STUDY}; the range from 1 to 10 is FastChat's, the study names none",
    steps=(read_step("scores", "rate"),),
    place=Place.FIRST_LINE,
    forms=("scores",),
)
