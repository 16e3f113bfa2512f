"""Imports: one transaction, all or nothing; the same input twice adds nothing."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import QuerySet

from arena.audit.recording import Kind, record
from arena.data.formats import catalogue
from arena.data.formats.catalogue import Sources
from arena.data.formats.columns import Known, Samples
from arena.data.formats.files import About, InputFile
from arena.data.formats.reading import DataSet
from arena.data.formats.records import (
    NOWHERE,
    AnswerRecord,
    ComparisonRecord,
    CompletionRecord,
    ContestantRecord,
    FeatureRecord,
    GoldRecord,
    Item,
    Note,
    Place,
    Problem,
    PromptRecord,
    QuestionRecord,
    RaterKinds,
    RaterRecord,
    Record,
    ScoreRecord,
    StudyRecord,
    TextRecord,
    Unused,
    VerdictValues,
)
from arena.data.formats.table import ColumnMapping
from arena.data.formats.values import unstorable
from arena.data.importing.features import Features
from arena.data.importing.import_report import ImportReport, LeftOut, RowCount, find_missing, is_slug
from arena.data.importing.opinions import Answers, Comparisons, Scores
from arena.data.importing.questions import Questions
from arena.data.importing.raters import Raters
from arena.data.importing.scratch import unlocked_database
from arena.data.importing.settings import Settings
from arena.data.importing.sides import Pairs, SideFinder
from arena.data.importing.texts import Completions, Contestants, Prompts
from arena.models import Comparison, LeftOutRows, Pair, Prompt, Study
from arena.models.signals import study_changed
from arena.pages import addresses
from arena.pages.permissions import Visitor
from arena.rating.recorders import batches
from arena.rating.tasks import TASKS
from arena.texts.names import is_taken

CHUNK: Final = 1000  # records written at a time
CHUNK_CHARACTERS: Final = 2_000_000  # characters written at a time: a thousand texts may exceed the memory
MAX_ERRORS: Final = 100_000  # after so many nothing more is read
MANY: Final = 10_000  # records that change how the database should look for rows
Progress = Callable[[int, Place, float], None]
"""Called with records so far, place of the last, and share of bytes read."""

NOT_ASKED: Final = "hidden checks are asked once you set their share under Rating"


class InvalidStudyError(ValueError):
    """The study's slug cannot be one."""


def check_slug(slug: str) -> str:
    """The slug, if it is one. Raises InvalidStudyError."""
    limit = Study._meta.get_field("slug").max_length or 0
    if not is_slug(slug):
        reason = "use only letters, digits, hyphens and underscores"
        raise InvalidStudyError(f'"{slug}" cannot name a study; {reason}')
    if len(slug) > limit:
        raise InvalidStudyError(f"the study's name has {len(slug)} characters; at most {limit} fit")
    return slug


def _check_new(slug: str) -> None:
    """Raise InvalidStudyError if no study has this slug and none can."""
    if not Study.objects.filter(slug=slug).exists() and (reason := addresses.why_not(slug)):
        raise InvalidStudyError(f'"{slug}" cannot name a study. {reason}')


