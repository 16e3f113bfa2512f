"""A judge run with 64 calls in flight, and a hundred simulated raters at once; run by ``make bench``.

Nothing is asserted of times. What must hold whatever the load: every answer is stored exactly once, and no
pair has more ratings in time than were wanted. See judging_load and rating_load.
"""

import pytest

from tests.benchmarks import judging_load, rating_load


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
@pytest.mark.parametrize("before", [0, 100_000], ids=["new study", "100,000 comparisons before"])
def test_a_run_under_load(database, before, tmp_path):
    load = judging_load.measure(tmp_path, database=database, assignments=10_000, seconds=30, before=before)
    print(f"\n{database}, 10,000 assignments, {before:,} comparisons before: {load}")


@pytest.mark.parametrize("pairing", ["balanced", "adaptive"])
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_hundred_raters_at_once(database, pairing, tmp_path):
    load = rating_load.measure(tmp_path, database=database, pairing=pairing, pairs=600, hidden=0.1)
    print(f"\n{database}, {pairing}: {load}")
    assert list(load.problems()) == []
