"""Opinions about one text, stored: its score, and whether it meets each requirement of its prompt."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TypeVar

from django.db import transaction
from django.db.models import Count

from arena.models import Answer, Assignment, Completion, Question, Rater, Score
from arena.models.comparisons import Opinion
from arena.models.signals import text_recorded
from arena.rating.offering_texts import given
from arena.rating.opinions import Check, Checks, InvalidAnswerError, TextScore
from arena.rating.recorders import (
    BATCH,
    Entry,
    Recorder,
    common_fields,
    gave_up_place,
    is_person,
    late,
    retire,
    target,
)


class ScoreRecorder(Recorder[TextScore, Score]):
    kind = Assignment.Kind.SCORE
    said = TextScore

    def earlier(self, assignments: Iterable[Assignment]) -> dict[int, Score]:
        current = Score.objects.current().filter(assignment__in=assignments)
        return {each.assignment_id: each for each in current if each.assignment_id is not None}

    def is_same(self, earlier: Score, said: TextScore) -> bool:
        stored = (earlier.value, earlier.reason, earlier.lowest, earlier.highest)
        return stored == (said.value, said.reason, said.lowest, said.highest)

    def other_remarks(self, earlier: Score, said: TextScore) -> list[str]:
        return [] if earlier.rationale == said.rationale else ["another comment"]

    def in_words(self, earlier: Score) -> str:
        stored = earlier.reason if earlier.value is None else f"{earlier.value:g}"
        return f"This answer already has the score {stored}"

    def refuse(self, assignment: Assignment, said: TextScore) -> None:
        study = assignment.study
        if assignment.rater.kind != Rater.Kind.PERSON:
            return
        if (said.lowest, said.highest) != (study.score_lowest, study.score_highest):
            scale = f"{study.score_lowest} to {study.score_highest}"
            raise InvalidAnswerError("highest", f"This study scores answers from {scale}.")
        if said.value is not None and said.value != int(said.value):
            raise InvalidAnswerError("value", "A score is a whole number.")

    def store(self, entries: Sequence[Entry[TextScore, Score]]) -> None:
        are_late = _lock(entries)
        rows = [
            Score(
                **common_fields(each, are_late),
                completion_id=target(each.assignment),
                lowest=each.said.lowest,
                highest=each.said.highest,
                value=each.said.value,
                expected=each.said.expected,
                reason=each.said.reason,
                raw_reply=each.said.raw_reply,
                rationale=each.said.rationale,
                seconds=each.said.seconds,
                revises=each.earlier,
            )
            for each in entries
        ]
        write_opinions(Score, rows)
        for each, row in zip(entries, rows, strict=True):
            each.stored = row


class CheckRecorder(Recorder[Checks, list[Answer]]):
    kind = Assignment.Kind.CHECK
    said = Checks

    def earlier(self, assignments: Iterable[Assignment]) -> dict[int, list[Answer]]:
        # What was said of a wording that was replaced since says nothing of the new one.
        rows = Answer.objects.current().filter(assignment__in=assignments, question__is_current=True)
        current = rows.select_related("question")
        found: dict[int, list[Answer]] = defaultdict(list)
        for each in current.order_by("question__position"):
            if each.assignment_id is not None:
                found[each.assignment_id].append(each)
        return found

    def is_same(self, earlier: list[Answer], said: Checks) -> bool:
        stored = {each.question.position: (each.value, each.reason) for each in earlier}
        return stored == {place: (one.value, one.reason) for place, one in said.answers.items()}

    def other_remarks(self, earlier: list[Answer], said: Checks) -> list[str]:
        stored = {each.question.position: each.rationale for each in earlier}
        same = stored == {place: one.rationale for place, one in said.answers.items()}
        return [] if same else ["other comments"]

    def in_words(self, earlier: list[Answer]) -> str:
        return "You have already checked this answer"

    def refuse(self, assignment: Assignment, said: Checks) -> None:
        questions = _questions(assignment)
        asked = set(questions)
        if not asked:
            raise InvalidAnswerError("answers", "This prompt has no requirements.")
        unknown, missing = sorted(set(said.answers) - asked), sorted(asked - set(said.answers))
        if unknown:
            raise InvalidAnswerError(
                f"answers.{unknown[0]}", f"This prompt has no requirement number {unknown[0]}."
            )
        for place, one in said.answers.items():
            if one.question and one.question != questions[place].text:
                raise InvalidAnswerError(
                    f"answers.{place}",
                    f"Requirement number {place} is another one by now. Claim again and answer anew.",
                )
        # A judge may have stopped at a reply that nobody can read.
        if missing and (assignment.rater.kind == Rater.Kind.PERSON or not said.answers):
            raise InvalidAnswerError(
                f"answers.{missing[0]}", f"Requirement number {missing[0]} has no answer yet."
            )

    def store(self, entries: Sequence[Entry[Checks, list[Answer]]]) -> None:
        are_late = _lock(entries)
        kept = {each.assignment.pk: self._unchanged(each) for each in entries}
        new = {each.assignment.pk: _answers(each, kept[each.assignment.pk], are_late) for each in entries}
        write_opinions(Answer, [row for rows in new.values() for row in rows])
        for each in entries:
            rows = [*kept[each.assignment.pk].values(), *new[each.assignment.pk]]
            each.stored = sorted(rows, key=lambda row: row.question.position)

    @staticmethod
    def _unchanged(entry: Entry[Checks, list[Answer]]) -> dict[int, Answer]:
        said = entry.said.answers
        return {
            row.question.position: row
            for row in entry.earlier or ()
            if (one := said.get(row.question.position))
            and (row.value, row.reason, row.rationale) == (one.value, one.reason, one.rationale)
        }


def _answers(
    entry: Entry[Checks, list[Answer]], kept: Iterable[int], are_late: Iterable[int]
) -> list[Answer]:
    """The answers that are new or changed; questions without one of their own share the time of all."""
    said, earlier = entry.said, {row.question.position: row for row in entry.earlier or ()}
    share = None if said.seconds is None else said.seconds / len(said.answers)
    questions = _questions(entry.assignment)

    def row(place: int, one: Check) -> Answer:
        return Answer(
            **common_fields(entry, are_late),
            completion_id=target(entry.assignment),
            question=questions[place],
            value=one.value,
            reason=one.reason,
            raw_reply=one.raw_reply,
            rationale=one.rationale,
            seconds=share if one.seconds is None else one.seconds,
            revises=earlier.get(place),
        )

    return [row(place, one) for place, one in sorted(said.answers.items()) if place not in kept]


def _questions(assignment: Assignment) -> dict[int, Question]:
    """What the assignment asks, by position."""
    asked = Question.objects.asked().filter(prompt__completions=target(assignment))
    return {each.position: each for each in asked}


def _lock(entries: Sequence[Entry[TextScore, Score]] | Sequence[Entry[Checks, list[Answer]]]) -> set[int]:
    """Lock the completions; returns the assignments whose opinion comes too late to be needed."""
    new = [each.assignment for each in entries if not each.earlier]
    texts = {target(each) for each in new}
    list(Completion.objects.filter(pk__in=texts).order_by("pk").select_for_update(no_key=True).values("pk"))
    again = {each.assignment.pk for each in entries if _was_late(each.earlier)}
    if not is_person(entries):
        return again
    counted = dict.fromkeys(texts, 0)
    for study in {each.study_id: each.study for each in new}.values():
        said = given(study, entries[0].assignment.kind).exclude(rater=entries[0].assignment.rater)
        said = said.filter(study=study, completion__in=texts)
        counted |= said.values_list("completion").annotate(n=Count("rater", distinct=True))
    return again | late(gave_up_place([each for each in entries if not each.earlier]), counted)


def _was_late(earlier: Score | list[Answer] | None) -> bool:
    rows = earlier if isinstance(earlier, list) else [earlier] if earlier else []
    return any(row.is_late for row in rows)


RowT = TypeVar("RowT", bound=Opinion)


def write_opinions(model: type[RowT], rows: Sequence[RowT], *, announce: bool = True) -> None:
    """Store new scores or answers in the caller's transaction; nothing else creates any.

    The status follows from the value. Raises IntegrityError. With ``announce``, ``text_recorded`` is sent for
    each study after the commit.
    """
    for row in rows:
        is_unscored = row.value is None  # type: ignore[attr-defined]
        row.status = Opinion.Status.UNSCORED if is_unscored else Opinion.Status.SCORED
    retire(model, rows)
    model._default_manager.bulk_create(rows, batch_size=BATCH)
    if announce:
        for study in {row.study_id for row in rows}:
            transaction.on_commit(partial(text_recorded.send, model, study_id=study))
