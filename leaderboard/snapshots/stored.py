"""Tables of a snapshot, parsed when they are looked at."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.db.models import Q

from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.models.querysets import SliceQuerySet
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.levels import at_level
from leaderboard.snapshots.settings import BESIDE

Place = tuple[str, str, str, str, str]
"""Kind, raters, category, ties and method."""

_OF_STANDINGS: Final = ("standings", *BESIDE.values())


def rows_of(snapshot: Snapshot) -> SliceQuerySet:
    return SnapshotSlice.objects.filter(snapshot=snapshot).defer("inputs")


@dataclass(frozen=True)
class Stored:
    """Tables of one snapshot as JSON; one that is missing is None.

    With a ``level`` in percent, standings have intervals of that level, or are None.
    """

    payloads: Mapping[Place, str]
    level: str = ""
    _shown: dict[Place, Content | None] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, snapshot: Snapshot, wanted: Q) -> "Stored":
        return cls.of(rows_of(snapshot).filter(wanted))

    @classmethod
    def of(cls, rows: Iterable[SnapshotSlice]) -> "Stored":
        return cls({(row.kind, row.raters, row.category, row.ties, row.method): row.payload for row in rows})

    def get(
        self, kind: str, raters: str, category: str = "", ties: str = "", method: str = ""
    ) -> Content | None:
        place = (kind, raters, category, ties, method)
        if place not in self._shown:
            content = json.loads(self.payloads.get(place, "null"))
            if content is not None and self.level and kind in _OF_STANDINGS:
                content = at_level(content, self.level)
            self._shown[place] = content
        return self._shown[place]

    def all(self, kind: str) -> Iterator[tuple[str, Content]]:
        for place in self.payloads:
            if place == (kind, place[1], "", "", ""):
                found = self.get(*place)
                if found is not None:
                    yield place[1], found
