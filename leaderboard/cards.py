"""What the list of studies shows of each."""

from dataclasses import dataclass

from arena.models import Study
from arena.querysets import StudyQuerySet
from leaderboard.models import Snapshot


@dataclass(frozen=True)
class Card:
    """A study with the counts of its newest snapshot; ``snapshot`` is None until there is one."""

    study: Study
    snapshot: Snapshot | None

    @property
    def simulated(self) -> bool:
        """Whether its votes, or some of them, were made up by a program."""
        raters = self.snapshot.counts["raters"] if self.snapshot else ()
        return self.study.simulated or any(choice["simulated"] for choice in raters)

    @property
    def people(self) -> int:
        """Comparisons by people."""
        return self._comparisons("people")

    @property
    def judges(self) -> int:
        """Comparisons by judges."""
        return self._comparisons("judge")

    def _comparisons(self, kind: str) -> int:
        raters = self.snapshot.counts["raters"] if self.snapshot else ()
        return sum(choice["comparisons"] for choice in raters if choice["selector"].partition(":")[0] == kind)


def cards(studies: StudyQuerySet) -> list[Card]:
    """One card for each study, by name, in a number of queries that does not grow with them."""
    listed = list(studies.order_by("name", "pk"))
    newest = Snapshot.objects.newest_of(listed)
    return [Card(study, newest.get(study.pk)) for study in listed]
