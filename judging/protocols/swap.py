"""Compare in both orders; where the verdicts contradict each other, weigh both and decide."""

from dataclasses import replace

from judging.deciding import contradict, last_of
from judging.parsers import Place
from judging.protocol import Protocol, read_step
from judging.protocols.rules import RULES
from judging.protocols.sources import LLMBAR

SWAP = Protocol(
    name="swap",
    title="Compare in both orders; where they contradict each other, decide between the two",
    family="LLMBar",
    citation=f"{LLMBAR}; after Du et al. (2023), arXiv 2305.14325",
    steps=(
        read_step("cot", "compare", place=Place.LAST_LINE),
        read_step("cot", "compare_swapped", text="compare", other_order=True, place=Place.LAST_LINE),
        read_step("swap", "synthesise", needed=contradict("compare", "compare_swapped")),
    ),
    place=Place.ONLY_LINE,
    decide=last_of("compare", "synthesise"),
    aliases=("swap-and-synthesize", "swap&synthesize"),
    parameters={"rules": RULES},
    note="Verdicts contradict each other where they take opposite sides. Otherwise the one in the pair's own "
    "order stands, as in LLMBar. The two passes of a pair serve both of its orders.",
)

SWAP_COT = replace(
    SWAP,
    name="swap-cot",
    aliases=(),
    title="As swap, and reason once more before deciding between the two",
    place=Place.LAST_LINE,
)
