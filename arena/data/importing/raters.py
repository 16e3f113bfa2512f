"""Imports the raters that files name, who never sign in."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, Final

from django.db.models import Exists, OuterRef
from django.utils.text import slugify

from arena.data.formats.records import RaterRecord, counted
from arena.data.importing.import_report import ImportReport, assign, fits, is_slug
from arena.data.importing.rater_kinds import RaterKinds
from arena.models import Comparison, Rater, RaterGroup, Study
from arena.texts.names import why_not

_PLAIN: Final = re.compile(r"[-\w.]{1,110}", re.ASCII)

MOST_NAMED: Final = 5

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
        own = Rater.objects.filter(study=None, kind=Rater.Kind.JUDGE)
        judges = own.filter(assignments__study=study).values_list("kind", "slug").distinct()
        verdicts = Comparison.objects.filter(study=study, rater=OuterRef("pk"))
        self._rating_here = dict.fromkeys(judges, "judge") | dict.fromkeys(
            own.panels().filter(Exists(verdicts)).values_list("kind", "slug"), "panel"
        )
        self._left_out: dict[RaterKey, RaterRecord] = {}
        """Panels with unknown judges: they would come back as judges of their own."""
        self._without: Counter[RaterKey] = Counter()  # their ratings
        self.now_panels: set[int] = set()
        """Raters of before of whom a file says so: what they said counts as ratings of their own no more."""

    @cached_property
    def kinds(self) -> RaterKinds:
        return RaterKinds(self._study, self._report, self._kinds_of)

    def _kinds_of(self, name: str) -> set[str]:
        """The kinds that a rater of this name has in the study, with the files read so far."""
        slug = slug_of(name)
        return {
            kind
            for kind in Rater.Kind.values
            if (kind, slug) in self._raters or (kind, slug) in self._rating_here
        }

    def find(self, kind: str, name: str) -> int | None:
        key = (kind, slug_of(name))
        found = None if key in self._left_out else self._raters.get(key)
        return found.pk if found else None

    def is_new(self, kind: str, name: str, derived_from: Collection[str]) -> bool:
        """True where nothing is known of the rater, or not that it is a panel of these."""
        key = (kind, slug_of(name))
        known = self._raters.get(key)
        return not self._without[key] and (known is None or bool(derived_from) > known.is_panel)

    def leave_out(self, kind: str, name: str) -> bool:
        """Count a rating of a panel that was left out; False for another rater, who is wrong."""
        key = (kind, slug_of(name))
        if key in self._left_out:
            self._without[key] += 1
        return key in self._left_out

    def end(self) -> None:
        """Tell whom nothing calls a person or a judge, which panels were left out, and why."""
        self.kinds.end()
        for key, record in self._left_out.items():
            missing = [f'"{name}"' for name in record.derived_from if not self._is_judge(name, {})]
            more = f" and {len(missing) - MOST_NAMED:,} more" if len(missing) > MOST_NAMED else ""
            self._report.note(
                record.place,
                f'the panel "{record.slug}" was left out, with {counted(self._without[key], "comparisons")}: '
                "what it says follows from its judges, of whom the study lacks "
                f"{', '.join(missing[:MOST_NAMED])}{more}",
            )

    def _is_judge(self, name: str, new: Mapping[RaterKey, Rater]) -> bool:
        """True for a judge of its own: what a panel says is nothing to make another one of."""
        key = (Rater.Kind.JUDGE.value, slug_of(name))
        known = new.get(key) or self._raters.get(key)
        return known is not None and not known.is_panel

    def take(self, records: list[RaterRecord]) -> None:
        new: dict[RaterKey, Rater] = {}
        changed: dict[RaterKey, Rater] = {}
        same: list[Rater] = []
        # Panels last: whoever they are made of may stand below them, or come with the first ratings.
        told = [self._left_out.get((each.kind, slug_of(each.slug)), each) for each in records]
        for record in sorted(told, key=lambda one: bool(one.derived_from)):
            key = (record.kind, slug_of(record.slug))
            known = new.get(key) or self._raters.get(key)
            if not self._fits(record) or self._lacks_judges(record, new):
                continue
            if known is None:
                new[key] = self._made(record)
            elif assign(known, said := _said(known, record)):
                changed[key] = known
                self.now_panels |= {known.pk} if said["derived_from"] else set()
            elif not record.implied:
                same.append(known)
        Rater.objects.bulk_create(new.values())
        Rater.objects.bulk_update(
            changed.values(), ["name", "simulated", "facts", "derived_from"], batch_size=100
        )
        self._raters |= new
        updated = self._join_groups(records, new.values())
        updated |= {rater.pk for rater in changed.values()}
        self._counts.added += len(new)
        self._counts.updated += len(updated)
        self._counts.unchanged += sum(rater.pk not in updated for rater in same)

    def _fits(self, record: RaterRecord) -> bool:
        field = "rater" if record.implied else ""
        ok = fits(self._report, record.place, Rater, record, ("name", ("slug", "name")), field)
        is_new = (record.kind, slug_of(record.slug)) not in self._raters
        if ok and is_new and (reason := why_not(record.name or record.slug)):
            self._report.refuse(record.place, "rater", reason)
            ok = False
        if slug_of(record.slug) in map(slug_of, record.derived_from):
            self._report.refuse(record.place, "derived_from", f'the panel "{record.slug}" names itself')
            ok = False
        for group in record.groups:
            if not is_slug(group) or len(group) > 80:
                reason = f'"{group}" cannot be a group: use only letters, digits, - and _, at most 80'
                self._report.refuse(record.place, "groups", reason)
                ok = False
        if here := self._rating_here.get((record.kind, slug_of(record.slug))):
            reason = f'a {here} "{record.slug}" has rated in this study; import these under another name'
            self._report.refuse(record.place, "rater", reason)
            ok = False
        return ok

    def _lacks_judges(self, record: RaterRecord, new: Mapping[RaterKey, Rater]) -> bool:
        """True for a panel whose judges are not all in the study, which is then left out."""
        lacks = not all(self._is_judge(name, new) for name in record.derived_from)
        key = (record.kind, slug_of(record.slug))
        if lacks:
            self._left_out[key] = record
        else:
            self._left_out.pop(key, None)
        return lacks

    def _made(self, record: RaterRecord) -> Rater:
        return Rater(
            study=self._study,
            kind=record.kind,
            slug=slug_of(record.slug),
            name=record.name or record.slug,
            simulated=bool(record.simulated),
            facts=dict(record.facts),
            derived_from=list(map(slug_of, record.derived_from)),
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
    return {
        "name": record.name,
        "simulated": record.simulated,
        "facts": {**known.facts, **record.facts},
        "derived_from": list(map(slug_of, record.derived_from)) or None,
    }
