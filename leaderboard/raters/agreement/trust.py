"""The verdict on the judges of a snapshot, for pages that show other tables."""

from collections.abc import Mapping
from types import MappingProxyType

from django.db.models import Q

from leaderboard.models import Snapshot
from leaderboard.raters.agreement.verdict import Verdict, verdict
from leaderboard.snapshots.stored import Place, Stored, rows_of
from leaderboard.snapshots.visible_lengths import shown


def of_snapshot(
    snapshot: Snapshot,
    category: str = "",
    *,
    method: str,
    ties: str = "on",
    computed: Mapping[Place, str] = MappingProxyType({}),
) -> Verdict:
    """``method`` and ``ties`` are those of the orders that are compared; ``computed`` has those that the
    snapshot lacks. One query, nothing is computed.
    """
    leanings = Q(kind__in=("ratings", "length"), category=category)
    orders = Q(kind="standings", category=category, method=method, ties=ties)
    rows = rows_of(snapshot).filter(leanings | orders | Q(kind="correlation"))
    stored = Stored({**computed, **shown(snapshot.study, Stored.of(rows).payloads)})
    return verdict(snapshot.counts["raters"], stored, category, method=method, ties=ties)
