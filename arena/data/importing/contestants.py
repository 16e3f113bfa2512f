"""Taking in contestants."""

from typing import Any

from django.utils.text import slugify

from arena.data.formats.records import ContestantRecord
from arena.data.importing.columns import Places, assign, fits, is_slug
from arena.data.importing.report import ImportReport
from arena.models import Contestant, Study

_COLUMNS = ("kind", "family", "organisation", "licence", "size", "generation", "benchmarks", "retired_at")


class Contestants:
    """The contestants of a study by name, while an import runs."""

    def __init__(self, study: Study, report: ImportReport) -> None:
        self._study = study
        self._report = report
        self._counts = report.counts["contestants"]
        self._by_name = {contestant.name: contestant for contestant in study.contestants.all()}
        self._slugs = {contestant.slug: contestant.name for contestant in self._by_name.values()}
        self._places = Places()
        self._declared = False

    def find(self, name: str) -> int | None:
        """The id of the contestant of this name."""
        found = self._by_name.get(name)
        return found.pk if found else None

    def get(self, name: str | None) -> Contestant | None:
        """The contestant of this name."""
        return self._by_name.get(name) if name else None

    def may_appear(self) -> bool:
        """Whether a completion may introduce a contestant: not where the import lists them."""
        return not self._declared

    def take(self, records: list[ContestantRecord]) -> None:
        """Add and update contestants."""
        new: dict[str, Contestant] = {}
        changed: dict[str, Contestant] = {}
        for record in records:
            self._declared |= not record.implied
            known = new.get(record.name) or self._by_name.get(record.name)
            if known and record.implied:
                continue
            if self._refused(record):
                continue
            if known is None:
                new[record.name] = self._made(record)
            elif assign(known, self._values(record, known)):
                changed[record.name] = known
            else:
                self._counts.unchanged += 1
        Contestant.objects.bulk_create(new.values())
        Contestant.objects.bulk_update(changed.values(), ["slug", *_COLUMNS, "extra"], batch_size=100)
        self._by_name |= new
        self._counts.added += len(new)
        self._counts.updated += len(changed)

    def _refused(self, record: ContestantRecord) -> bool:
        ok = fits(self._report, record.place, Contestant, record, ("name", "slug", *_COLUMNS[1:5]))
        if not record.implied:
            earlier = self._places.declare(record.name, record.place)
            if earlier:
                self._report.refuse(record.place, "name", f'"{record.name}" stands already in {earlier}')
                ok = False
        if record.slug is not None:
            ok &= self._slug_is_free(record)
        return not ok

    def _slug_is_free(self, record: ContestantRecord) -> bool:
        slug = record.slug or ""
        if not is_slug(slug):
            reason = f'"{slug}" is no slug: letters, digits, - and _ only'
            self._report.refuse(record.place, "slug", reason)
            return False
        owner = self._slugs.get(slug, record.name)
        if owner != record.name:
            self._report.refuse(record.place, "slug", f'"{slug}" belongs to the contestant "{owner}"')
        return owner == record.name

    def _values(self, record: ContestantRecord, known: Contestant) -> dict[str, Any]:
        values: dict[str, Any] = {name: getattr(record, name) for name in _COLUMNS}
        values["extra"] = {**known.extra, **record.extra}
        values["slug"] = record.slug
        return values

    def _made(self, record: ContestantRecord) -> Contestant:
        contestant = Contestant(study=self._study, name=record.name)
        assign(contestant, self._values(record, contestant))
        contestant.slug = record.slug or self._free_slug(record.name)
        self._slugs[contestant.slug] = record.name
        return contestant

    def _free_slug(self, name: str) -> str:
        base = slugify(name)[:110] or "contestant"
        slug, number = base, 1
        while slug in self._slugs:
            number += 1
            slug = f"{base}-{number}"
        return slug
