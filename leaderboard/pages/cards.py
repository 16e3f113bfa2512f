"""Cards of the list of studies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.models import Study
from arena.models.querysets import StudyQuerySet
from arena.texts.markdown import summary
from leaderboard.models import Snapshot
from leaderboard.pages.standings.sentences import ratings_given


def rater_sets(snapshot: Snapshot | None, kind: str) -> list[dict[str, Any]]:
    """The ``people``, or every ``judge``, ``panel`` or ``group``; none without a snapshot."""
    listed = snapshot.counts["raters"] if snapshot else ()
    return [choice for choice in listed if _kind(choice) == kind]


def _kind(choice: Mapping[str, Any]) -> str:
    return "panel" if choice.get("panel") else str(choice["selector"]).partition(":")[0]


def comparisons(snapshot: Snapshot | None, kind: str) -> int:
    """Ratings by such raters together."""
    return sum(map(ratings_given, rater_sets(snapshot, kind)))


def not_rated(snapshot: Snapshot) -> int:
    """Pairs shown to raters who gave no rating; nobody shows a panel any."""
    undecided = sum(choice["unscored"] for choice in rater_sets(snapshot, "panel"))
    return int(snapshot.counts["unscored"] - undecided)


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
        return sum(choice["raters"] for choice in rater_sets(self.snapshot, "people"))

    @property
    def judges(self) -> int:
        """How many judges have rated."""
        return len(rater_sets(self.snapshot, "judge"))

    @property
    def panels(self) -> int:
        """How many panels have ratings, which follow from those of judges."""
        return len(rater_sets(self.snapshot, "panel"))

    @property
    def ratings(self) -> int:
        """Ratings by people and judges together."""
        return comparisons(self.snapshot, "people") + comparisons(self.snapshot, "judge")


def cards(studies: StudyQuerySet) -> list[Card]:
    listed = list(studies.order_by("simulated", "name", "pk"))
    newest = Snapshot.objects.newest_of(listed)
    for study in listed:
        if study.pk in newest:
            newest[study.pk].study = study
    return [Card(study, newest.get(study.pk)) for study in listed]
