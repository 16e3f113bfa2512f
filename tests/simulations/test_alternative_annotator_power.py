"""How often a judge passes the alternative annotator test, by how good it is."""

import numpy as np

from leaderboard.stats.alternative_annotator import alternative_annotator
from tests.leaderboard.stats.test_alternative_annotator import study

STUDIES = 400
RELIABLE = (0.0, 0.4, 0.6, 0.7, 0.8)


def test_power():
    """Five people who each rate 7 of 10 pairs and are right in 7 of 10 cases."""
    print("\n\n| pairs | " + " | ".join(f"{100 * share:.0f} %" for share in RELIABLE) + " |")
    for pairs in (100, 250, 500, 1000):
        passed = [
            np.mean(
                [bool(alternative_annotator(*study(seed, share, pairs)).passes) for seed in range(STUDIES)]
            )
            for share in RELIABLE
        ]
        print(f"| {pairs} | " + " | ".join(f"{100 * share:.0f}" for share in passed) + " |", flush=True)
        assert passed[0] == passed[1] == 0
    assert passed[3] > 0.95
