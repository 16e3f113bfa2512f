"""Small differences first, then what they mean."""

from judging.parsers import Place
from judging.protocol import Protocol, read_step
from judging.protocols.rules import RULES
from judging.protocols.sources import REIFE

FINE_GRAINED_DIFF = Protocol(
    name="fine-grained-diff",
    title="List the differences one by one, say what they mean, then the verdict",
    family="ReIFE",
    citation=REIFE,
    steps=(read_step("fine-grained-diff", "compare"),),
    place=Place.FIELD,
    parameters={"rules": RULES},
)
