"""Score each answer on its own, without showing the other; the higher score wins, equal scores are a tie."""

from dataclasses import replace

from judging.deciding import compared
from judging.parsers import Place
from judging.protocol import About, Protocol, read_step
from judging.protocols import aids
from judging.protocols.rules import RULES_FOR_ONE
from judging.protocols.sources import LLMBAR

RATING = Protocol(
    name="rating",
    title="Score each answer from 0 to 9 on its own",
    family="LLMBar",
    citation=LLMBAR,
    steps=(
        replace(aids.METRICS, only="with_metrics"),
        replace(aids.REFERENCE, only="with_reference"),
        read_step("rating", "rate", about=About.COMPLETION, score=(0, 9)),
    ),
    place=Place.ONLY_LINE,
    forms=("scores",),
    decide=compared("rate"),
    parameters={
        "rules": RULES_FOR_ONE,
        "with_metrics": aids.WITH_METRICS,
        "with_reference": aids.WITH_REFERENCE,
    },
    note="LLMBar counts equal scores, and those that cannot be read, as right in one order and wrong in the "
    "other; here equal scores are a tie, and where one cannot be read the pair is unscored.",
)
