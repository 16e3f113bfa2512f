"""Taking in comparisons.

What makes two records the same comparison is what the file says: the rater and the id where there is an id,
otherwise the rater, the prompt, both sides in their order and the number of the occurrence in the file.
The version of the texts is no part of it: votes of an earlier import stay with the texts they were about.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Max
from django.utils import timezone

from arena import scales
from arena.formats.records import ComparisonRecord, RaterRecord
from arena.models import Comparison, CriterionRating, Study
from arena.transfer.columns import fits
from arena.transfer.pairs import Pairs
from arena.transfer.raters import Raters
from arena.transfer.report import ImportReport
from arena.transfer.said import Matchup, Said, Stored, Verdict
from arena.transfer.sides import SideFinder, Sides


class Resolved(NamedTuple):
    """A record with the ids of what it names."""

    record: ComparisonRecord
    rater: int
    sides: Sides
    key: int
    """What stands for rater and matchup."""

    @property
    def matchup(self) -> Matchup:
        return _matchup(self.sides)

    @property
    def verdict(self) -> Verdict:
        return Verdict(self.record.points, self.record.rating, self.record.reason)


def _matchup(sides: Sides) -> Matchup:
    return sides.prompt, sides.first.owner, sides.second.owner


def _status(record: ComparisonRecord) -> Comparison.Status:
    if record.identical:
        return Comparison.Status.IDENTICAL
    return Comparison.Status.UNSCORED if record.rating is None else Comparison.Status.SCORED


class Comparisons:
    """The comparisons of a study's imported raters, while an import runs."""

    def __init__(
        self,
        study: Study,
        sides: SideFinder,
        pairs: Pairs,
        raters: Raters,
        report: ImportReport,
    ) -> None:
        self._study = study
        self._sides = sides
        self._pairs = pairs
        self._raters = raters
        self._report = report
        self._counts = report.counts["comparisons"]
        self._said = Said(study)
        self._occurrences: Counter[int] = Counter()
        self._last_before_file = 0
        self.scales: set[int] = set()
        self.criteria: dict[str, None] = {}

    def start_file(self) -> None:
        """Begin counting occurrences anew: what stands in another file is no repeat."""
        self._occurrences.clear()
        self._last_before_file = Comparison.objects.aggregate(last=Max("pk"))["last"] or 0

    def take(self, records: list[ComparisonRecord]) -> None:
        """Add the comparisons that are not there yet."""
        if not records:
            return
        self._introduce_raters(records)
        self._sides.prepare(records)
        resolved = [found for record in records if (found := self._resolved(record))]
        by_id = self._said.with_ids({(item.rater, item.record.id) for item in resolved if item.record.id})
        fresh: list[tuple[Resolved, int]] = []
        for item in resolved:
            repeat = self._with_id(item, by_id) if item.record.id else self._without_id(item)
            if repeat is not None:
                fresh.append((item, repeat))
        self._write(fresh)

    def _introduce_raters(self, records: Iterable[ComparisonRecord]) -> None:
        named = {(record.rater_kind, record.rater): record for record in records}
        self._raters.take(
            [
                RaterRecord(slug=rater, kind=kind, implied=True, place=record.place)
                for (kind, rater), record in named.items()
                if self._raters.find(kind, rater) is None
            ]
        )

    def _resolved(self, record: ComparisonRecord) -> Resolved | None:
        """The record with its ids, or None after reporting what is unknown."""
        ok = fits(self._report, record.place, Comparison, record, (("id", "external_id"),))
        ok &= self._has_verdict(record)
        for criterion in record.criteria:
            if len(criterion) > 100:
                reason = "the name is longer than 100 characters"
                self._report.refuse(record.place, f"criteria.{criterion[:20]}…", reason)
                ok = False
        sides = self._sides.find(record)
        rater = self._raters.find(record.rater_kind, record.rater)
        if not ok or sides is None or rater is None:
            return None
        return Resolved(record, rater, sides, self._said.key(rater, _matchup(sides)))

    def _has_verdict(self, record: ComparisonRecord) -> bool:
        """Whether a rating is on its scale, and an answer without one has a reason."""
        if record.rating is None:
            explained = bool(record.reason) or record.identical
            if not explained:
                self._report.refuse(record.place, "reason", "missing; an answer without a rating needs one")
            return explained
        try:
            scales.check_rating(record.rating, record.points)
        except scales.ScaleError as error:
            self._report.refuse(record.place, "rating", str(error))
            return False
        return True

    def _with_id(self, item: Resolved, by_id: dict[tuple[int, str], Stored]) -> int | None:
        """The repeat number to store under; None where the comparison is there already, or wrong."""
        record = item.record
        key = (item.rater, record.id)
        earlier = by_id.get(key)
        if earlier is None:
            by_id[key] = Stored(self._last_before_file + 1, item.matchup, item.verdict)
            return self._explicit_repeat(item) if record.repeat is not None else self._free_repeat(item)
        if earlier.pk > self._last_before_file:
            self._report.refuse(
                record.place, "id", f'"{record.id}" stands twice in this file for rater "{record.rater}"'
            )
        elif earlier.matchup != item.matchup:
            reason = f'"{record.id}" is stored already for rater "{record.rater}" about another pair or order'
            self._report.refuse(record.place, "id", reason)
        elif earlier.verdict != item.verdict:
            self._contradicts(item, f'the comparison with id "{record.id}"', earlier.verdict)
        else:
            self._counts.unchanged += 1
        return None

    def _free_repeat(self, item: Resolved) -> int:
        repeat = self._said.free_repeat(item.key)
        self._said.add(item.key, repeat, item.verdict)
        return repeat

    def _without_id(self, item: Resolved) -> int | None:
        if item.record.repeat is not None:
            return self._explicit_repeat(item)
        repeat = self._occurrences[item.key]
        self._occurrences[item.key] += 1
        return self._at_repeat(item, repeat)

    def _explicit_repeat(self, item: Resolved) -> int | None:
        return self._at_repeat(item, item.record.repeat or 0)

    def _at_repeat(self, item: Resolved, repeat: int) -> int | None:
        earlier = self._said.get(item.key, repeat)
        if earlier is None:
            self._said.add(item.key, repeat, item.verdict)
            return repeat
        if earlier != item.verdict:
            occurrence = f" (repeat {repeat})" if repeat else ""
            self._contradicts(item, f"the same pair in the same order{occurrence}", earlier)
        else:
            self._counts.unchanged += 1
        return None

    def _contradicts(self, item: Resolved, what: str, earlier: Verdict) -> None:
        reason = (
            f'{item.verdict} contradicts {earlier}, stored already for {what} by rater "{item.record.rater}"'
        )
        self._report.refuse(item.record.place, "rating", reason)

    def _write(self, fresh: list[tuple[Resolved, int]]) -> None:
        pairs = self._pairs.made(item.sides for item, _ in fresh)
        rows = [self._row(item, repeat, pairs) for item, repeat in fresh]
        Comparison.objects.bulk_create(rows)
        CriterionRating.objects.bulk_create(
            CriterionRating(comparison=row, criterion=name, points=item.record.points, rating=rating)
            for (item, _), row in zip(fresh, rows, strict=True)
            for name, rating in item.record.criteria.items()
        )
        self._counts.added += len(rows)
        for item, _ in fresh:
            self.scales.add(item.record.points)
            self.criteria |= dict.fromkeys(item.record.criteria)

    def _row(self, item: Resolved, repeat: int, pairs: dict[tuple[int, int], int]) -> Comparison:
        record = item.record
        first_score, second_score = record.scores or (None, None)
        return Comparison(
            study=self._study,
            pair_id=pairs[item.sides.key],
            rater_id=item.rater,
            swapped=item.sides.swapped,
            repeat=repeat,
            points=record.points,
            status=_status(record),
            rating=record.rating,
            reason=record.reason,
            first_score=first_score,
            second_score=second_score,
            raw_reply=record.raw_reply,
            rationale=record.rationale,
            seconds=record.seconds,
            source=Comparison.Source.IMPORT,
            external_id=record.id,
            extra=dict(record.extra),
            created_at=record.created_at or timezone.now(),
        )
