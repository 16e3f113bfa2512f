"""Importing comparisons, beside writing the same rows without reading, checking or counting anything.

Run with: make bench, or pytest tests/benchmarks/test_bench_import.py -s
"""

import json
import random
import time
from itertools import combinations

import pytest

from arena.data.importing.imports import import_files
from arena.models import Comparison, Pair, Study

CONTESTANTS = 12
PROMPTS = 100
RATERS = 40


def write_study(folder, comparisons):
    """Prompts, completions and comparisons as files; no rater sees a pair twice."""
    rng = random.Random(1)
    names = [f"contestant-{number}" for number in range(CONTESTANTS)]
    prompts = [f"p{number}" for number in range(PROMPTS)]
    matchups = [(prompt, *pair) for prompt in prompts for pair in combinations(names, 2)]
    with (folder / "prompts.jsonl").open("w") as out:
        for prompt in prompts:
            out.write(json.dumps({"id": prompt, "instruction": f"Instruction {prompt}."}) + "\n")
    with (folder / "completions.jsonl").open("w") as out:
        for prompt in prompts:
            for name in names:
                row = {"prompt": prompt, "contestant": name, "text": f"{name} on {prompt}. " * 20}
                out.write(json.dumps(row) + "\n")
    with (folder / "comparisons.jsonl").open("w") as out:
        for number in range(comparisons):
            prompt, *pair = matchups[number % len(matchups)]
            rng.shuffle(pair)
            row = {"prompt": prompt, "first": pair[0], "second": pair[1], "rating": rng.randint(1, 8)}
            row |= {"rater": f"rater-{number // len(matchups) % RATERS}", "points": 8, "id": f"v{number}"}
            out.write(json.dumps(row) + "\n")


def timed_import(folder):
    start = time.perf_counter()
    report = import_files("bench", [folder])
    return report, time.perf_counter() - start


def time_bare_writes():
    """Seconds to write the imported comparisons once more, straight from memory."""
    rows = list(Comparison.objects.all())
    pairs = list(Pair.objects.values_list("pk", flat=True))
    assert pairs
    Comparison.objects.all().delete()
    for row in rows:
        row.pk = None
        row._state.adding = True
    start = time.perf_counter()
    for first in range(0, len(rows), 1000):
        Comparison.objects.bulk_create(rows[first : first + 1000])
    return time.perf_counter() - start


@pytest.mark.django_db
@pytest.mark.parametrize("comparisons", [20_000, 100_000])
def test_import_comparisons(tmp_path, comparisons):
    write_study(tmp_path, comparisons)
    report, seconds = timed_import(tmp_path)
    assert report.counts["comparisons"].added == comparisons
    again, again_seconds = timed_import(tmp_path)
    assert again.written == 0
    bare = time_bare_writes()
    assert Comparison.objects.filter(study=Study.objects.get()).count() == comparisons
    print(
        f"\n{comparisons:,} comparisons: import {seconds:.2f} s ({comparisons / seconds:,.0f} rows/s), "
        f"again {again_seconds:.2f} s, bare bulk_create {bare:.2f} s ({comparisons / bare:,.0f} rows/s); "
        f"import / bare = {seconds / bare:.2f}"
    )
