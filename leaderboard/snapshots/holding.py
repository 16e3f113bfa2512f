"""Which standings a snapshot holds; the others are computed when somebody asks. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from leaderboard.snapshots.settings import Scope, Setting

MOST_PARTS: Final = 48
"""Raters x categories (all together counts as one) of a small study."""
MOST_COMPARISONS: Final = 20_000

_SHOWN: Final = (("on", "elo"), ("off", "elo"), ("on", "bradley-terry"))
"""Ties and methods of what a leaderboard shows when it opens."""


def is_large(raters: int, categories: int, comparisons: int) -> bool:
    """Whether computing every table takes longer than readers should wait for the first ones."""
    return raters * (1 + categories) > MOST_PARTS or comparisons > MOST_COMPARISONS


def holds_standings(counts: Mapping[str, Any], raters: str, ties: str, category: str, method: str) -> bool:
    """Whether a snapshot with these counts has these standings, if they have a game.

    That of a large study has what pages show before anybody chooses: the leaderboard of all kinds of raters
    as it opens, and the ranking by the first of them in every category.
    """
    if not counts.get("large"):
        return True
    if category:
        return (raters, ties, method) == (counts["raters"][0]["selector"], *_SHOWN[0])
    return (ties, method) in _SHOWN


def holds(counts: Mapping[str, Any], setting: Setting, scope: Scope) -> bool:
    """Whether a snapshot has every table that a scope shows at a setting with the usual parameters."""
    if not counts.get("large") or scope is Scope.RATERS:
        return True
    usual = (setting.ties, setting.method) == _SHOWN[0]
    if scope is Scope.CATEGORIES:
        return usual and setting.raters == counts["raters"][0]["selector"]
    return usual and not setting.category
