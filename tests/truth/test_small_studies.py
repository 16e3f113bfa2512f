"""Whatever is said of a small study is so: pages, commands and API of many studies drawn at random.

Of each study a tenth of its addresses is read, and always the leaderboard and the agreement of raters. The
suite reads 300 studies; before a release read more:

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

STUDIES: Final = int(os.environ.get("ARENA_SMALL_STUDIES", "300"))


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(STUDIES))
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
