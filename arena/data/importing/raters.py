"""Imports the raters that files name, who never sign in; tells people from judges where no file does."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Final, TypeVar

from django.db.models import Exists, OuterRef
from django.utils.text import slugify

from arena.data.formats.records import ComparisonRecord, Place, RaterRecord, TextRecord, counted
from arena.data.importing.import_report import ImportReport, assign, fits, is_slug
from arena.models import Comparison, Contestant, Rater, RaterGroup, Study
from arena.texts.model_names import looks_like_model
from arena.texts.names import why_not

_PLAIN: Final = re.compile(r"[-\w.]{1,110}", re.ASCII)

MOST_NAMED: Final = 5

RaterKey = tuple[str, str]
RecordT = TypeVar("RecordT", bound=ComparisonRecord | TextRecord)


def slug_of(name: str) -> str:
    """The name if it can be a slug, else slugified with a part of its SHA-256."""
    if _PLAIN.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{slugify(name)[:100]}-{digest}".lstrip("-")


def _first_of(names: Collection[str]) -> str:
    """The first names in quotes, and how many more there are."""
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(f'"{name}"' for name in list(names)[:MOST_NAMED]) + more


class RaterKinds:
    """The kinds of raters by name, as ``known`` from the files read so far and from the study.

    Whoever imports may have said a kind. A name that has both kinds, or that nobody knows and that may be a
    model's, is asked for; other unknown names are people, which the report says.
    """

    def __init__(self, study: Study, report: ImportReport, known: Callable[[str], set[str]]) -> None:
        self._study = study
        self._report = report
        self._known = known
        self._people: dict[str, Place] = {}
        """Raters of whom nothing was known, and where they came first."""
        self._found: dict[tuple[str, str], str] = {}

    def fill_in(self, records: Iterable[RecordT]) -> list[RecordT]:
        """The records with the kinds of their raters."""
        told = list(records)
        here: dict[str, set[str]] = {}
        for record in told:
            if record.rater_kind:
                here.setdefault(record.rater, set()).add(record.rater_kind)
            if record.rater_kind == "judge" and record.rater in self._people:
                self._contradict(record)
        return [record if record.rater_kind else self._with_kind(record, here) for record in told]

    def end(self) -> None:
        """Tell who counts as people because nothing says otherwise."""
        if self._people:
            alone = len(self._people) == 1
            are = "is a person or a judge" if alone else "are people or judges"
            them = "it counts as a person" if alone else "they count as people"
            text = f"nothing says whether {_first_of(self._people)} {are}: {them}"
            self._report.note(next(iter(self._people.values())), text)

    def _with_kind(self, record: RecordT, here: Mapping[str, set[str]]) -> RecordT:
        key = record.place.file, record.rater
        if key not in self._found:
            self._found[key] = self._kind_of(record, here.get(record.rater, set()))
        return replace(record, rater_kind=self._found[key])

    def _kind_of(self, record: ComparisonRecord | TextRecord, here: set[str]) -> str:
        name, place = record.rater, record.place
        if isinstance(record, ComparisonRecord) and record.derived_from:
            return "judge"
        if told := self._report.rater_kinds.get(place.file, {}).get(name):
            return told
        kinds = self._known(name) | here
        if len(kinds) == 1:
            return kinds.pop()
        if kinds:
            self._ask(place, name, f'there are a person and a judge "{name}"; whose ratings are these?')
        elif looks_like_model(name) or name in self._models:
            self._ask(place, name, f'is "{name}" a person or a judge?')
        else:
            self._people.setdefault(name, place)
        return "person"

    def _ask(self, place: Place, name: str, question: str) -> None:
        self._report.rater_kinds.setdefault(place.file, {})[name] = ""
        way_out = f'a column rater_kind, a file of raters or --rater "{name}=judge" says it'
        reason = f"{question} Choose it on the import page; {way_out}"
        self._report.refuse(place, "rater_kind", reason, of_row=False)

    def _contradict(self, record: ComparisonRecord | TextRecord) -> None:
        first = self._people.pop(record.rater)
        self._ask(first, record.rater, f'"{record.rater}" is a judge in {record.place}. Is it one here?')

    @cached_property
    def _models(self) -> set[str]:
        """Names of the study's models, and of the judges of this arena."""
        judges = Rater.objects.filter(study=None, kind=Rater.Kind.JUDGE).values_list("slug", "name")
        models = Contestant.objects.filter(study=self._study).values_list("name", flat=True)
        return {name for both in judges for name in both} | set(models)


class Raters:
    def __init__(self, study: Study, report: ImportReport) -> None:
        self._study = study
        self._report = report
        self._counts = report.counts["raters"]
        self.kinds = RaterKinds(study, report, self._kinds_of)
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

    def _kinds_of(self, name: str) -> set[str]:
        """The kinds that a rater of this name has in the study, with the files read so far."""
        keys = [(kind, slug_of(name)) for kind in Rater.Kind.values]
        return {key[0] for key in keys if key in self._raters or key in self._rating_here}

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
            missing = [name for name in record.derived_from if not self._is_judge(name, {})]
            self._report.note(
                record.place,
                f'the panel "{record.slug}" was left out, with {counted(self._without[key], "comparisons")}: '
                f"what it says follows from its judges, of whom the study lacks {_first_of(missing)}",
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
        field, before = "rater" if record.implied else "", self._report.error_count
        key = (record.kind, slug_of(record.slug))
        can_be = fits(self._report, record.place, Rater, record, ("name", ("slug", "name")), field)
        if can_be and key not in self._raters and (reason := why_not(record.name or record.slug)):
            self._report.refuse(record.place, "rater", reason)
        if slug_of(record.slug) in map(slug_of, record.derived_from):
            self._report.refuse(record.place, "derived_from", f'the panel "{record.slug}" names itself')
        for group in record.groups:
            if not is_slug(group) or len(group) > 80:
                reason = f'"{group}" cannot be a group: use only letters, digits, - and _, at most 80'
                self._report.refuse(record.place, "groups", reason)
        if here := self._rating_here.get(key):
            reason = f'a {here} "{record.slug}" has rated in this study; import these under another name'
            self._report.refuse(record.place, "rater", reason)
        return self._report.error_count == before

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
