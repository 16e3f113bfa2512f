"""Imports comparisons."""

from typing import Any, NamedTuple

from arena.data.formats.records import ComparisonRecord
from arena.data.importing.import_report import ImportReport
from arena.data.importing.opinions import Opinions, Resolved, Subject
from arena.data.importing.raters import Raters
from arena.data.importing.sides import Pairs, SideFinder, Sides
from arena.data.importing.texts import Owner
from arena.models import Comparison, Study
from arena.rating import scales
from arena.rating.recorders import write_opinions


class Verdict(NamedTuple):
    points: int
    rating: int | None
    reason: str

    def __str__(self) -> str:
        return f"{self.rating} of {self.points}" if self.rating is not None else self.reason or "identical"


class Comparisons(Opinions[ComparisonRecord, Sides]):
    model = Comparison
    kind = "comparisons"
    field = "rating"
    what = "rating"
    same = "the same pair in the same order"
    other = "another pair or order"
    subject_columns = (
        "pair__prompt",
        "pair__first__contestant",
        "pair__first__external_id",
        "pair__second__contestant",
        "pair__second__external_id",
        "swapped",
    )
    verdict_columns = ("points", "rating", "reason")
    stored_verdict = Verdict

    def __init__(
        self, study: Study, sides: SideFinder, pairs: Pairs, raters: Raters, report: ImportReport
    ) -> None:
        super().__init__(study, raters, report)
        self._sides = sides
        self._pairs = pairs
        self.scales: set[int] = set()
        self.criteria: dict[str, None] = {}
        self.rated: set[int] = set()

    @staticmethod
    def stored_subject(*values: Any) -> Subject:
        prompt, first, first_id, second, second_id, swapped = values
        one: Owner = first_id if first is None else first
        two: Owner = second_id if second is None else second
        return (prompt, two, one) if swapped else (prompt, one, two)

    def _prepare(self, records: list[ComparisonRecord]) -> None:
        self._sides.prepare(records)

    def _found(self, record: ComparisonRecord) -> tuple[Sides, Subject] | None:
        sides = self._sides.find(record)
        return None if sides is None else (sides, sides.matchup)

    def _verdict(self, record: ComparisonRecord) -> Verdict | None:
        """A rating on its scale, or none with a reason."""
        ok = True
        if record.rating is None:
            if not record.reason and not record.identical:
                self._report.refuse(record.place, "reason", "missing; without a rating, give a reason")
                ok = False
        else:
            try:
                scales.check_rating(record.rating, record.points)
            except scales.ScaleError as error:
                self._report.refuse(record.place, "rating", str(error))
                ok = False
        for criterion in record.criteria:
            if len(criterion) > 100:
                reason = "the name is longer than 100 characters"
                self._report.refuse(record.place, f"criteria.{criterion[:20]}…", reason)
                ok = False
        return Verdict(record.points, record.rating, record.reason) if ok else None

    def _write(self, fresh: list[tuple[Resolved[ComparisonRecord, Sides], int]]) -> None:
        pairs = self._pairs.made(item.found for item, _ in fresh)
        rows = [self._row(item, repeat, pairs) for item, repeat in fresh]
        # Pairs are counted anew and the change is told at the end of the import, once for all of it.
        write_opinions(Comparison, rows, criteria=[item.record.criteria for item, _ in fresh], announce=False)
        self.rated.update(row.pair_id for row in rows)
        for item, _ in fresh:
            self.scales.add(item.record.points)
            self.criteria |= dict.fromkeys(item.record.criteria)

    def _row(
        self,
        item: Resolved[ComparisonRecord, Sides],
        repeat: int,
        pairs: dict[tuple[int, int], int],
    ) -> Comparison:
        record = item.record
        first_score, second_score = map(float, record.scores) if record.scores else (None, None)
        return Comparison(
            **self._common(item, repeat),
            pair_id=pairs[item.found.key],
            swapped=item.found.swapped,
            points=record.points,
            status=Comparison.Status.IDENTICAL if record.identical else "",
            rating=record.rating,
            first_score=first_score,
            second_score=second_score,
        )
