"""Imports what raters say, whatever they say it about.

Opinions are the same if rater and id agree, or without ids rater, subject and the occurrence in the file. The
subject of a comparison is its prompt with both sides in order, of a score a completion and its turn, of an
answer a completion and the question.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeAlias, TypeVar

from django.db import connection
from django.db.models import Max
from django.utils import timezone

from arena.data.formats.records import (
    AnswerRecord,
    ComparisonRecord,
    Place,
    RaterRecord,
    ScoreRecord,
    TextRecord,
)
from arena.data.importing.import_report import ImportReport, fits
from arena.data.importing.questions import Questions
from arena.data.importing.raters import Raters
from arena.data.importing.sides import Matchup, Pairs, Side, SideFinder, Sides
from arena.data.importing.texts import ADD_IT, Owner
from arena.models import Assignment, Study
from arena.models.comparisons import Opinion
from arena.rating.recorders import write_opinions
from arena.rating.tasks import TASKS, Task
from arena.rules import scales

Subject: TypeAlias = tuple[int, Owner, Owner] | tuple[int, Owner, Owner, int]
"""Prompt, owner of the first completion, and owner of the second or what is asked about the first."""

Verdict: TypeAlias = tuple[Any, ...]
"""Values of the columns that say what a rater decided (``Task.verdict``)."""

RecordT = TypeVar("RecordT", bound=ComparisonRecord | TextRecord)
FoundT = TypeVar("FoundT")

OF_THE_STUDY: Final = ", that of the study; give lowest and highest for another"

_BITS = 24
HASTE: Final = timedelta(seconds=1)
TOLD: Final = 3


class Stored(NamedTuple):
    pk: int
    subject: Subject
    verdict: Verdict


class StoredVerdicts:
    """Verdicts by rater, subject and repeat, in about a hundred bytes each."""

    def __init__(self, study: Study, of: "type[Opinions[Any, Any]]") -> None:
        self._of = of
        self._rows = of.task.model._default_manager.filter(study=study, rater__study=study, is_current=True)
        self._rows = self._rows.order_by()
        self._study = study.pk
        self._numbers: dict[Owner, int] = {}
        self._shared: dict[Verdict, Verdict] = {}
        self._next: dict[int, int] = {}

    def key(self, rater: int, subject: Subject) -> int:
        key = 0
        for part in (rater, *subject):
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
        """The stored opinions by rater and id."""
        found = self._rows.filter(pk__in=self._named(ids)) if ids else self._rows.none()
        columns = found.values_list("rater", "external_id", "pk", *self._columns)
        return {(row[0], row[1]): Stored(row[2], *self._read(row[3:])) for row in columns}

    def _named(self, ids: Collection[tuple[int, str]]) -> list[int]:
        # Only a join of fixed order makes SQLite use the index of external ids. Any other way it reads all
        # opinions of the study, for every chunk.
        wanted = ", ".join(["(%s, %s)"] * len(ids))
        with connection.cursor() as cursor:
            cursor.execute(
                f"""
                WITH wanted (rater, external_id) AS (VALUES {wanted})
                SELECT c.id FROM wanted CROSS JOIN {self._of.task.model._meta.db_table} c
                WHERE c.study_id = %s AND c.rater_id = wanted.rater AND c.external_id = wanted.external_id
                  AND c.is_current AND NOT (c.external_id = '')
                """,  # noqa: S608 - place holders and a name of ours only
                [*(value for pair in ids for value in pair), self._study],
            )
            return [row[0] for row in cursor.fetchall()]

    @cached_property
    def _all(self) -> dict[int, Verdict]:
        found: dict[int, Verdict] = {}
        columns = self._rows.values_list("rater", "repeat", *self._columns)
        for rater, repeat, *values in columns.iterator(chunk_size=5000):
            subject, verdict = self._read(values)
            found[_at(self.key(rater, subject), repeat)] = self._shared.setdefault(verdict, verdict)
        return found

    @property
    def _columns(self) -> tuple[str, ...]:
        return (*self._of.subject_columns, *self._of.task.verdict)

    def _read(self, values: Sequence[Any]) -> tuple[Subject, Verdict]:
        width = len(self._of.subject_columns)
        return self._of.stored_subject(*values[:width]), tuple(values[width:])


def _at(key: int, repeat: int) -> int:
    return repeat << 5 * _BITS | key if repeat else key


class Resolved(NamedTuple, Generic[RecordT, FoundT]):
    """A record with what it is about, its verdict, and the ids of what it names."""

    record: RecordT
    rater: int
    found: FoundT
    subject: Subject
    verdict: Verdict
    key: int


class Opinions(ABC, Generic[RecordT, FoundT]):
    """How records of one kind are resolved, compared with stored ones, and written."""

    task: ClassVar[Task]
    field: ClassVar[str]  # of the verdict, in messages
    what: ClassVar[str]  # a verdict in the words of a reader
    same: ClassVar[str]  # a subject in these words
    other: ClassVar[str]
    subject_columns: ClassVar[tuple[str, ...]]

    def __init__(self, study: Study, sides: SideFinder, raters: Raters, report: ImportReport) -> None:
        self._study = study
        self._sides = sides
        self._raters = raters
        self._report = report
        self._counts = report.counts[self.task.records]
        self._verdicts = StoredVerdicts(study, type(self))
        self._occurrences: Counter[int] = Counter()
        self._recent: dict[int, datetime] = {}
        """When raters spoke last, by rater and subject."""
        self._again: list[Place] = []
        """Where they said something again at once, the first of ``_hasty``."""
        self._hasty = 0
        self._last_before_file: int | None = None
        """The largest id before the first record of the file; None until then."""
        self._by_path: dict[int, dict[int, Place]] = {}
        """What raters named after a path said here: places by digest, by rater and subject."""
        self._mixed: set[tuple[int, str]] = set()  # raters reported, and in which file

    @staticmethod
    @abstractmethod
    def stored_subject(*values: Any) -> Subject:
        """The subject in the columns ``subject_columns``."""

    @staticmethod
    @abstractmethod
    def in_words(verdict: Verdict) -> str:
        """How messages show a verdict."""

    @abstractmethod
    def _found(self, record: RecordT) -> tuple[FoundT, Subject] | None:
        """What the record is about, or None after reporting what is unknown."""

    @abstractmethod
    def _verdict(self, record: RecordT) -> Verdict | None:
        """What it says, or None after reporting what is wrong."""

    @abstractmethod
    def _about(self, item: Resolved[RecordT, FoundT]) -> dict[str, Any]:
        """The columns that hold what it is about, and those of one kind alone."""

    def _write(self, fresh: list[tuple[Resolved[RecordT, FoundT], int]]) -> list[Any]:
        """Store records with their repeat numbers; returns the rows."""
        rows = [self.task.model(**self._common(item, repeat), **self._about(item)) for item, repeat in fresh]
        criteria = [item.record.criteria for item, _ in fresh if isinstance(item.record, ComparisonRecord)]
        # Pairs are counted anew and the change is told at the end of the import, once for all of it.
        write_opinions(self.task.model, rows, criteria=criteria, announce=False)
        return rows

    def start_file(self) -> None:
        """Count occurrences from zero: what stands in another file is no repeat."""
        self.end_file()
        self._occurrences.clear()
        self._last_before_file = None

    def end_file(self) -> None:
        """Note what raters said again at once, which may be a click that was counted twice."""
        if self._again:
            times = "1 time" if self._hasty == 1 else f"{self._hasty:,} times"
            where = ", ".join(f"{place.unit} {place.line}" for place in self._again)
            more = ", ..." if self._hasty > len(self._again) else ""
            text = f"a rater gave a {self.what} of {self.same} again within a second, {times}: {where}{more}"
            self._report.note(self._again[0]._replace(line=0), f"{text}; all are counted")
        self._hasty, self._again, self._recent = 0, [], {}

    def take(self, records: list[RecordT]) -> None:
        if not records:
            return
        if self._last_before_file is None:
            self._last_before_file = self.task.model._default_manager.aggregate(last=Max("pk"))["last"] or 0
        records = self._raters.kinds.fill_in(records)
        self._introduce_raters(records)
        self._sides.prepare(records)
        resolved = [found for record in records if (found := self._resolved(record))]
        self._look_for_haste(resolved)
        by_id = self._verdicts.with_ids({(item.rater, item.record.id) for item in resolved if item.record.id})
        fresh: list[tuple[Resolved[RecordT, FoundT], int]] = []
        for item in resolved:
            repeat = self._repeat(item, by_id)
            if repeat is not None:
                fresh.append((item, repeat))
        self._write(fresh)
        self._counts.added += len(fresh)

    def _look_for_haste(self, resolved: Iterable[Resolved[RecordT, FoundT]]) -> None:
        """Find what the same rater said within a second, among the records of this call and the last."""
        last, self._recent = self._recent, {}
        for key, record in ((item.key, item.record) for item in resolved):
            moment = record.created_at
            earlier = self._recent.get(key) or last.get(key)
            if moment and earlier and abs(moment - earlier) < HASTE:
                self._hasty += 1
                self._again += [record.place] if self._hasty <= TOLD else []
            if moment:
                self._recent[key] = moment

    def _introduce_raters(self, records: Iterable[RecordT]) -> None:
        named = {(record.rater_kind, record.rater): record for record in records}
        self._raters.take(
            [
                RaterRecord(rater, kind, derived_from=_members(record), implied=True, place=record.place)
                for (kind, rater), record in named.items()
                if self._raters.is_new(kind, rater, _members(record))
            ]
        )

    def _resolved(self, record: RecordT) -> Resolved[RecordT, FoundT] | None:
        """The record with its ids, or None after reporting what is unknown."""
        ok = fits(self._report, record.place, self.task.model, record, (("id", "external_id"),))
        verdict = self._verdict(record)
        found = self._found(record)
        rater = self._raters.find(record.rater_kind, record.rater)
        if rater is None and not self._raters.leave_out(record.rater_kind, record.rater):
            self._report.implicate(record.place, "names a rater that cannot be called so")
        if not ok or verdict is None or found is None or rater is None:
            return None
        about, subject = found
        return Resolved(record, rater, about, subject, verdict, self._verdicts.key(rater, subject))

    def _repeat(self, item: Resolved[RecordT, FoundT], by_id: dict[tuple[int, str], Stored]) -> int | None:
        """The repeat number to store under; None if the opinion is stored already or wrong."""
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
        self._compare(item, f"{self.same}{occurrence}", earlier)
        return None

    def _is_by_another(self, item: Resolved[RecordT, FoundT]) -> bool:
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
            reason = f'"{record.rater}" takes its name from the path, but has another {self.what} in {other}'
            way_out = "these are two raters: rename a folder or file"
            self._report.refuse(record.place, "rater", f"{reason}; {way_out}", of_row=False)
        return True

    def _is_stored(self, item: Resolved[RecordT, FoundT], by_id: dict[tuple[int, str], Stored]) -> bool:
        """Whether the rater has an opinion of this id; reports another one."""
        record = item.record
        key, last = (item.rater, record.id), self._last_before_file or 0
        earlier = by_id.get(key)
        if earlier is None:
            by_id[key] = Stored(last + 1, item.subject, item.verdict)
            return False
        if earlier.pk > last:
            reason = f'"{record.id}" appears twice in this file for rater "{record.rater}"'
            self._report.refuse(record.place, "id", reason)
        elif earlier.subject != item.subject:
            reason = f'"{record.id}" already exists for rater "{record.rater}" with {self.other}'
            self._report.refuse(record.place, "id", reason)
        else:
            self._compare(item, f'the {self.what} with id "{record.id}"', earlier.verdict)
        return True

    def _compare(self, item: Resolved[RecordT, FoundT], what: str, earlier: Verdict) -> None:
        """Count an opinion that is stored already, or report another verdict."""
        if earlier == item.verdict:
            self._counts.unchanged += 1
            return
        way_out = f"correct it, or give a second {self.what} another id or a repeat"
        stored = f'{self.in_words(earlier)}, stored already for {what} by rater "{item.record.rater}"'
        reason = f"{self.in_words(item.verdict)} contradicts {stored}; {way_out}"
        self._report.refuse(item.record.place, self.field, reason)

    def _common(self, item: Resolved[RecordT, FoundT], repeat: int) -> dict[str, Any]:
        """The fields of a row that all kinds share."""
        record = item.record
        return {
            "study": self._study,
            "rater_id": item.rater,
            "repeat": repeat,
            **dict(zip(self.task.verdict, item.verdict, strict=True)),
            "raw_reply": record.raw_reply,
            "rationale": record.rationale,
            "seconds": record.seconds,
            "source": Opinion.Source.IMPORT,
            "external_id": record.id,
            "extra": dict(record.extra),
            "created_at": record.created_at or timezone.now(),
            "is_dated": record.created_at is not None,
        }


def _members(record: ComparisonRecord | TextRecord) -> tuple[str, ...]:
    """The judges of a panel, which only compares; empty for any other rater."""
    return record.derived_from if isinstance(record, ComparisonRecord) else ()


class Comparisons(Opinions[ComparisonRecord, Sides]):
    task = TASKS[Assignment.Kind.COMPARE]
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
        "turn",
    )

    def __init__(
        self, study: Study, sides: SideFinder, pairs: Pairs, raters: Raters, report: ImportReport
    ) -> None:
        super().__init__(study, sides, raters, report)
        self._pairs = pairs
        self._ids: dict[tuple[int, int], int] = {}
        self.scales: set[int] = set()
        self.criteria: dict[str, None] = {}
        self.rated: set[int] = set()

    @staticmethod
    def stored_subject(*values: Any) -> Subject:
        prompt, first, first_id, second, second_id, swapped, turn = values
        one: Owner = first_id if first is None else first
        two: Owner = second_id if second is None else second
        return _at_turn((prompt, two, one) if swapped else (prompt, one, two), turn)

    @staticmethod
    def in_words(verdict: Verdict) -> str:
        points, rating, reason = verdict
        return f"{rating} of {points}" if rating is not None else reason or "identical"

    def _found(self, record: ComparisonRecord) -> tuple[Sides, Subject] | None:
        sides = self._sides.find(record)
        if sides is None:
            return None
        turn = self._sides.turn_of(record, sides.prompt)
        return None if turn is None else (sides._replace(turn=turn), _at_turn(sides.matchup, turn))

    def _verdict(self, record: ComparisonRecord) -> Verdict | None:
        """A rating on its scale, or none with a reason."""
        before = self._report.error_count
        if record.rating is None:
            if not record.reason and not record.identical:
                self._report.refuse(record.place, "reason", "missing; without a rating, give a reason")
        else:
            try:
                scales.check_rating(record.rating, record.points)
            except scales.ScaleError as error:
                self._report.refuse(record.place, "rating", str(error))
        for criterion in record.criteria:
            if len(criterion) > 100:
                reason = "the name is longer than 100 characters"
                self._report.refuse(record.place, f"criteria.{criterion[:20]}…", reason)
        found = (record.points, record.rating, record.reason)
        return found if self._report.error_count == before else None

    def _about(self, item: Resolved[ComparisonRecord, Sides]) -> dict[str, Any]:
        record = item.record
        first_score, second_score = map(float, record.scores) if record.scores else (None, None)
        return {
            "pair_id": self._ids[item.found.key],
            "swapped": item.found.swapped,
            "turn": item.found.turn,
            "status": Opinion.Status.IDENTICAL if record.identical else "",
            "first_score": first_score,
            "second_score": second_score,
            "expected": record.expected,
            "neither": record.accepts_neither,
        }

    def _write(self, fresh: list[tuple[Resolved[ComparisonRecord, Sides], int]]) -> list[Any]:
        self._ids = self._pairs.made(item.found for item, _ in fresh)
        rows = super()._write(fresh)
        self.rated.update(row.pair_id for row in rows)
        for item, _ in fresh:
            self.scales.add(item.record.points)
            self.criteria |= dict.fromkeys(item.record.criteria)
        return rows


def _at_turn(about: Matchup, turn: int) -> Subject:
    """A subject of its own for each turn; the whole conversation has none."""
    return (*about, turn) if turn else about


TextRecordT = TypeVar("TextRecordT", bound=TextRecord)


class _OfTexts(Opinions[TextRecordT, Side], Generic[TextRecordT]):
    same = "the same answer"

    @staticmethod
    def stored_subject(*values: Any) -> Subject:
        prompt, contestant, external_id, asked = values
        return prompt, external_id if contestant is None else contestant, asked

    def _about(self, item: Resolved[TextRecordT, Side]) -> dict[str, Any]:
        return {"completion_id": item.found.completion}


_OF_TEXT: Final = ("completion__prompt", "completion__contestant", "completion__external_id")


class Scores(_OfTexts[ScoreRecord]):
    task = TASKS[Assignment.Kind.SCORE]
    field = "score"
    what = "score"
    other = "another answer or turn"
    subject_columns = (*_OF_TEXT, "turn")

    def __init__(self, study: Study, sides: SideFinder, raters: Raters, report: ImportReport) -> None:
        super().__init__(study, sides, raters, report)
        self.scales: set[tuple[float, float]] = set()

    @staticmethod
    def in_words(verdict: Verdict) -> str:
        lowest, highest, score, reason = verdict
        return str(reason) if score is None else f"{score:.15g} of {lowest:.15g} to {highest:.15g}"

    def _found(self, record: ScoreRecord) -> tuple[Side, Subject] | None:
        found = self._sides.of_text(record)
        return found and (found[1], (found[0], found[1].owner, record.turn))

    def _verdict(self, record: ScoreRecord) -> Verdict | None:
        lowest = float(self._study.score_lowest if record.lowest is None else record.lowest)
        highest = float(self._study.score_highest if record.highest is None else record.highest)
        before = self._report.error_count
        if not lowest < highest:
            reason = f"{highest:.15g} is not above the lowest score, {lowest:.15g}"
            self._report.refuse(record.place, "highest", reason)
        elif record.score is None and not record.reason:
            self._report.refuse(record.place, "reason", "missing; without a score, give a reason")
        else:
            for name in ("score", "expected"):
                value = getattr(record, name)
                if value is not None and not lowest <= value <= highest:
                    whose = "" if record.highest is not None else OF_THE_STUDY
                    reason = f"{value:.15g} is not on the scale from {lowest:.15g} to {highest:.15g}{whose}"
                    self._report.refuse(record.place, name, reason)
        found = (lowest, highest, record.score, record.reason)
        return found if self._report.error_count == before else None

    def _about(self, item: Resolved[ScoreRecord, Side]) -> dict[str, Any]:
        return {**super()._about(item), "turn": item.record.turn, "expected": item.record.expected}

    def _write(self, fresh: list[tuple[Resolved[ScoreRecord, Side], int]]) -> list[Any]:
        self._sides.check_turns((item.record, item.found.completion) for item, _ in fresh)
        self.scales |= {item.verdict[:2] for item, _ in fresh}
        return super()._write(fresh)


class Answers(_OfTexts[AnswerRecord]):
    task = TASKS[Assignment.Kind.CHECK]
    field = "answer"
    what = "check"
    same = "the same requirement of the same answer"
    other = "another answer or requirement"
    subject_columns = (*_OF_TEXT, "question")

    def __init__(
        self, study: Study, sides: SideFinder, questions: Questions, raters: Raters, report: ImportReport
    ) -> None:
        super().__init__(study, sides, raters, report)
        self._questions = questions

    @staticmethod
    def in_words(verdict: Verdict) -> str:
        answer, reason = verdict
        return str(answer or reason)

    def _found(self, record: AnswerRecord) -> tuple[Side, Subject] | None:
        found = self._sides.of_text(record)
        if found is None:
            return None
        prompt, side = found
        question = self._questions.find(prompt, record.question)
        if question is None:
            reason = f'prompt "{record.prompt}" has no question {record.question}; {ADD_IT} position'
            self._report.refuse(record.place, "question", reason)
            return None
        return side, (prompt, side.owner, question)

    def _verdict(self, record: AnswerRecord) -> Verdict | None:
        if record.answer is None and not record.reason:
            self._report.refuse(record.place, "reason", "missing; without an answer, give a reason")
            return None
        return record.answer, record.reason

    def _about(self, item: Resolved[AnswerRecord, Side]) -> dict[str, Any]:
        return {**super()._about(item), "question_id": item.subject[2]}