def import_files(
    study_slug: str,
    paths: Iterable[Path | InputFile],
    *,
    format_name: str = "",
    mapping: ColumnMapping | None = None,
    sheet: str = "",
    header: str = "",
    about: About = catalogue.ABOUT,
    leave_out_rows: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import files and folders; see ``catalogue.gather``, ``leaving_out`` and ``import_records``.

    Raises InvalidStudyError and UnknownFormatError; other errors are in the report.
    """
    check_slug(study_slug)
    known = partial(known_to, Study.objects.filter(slug=study_slug))
    sources = catalogue.gather(
        paths, format_name, mapping=mapping, sheet=sheet, header=header, about=about, known=known
    )

    def run(left_out: Sequence[RowCount] = ()) -> ImportReport:
        return import_records(
            study_slug,
            sources.items(),
            data_set=sources.data_set,
            left_out=left_out,
            dry_run=dry_run,
            progress=progress,
            share=lambda: sources.progress,
        )

    return leaving_out(sources, run) if leave_out_rows else run()


def known_to(studies: QuerySet[Study], samples: Samples) -> Known:
    """What the one study of ``studies`` knows of these cells; nothing where there is none."""
    study = studies.first()
    if study is None:
        return Known()
    cells = {cell for column in samples.values() for cell in column if not unstorable(cell)}
    prompts = Prompt.objects.filter(study=study, external_id__in=cells)
    return Known(
        sorted(set(prompts.values_list("external_id", flat=True))),
        sorted(study.contestants.values_list("name", flat=True)),
        study.points,
        Comparison.objects.filter(study=study).exists(),
    )


MOST_PASSES: Final = 10


def leaving_out(
    sources: Sources, run: Callable[[Sequence[RowCount]], ImportReport], bad: LeftOut | None = None
) -> ImportReport:
    """Import without the ``bad`` rows, those that have errors, and those that then have some.

    ``run`` imports the sources without some rows. Errors that concern more than rows stay in the report.
    """
    bad = dict(bad or {})
    for _ in range(MOST_PASSES):
        left_out = _without(sources, bad)
        report = run(left_out)
        fresh = {
            file: rows for file, rows in report.bad_rows.items() if rows.keys() - bad.get(file, {}).keys()
        }
        if report.ok or report.beyond_rows or not fresh:
            break
        for file, rows in fresh.items():
            bad[file] = rows | bad.get(file, {})
    report.left_out = left_out
    return report


def _without(sources: Sources, bad: LeftOut) -> list[RowCount]:
    """Have the sources leave out these rows; their numbers by reason, the most frequent first."""
    found = []
    for file in (source.file for source in sources.sources if source.file.name in bad):
        file.left_out = bad[file.name].keys()
        with file.path.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        reasons = Counter(bad[file.name].values()).most_common()
        found += [RowCount(Path(file.name).name[-255:], digest, reason, rows) for reason, rows in reasons]
    return found


def import_records(
    study_slug: str,
    items: Iterable[Item],
    *,
    by: Visitor | None = None,
    data_set: DataSet | None = None,
    left_out: Sequence[RowCount] = (),
    dry_run: bool = False,
    progress: Progress | None = None,
    share: Callable[[], float] = float,
) -> ImportReport:
    """Import records into a study, which is made if it does not exist.

    One transaction under a lock on the study; an error or a dry run changes nothing, and on SQLite a dry run
    keeps nobody from writing. What others name must come first. ``by`` is who is named in the log,
    ``data_set`` the one the records are from, ``left_out`` what was left out of them, ``share`` that of what
    was read. Raises InvalidStudyError.
    """
    check_slug(study_slug)
    report = ImportReport(study_slug, dry_run, left_out=list(left_out))
    with unlocked_database() if dry_run else nullcontext(), transaction.atomic():
        _check_new(study_slug)
        texts = _texts(study_slug, data_set)
        study, report.creates_study = Study.objects.get_or_create(slug=study_slug, defaults=texts)
        study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        run = _Run(study, report)
        for place, chunk in _chunks(items, report):
            run.take(place.file, chunk)
            if progress:
                progress(report.records, place, share())
        run.end()
        if report.applied:
            LeftOutRows.objects.bulk_create(
                [LeftOutRows(study=study, **one._asdict()) for one in left_out], ignore_conflicts=True
            )
            record(Kind.IMPORTED, by, report.added, study=study)
            if names := ", ".join(name.replace("_", " ") for name in run.settings.taken):
                record(Kind.SETTING, by, f"Taken from an import: {names}.", study=study)
        else:
            transaction.set_rollback(True)
    if report.applied and report.records >= MANY:
        _count_rows()
    return report


def _count_rows() -> None:
    """Have PostgreSQL see how large its tables are, as it does by itself within a minute.

    The leaderboard is computed at once, and that of a million ratings took 5 minutes instead of 20 s.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def _texts(slug: str, data_set: DataSet | None) -> dict[str, str]:
    """Texts of a new study: those of the data set that its slug names, or a name made of the slug."""
    name = slug.replace("-", " ").replace("_", " ").strip().capitalize() or slug
    if is_taken(name, Study.objects.values_list("name", flat=True)):
        name = slug
    if data_set is None or data_set.name.lower() not in name.lower():
        return {"name": name}
    spelled = re.sub(re.escape(data_set.name), data_set.name, name, flags=re.IGNORECASE)
    return {"name": spelled, "description": data_set.description, "licence": data_set.licence}


def _chunks(items: Iterable[Item], report: ImportReport) -> Iterator[tuple[Place, list[Record]]]:
    """Records in chunks of one file each, which may be empty, with the place of the last item."""
    chunk: list[Record] = []
    place = Place("")
    size = met = 0
    for item in items:
        if report.error_count >= MAX_ERRORS:
            where = f"from {item.place.unit} {item.place.line} on nothing was read"
            reason = f"more than {MAX_ERRORS:,} errors; {where}"
            report.refuse(item.place._replace(line=0), "", reason)
            break
        full = size >= CHUNK_CHARACTERS or met >= CHUNK
        if full or (chunk and item.place.file != place.file):
            yield place, chunk
            chunk, size, met = [], 0, 0
        place = item.place
        met += 1
        if isinstance(item, Problem):
            report.error(item)
        elif isinstance(item, Note):
            report.note(item.place, item.text)
        elif isinstance(item, Unused):
            report.unused.append(item)
        elif isinstance(item, VerdictValues):
            report.values[item.place.file] = dict(item.rows)
        elif isinstance(item, RaterKinds):
            report.rater_kinds[item.place.file] = dict(item.kinds)
        else:
            report.see(item)
            chunk.append(item)
            size += _characters(item)
    if met:
        yield place, chunk


def _characters(record: Record) -> int:
    if isinstance(record, PromptRecord):
        references = sum(len(turn) for reference in record.references for turn in reference.turns)
        return sum(map(len, record.turns)) + len(record.input or "") + references
    if isinstance(record, CompletionRecord):
        return sum(map(len, record.turns))
    if isinstance(record, ComparisonRecord | TextRecord):
        return len(record.raw_reply) + len(record.rationale)
    return 0


class _Run:
    def __init__(self, study: Study, report: ImportReport) -> None:
        self.study = study
        self.report = report
        self._file = ""
        self.settings = Settings(study, report)
        contestants = Contestants(study, report)
        prompts = Prompts(study, report)
        questions = Questions(study, prompts, report)
        completions = Completions(study, contestants, prompts, report)
        self._raters = Raters(study, report)
        sides = SideFinder(contestants, prompts, completions, report)
        pairs = Pairs(sides, report)
        self._comparisons = Comparisons(study, sides, pairs, self._raters, report)
        self._scores = Scores(study, sides, self._raters, report)
        answers = Answers(study, sides, questions, self._raters, report)
        self._opinions = (self._comparisons, self._scores, answers)
        self._by_file = (questions, *self._opinions)
        self._take: dict[type[Record], Callable[[Any], None]] = {
            StudyRecord: self.settings.take,
            ContestantRecord: contestants.take,
            RaterRecord: self._raters.take,
            PromptRecord: prompts.take,
            QuestionRecord: questions.take,
            CompletionRecord: completions.take,
            GoldRecord: pairs.take,
            ComparisonRecord: self._comparisons.take,
            ScoreRecord: self._scores.take,
            AnswerRecord: answers.take,
            FeatureRecord: Features(sides, report).take,
        }
        """In the order of import: what records name comes before them."""

    def take(self, file: str, chunk: list[Record]) -> None:
        if file != self._file:
            self._file = file
            for each in self._by_file:
                each.start_file()
        for kind, take in self._take.items():
            take([record for record in chunk if isinstance(record, kind)])

    def end(self) -> None:
        """Complete the report, and the tables if the import is kept."""
        report = self.report
        for each in self._opinions:
            each.end_file()
        self._raters.end()
        if report.records == 0 and report.ok:
            place = report.notes[0].place if report.notes else NOWHERE
            report.refuse(place, "", "the files contain nothing to import", of_row=False)
        report.missing = find_missing(self.study)
        if report.counts["hidden checks"].written and not self.study.gold_share:
            report.note(NOWHERE, NOT_ASKED)
        if not report.ok or report.dry_run:
            return
        report.applied = True
        counts = report.counts
        if self.settings.are_told:
            self.study.save(update_fields=self.settings.taken)
        elif report.creates_study:
            self._settle_new_study()
        if self.settings.are_told and "rated_turns" in self.settings.taken:
            self._recount(Pair.objects.filter(prompt__study=self.study).values_list("pk", flat=True))
        elif counts["comparisons"].written or self._raters.now_panels:
            by_panels = Comparison.objects.filter(study=self.study, rater__in=self._raters.now_panels)
            self._recount(self._comparisons.rated.union(by_panels.values_list("pair", flat=True)))
        if any(
            counts[kind].written
            for kind in counts.keys() - {"pairs", *(task.records for task in TASKS.values())}
        ):
            self.study.touch()
        if report.written:
            study_id = self.study.pk
            transaction.on_commit(lambda: study_changed.send(sender=Study, study_id=study_id))

    def _recount(self, rated: Iterable[int]) -> None:
        """Recount pairs under a lock on each, so that no concurrent rating is lost."""
        for some in batches(sorted(rated)):
            pairs = Pair.objects.filter(pk__in=some).order_by("pk")
            list(pairs.select_for_update(no_key=True).values_list("pk", flat=True))
            pairs.recount(self.study)

    def _settle_new_study(self) -> None:
        """Give a new study the tasks, scales and criteria of what its raters said."""
        study = self.study
        if len(self._comparisons.scales) == 1:
            study.points = next(iter(self._comparisons.scales))
        if len(self._scores.scales) == 1:
            lowest, highest = next(iter(self._scores.scales))
            if lowest >= 0 and lowest.is_integer() and highest.is_integer():
                study.score_lowest, study.score_highest = int(lowest), int(highest)
        study.criteria = list(self._comparisons.criteria)
        done = [task.kind.value for task in TASKS.values() if self.report.counts[task.records].written]
        study.tasks = done or study.tasks
        study.save(update_fields=["points", "score_lowest", "score_highest", "criteria", "tasks"])
