"""What an address asks of a ranking anchored on people. Pure."""

from collections.abc import Mapping
from typing import Final

from leaderboard.snapshots.settings import PEOPLE, Counts, Setting, one_of, parse

OF_ANCHORING: Final = ("raters", "criterion", "ties", "category", "level")
"""The switches that a ranking anchored on people takes."""


def parse_for_anchoring(wanted: Mapping[str, str], counts: Counts) -> Setting | None:
    """The setting of a ranking anchored on people, by the first judge if none is named; None without both.

    Raises UnknownSettingError.
    """
    selectors = [choice["selector"] for choice in counts["raters"]]
    judges = [one for one in selectors if one.startswith("judge:")]
    if not judges or PEOPLE not in selectors:
        return None
    asked = {name: wanted[name] for name in OF_ANCHORING if name in wanted}
    return parse(asked | {"raters": one_of("raters", wanted.get("raters") or judges[0], judges)}, counts)
