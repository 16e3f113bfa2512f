"""Cards of the list of studies."""

from dataclasses import dataclass
from typing import Any

from arena.models import Study
from arena.models.querysets import StudyQuerySet
from arena.texts.markdown import summary
from leaderboard.models import Snapshot
from leaderboard.snapshots.presentation import ratings_given


def comparisons(snapshot: Snapshot | None, kind: str) -> int:
    """Ratings by ``people`` or by every ``judge`` together; 0 without a snapshot."""
    raters = snapshot.counts["raters"] if snapshot else ()
    chosen = (choice for choice in raters if choice["selector"].partition(":")[0] == kind)
    return sum(map(ratings_given, chosen))


def holds_simulated(snapshot: Snapshot | None) -> bool:
    return snapshot is not None and any(choice["simulated"] for choice in snapshot.counts["raters"])


@dataclass(frozen=True)
class Card:
    study: Study
    snapshot: Snapshot | None

    @property
    def simulated(self) -> bool:
        return self.study.simulated or holds_simulated(self.snapshot)

    @property
    def summary(self) -> str:
        return summary(self.study.description)

    @property
    def people(self) -> int:
        """How many people have rated."""
        return sum(choice["raters"] for choice in self._choices("people"))

    @property
    def judges(self) -> int:
        """How many judges have rated."""
        return len(self._choices("judge"))

    @property
    def ratings(self) -> int:
        """Ratings by people and judges together."""
        return comparisons(self.snapshot, "people") + comparisons(self.snapshot, "judge")

    def _choices(self, kind: str) -> list[dict[str, Any]]:
        raters = self.snapshot.counts["raters"] if self.snapshot else ()
        return [choice for choice in raters if choice["selector"].partition(":")[0] == kind]


def cards(studies: StudyQuerySet) -> list[Card]:
    listed = list(studies.order_by("simulated", "name", "pk"))
    newest = Snapshot.objects.newest_of(listed)
    for study in listed:
        if study.pk in newest:
            newest[study.pk].study = study
    return [Card(study, newest.get(study.pk)) for study in listed]
