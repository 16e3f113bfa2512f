"""How often intervals of a judge's averaged accuracy, and of its lead over another, hold the truth."""

import pytest

from tests.leaderboard.stats.test_gold_averages import coverage

STUDIES = 1000


@pytest.mark.parametrize("sizes", [(30,), (100,), (46, 92), (100, 134, 92, 47, 46)])
@pytest.mark.parametrize("chance", [0.6, 0.8, 0.9, 0.95])
def test_gold(sizes, chance):
    mean, lead = coverage(STUDIES, sizes, chance)
    print(f"\n{sizes} instances, accuracy {chance}: held {100 * mean:.1f} %, lead of 0.1 {100 * lead:.1f} %")
    assert mean > 0.93
    assert lead > 0.91
