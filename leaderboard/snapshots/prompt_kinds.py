"""Rows about curated or about live prompts, and what a snapshot counts of them."""

from copy import copy

from django.db.models import Q

from arena.rules.subsets import LIVE_SUBSET
from leaderboard.models import Snapshot
from leaderboard.snapshots.settings import CURATED, LIVE, Setting, counts_at


def of_kind(kind: str, prompt: str) -> Q:
    """The rows whose ``prompt`` (a path of fields) is of a kind; all for any but CURATED and LIVE."""
    is_live = Q(**{f"{prompt}__subset": LIVE_SUBSET})
    return {LIVE: is_live, CURATED: ~is_live}.get(kind, Q())


def counted_at(snapshot: Snapshot, setting: Setting) -> Snapshot:
    """The snapshot with the counts of what is shown at the switches of a setting."""
    found = copy(snapshot)
    found.counts = dict(counts_at(snapshot.counts, setting.prompts, setting.visitors))
    return found
