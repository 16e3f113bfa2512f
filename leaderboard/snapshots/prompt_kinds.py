"""Rows about curated or about live prompts."""

from django.db.models import Q

from arena.rules.subsets import LIVE_SUBSET
from leaderboard.snapshots.settings import CURATED, LIVE


def of_kind(kind: str, prompt: str) -> Q:
    """The rows whose ``prompt`` (a path of fields) is of a kind; all for any but CURATED and LIVE."""
    is_live = Q(**{f"{prompt}__subset": LIVE_SUBSET})
    return {LIVE: is_live, CURATED: ~is_live}.get(kind, Q())
