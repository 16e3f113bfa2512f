"""The raters of a study with their figures and what stands out, for its operators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from arena.models import Membership, Rater, Study
from arena.pseudonyms import pseudonym
from leaderboard.quality import kept
from leaderboard.quality.figures import Compared, Figures
from leaderboard.quality.remarks import Remark, by_chance, remarks
from leaderboard.quality.wording import COLUMNS, FILE_COLUMNS, Shown, file_row, shown
from leaderboard.tables.parts import DataTable

NAME: Final = "name"
REMARKS: Final = "remarks"
SORTS: Final = (NAME, *COLUMNS, REMARKS)
"""What the table can be ordered by."""


@dataclass(frozen=True)
class Line:
    """One rater of the table."""

    rater: Rater
    membership: Membership | None
    figures: Figures
    remarks: list[Remark]

    @property
    def cells(self) -> dict[str, Shown]:
        return shown(self.figures)

    @property
    def left_out(self) -> bool:
        return bool(self.membership and self.membership.left_out_at)

    @property
    def paused(self) -> bool:
        return bool(self.rater.paused_at or (self.membership and self.membership.paused_at))


@dataclass(frozen=True)
class Table:
    """All raters of a study, and everybody together."""

    study: Study
    lines: list[Line]
    compared: Compared

    @property
    def everybody(self) -> Figures:
        return self.compared.everybody

    @property
    def found(self) -> int:
        """How many remarks there are."""
        return sum(len(line.remarks) for line in self.lines)

    @property
    def by_chance(self) -> float:
        """How many there would be at most if all raters were alike."""
        return by_chance(self.compared)

    @property
    def simulated(self) -> bool:
        return any(line.rater.simulated for line in self.lines)

    def ordered(self, sort: str, *, descending: bool) -> list[Line]:
        """The lines by a column of SORTS; those without a number come last either way."""
        by_name = sorted(self.lines, key=lambda line: (line.rater.name.casefold(), line.rater.pk))
        if sort == NAME:
            return by_name[::-1] if descending else by_name
        number = {line.rater.pk: _number(line, sort) for line in by_name}
        known = [line for line in by_name if number[line.rater.pk] is not None]
        known.sort(key=lambda line: number[line.rater.pk] or 0.0, reverse=descending)
        return known + [line for line in by_name if number[line.rater.pk] is None]

    def file(self) -> DataTable:
        """The figures with pseudonyms in place of names."""
        return DataTable("Raters", FILE_COLUMNS, tuple(self._rows()))

    def _rows(self) -> Iterator[tuple[str | int | float | None, ...]]:
        for line in sorted(self.lines, key=lambda line: line.rater.pk):
            name = pseudonym(self.study, line.rater.pk)
            who = (name, line.rater.simulated, line.left_out, line.paused)
            yield file_row(line.figures, who, [remark.key for remark in line.remarks])


def _number(line: Line, sort: str) -> float | None:
    return float(len(line.remarks)) if sort == REMARKS else line.cells[sort].sort


def table(study: Study) -> Table:
    """Everybody who rated in a study."""
    compared = kept.compared(study)
    raters = Rater.objects.in_bulk(list(compared.raters))
    members = {each.rater_id: each for each in Membership.objects.filter(study=study)}
    lines = [
        Line(raters[pk], members.get(pk), own, remarks(own, compared.everybody))
        for pk, own in compared.raters.items()
        if pk in raters
    ]
    return Table(study, lines, compared)
