"""Questions that fit the prompt are written first; the comparison is made with their help."""

from judging.parsers import Place
from judging.protocol import Protocol, read_step
from judging.protocols import aids
from judging.protocols.rules import RULES
from judging.protocols.sources import LLMBAR

METRICS = Protocol(
    name="metrics",
    title="Write questions that fit the prompt, then compare with their help",
    family="LLMBar",
    citation=LLMBAR,
    steps=(aids.METRICS, read_step("metrics", "compare")),
    place=Place.ONLY_LINE,
    parameters={"rules": RULES},
    aliases=("metric",),
)
