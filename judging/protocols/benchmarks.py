"""A checklist made for the prompt beforehand guides the comparison."""

from judging.protocols.catalogue_parts import author
from judging.protocols.protocol import About, Protocol, read_step
from judging.protocols.replies import Place

# The judge answers the query itself before it compares.


ARENA_HARD = Protocol(
    name="arena-hard",
    title="Answer the query yourself first, then compare",
    family="Benchmarks",
    citation="Li et al. (2024), From Crowdsourced Data to High-Quality Benchmarks: Arena-Hard and "
    "BenchBuilder Pipeline, arXiv 2406.11939",
    steps=(read_step("arena-hard", "judge"),),
    place=Place.FIELD,
    forms=("grades", "likert", "binary"),
    note="The benchmark counts A>>B and B>>A as three games; here every comparison is one.",
)


WILDBENCH = Protocol(
    name="wildbench",
    title="Compare with a checklist that was written for the prompt",
    family="Benchmarks",
    citation="Lin et al. (2024), WildBench, arXiv 2406.04770",
    steps=(
        read_step("wildbench", "checklist", about=About.PROMPT, author="author"),
        read_step("wildbench", "judge"),
    ),
    place=Place.FIELD,
    forms=("grades", "likert", "binary"),
    parameters={"author": author("the checklists")},
    note="The benchmark's own checklists were written by GPT-4-Turbo and Claude 3 Opus and reviewed by "
    "people. Here nobody reviews them; the author is by default the one that ReIFE took.",
)


# Name the model whose answer people would prefer, and nothing else.


ALPACA_EVAL = Protocol(
    name="alpaca-eval",
    title="Name the model with the better answer, without a word of explanation",
    family="Benchmarks",
    citation="Li et al. (2023), AlpacaEval, github.com/tatsu-lab/alpaca_eval",
    steps=(read_step("alpaca-eval", "choose"),),
    place=Place.ONLY_LINE,
    forms=("binary", "likert"),
    note="The benchmark takes the probability of the first token as the preference. Where the endpoint "
    "returns log-probabilities, the expected rating is stored beside the sampled one.",
)
