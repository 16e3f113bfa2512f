"""A checklist made for the prompt beforehand guides the comparison."""

from judging.parsers import Place
from judging.protocol import About, Parameter, Protocol, read_step

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
    parameters={
        "author": Parameter(
            "gpt-4o",
            "the model at the judge's endpoint that writes the checklists",
        ),
    },
    note="The benchmark's own checklists were written by GPT-4-Turbo and Claude 3 Opus and reviewed by people. "
    "Here nobody reviews them; the author is by default the one that ReIFE took.",
)
