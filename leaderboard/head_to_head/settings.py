"""What an address asks about two contestants. Pure."""

from collections.abc import Mapping
from typing import Final

from leaderboard.snapshots.settings import Counts, PairSetting, one_of, parse

PAIR_METHODS: Final = ("elo", "bradley-terry", "davidson")
"""Methods by which two contestants are put head to head."""


PAIR_SWITCHES: Final = ("raters", "ties", "category", "method", "band", "level", "criterion")
"""Switches that mean something for two contestants."""


def parse_for_pair(wanted: Mapping[str, str], counts: Counts) -> PairSetting | None:
    """The setting of two contestants head to head. Raises UnknownSettingError."""
    found = parse({name: wanted[name] for name in wanted if name in PAIR_SWITCHES}, counts)
    if found is None:
        return None
    one_of("method", found.method, PAIR_METHODS)
    return PairSetting(**vars(found), contestant=wanted["contestant"], against=wanted["against"])
