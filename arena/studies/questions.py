"""Writing the requirements of prompts, each change on record.

A requirement with answers never changes: its new wording is a new row, and the old one is no longer asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction
from django.db.models import Max, QuerySet
from django.template.defaultfilters import pluralize, truncatechars

from arena.audit.recording import Kind, record
from arena.data.formats.records import MOST_QUESTIONS
from arena.models import Assignment, Prompt, Question, Study
from arena.models.signals import announce
from arena.pages.permissions import Visitor

LONGEST: Final = 2000  # characters of a requirement
MOST: Final = MOST_QUESTIONS  # requirements of a prompt
APART: Final = 10_000  # positions above all that are used, for rows that change places


TAKEN: Final = "Nothing was changed. The prompt already has a requirement of this text."


class QuestionError(Exception):
    """The message is a sentence for the operator. field: which part of the wording it is about, if one is."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Wording:
    text: str
    labels: tuple[str, ...] = ()
    required: bool = True

    @classmethod
    def of(cls, question: Question) -> "Wording":
        return cls(question.text, tuple(question.labels), question.required)

    @property
    def columns(self) -> dict[str, Any]:
        return {"text": self.text, "labels": list(self.labels), "required": self.required}


def _lock(prompt: Prompt) -> None:
    """Lock the study, under which raters are offered what to check; refused while somebody checks."""
    Study.objects.select_for_update(no_key=True).get(pk=prompt.study_id)
    if Assignment.objects.checking().filter(completion__prompt=prompt).exists():
        raise QuestionError(
            "Nothing was changed. Somebody is checking an answer to this prompt. Try again later, or pause "
            "the study and wait until they have finished."
        )


def asked(prompt: Prompt) -> QuerySet[Question]:
    return Question.objects.asked().filter(prompt=prompt).order_by("position")


def waiting(prompt: Prompt) -> QuerySet[Question]:
    """Proposed, and neither accepted nor dropped."""
    return Question.objects.filter(prompt=prompt, is_accepted=False, is_current=True).order_by("pk")


@transaction.atomic
def add(prompt: Prompt, by: Visitor, wording: Wording) -> bool:
    """Ask one more; False if the prompt has it already. Raises QuestionError for another of this text."""
    _lock(prompt)
    if there := asked(prompt).filter(text=wording.text).first():
        if Wording.of(there) == wording:
            return False
        raise QuestionError(TAKEN, "text")
    row = Question.objects.create(prompt=prompt, position=_free_position(prompt), **wording.columns)
    _note(prompt, by, row, "added")
    return True


@transaction.atomic
def change(prompt: Prompt, by: Visitor, question: int, wording: Wording) -> bool:
    """Give a requirement another wording, as a new row if it has answers; False if nothing changed."""
    _lock(prompt)
    row = Question.objects.get(pk=question, prompt=prompt)
    if not row.is_current:
        if wording in map(Wording.of, asked(prompt).filter(position=row.position)):
            return False
        raise QuestionError("Nothing was changed. This requirement is no longer asked.")
    if Wording.of(row) == wording:
        return False
    if asked(prompt).filter(text=wording.text).exclude(pk=row.pk).exists():
        raise QuestionError(TAKEN, "text")
    if row.answers.exists():
        Question.objects.filter(pk=row.pk).update(is_current=False)
        Question.objects.create(
            prompt=prompt, position=row.position, proposed_by=row.proposed_by, **wording.columns
        )
    else:
        Question.objects.filter(pk=row.pk).update(**wording.columns)
    if row.is_accepted:
        _note(prompt, by, row, f"changed to “{_short(wording.text)}”")
    return True


@transaction.atomic
def move(prompt: Prompt, by: Visitor, question: int, position: int) -> bool:
    """Let a requirement change places with the one at this position; False if it is there."""
    _lock(prompt)
    row = asked(prompt).filter(pk=question).first()
    other = asked(prompt).filter(position=position).first()
    if row is None or other is None or row == other:
        return False
    for pk, place in ((row.pk, APART), (other.pk, row.position), (row.pk, position)):
        Question.objects.filter(pk=pk).update(position=place)
    _note(prompt, by, row, f"moved to place {position}")
    return True


@transaction.atomic
def retire(prompt: Prompt, by: Visitor, question: int) -> bool:
    """Ask it no more; without answers it is deleted. False if it is not asked."""
    _lock(prompt)
    row = asked(prompt).filter(pk=question).first()
    if row is None:
        return False
    if row.answers.exists():
        Question.objects.filter(pk=row.pk).update(is_current=False)
        _note(prompt, by, row, "retired")
    else:
        row.delete()
        _note(prompt, by, row, "deleted")
    return True


@transaction.atomic
def accept(prompt: Prompt, by: Visitor, questions: Sequence[int]) -> int:
    """Ask what was proposed, in this order after the others; how many are new."""
    _lock(prompt)
    known = set(asked(prompt).values_list("text", flat=True))
    found = waiting(prompt).in_bulk(questions)
    rows = [found[pk] for pk in dict.fromkeys(questions) if pk in found]
    for row in rows:
        if row.text in known:
            row.delete()  # it was added otherwise
            continue
        known.add(row.text)
        row.position, row.is_accepted = _free_position(prompt), True
        row.save(update_fields=["position", "is_accepted"])
        _note(prompt, by, row, f"accepted from {row.proposed_by}")
    return len(rows)


def drop(prompt: Prompt, questions: Sequence[int]) -> int:
    """Delete what was proposed; how many there were."""
    return waiting(prompt).filter(pk__in=questions).delete()[0]


def propose(prompt: Prompt, wordings: Sequence[Wording], by_model: str) -> int:
    """Keep for an operator what a model proposes, without what the prompt has; how many are new."""
    known = set(prompt.questions.filter(is_current=True).values_list("text", flat=True))
    new = [each for each in {one.text: one for one in wordings}.values() if each.text not in known]
    Question.objects.bulk_create(
        Question(prompt=prompt, position=place, proposed_by=by_model, is_accepted=False, **each.columns)
        for place, each in enumerate(new, start=1)
    )
    return len(new)


def _free_position(prompt: Prompt) -> int:
    """After all, also those that are no longer asked: a place and a prompt name a requirement in files."""
    used = prompt.questions.filter(is_accepted=True)
    if asked(prompt).count() >= MOST:
        raise QuestionError(f"Nothing was changed. A prompt can have {MOST:,} requirements at most.")
    return int(used.aggregate(last=Max("position"))["last"] or 0) + 1


def _note(prompt: Prompt, by: Visitor, row: Question, done: str) -> None:
    note = f"Requirement {row.position} of prompt {prompt.external_id}, “{_short(row.text)}”: {done}."
    record(Kind.SETTING, by, note, study=prompt.study)
    announce([prompt.study])


def _short(text: str) -> str:
    return truncatechars(" ".join(text.split()), 80)


def in_words(count: int) -> str:
    return f"{count:,} requirement{pluralize(count)}"
