"""Whatever is said of a small study is so: pages, commands and API of many studies drawn at random.

Of each study a tenth of its addresses is read, and always the leaderboard and the agreement of raters. The
suite reads 70 studies; before a release read more:

    ARENA_SMALL_STUDIES=10000 python -m pytest tests/truth -n 2
"""

import os
from typing import Final

import pytest

from tests.leaderboard.rows import few_rounds
from tests.truth.claims import About, faults
from tests.truth.facts import Facts
from tests.truth.looking import PARTS, part_of
from tests.truth.studies import Small, make_small

SEEDS: Final = (
    *(0, 1, 5, 11, 17, 21, 29, 33, 36, 38, 39, 40, 41, 43, 46, 50, 52, 53, 59, 61, 64, 70, 74, 80, 81, 83),
    *(85, 87, 92, 98, 103, 112, 113, 114, 122, 124, 127, 132, 134, 135, 136, 141, 142, 148, 158, 164, 166),
    *(168, 170, 195, 204, 205, 208, 209, 216, 225, 227, 232, 234, 237, 239, 259, 264, 268, 272, 285, 286),
    *(287, 297, 298),
)
"""Whichever two features stand together in one of the first 300 studies, such as two models and its end,
stand together in one of these; so do the part that is read, and the state, the tasks and how models do."""

MANY: Final = os.environ.get("ARENA_SMALL_STUDIES")


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(int(MANY)) if MANY else SEEDS)
def test_what_is_said_is_so(seed):
    with few_rounds(60):
        made = make_small(Small.drawn(seed))
        facts = Facts(made)
        wrong = [
            f"{reading.address} {fault}"
            for reading in part_of(made, seed % PARTS)
            for fault in faults(About(reading, facts))
        ]
    if wrong:
        pytest.fail("\n".join([str(made.small), *dict.fromkeys(wrong)]), pytrace=False)
