"""The verdict on the judges of a snapshot, for pages that show other tables."""

from django.db.models import Q

from leaderboard.agreement.verdict import Verdict, verdict
from leaderboard.models import Snapshot
from leaderboard.snapshots.stored import Stored


def of_snapshot(snapshot: Snapshot, category: str = "", *, method: str, ties: str = "on") -> Verdict:
    """``method`` and ``ties`` are those of the orders that are compared. One query, nothing is computed."""
    leanings = Q(kind__in=("ratings", "length"), category=category)
    orders = Q(kind="standings", category=category, method=method, ties=ties)
    stored = Stored.read(snapshot, leanings | orders | Q(kind="correlation"))
    return verdict(snapshot.counts["raters"], stored, category, method=method, ties=ties)
