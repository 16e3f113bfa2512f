"""Decides whether raters are people or judges where a file does not say it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final, TypeVar

from arena.data.formats.records import ComparisonRecord, Place, TextRecord
from arena.data.importing.import_report import ImportReport
from arena.models import Contestant, Rater, Study
from arena.texts.model_names import looks_like_model

SHOWN: Final = 5

RecordT = TypeVar("RecordT", bound=ComparisonRecord | TextRecord)


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
            names = [f'"{name}"' for name in self._people]
            more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
            them = "it counts as a person" if len(names) == 1 else "they count as people"
            self._report.note(
                next(iter(self._people.values())),
                f"nothing says whether {', '.join(names[:SHOWN])}{more} "
                f"{'is a person or a judge' if len(names) == 1 else 'are people or judges'}: {them}",
            )

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
