"""Each answer on its own first, then both with what was found."""

from judging.parsers import Place
from judging.protocol import About, Protocol, read_step
from judging.protocols.rules import RULES
from judging.protocols.sources import REIFE

PREPAIR = Protocol(
    name="prepair",
    title="Assess each answer on its own, then compare with both assessments at hand",
    family="ReIFE",
    citation=f"{REIFE}; after Jeong et al. (2024), PRePair, arXiv 2406.12319",
    steps=(
        read_step("prepair", "analyse", about=About.COMPLETION, label="assessment of answer"),
        read_step("prepair", "compare"),
    ),
    place=Place.FIELD,
    parameters={"rules": RULES},
)
