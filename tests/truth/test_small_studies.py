"""Whatever is said of a small study is so: pages, commands and API of many studies drawn at random.

The suite reads a third of the addresses of 300 studies. Before a release read everything of more:

    ARENA_SMALL_STUDIES=10000 python -m pytest tests/truth -n 2
"""

import os
from typing import Final

import pytest

from tests.leaderboard.rows import few_rounds
from tests.truth.claims import About, faults
from tests.truth.facts import Facts
from tests.truth.looking import PARTS, everything
from tests.truth.studies import Small, make_small

MANY: Final = int(os.environ.get("ARENA_SMALL_STUDIES", "0"))


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(MANY or 300))
def test_what_is_said_is_so(seed):
    with few_rounds(60):
        made = make_small(Small.drawn(seed))
        facts = Facts(made)
        part = None if MANY else seed % PARTS
        wrong = [
            f"{reading.address} {fault}"
            for reading in everything(made, part)
            for fault in faults(About(reading, facts))
        ]
    if wrong:
        pytest.fail("\n".join([str(made.small), *dict.fromkeys(wrong)]), pytrace=False)
