"""Imports the questions of prompts."""

from collections import Counter
from functools import cached_property
from typing import Final

from arena.data.formats.reading import why_disturbing
from arena.data.formats.records import MOST_QUESTIONS, QuestionRecord
from arena.data.importing.import_report import ImportReport, Places, fits
from arena.data.importing.texts import Prompts
from arena.models import Answer, Assignment, Question, Study

MOST_LABELS: Final = 20
LONGEST_LABEL: Final = 100
SHOWN: Final = 60
"""Characters of a question in a message."""


class Questions:
    def __init__(self, study: Study, prompts: Prompts, report: ImportReport) -> None:
        self._study = study
        self._prompts = prompts
        self._report = report
        self._counts = report.counts["questions"]
        asked = Question.objects.asked().filter(prompt__study=study).order_by()
        self._known = {(each.prompt_id, each.position): each for each in asked}
        self._next: Counter[int] = Counter()
        self._places = Places(report)

    def start_file(self) -> None:
        """Count positions from one."""
        self._next.clear()

    def find(self, prompt: int, position: int) -> int | None:
        found = self._known.get((prompt, position))
        return found.pk if found else None

    def take(self, records: list[QuestionRecord]) -> None:
        """Add and update questions; one with answers gets its new wording as a new row."""
        new: list[Question] = []
        rewritten: list[tuple[Question, QuestionRecord]] = []
        changed: dict[tuple[int, int], Question] = {}
        for record in records:
            prompt = self._prompts.named_by(record)
            if prompt is None:
                continue
            self._next[prompt] += 1
            key = (prompt, record.position or self._next[prompt])
            if self._refused(record, key):
                continue
            known = self._known.get(key)
            is_other = known is None or (known.text != record.text and not record.implied)
            if is_other and prompt in self._being_checked:
                reason = f'somebody is checking an answer to "{record.prompt}"; import its requirements later'
                self._report.refuse(record.place, "prompt", f"{reason}, or pause the study and wait")
            elif known is None:
                self._known[key] = self._made(record, key)
                new.append(self._known[key])
            elif record.implied:
                if self._fill_in(record, known):
                    changed[key] = known
            elif known.text != record.text:
                rewritten.append((known, record))
            elif self._update(known, record):
                changed[key] = known
            else:
                self._counts.unchanged += 1
        self._write(new, rewritten, changed)

    @cached_property
    def _being_checked(self) -> set[int | None]:
        """Prompts whose requirements stay as they are for now."""
        checks = Assignment.objects.checking().filter(study=self._study).order_by()
        return set(checks.values_list("completion__prompt", flat=True))

    def _refused(self, record: QuestionRecord, key: tuple[int, int]) -> bool:
        before = self._report.error_count
        fits(self._report, record.place, Question, record, ("proposed_by",))
        for label in record.labels or ():
            if not label.strip() or len(label) > LONGEST_LABEL or why_disturbing(label):
                reason = f"a label has 1 to {LONGEST_LABEL} visible characters"
                self._report.refuse(record.place, "labels", reason)
        if key[1] > MOST_QUESTIONS:
            self._report.refuse(record.place, "question", f"more than {MOST_QUESTIONS:,} for one prompt")
        if len(record.labels or ()) > MOST_LABELS:
            self._report.refuse(record.place, "labels", f"more than {MOST_LABELS} labels")
        if not record.implied:
            self._places.add(key, record.place, "position", _named(record, key[1]))
        return self._report.error_count > before

    def _fill_in(self, record: QuestionRecord, known: Question) -> bool:
        """Tell whether a question named in passing adds labels; reports what differs."""
        if known.text != record.text:
            theirs = known.text if len(known.text) <= SHOWN else f"{known.text[: SHOWN - 1]}…"
            name = _named(record, known.position)
            reason = f'{name} has another wording in the study or these files: "{theirs}"'
            self._report.refuse(record.place, "question", reason)
        elif record.labels is not None and list(record.labels) != known.labels:
            if not known.labels:
                known.labels = list(record.labels)
                return True
            reason = f"the labels of {_named(record, known.position)} differ: {', '.join(known.labels)}"
            self._report.refuse(record.place, "labels", reason)
        return False

    @staticmethod
    def _update(known: Question, record: QuestionRecord) -> bool:
        before = (known.labels, known.required)
        known.labels = known.labels if record.labels is None else list(record.labels)
        known.required = known.required if record.required is None else record.required
        return before != (known.labels, known.required)

    @staticmethod
    def _made(record: QuestionRecord, key: tuple[int, int]) -> Question:
        return Question(
            prompt_id=key[0],
            position=key[1],
            text=record.text,
            labels=list(record.labels or ()),
            required=record.required is not False,
            proposed_by=record.proposed_by or "",
        )

    def _write(
        self,
        new: list[Question],
        rewritten: list[tuple[Question, QuestionRecord]],
        changed: dict[tuple[int, int], Question],
    ) -> None:
        pks = [known.pk for known, _ in rewritten]
        answered = set(Answer.objects.filter(question__in=pks).order_by().values_list("question", flat=True))
        Question.objects.filter(pk__in=answered).update(is_current=False)
        for known, record in rewritten:
            key = (known.prompt_id, known.position)
            if known.pk in answered:
                version = self._made(record, key)
                version.labels = version.labels if record.labels is not None else known.labels
                version.required = known.required if record.required is None else record.required
                self._known[key] = version
                new.append(version)
            else:
                known.text = record.text
                self._update(known, record)
                changed[key] = known
        Question.objects.bulk_create(new)
        stored = [each for each in changed.values() if each not in new]
        columns = ["text", "labels", "required"]
        Question.objects.bulk_update(stored, columns, batch_size=100)
        self._counts.added += len(new) - len(answered)
        self._counts.versions += len(answered)
        self._counts.updated += len(stored)


def _named(record: QuestionRecord, position: int) -> str:
    return f'question {position} of prompt "{record.prompt}"'
