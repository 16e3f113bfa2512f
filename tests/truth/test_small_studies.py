"""Whatever is said of a small study is so: pages, commands and API of many studies drawn at random.

Of each study a tenth of its addresses is read, and always the leaderboard and the agreement of raters. The
suite reads 45 studies; before a release read more:

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
    *(8, 210, 624, 684, 703, 890, 929, 933, 1133, 1216, 1244, 1353, 1402, 1432, 1554, 1644),
    *(1680, 1738, 1801, 1856, 1979, 2025, 2081, 2151, 2246, 2351, 2479, 2480, 2539, 2609, 2757, 2785),
    *(2818, 2882, 3012, 3037, 3071, 3126, 3145, 3267, 3575, 3607, 3735, 3748, 3900),
)
"""Whichever two features stand together in one of the first 300 studies, such as two models and its end,
stand together in one of these; so do the part that is read, and the state, the tasks and how models do. Many
prompts (from 12), models (from 5) and people (from 3) count alike. The set is a cheap one."""

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
