"""The judge answers the query itself before it compares."""

from judging.parsers import Place
from judging.protocol import Protocol, read_step

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
