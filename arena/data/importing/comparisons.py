"""Imports comparisons and the raters they name, who never sign in.

Comparisons are the same if rater and id agree, or without ids rater, prompt, both sides in order and the
occurrence in the file.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Any, Final, NamedTuple

from django.db import connection
from django.db.models import Max
from django.utils import timezone
from django.utils.text import slugify

from arena.data.formats.records import ComparisonRecord, Place, RaterRecord
from arena.data.importing.import_report import ImportReport, assign, fits, is_slug
from arena.data.importing.sides import Matchup, Pairs, SideFinder, Sides
from arena.data.importing.texts import Owner
from arena.models import Comparison, Rater, RaterGroup, Study
from arena.rating import scales
from arena.rating.recording import write_comparisons

_PLAIN: Final = re.compile(r"[-\w.]{1,110}", re.ASCII)

RaterKey = tuple[str, str]


def slug_of(name: str) -> str:
    """The name if it can be a slug, else slugified with a part of its SHA-256."""
    if _PLAIN.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{slugify(name)[:100]}-{digest}".lstrip("-")


class Raters:
    def __init__(self, study: Study, report: ImportReport) -> None:
        self._study = study
        self._report = report
        self._counts = report.counts["raters"]
        rows = Rater.objects.filter(study=study)
        self._raters: dict[RaterKey, Rater] = {(rater.kind, rater.slug): rater for rater in rows}
        # Judges are selected by their slug: an imported one of the same slug would mix with them.
        judges = Rater.objects.filter(study=None, kind=Rater.Kind.JUDGE, assignments__study=study)
        self._rating_here: set[RaterKey] = set(judges.values_list("kind", "slug").distinct())

    def find(self, kind: str, name: str) -> int | None:
        found = self._raters.get((kind, slug_of(name)))
        return found.pk if found else None

    def take(self, records: list[RaterRecord]) -> None:
        new: dict[RaterKey, Rater] = {}
        changed: dict[RaterKey, Rater] = {}
        same: list[Rater] = []
        for record in records:
            key = (record.kind, slug_of(record.slug))
            known = new.get(key) or self._raters.get(key)
            if not self._fits(record):
                continue
            if known is None:
                new[key] = self._made(record)
            elif assign(known, _said(known, record)):
                changed[key] = known
            elif not record.implied:
                same.append(known)
        Rater.objects.bulk_create(new.values())
        Rater.objects.bulk_update(changed.values(), ["name", "simulated", "facts"], batch_size=100)
        self._raters |= new
        updated = self._join_groups(records, new.values())
        updated |= {rater.pk for rater in changed.values()}
        self._counts.added += len(new)
        self._counts.updated += len(updated)
        self._counts.unchanged += sum(rater.pk not in updated for rater in same)

    def _fits(self, record: RaterRecord) -> bool:
        ok = fits(self._report, record.place, Rater, record, ("name", ("slug", "name")))
        for group in record.groups:
            if not is_slug(group) or len(group) > 80:
                reason = f'"{group}" cannot be a group: use only letters, digits, - and _, at most 80'
                self._report.refuse(record.place, "groups", reason)
                ok = False
        if (record.kind, slug_of(record.slug)) in self._rating_here:
            reason = f'a judge "{record.slug}" has rated in this study; import these under another name'
            self._report.refuse(record.place, "rater", reason)
            ok = False
        return ok

    def _made(self, record: RaterRecord) -> Rater:
        return Rater(
            study=self._study,
            kind=record.kind,
            slug=slug_of(record.slug),
            name=record.name or record.slug,
            simulated=bool(record.simulated),
            facts=dict(record.facts),
        )

    def _join_groups(self, records: list[RaterRecord], new: Collection[Rater]) -> set[int | None]:
        """Put raters into their groups; returns those that were there before and are new to a group."""
        names = {group for record in records for group in record.groups}
        if not names or not self._report.ok:
            return set()
        RaterGroup.objects.bulk_create(
            [RaterGroup(slug=name, name=name) for name in sorted(names)], ignore_conflicts=True
        )
        groups = {group.slug: group.pk for group in RaterGroup.objects.filter(slug__in=names)}
        through = Rater.groups.through
        named = dict.fromkeys(
            (self.find(record.kind, record.slug), groups[group])
            for record in records
            for group in record.groups
        )
        raters = {rater for rater, _ in named} - {rater.pk for rater in new}
        known = through.objects.filter(rater__in=raters) if raters else through.objects.none()
        told = set(known.values_list("rater", "ratergroup"))
        through.objects.bulk_create(
            [through(rater_id=rater, ratergroup_id=group) for rater, group in named], ignore_conflicts=True
        )
        return {rater for rater, group in named if rater in raters and (rater, group) not in told}


def _said(known: Rater, record: RaterRecord) -> dict[str, Any]:
    return {"name": record.name, "simulated": record.simulated, "facts": {**known.facts, **record.facts}}


class Verdict(NamedTuple):
    points: int
    rating: int | None
    reason: str

    def __str__(self) -> str:
        return f"{self.rating} of {self.points}" if self.rating is not None else self.reason or "identical"


class Stored(NamedTuple):
    pk: int
    matchup: Matchup
    verdict: Verdict


def _stored_matchup(
    prompt: int, first: int | None, first_id: str, second: int | None, second_id: str, swapped: bool
) -> Matchup:
    """The matchup in the columns _MATCHUP."""
    one: Owner = first_id if first is None else first
    two: Owner = second_id if second is None else second
    return (prompt, two, one) if swapped else (prompt, one, two)


_MATCHUP = (
    "pair__prompt",
    "pair__first__contestant",
    "pair__first__external_id",
    "pair__second__contestant",
    "pair__second__external_id",
    "swapped",
)
_VERDICT = ("points", "rating", "reason")

_BITS: Final = 24


class StoredVerdicts:
    """Verdicts by rater, matchup and repeat, in about a hundred bytes each."""

    def __init__(self, study: Study) -> None:
        self._rows = Comparison.objects.current().filter(study=study, rater__study=study).order_by()
        self._study = study.pk
        self._numbers: dict[Owner, int] = {}
        self._shared: dict[Verdict, Verdict] = {}
        self._next: dict[int, int] = {}

    def key(self, rater: int, matchup: Matchup) -> int:
        key = 0
        for part in (rater, *matchup):
            key = key << _BITS | self._numbers.setdefault(part, len(self._numbers) + 1)
        return key

    def get(self, key: int, repeat: int) -> Verdict | None:
        return self._all.get(_at(key, repeat))

    def add(self, key: int, repeat: int, verdict: Verdict) -> None:
        self._all[_at(key, repeat)] = self._shared.setdefault(verdict, verdict)

    def free_repeat(self, key: int) -> int:
        """The smallest free repeat number."""
        repeat = self._next.get(key, 0)
        while _at(key, repeat) in self._all:
            repeat += 1
        if repeat:
            self._next[key] = repeat
        return repeat

    def with_ids(self, ids: Collection[tuple[int, str]]) -> dict[tuple[int, str], Stored]:
        """The stored comparisons by rater and id."""
        found = self._rows.filter(pk__in=self._named(ids)) if ids else self._rows.none()
        columns = found.values_list("rater", "external_id", "pk", *_MATCHUP, *_VERDICT)
        return {
            (row[0], row[1]): Stored(row[2], _stored_matchup(*row[3:9]), Verdict._make(row[9:]))
            for row in columns
        }

    def _named(self, ids: Collection[tuple[int, str]]) -> list[int]:
        # Only a join of fixed order makes SQLite use comparison_external_id_unique. Any other way it
        # reads all comparisons of the study, for every chunk.
        wanted = ", ".join(["(%s, %s)"] * len(ids))
        with connection.cursor() as cursor:
            cursor.execute(
                f"""
                WITH wanted (rater, external_id) AS (VALUES {wanted})
                SELECT c.id FROM wanted CROSS JOIN arena_comparison c
                WHERE c.study_id = %s AND c.rater_id = wanted.rater AND c.external_id = wanted.external_id
                  AND c.is_current AND NOT (c.external_id = '')
                """,  # noqa: S608 - place holders only
                [*(value for pair in ids for value in pair), self._study],
            )
            return [row[0] for row in cursor.fetchall()]

    @cached_property
    def _all(self) -> dict[int, Verdict]:
        found: dict[int, Verdict] = {}
        columns = self._rows.values_list("rater", "repeat", *_MATCHUP, *_VERDICT)
        for row in columns.iterator(chunk_size=5000):
            verdict = Verdict._make(row[8:])
            key = _at(self.key(row[0], _stored_matchup(*row[2:8])), row[1])
            found[key] = self._shared.setdefault(verdict, verdict)
        return found


def _at(key: int, repeat: int) -> int:
    return repeat << 4 * _BITS | key if repeat else key


class Resolved(NamedTuple):
    """A record with the ids of what it names."""

    record: ComparisonRecord
    rater: int
    sides: Sides
    key: int

    @property
    def verdict(self) -> Verdict:
        return Verdict(self.record.points, self.record.rating, self.record.reason)


class Comparisons:
    def __init__(
        self, study: Study, sides: SideFinder, pairs: Pairs, raters: Raters, report: ImportReport
    ) -> None:
        self._study = study
        self._sides = sides
        self._pairs = pairs
        self._raters = raters
        self._report = report
        self._counts = report.counts["comparisons"]
        self._verdicts = StoredVerdicts(study)
        self._occurrences: Counter[int] = Counter()
        self._last_before_file = 0
        self._by_path: dict[int, dict[int, Place]] = {}
        """What raters named after a path said here: places by digest, by rater and matchup."""
        self._mixed: set[tuple[int, str]] = set()  # raters reported, and in which file
        self.scales: set[int] = set()
        self.criteria: dict[str, None] = {}

    def start_file(self) -> None:
        """Count occurrences from zero: what stands in another file is no repeat."""
        self._occurrences.clear()
        self._last_before_file = Comparison.objects.aggregate(last=Max("pk"))["last"] or 0

    def take(self, records: list[ComparisonRecord]) -> None:
        if not records:
            return
        self._introduce_raters(records)
        self._sides.prepare(records)
        resolved = [found for record in records if (found := self._resolved(record))]
        by_id = self._verdicts.with_ids({(item.rater, item.record.id) for item in resolved if item.record.id})
        fresh: list[tuple[Resolved, int]] = []
        for item in resolved:
            repeat = self._repeat(item, by_id)
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
        return Resolved(record, rater, sides, self._verdicts.key(rater, sides.matchup))

    def _has_verdict(self, record: ComparisonRecord) -> bool:
        """Whether a rating is on its scale, and a record without one has a reason."""
        if record.rating is None:
            explained = bool(record.reason) or record.identical
            if not explained:
                self._report.refuse(record.place, "reason", "missing; without a rating, give a reason")
            return explained
        try:
            scales.check_rating(record.rating, record.points)
        except scales.ScaleError as error:
            self._report.refuse(record.place, "rating", str(error))
            return False
        return True

    def _repeat(self, item: Resolved, by_id: dict[tuple[int, str], Stored]) -> int | None:
        """The repeat number to store under; None if the comparison is stored already or wrong."""
        if item.record.rater_from_path and self._is_by_another(item):
            return None
        repeat = item.record.repeat
        if item.record.id:
            if self._is_stored(item, by_id):
                return None
            if repeat is None:
                repeat = self._verdicts.free_repeat(item.key)
        elif repeat is None:
            repeat = self._occurrences[item.key]
            self._occurrences[item.key] += 1
        earlier = self._verdicts.get(item.key, repeat)
        if earlier is None:
            self._verdicts.add(item.key, repeat, item.verdict)
            return repeat
        occurrence = f" (repeat {repeat})" if repeat else ""
        self._compare(item, f"the same pair in the same order{occurrence}", earlier)
        return None

    def _is_by_another(self, item: Resolved) -> bool:
        """Whether another file has this rater say something else; reports it once: these are two raters."""
        record = item.record
        said = self._by_path.setdefault(item.key, {})
        digest = hash((record.id, item.verdict, record.raw_reply))
        other = next((place for place in said.values() if place.file != record.place.file), None)
        if digest in said or other is None:
            said.setdefault(digest, record.place)
            return False
        if (item.rater, record.place.file) not in self._mixed:
            self._mixed.add((item.rater, record.place.file))
            reason = f'"{record.rater}" takes its name from the path, but has another rating in {other}'
            way_out = "these are two raters: rename a folder or file"
            self._report.refuse(record.place, "rater", f"{reason}; {way_out}")
        return True

    def _is_stored(self, item: Resolved, by_id: dict[tuple[int, str], Stored]) -> bool:
        """Whether the rater has a comparison of this id; reports another one."""
        record = item.record
        key = (item.rater, record.id)
        earlier = by_id.get(key)
        if earlier is None:
            by_id[key] = Stored(self._last_before_file + 1, item.sides.matchup, item.verdict)
            return False
        if earlier.pk > self._last_before_file:
            reason = f'"{record.id}" appears twice in this file for rater "{record.rater}"'
            self._report.refuse(record.place, "id", reason)
        elif earlier.matchup != item.sides.matchup:
            reason = f'"{record.id}" already exists for rater "{record.rater}" with another pair or order'
            self._report.refuse(record.place, "id", reason)
        else:
            self._compare(item, f'the rating with id "{record.id}"', earlier.verdict)
        return True

    def _compare(self, item: Resolved, what: str, earlier: Verdict) -> None:
        """Count a comparison that is stored already, or report another verdict."""
        if earlier == item.verdict:
            self._counts.unchanged += 1
            return
        way_out = "correct it, or give a second rating another id or a repeat"
        stored = f'{earlier}, stored already for {what} by rater "{item.record.rater}"'
        self._report.refuse(item.record.place, "rating", f"{item.verdict} contradicts {stored}; {way_out}")

    def _write(self, fresh: list[tuple[Resolved, int]]) -> None:
        pairs = self._pairs.made(item.sides for item, _ in fresh)
        rows = [self._row(item, repeat, pairs) for item, repeat in fresh]
        # Pairs are counted anew and the change is told at the end of the import, once for all of it.
        write_comparisons(rows, criteria=[item.record.criteria for item, _ in fresh], announce=False)
        self._counts.added += len(rows)
        for item, _ in fresh:
            self.scales.add(item.record.points)
            self.criteria |= dict.fromkeys(item.record.criteria)

    def _row(self, item: Resolved, repeat: int, pairs: dict[tuple[int, int], int]) -> Comparison:
        record = item.record
        first_score, second_score = map(float, record.scores) if record.scores else (None, None)
        return Comparison(
            study=self._study,
            pair_id=pairs[item.sides.key],
            rater_id=item.rater,
            swapped=item.sides.swapped,
            repeat=repeat,
            points=record.points,
            status=Comparison.Status.IDENTICAL if record.identical else "",
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
            is_dated=record.created_at is not None,
        )
