"""Both aids: questions that fit the prompt, and an answer of the judge's own."""

from judging.parsers import Place
from judging.protocol import Protocol, read_step
from judging.protocols import aids
from judging.protocols.rules import RULES
from judging.protocols.sources import LLMBAR

METRICS_REFERENCE = Protocol(
    name="metrics-reference",
    title="Compare with questions that fit the prompt and with a reference answer",
    family="LLMBar",
    citation=LLMBAR,
    steps=(aids.METRICS, aids.REFERENCE, read_step("metrics-reference", "compare")),
    place=Place.ONLY_LINE,
    parameters={"rules": RULES},
    aliases=("metric+reference",),
)
