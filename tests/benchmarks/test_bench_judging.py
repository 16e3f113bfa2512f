"""A judge run with 64 calls in flight, on both databases; run by ``make bench``. See judging_load.

Nothing is asserted of times: what is printed are shares of what would be ideal.
"""

from pathlib import Path

import pytest

from tests.benchmarks.judging_load import measure


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.parametrize("before", [0, 100_000], ids=["new study", "100,000 comparisons before"])
def test_a_run_under_load(database: str, before: int, tmp_path: Path) -> None:
    load = measure(tmp_path, database=database, assignments=10_000, seconds=30, before=before)
    print(f"\n{database}, 10,000 assignments, {before:,} comparisons before: {load}")
