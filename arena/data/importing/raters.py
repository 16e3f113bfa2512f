"""Taking in raters. An imported rater belongs to its study: it is nobody who signs in here."""

import hashlib
import re
from collections.abc import Collection
from typing import Final

from django.utils.text import slugify

from arena.data.formats.records import RaterRecord
from arena.data.importing.columns import assign, fits, is_slug
from arena.data.importing.report import ImportReport
from arena.models import Rater, RaterGroup, Study

_PLAIN: Final = re.compile(r"[-\w.]{1,110}", re.ASCII)

Key = tuple[str, str]
"""Kind and slug of a rater."""


def slug_of(name: str) -> str:
    """The slug of a rater of this name: the name itself where it can be one.

    Otherwise a part of the name's SHA-256 keeps names apart that would read the same.
    """
    if _PLAIN.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{slugify(name)[:100]}-{digest}".lstrip("-")


class Raters:
    """The imported raters of a study by kind and slug, while an import runs."""

    def __init__(self, study: Study, report: ImportReport) -> None:
        self._study = study
        self._report = report
        self._counts = report.counts["raters"]
        rows = Rater.objects.filter(study=study)
        self._raters: dict[Key, Rater] = {(rater.kind, rater.slug): rater for rater in rows}
        # Judges are selected by their slug: an imported one of the same slug would mix with them.
        judges = Rater.objects.filter(study=None, kind=Rater.Kind.JUDGE, assignments__study=study)
        self._rating_here: set[Key] = set(judges.values_list("kind", "slug").distinct())

    def find(self, kind: str, name: str) -> int | None:
        """The id of the rater of this kind and name or slug."""
        found = self._raters.get((kind, slug_of(name)))
        return found.pk if found else None

    def take(self, records: list[RaterRecord]) -> None:
        """Add and update raters, and put them into their groups."""
        new: dict[Key, Rater] = {}
        changed: dict[Key, Rater] = {}
        for record in records:
            key = (record.kind, slug_of(record.slug))
            known = new.get(key) or self._raters.get(key)
            if not self._fits(record):
                continue
            if known is None:
                new[key] = self._made(record)
            elif assign(known, {"name": record.name, "simulated": record.simulated}):
                changed[key] = known
            elif not record.implied:
                self._counts.unchanged += 1
        Rater.objects.bulk_create(new.values())
        Rater.objects.bulk_update(changed.values(), ["name", "simulated"], batch_size=100)
        self._raters |= new
        self._counts.added += len(new)
        self._counts.updated += len(changed)
        self._join_groups(records, new.values())

    def _fits(self, record: RaterRecord) -> bool:
        ok = fits(self._report, record.place, Rater, record, ("name", ("slug", "name")))
        for group in record.groups:
            if not is_slug(group) or len(group) > 80:
                reason = f'"{group}" is no group: letters, digits, - and _ only, at most 80'
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
        )

    def _join_groups(self, records: list[RaterRecord], new: Collection[Rater]) -> None:
        names = {group for record in records for group in record.groups}
        if not names or not self._report.ok:
            return
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
            [through(rater_id=rater, ratergroup_id=group) for rater, group in named],
            ignore_conflicts=True,
        )
        if any(rater in raters and (rater, group) not in told for rater, group in named):
            self._study.touch()  # their votes may be there already
