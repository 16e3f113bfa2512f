"""Opinions of each kind, compared with earlier ones, refused and stored: see arena.rating.recording."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, Final, cast

from django.db import transaction
from django.db.models import Count, F, Model, QuerySet
from django.utils import timezone

from arena.models import (
    Answer,
    Assignment,
    Comparison,
    Completion,
    CriterionRating,
    Membership,
    Pair,
    Purpose,
    Question,
    Rater,
    Score,
    Study,
)
from arena.models.comparisons import Opinion
from arena.models.signals import opinion_recorded
from arena.rating.offering_texts import given
from arena.rating.opinions import Checks, InvalidAnswerError, Rating, Said, TextScore
from arena.rating.tasks import TASKS, Task
from arena.rules.turns import WHOLE, Rated

BATCH: Final = 1000

Rows = Mapping[int, Any]
"""What is stored of an assignment: of a check by position, of a score by turn, else row 0 alone."""


@dataclass
class Entry:
    """An opinion that is taken. stored: None until it is."""

    assignment: Assignment
    said: Any  # a Said of the kind of the assignment
    earlier: Rows
    stored: Rows | None
    finishes: bool


class Recorder:
    """How opinions of one kind are compared with earlier ones, refused and stored."""

    task: ClassVar[Task]
    said: ClassVar[type[Said]]
    about: ClassVar[type[Model]] = Completion
    comments: ClassVar[str] = "another comment"

    def earlier(self, assignments: Iterable[Assignment]) -> dict[int, dict[int, Any]]:
        """Returns what is stored and current, by assignment."""
        found: dict[int, dict[int, Any]] = defaultdict(dict)
        for row in self._current().filter(assignment__in=assignments):
            found[row.assignment_id][self._number(row)] = row
        return found

    def _current(self) -> QuerySet[Any]:
        return self.task.model._default_manager.filter(is_current=True)

    def _number(self, row: Any) -> int:
        return 0

    def is_same(self, earlier: Rows, said: Said) -> bool:
        """Tells if the verdicts are equal."""
        return earlier.keys() == said.rows.keys() and not self._differing(earlier, said, self.task.verdict)

    def remarks(self, earlier: Rows, said: Said) -> list[str]:
        """Returns what differs beside equal verdicts, such as "another comment"."""
        return [self.comments] if self._differing(earlier, said, ("rationale",)) else []

    @staticmethod
    def _differing(earlier: Rows, said: Said, names: Iterable[str]) -> set[int]:
        """Returns the numbers of rows that differ in these columns, or are new."""
        return {
            number
            for number, row in said.rows.items()
            if number not in earlier or any(getattr(earlier[number], name) != row[name] for name in names)
        }

    def refuse(self, assignment: Assignment, said: Any) -> None:
        """Raise InvalidAnswerError if this is no opinion about this assignment."""
        raise NotImplementedError

    def store(self, entries: Sequence[Entry]) -> None:
        """Store entries of one rater that are new or revise what was said before."""
        late = self._late(entries)
        for each in entries:
            each.stored = self._rows(each, _shared_columns(each, late) | self._about(each.assignment))
        made = [row for each in entries for row in (each.stored or {}).values() if row.pk is None]
        self._write(entries, made)

    def _rows(self, entry: Entry, shared: Mapping[str, Any]) -> Rows:
        """Returns a row for each of what is said; one that says nothing new is the earlier one."""
        return {
            number: self.task.model(**{**shared, **said, "revises": entry.earlier.get(number)})
            for number, said in entry.said.rows.items()
        }

    def _about(self, assignment: Assignment) -> dict[str, Any]:
        return {"completion_id": assignment.completion_id}

    def _write(self, entries: Sequence[Entry], rows: Sequence[Any]) -> None:
        write_opinions(self.task.model, rows)

    def _late(self, entries: Sequence[Entry]) -> set[int]:
        """Returns the assignments whose opinion comes too late to be needed; locks what they are about."""
        again = {each.assignment.pk for each in entries if any(row.is_late for row in each.earlier.values())}
        new = [each.assignment for each in entries if not each.earlier]
        self._lock({_target(each) for each in new})
        now = timezone.now()
        given_up = [each for each in new if not _holds_place(each, now)] if _is_person(entries) else []
        given = self._given(given_up) if given_up else {}
        return again | {each.pk for each in given_up if _is_taken(each, given.get(_target(each), 0))}

    def _lock(self, targets: Collection[int]) -> None:
        """Lock pairs or completions in the order of their ids."""
        rows = self.about._default_manager.filter(pk__in=targets).order_by("pk")
        list(rows.select_for_update(no_key=True).values_list("pk"))

    def _given(self, assignments: Sequence[Assignment]) -> dict[int, int]:
        """Returns how many opinions of other people count, by what the assignments of one rater are about."""
        found: dict[int, int] = {}
        for study in {each.study_id: each.study for each in assignments}.values():
            said = given(study, self.task.kind).filter(study=study).exclude(rater=assignments[0].rater)
            said = said.filter(completion__in={_target(each) for each in assignments})
            found |= said.values_list("completion").annotate(n=Count("rater", distinct=True))
        return found


class PairRecorder(Recorder):
    task = TASKS[Assignment.Kind.COMPARE]
    said = Rating
    about = Pair

    def remarks(self, earlier: Rows, said: Any) -> list[str]:
        criteria = {each.criterion: each.said for each in earlier[0].criterion_ratings.all()}
        differs = {
            "other reasons": bool(self._differing(earlier, said, ("reasons",))),
            "another word on both": bool(self._differing(earlier, said, ("neither",))),
            "other criteria": criteria != said.criteria,
        }
        return super().remarks(earlier, said) + [what for what, is_other in differs.items() if is_other]

    def refuse(self, assignment: Assignment, said: Rating) -> None:
        study = assignment.study
        if assignment.rater.kind == Rater.Kind.PERSON and said.points != study.points:
            raise InvalidAnswerError(
                "points", f"This study rates on {study.points} points, not {said.points}."
            )
        unknown = sorted(set(said.criteria) - set(study.criteria))
        if unknown:
            raise InvalidAnswerError(f"criteria.{unknown[0]}", f"This study has no criterion {unknown[0]}.")
        strange = [reason for reason in said.reasons if reason not in study.reasons]
        if strange:
            offered = ", ".join(f"“{reason}”" for reason in study.reasons) or "none"
            raise InvalidAnswerError(
                "reasons", f"This study does not offer the reason “{strange[0]}”. It offers: {offered}."
            )

    def _about(self, assignment: Assignment) -> dict[str, Any]:
        # What a judge says of two equal texts is a control.
        is_judge, pair = assignment.rater.kind == Rater.Kind.JUDGE, assignment.pair
        is_control = is_judge and pair and pair.is_identical_at(assignment.turn)
        status = Comparison.Status.IDENTICAL if is_control else ""
        own = {name: getattr(assignment, name) for name in ("pair_id", "swapped", "turn")}
        return own | {"status": status}

    def _given(self, assignments: Sequence[Assignment]) -> dict[int, int]:
        whole = [_target(each) for each in assignments if each.turn == WHOLE]
        found = dict(Pair.objects.filter(pk__in=whole).values_list("pk", "people_ratings"))
        for each in assignments:
            if each.turn != WHOLE:
                given = Comparison.objects.people_by_turn(each.study, _target(each))
                found[_target(each)] = given[each.turn]
        return found

    def _write(self, entries: Sequence[Entry], rows: Sequence[Any]) -> None:
        answered = [each.assignment for each in entries if not each.earlier]
        new = [each for each in answered if _is_counted_up(each)]
        by_person = _is_person(entries)
        write_opinions(
            Comparison,
            rows,
            criteria=[each.said.criteria for each in entries],
            people_ratings=[_target(each) for each in _counted(new)] if by_person else (),
            judge_ratings=() if by_person else [_target(each) for each in new],
        )
        recount_turns(each for each in answered if not _is_counted_up(each))


class ScoreRecorder(Recorder):
    task = TASKS[Assignment.Kind.SCORE]
    said = TextScore

    def refuse(self, assignment: Assignment, said: TextScore) -> None:
        study = assignment.study
        if assignment.rater.kind != Rater.Kind.PERSON:
            if said.turns:
                self._refuse_turns(assignment, [each.turn for each in said.turns])
            return
        if said.turns:
            raise InvalidAnswerError("turns", "People score whole answers.")
        if (said.lowest, said.highest) != (study.score_lowest, study.score_highest):
            scale = f"{study.score_lowest} to {study.score_highest}"
            raise InvalidAnswerError("highest", f"This study scores answers from {scale}.")
        if said.value is not None and said.value != int(said.value):
            raise InvalidAnswerError("value", "A score is a whole number.")

    def _number(self, row: Any) -> int:
        return int(row.turn)

    def _rows(self, entry: Entry, shared: Mapping[str, Any]) -> Rows:
        # A score of the whole answer stands no more beside those of its turns.
        gone = [row.pk for turn, row in entry.earlier.items() if turn not in entry.said.rows]
        if gone:
            Score.objects.filter(pk__in=gone).update(is_current=False)
        return super()._rows(entry, shared)

    @staticmethod
    def _refuse_turns(assignment: Assignment, turns: Sequence[int]) -> None:
        completion = assignment.completion
        number = len(completion.turns) if completion else 0
        if sorted(turns) != list(range(1, number + 1)):
            has = "one turn" if number == 1 else f"{number} turns"
            raise InvalidAnswerError("turns", f"This answer has {has}: score each of them, or all of it.")


class CheckRecorder(Recorder):
    task = TASKS[Assignment.Kind.CHECK]
    said = Checks
    comments = "other comments"

    def _current(self) -> QuerySet[Any]:
        # What was said of a wording that was replaced since says nothing of the new one.
        current = super()._current().filter(question__is_current=True).select_related("question")
        return current.order_by("question__position")

    def _number(self, row: Any) -> int:
        return int(row.question.position)

    def refuse(self, assignment: Assignment, said: Checks) -> None:
        questions, given = _questions(assignment), {each.position: each for each in said.answers}
        asked = set(questions)
        if not asked:
            raise InvalidAnswerError("answers", "This prompt has no requirements.")
        unknown, missing = sorted(given.keys() - asked), sorted(asked - given.keys())
        if unknown:
            raise InvalidAnswerError(
                f"answers.{unknown[0]}", f"This prompt has no requirement number {unknown[0]}."
            )
        for place, one in given.items():
            if one.question and one.question != questions[place].text:
                raise InvalidAnswerError(
                    f"answers.{place}",
                    f"Requirement number {place} is another one by now. Claim again and answer anew.",
                )
        # A judge may have stopped at a reply that nobody can read.
        if missing and (assignment.rater.kind == Rater.Kind.PERSON or not given):
            raise InvalidAnswerError(
                f"answers.{missing[0]}", f"Requirement number {missing[0]} has no answer yet."
            )

    def _rows(self, entry: Entry, shared: Mapping[str, Any]) -> Rows:
        questions = _questions(entry.assignment)
        new = self._differing(entry.earlier, entry.said, (*self.task.verdict, "rationale"))
        return {
            number: Answer(**shared, **said, question=questions[number], revises=entry.earlier.get(number))
            if number in new
            else entry.earlier[number]
            for number, said in entry.said.rows.items()
        }


def _is_counted_up(assignment: Assignment) -> bool:
    """Tells if one more rating of the pair is one more of what the study counts."""
    return assignment.turn == WHOLE and assignment.study.rated_turns == Rated.WHOLE


def recount_turns(assignments: Iterable[Assignment]) -> None:
    """Count the ratings of pairs anew where single turns are rated."""
    pairs: dict[Study, set[int]] = defaultdict(set)
    for each in assignments:
        pairs[each.study].add(_target(each))
    for study, rated in pairs.items():
        for some in batches(sorted(rated)):
            Pair.objects.filter(pk__in=some).recount(study)


RECORDERS: Final[Mapping[str, Recorder]] = {
    each.task.kind: each for each in (PairRecorder(), ScoreRecorder(), CheckRecorder())
}
"""By kind of assignment."""


def _questions(assignment: Assignment) -> dict[int, Question]:
    """Returns what the assignment asks, by position."""
    asked = Question.objects.asked().filter(prompt__completions=_target(assignment))
    return {each.position: each for each in asked}


def _shared_columns(entry: Entry, late: Collection[int]) -> dict[str, Any]:
    """Returns the columns of a row that all kinds share, but for what is said."""
    assignment = entry.assignment
    return {
        "study_id": assignment.study_id,
        "assignment": assignment,
        "rater_id": assignment.rater_id,
        "repeat": assignment.repeat,
        "purpose": assignment.purpose,
        "is_late": assignment.pk in late,
        "source": entry.said.SOURCE,
    }


def _is_person(entries: Sequence[Entry]) -> bool:
    return entries[0].assignment.rater.kind == Rater.Kind.PERSON


def _counted(assignments: Sequence[Assignment]) -> list[Assignment]:
    """Returns the assignments of one person whose ratings count as wanted."""
    wanted = [each for each in assignments if each.purpose == Purpose.STUDY]
    raters = {each.rater_id for each in wanted}
    left_out = Membership.objects.filter(rater__in=raters, left_out_at__isnull=False)
    studies = set(left_out.values_list("study", flat=True)) if wanted else set()
    return [each for each in wanted if each.study_id not in studies]


def _holds_place(assignment: Assignment, now: datetime) -> bool:
    """Tells if the place is still its own: a lapsed lease or a skip gives it up."""
    if assignment.purpose != Purpose.STUDY:
        return True  # there is none to hold
    held = assignment.state == Assignment.State.CLAIMED and assignment.finished_at is None
    return held and assignment.leased_until is not None and assignment.leased_until > now


def _is_taken(assignment: Assignment, given: int) -> bool:
    """Tells if others have given or hold all opinions wanted; ``given``: how many they gave."""
    same = {name: getattr(assignment, name) for name in ("pair_id", "completion_id", "kind", "turn")}
    held = Assignment.objects.places().filter(**same).exclude(pk=assignment.pk).count()
    return given + held >= assignment.study.ratings_per_pair_people


def _target(assignment: Assignment) -> int:
    """Returns the id of the pair or the completion that it is about."""
    return cast("int", assignment.pair_id or assignment.completion_id)  # held by a constraint


def write_opinions(
    model: type[Opinion],
    rows: Sequence[Any],
    *,
    criteria: Sequence[Mapping[str, int | str]] = (),
    people_ratings: Iterable[int] = (),
    judge_ratings: Iterable[int] = (),
    announce: bool = True,
) -> None:
    """Store new rows in the caller's transaction; nothing else creates any. Raises IntegrityError.

    - The status follows from the verdict, unless the caller set IDENTICAL.
    - A revised row is no longer current.
    - ``criteria`` holds by criterion each comparison's rating, or the reason why there is none.
    - Pairs in ``people_ratings`` or ``judge_ratings`` are counted up, once per mention.
    - With ``announce``, ``opinion_recorded`` is sent for each study after the commit.
    """
    for row in rows:
        row.status = row.status or (Opinion.Status.UNSCORED if row.verdict is None else Opinion.Status.SCORED)
    for some in batches([row.revises_id for row in rows if row.revises_id is not None]):
        model._default_manager.filter(pk__in=some).update(is_current=False)
    _count_up(people_ratings, "people_ratings")
    _count_up(judge_ratings, "judge_ratings")
    model._default_manager.bulk_create(rows, batch_size=BATCH)
    CriterionRating.objects.bulk_create(
        CriterionRating(
            comparison=row,
            criterion=name,
            points=row.points,
            **({"reason": said} if isinstance(said, str) else {"rating": said}),
        )
        for row, by_criterion in zip(rows, criteria, strict=bool(criteria))
        for name, said in by_criterion.items()
    )
    for study in {row.study_id for row in rows} if announce else ():
        transaction.on_commit(partial(opinion_recorded.send, model, study_id=study))


def _count_up(pairs: Iterable[int], counter: str) -> None:
    pairs_of: dict[int, list[int]] = defaultdict(list)
    for pair, times in Counter(pairs).items():
        pairs_of[times].append(pair)
    for times, named in pairs_of.items():
        for some in batches(named):
            Pair.objects.filter(pk__in=some).update(**{counter: F(counter) + times})


def batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))
