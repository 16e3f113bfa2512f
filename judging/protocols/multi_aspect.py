"""Aspect by aspect: all in one call, or each in a call of its own and then a decision."""

from judging.parsers import Place
from judging.protocol import Parameter, Protocol, read_step
from judging.protocols.rules import RULES
from judging.protocols.sources import REIFE

ASPECTS = Parameter(
    default=(
        "Text quality: the answer reads well, is well built and coherent, and has no mistakes of language.",
        "Richness: the answer gives details, examples, explanations or sources that help. "
        "This does not count where a short or plain answer was asked for.",
        "Intent: where the query leaves open what is wanted, the answer finds a sensible reading, covers it "
        "and asks back if need be. This does not count where the query is clear.",
        "Accuracy: everything that the answer says is right.",
        "Completeness: the answer does all that was asked and keeps to every limit that was set, "
        "such as length, wording or form.",
    ),
    meaning="what is compared one by one: a name, a colon and what it means",
)

_CITATION = f"{REIFE}; after Li et al. (2024), Decompose and Aggregate, arXiv 2405.15329"

MULTI_ASPECT_SINGLE = Protocol(
    name="multi-aspect-single",
    title="Go through a list of aspects in one reply, then the verdict",
    family="ReIFE",
    citation=_CITATION,
    steps=(read_step("multi-aspect-single", "compare"),),
    place=Place.FIELD,
    parameters={"aspects": ASPECTS, "rules": RULES},
)

MULTI_ASPECT_TWO = Protocol(
    name="multi-aspect-two",
    title="Compare in one aspect at a time, then decide from all comparisons",
    family="ReIFE",
    citation=_CITATION,
    steps=(
        read_step("multi-aspect-two", "analyse", each="aspects", label="comparison in"),
        read_step("multi-aspect-two", "decide"),
    ),
    place=Place.FIELD,
    parameters={"aspects": ASPECTS, "rules": RULES},
)
