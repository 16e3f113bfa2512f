"""Reading a snapshot's tables for a page: one query, and only what is looked at is parsed."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db.models import Q

from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.tables import Content

Place = tuple[str, str, str, str, str]
"""Kind, raters, category, ties and method of a table."""


@dataclass(frozen=True)
class Stored:
    """Some tables of one snapshot. What an older snapshot lacks is None."""

    payloads: dict[Place, str]
    _parsed: dict[Place, Content] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, snapshot: Snapshot, wanted: Q) -> "Stored":
        """The tables that ``wanted`` selects."""
        rows = SnapshotSlice.objects.filter(wanted, snapshot=snapshot)
        fields = ("kind", "raters", "category", "ties", "method", "payload")
        return cls({(*place,): payload for *place, payload in rows.values_list(*fields)})

    def get(
        self, kind: str, raters: str, category: str = "", ties: str = "", method: str = ""
    ) -> Content | None:
        """One table, parsed once."""
        place = (kind, raters, category, ties, method)
        if place not in self._parsed:
            if place not in self.payloads:
                return None
            self._parsed[place] = json.loads(self.payloads[place])
        return self._parsed[place]

    def all(self, kind: str) -> Iterator[tuple[str, Content]]:
        """Every table of a kind that has neither category nor ties nor method, by its raters."""
        for place in list(self.payloads):
            if place == (kind, place[1], "", "", ""):
                found = self.get(*place)
                if found is not None:
                    yield place[1], found
