"""The verdict on the judges of a snapshot, for pages that show other tables."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from django.db.models import Q

from arena.models.compiled import Compiled, given
from leaderboard.agreement.verdict import Verdict, verdict
from leaderboard.models import Snapshot
from leaderboard.models.querysets import SliceQuerySet
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
    rows = _TABLES(snapshot=snapshot.pk, category=category, method=method, ties=ties)
    stored = Stored({**computed, **shown(snapshot.study, Stored.of(rows).payloads)})
    return verdict(snapshot.counts["raters"], stored, category, method=method, ties=ties)


def _tables() -> SliceQuerySet:
    category = given("category")
    leanings = Q(kind__in=("ratings", "length"), category=category)
    orders = Q(kind="standings", category=category, method=given("method"), ties=given("ties"))
    return rows_of(given("snapshot")).filter(leanings | orders | Q(kind="correlation"))


_TABLES: Final = Compiled(_tables)
