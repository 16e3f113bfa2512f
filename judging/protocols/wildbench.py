"""A checklist made for the prompt beforehand guides the comparison."""

from judging.parsers import Place
from judging.protocol import About, Protocol, read_step
from judging.protocols.aids import author

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
