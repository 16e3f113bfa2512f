"""The tables a page shows, by their place: read in one query, and only what is looked at is parsed."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.db.models import Q

from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.models.querysets import SliceQuerySet
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.levels import at_level
from leaderboard.snapshots.settings import EVERYONE

Place = tuple[str, str, str, str, str]
"""Kind, raters, category, ties and method of a table."""

_OF_STANDINGS: Final = ("standings", EVERYONE)


@dataclass(frozen=True)
class Stored:
    """Some tables of one snapshot; what an older snapshot lacks is None.

    A payload is JSON. With a ``level``, in percent, standings are shown with intervals of
    that level, and those that do not hold it are None.
    """

    payloads: Mapping[Place, str]
    level: str = ""
    _shown: dict[Place, Content | None] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, snapshot: Snapshot, wanted: Q) -> "Stored":
        """The tables that ``wanted`` selects."""
        return cls.of(SnapshotSlice.objects.filter(wanted, snapshot=snapshot))

    @classmethod
    def of(cls, rows: SliceQuerySet, level: str = "") -> "Stored":
        """The tables of some rows of one snapshot."""
        fields = ("kind", "raters", "category", "ties", "method", "payload")
        return cls({(*place,): payload for *place, payload in rows.values_list(*fields)}, level)

    def get(
        self, kind: str, raters: str, category: str = "", ties: str = "", method: str = ""
    ) -> Content | None:
        """One table, parsed once."""
        place = (kind, raters, category, ties, method)
        if place not in self._shown:
            self._shown[place] = self._read(place)
        return self._shown[place]

    def _read(self, place: Place) -> Content | None:
        payload = self.payloads.get(place)
        content: Content | None = None if payload is None else json.loads(payload)
        if content is None or not self.level or place[0] not in _OF_STANDINGS:
            return content
        return at_level(content, self.level)

    def all(self, kind: str) -> Iterator[tuple[str, Content]]:
        """Every table of a kind that has neither category nor ties nor method, by its raters."""
        for place in self.payloads:
            if place == (kind, place[1], "", "", ""):
                found = self.get(*place)
                if found is not None:
                    yield place[1], found
