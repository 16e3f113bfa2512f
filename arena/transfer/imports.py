"""Imports: one transaction, all or nothing, and the same input twice adds nothing."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

from django.db import transaction
from django.db.models import Count

from arena import formats
from arena.formats import Choice
from arena.formats.files import InputFile
from arena.formats.mapping import ColumnMapping
from arena.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    ContestantRecord,
    GoldRecord,
    Item,
    Note,
    Place,
    Problem,
    PromptRecord,
    RaterRecord,
    Record,
)
from arena.models import Completion, Pair, Prompt, Study
from arena.signals import study_changed
from arena.transfer.columns import is_slug
from arena.transfer.comparisons import Comparisons
from arena.transfer.completions import Completions
from arena.transfer.contestants import Contestants
from arena.transfer.pairs import Pairs
from arena.transfer.prompts import Prompts
from arena.transfer.raters import Raters
from arena.transfer.report import ImportReport, Missing
from arena.transfer.sides import SideFinder

CHUNK: Final = 1000
"""Records written at a time."""

MISSING_EXAMPLES: Final = 20

Progress = Callable[[int, Place], None]
"""Told after every chunk: records so far, and the place of the last."""

R = TypeVar("R", bound=Record)


class InvalidStudyError(ValueError):
    """The study's name in addresses cannot be one."""


def check_slug(slug: str) -> str:
    """Return ``slug`` if a study can have it; raise InvalidStudyError otherwise."""
    limit = Study._meta.get_field("slug").max_length or 0
    if not is_slug(slug):
        reason = "use letters, digits, hyphens and underscores only"
        raise InvalidStudyError(f'"{slug}" cannot name a study; {reason}')
    if len(slug) > limit:
        raise InvalidStudyError(f"the study's name has {len(slug)} characters; at most {limit} fit")
    return slug


def import_files(
    study_slug: str,
    paths: Iterable[Path | InputFile],
    *,
    format_name: str = "",
    mapping: ColumnMapping | None = None,
    choices: Mapping[str, Choice] = MappingProxyType({}),
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import files and folders into a study; see ``import_records``.

    Raises InvalidStudyError and UnknownFormatError; everything wrong with the files is in the report.
    """
    check_slug(study_slug)
    sources = formats.gather(paths, format_name, mapping=mapping, choices=choices)
    return import_records(study_slug, sources.items(), dry_run=dry_run, progress=progress)


def import_records(
    study_slug: str,
    items: Iterable[Item],
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import records into a study, which is made where it does not exist.

    All of it happens in one transaction under a lock on the study. With a single error, or in a dry run,
    nothing is changed; the report then says what is wrong, or what would have been done. What others name
    (contestants, prompts, completions) must come before what names it. Raises InvalidStudyError.
    """
    check_slug(study_slug)
    report = ImportReport(study_slug, dry_run)
    with transaction.atomic():
        study, report.creates_study = Study.objects.get_or_create(
            slug=study_slug, defaults={"name": _name_of(study_slug)}
        )
        study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        run = _Run(study, report)
        for place, chunk in _chunks(items, run):
            run.take(place, chunk)
            if progress:
                progress(report.records, chunk[-1].place)
        if report.records == 0 and report.ok:
            report.refuse(Place(study_slug), "", "there is nothing to import")
        report.missing = _missing(study)
        if report.ok and not dry_run:
            run.finish()
            report.applied = True
        else:
            transaction.set_rollback(True)
    return report


def _name_of(slug: str) -> str:
    return slug.replace("-", " ").replace("_", " ").strip().capitalize() or slug


def _chunks(items: Iterable[Item], run: "_Run") -> Iterator[tuple[str, list[Record]]]:
    """Records in chunks, each from one file; problems and notes go to the report at once."""
    chunk: list[Record] = []
    file = ""
    for item in items:
        if isinstance(item, Problem):
            run.report.error(item)
        elif isinstance(item, Note):
            run.report.note(item.place, item.text)
        else:
            if chunk and (len(chunk) >= CHUNK or item.place.file != file):
                yield file, chunk
                chunk = []
            file = item.place.file
            run.report.see(item)
            chunk.append(item)
    if chunk:
        yield file, chunk


class _Run:
    """One import in progress."""

    def __init__(self, study: Study, report: ImportReport) -> None:
        self.study = study
        self.report = report
        self._file = ""
        self._contestants = Contestants(study, report)
        self._prompts = Prompts(study, report)
        self._completions = Completions(study, self._contestants, self._prompts, report)
        self._raters = Raters(study, report)
        sides = SideFinder(self._contestants, self._prompts, self._completions, report)
        self._pairs = Pairs(sides, report)
        self._comparisons = Comparisons(study, sides, self._pairs, self._raters, report)

    def take(self, file: str, chunk: list[Record]) -> None:
        """Write a chunk, what others name before what names it."""
        if file != self._file:
            self._file = file
            self._comparisons.start_file()
        self._contestants.take(_only(ContestantRecord, chunk))
        self._raters.take(_only(RaterRecord, chunk))
        self._prompts.take(_only(PromptRecord, chunk))
        self._completions.take(_only(CompletionRecord, chunk))
        self._pairs.take(_only(GoldRecord, chunk))
        self._comparisons.take(_only(ComparisonRecord, chunk))

    def finish(self) -> None:
        """Bring the counters, the study's revision and whoever listens up to date."""
        counts = self.report.counts
        if self.report.creates_study:
            self._settle_new_study()
        if counts["comparisons"].written:
            self._recount()
        if any(counts[kind].written for kind in counts.keys() - {"pairs", "comparisons"}):
            self.study.touch()
        if self.report.written:
            study_id = self.study.pk
            transaction.on_commit(lambda: study_changed.send(sender=Study, study_id=study_id))

    def _recount(self) -> None:
        """Count anew with every pair locked, so that a rating given at this moment is not lost."""
        pairs = Pair.objects.filter(prompt__study=self.study).order_by("pk")
        list(pairs.select_for_update(no_key=True, of=("self",)).values_list("pk", flat=True))
        Pair.objects.recount(self.study)

    def _settle_new_study(self) -> None:
        """A study that its comparisons made asks for ratings as they were given."""
        if len(self._comparisons.scales) == 1:
            self.study.points = next(iter(self._comparisons.scales))
        self.study.criteria = list(self._comparisons.criteria)
        self.study.save(update_fields=["points", "criteria"])


def _only(kind: type[R], chunk: list[Record]) -> list[R]:
    return [record for record in chunk if isinstance(record, kind)]


def _missing(study: Study) -> Missing:
    """Prompts with a known text that a contestant who is not retired has not answered."""
    prompts = Prompt.objects.filter(study=study).exclude(turns=[])
    answers = Completion.objects.filter(is_current=True, prompt__in=prompts).order_by()
    answered = dict(answers.values_list("contestant").annotate(Count("pk")))
    total = prompts.count()
    rows = [
        (contestant, total - answered.get(contestant.pk, 0))
        for contestant in study.contestants.active().order_by("name")
    ]
    missing = Missing(by_contestant=[(contestant.name, lacks) for contestant, lacks in rows if lacks > 0])
    missing.count = sum(lacks for _, lacks in missing.by_contestant)
    for contestant, lacks in rows:
        if lacks <= 0 or len(missing.examples) >= MISSING_EXAMPLES:
            continue
        done = Completion.objects.filter(contestant=contestant, is_current=True).values("prompt")
        names = prompts.exclude(pk__in=done).order_by("pk").values_list("external_id", flat=True)
        room = MISSING_EXAMPLES - len(missing.examples)
        missing.examples += [(contestant.name, name) for name in names[:room]]
    return missing
