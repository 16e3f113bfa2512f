"""Which comparisons an export is about, and how they are read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from arena.models import Comparison, Rater, Study
from arena.models.querysets import ComparisonQuerySet, SelectorError
from leaderboard.models import Snapshot
from leaderboard.snapshots.settings import DECLARED

# What goes wrong with an export.


class ExportError(Exception):
    """What was asked for cannot be exported; the message is a sentence for the operator."""


EVERYBODY: Final = "all"
"""Selects every rater."""

NAMES: Final = ("raters", "ties", "category", "conversational")
"""What can be asked for, as in addresses and options."""


@dataclass(frozen=True)
class Wanted:
    """The comparisons of some raters on the prompts of one category, or of all where it is empty.

    ``ties``: whether the tie band of a scale is a tie; if not, only the exact middle has no side and is left
    out. ``conversational``: texts as lists of messages instead of strings.
    """

    raters: str
    ties: bool = True
    category: str = ""
    conversational: bool = False

    @classmethod
    def read(cls, study: Study, asked: Mapping[str, Any], *, everybody: bool = False) -> "Wanted":
        """What an address or a command asks for; by default the raters the board shows first.

        Raises ExportError for what the study does not have.
        """
        ties = asked.get("ties") or "on"
        if ties not in DECLARED["ties"].values:
            raise ExportError(f'ties is "{ties}"; it must be on or off.')
        category = asked.get("category") or ""
        # PostgreSQL refuses to look for a NUL character, which no name holds.
        if category and ("\0" in category or not study.prompts.filter(category=category).exists()):
            raise ExportError(f'The study "{study.slug}" has no category "{category}".')
        raters = asked.get("raters") or (EVERYBODY if everybody else usual_raters(study))
        conversational = str(asked.get("conversational") or "").lower() in ("1", "on", "true", "yes")
        found = cls(raters, ties == "on", category, conversational)
        found.rater_ids(study)
        return found

    def rater_ids(self, study: Study) -> Any:
        """A query for the ids of the raters; None for everybody. Raises ExportError."""
        if self.raters == EVERYBODY:
            return None
        try:
            return Rater.objects.selected(study, self.raters).values("pk")
        except SelectorError as error:
            raise ExportError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error

    def comparisons(self, study: Study) -> ComparisonQuerySet:
        """The comparisons that count and are wanted, scored or not, in the order they were given."""
        found = Comparison.objects.counted(study).order_by("pk")
        raters = self.rater_ids(study)
        if raters is not None:
            found = found.filter(rater__in=raters)
        return found.filter(pair__prompt__category=self.category) if self.category else found


def usual_raters(study: Study) -> str:
    """The raters a board shows unless others are asked for: people, or else the first judge."""
    snapshot = Snapshot.objects.newest(study)
    listed = snapshot.counts["raters"] if snapshot else []
    return str(listed[0]["selector"]) if listed else "people"
