"""A hundred simulated raters at once, on both databases; run by ``make bench``. See rating_load.

Nothing is asserted of times. What must hold whatever the load: every answer is stored exactly once, and no
pair has more ratings in time than were wanted.
"""

from pathlib import Path

import pytest

from tests.benchmarks.rating_load import measure


@pytest.mark.parametrize("pairing", ["balanced", "adaptive"])
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_hundred_raters_at_once(database: str, pairing: str, tmp_path: Path) -> None:
    load = measure(tmp_path, database=database, pairing=pairing, pairs=600, hidden=0.1)
    print(f"\n{database}, {pairing}: {load}")
    assert list(load.problems()) == []
