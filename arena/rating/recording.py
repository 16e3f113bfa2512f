"""Recording what raters say: the only way to a comparison, a score or an answer.

Rows are locked in one order, assignments before pairs or completions and each by id, so that batches never
block each other.
"""

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast, overload

from django.db import IntegrityError, transaction
from django.db.models import prefetch_related_objects
from django.utils import timezone

from arena.models import Answer, Assignment, Comparison, Rater, Score, Study
from arena.models.comparisons import Opinion
from arena.models.signals import Received, answers_received
from arena.rating.offering_texts import knows_names
from arena.rating.opinions import (
    Checks,
    InvalidAnswerError,
    NotAllowedError,
    NotStoredError,
    Rating,
    RatingError,
    Said,
    TextScore,
)
from arena.rating.publication import stays
from arena.rating.recorders import RECORDERS, Entry, Rows

logger = logging.getLogger(__name__)

TEXTS: Final = [f"pair__{side}__{field}" for side in ("first", "second") for field in ("turns", "extra")]
"""Columns that recording an answer does not read."""

Stored = Sequence[Any]
"""The rows about an assignment: a comparison, a score, or an answer to each question."""


class AlreadyAnsweredError(RatingError):
    """The assignment has another answer already: ``stored``."""

    def __init__(self, assignment: Assignment, stored: Stored, message: str) -> None:
        super().__init__(message)
        self.assignment = assignment
        self.stored = stored


@overload
def record(rater: Rater, public_id: str, said: Rating) -> Comparison: ...
@overload
def record(rater: Rater, public_id: str, said: TextScore) -> Score: ...
@overload
def record(rater: Rater, public_id: str, said: Checks) -> list[Answer]: ...
def record(rater: Rater, public_id: str, said: Said) -> Any:
    """Store what a rater says about an assignment; said twice, it is stored once. Raises RatingError.

    A new answer to a reopened assignment is a new row. One after the end of its lease is taken, and marked as
    late if others have given or hold all ratings wanted.
    """
    with transaction.atomic():
        stored = record_locked(own_assignment(rater, public_id), said)
    return stored if isinstance(said, Checks) else stored[0]


def record_locked(assignment: Assignment, said: Said) -> Stored:
    """``record`` about an assignment from ``own_assignment``, in its transaction; returns all rows."""
    outcome = _record({said.assignment: assignment}, [said])[0]
    if isinstance(outcome, RatingError):
        raise outcome
    return outcome.stored


class Recorded(NamedTuple):
    stored: Stored
    is_new: bool  # False if it was stored before


def record_all(rater: Rater, said: Sequence[Said]) -> list[Recorded | RatingError]:
    """Store a rater's answers in one transaction; each gives what is stored or why it was refused."""
    outcomes: dict[int, Recorded | RatingError] = {}
    for turn in _turns(said):
        chosen = [said[number] for number in turn]
        try:
            with transaction.atomic():
                found = _record_of(rater, chosen)
        except IntegrityError:
            found = [_record_alone(rater, each) for each in chosen]
        outcomes |= zip(turn, found, strict=True)
    return [outcomes[number] for number in range(len(said))]


def _turns(said: Sequence[Said]) -> Iterator[list[int]]:
    """Yield the numbers of what is said, in turns that name no assignment twice."""
    left = list(range(len(said)))
    while left:
        turn = list({said[number].assignment: number for number in reversed(left)}.values())
        yield sorted(turn)
        left = [number for number in left if number not in turn]


def _record_alone(rater: Rater, said: Said) -> Recorded | RatingError:
    try:
        with transaction.atomic():
            return _record_of(rater, [said])[0]
    except RatingError as error:
        return error
    except IntegrityError:
        logger.exception("The answer to assignment %s cannot be stored", said.assignment)
        return NotStoredError("This answer contradicts what is stored already.")


def _record_of(rater: Rater, said: Sequence[Said]) -> list[Recorded | RatingError]:
    return _record(own_assignments(rater, [each.assignment for each in said]), said)


def _record(assignments: Mapping[str, Assignment], said: Sequence[Said]) -> list[Recorded | RatingError]:
    earlier: dict[int, Any] = {}
    answered = [each for each in assignments.values() if _may_be_answered(each)]
    for kind in {each.kind for each in answered}:
        earlier |= RECORDERS[kind].earlier([each for each in answered if each.kind == kind])
    entries: list[Entry | RatingError] = []
    for each in said:
        try:
            each.check()
            assignment = existing(assignments.get(each.assignment))
            entries.append(_entry(assignment, each, earlier.get(assignment.pk, {})))
        except RatingError as error:
            entries.append(error)
    taken = [each for each in entries if isinstance(each, Entry)]
    new = {each.assignment.pk for each in taken if each.stored is None}
    for kind, recorder in RECORDERS.items():
        if some := [each for each in taken if each.assignment.pk in new and each.assignment.kind == kind]:
            recorder.store(some)
    # A judge that is asked again: what counted stands no more, and the new answer waits for others.
    counted = [each.assignment.pk for each in taken if each.assignment.published_in is not None]
    if again := new.intersection(counted):
        Assignment.objects.filter(pk__in=again).update(published_in=None)
    finish([each.assignment for each in taken if each.finishes], Assignment.State.SUBMITTED)
    _hand_on(taken)
    return [
        each if isinstance(each, RatingError) else Recorded(_stored(each), each.assignment.pk in new)
        for each in entries
    ]


def _may_be_answered(assignment: Assignment) -> bool:
    """False saves the look-up. A judge's assignment is open again while its model is asked once more."""
    return assignment.finished_at is not None or assignment.rater.kind == Rater.Kind.JUDGE


def own_assignments(
    rater: Rater, public_ids: Sequence[str], study: Study | None = None
) -> dict[str, Assignment]:
    """Lock the rater's own assignments, by public id; ``study``: as known, if only its own are wanted."""
    # PostgreSQL refuses to look for a NUL.
    found = Assignment.objects.filter(public_id__in=[name for name in public_ids if "\0" not in name])
    if study:
        found = found.filter(study=study)
    if rater.kind == Rater.Kind.JUDGE:
        found = found.select_related("pair__first", "pair__second").defer(*TEXTS)
    locked = found.order_by("pk").select_for_update(no_key=True, of=("self",))
    # Chosen here: SQLite would look for a few ids among all that the rater was ever offered.
    assignments = [each for each in locked if each.rater_id == rater.pk]
    for each in assignments:
        each.rater = rater  # read once, not with every row
        if study:
            each.study = study
    prefetch_related_objects(assignments, "study")
    return {each.public_id: each for each in assignments}


def own_assignment(rater: Rater, public_id: str) -> Assignment:
    return existing(own_assignments(rater, [public_id]).get(public_id))


def existing(assignment: Assignment | None) -> Assignment:
    """The assignment; raises NotAllowedError if there is none."""
    if assignment is None:
        raise NotAllowedError("This rater has no such assignment.")
    return assignment


def _entry(assignment: Assignment, said: Said, earlier: Rows) -> Entry:
    recorder = RECORDERS[assignment.kind]
    if not isinstance(said, recorder.said):
        raise InvalidAnswerError(
            "assignment", f"This assignment is to {assignment.get_kind_display().lower()}."
        )
    reopened = assignment.state == Assignment.State.CLAIMED
    is_same = bool(earlier) and recorder.is_same(earlier, said)
    remarks = recorder.remarks(earlier, said) if is_same else []
    is_repeated = is_same and not remarks
    if earlier and not reopened:
        # What a person wrote in another tab beside the same rating must not be dropped without a word.
        is_person = assignment.rater.kind == Rater.Kind.PERSON
        if not (is_repeated if is_person else is_same):
            more = f", with {' and '.join(remarks)}" if remarks else ""
            stored = list(earlier.values())
            words = recorder.task.stored.format(stored[0].in_words)
            raise AlreadyAnsweredError(assignment, stored, f"{words}{more}.")
        return Entry(assignment, said, earlier, earlier, finishes=False)
    if earlier and not is_repeated and stays(assignment):
        raise NotAllowedError(
            "Your earlier rating already counts on the leaderboard, so the new one was not stored."
        )
    if assignment.rater.kind == Rater.Kind.PERSON and assignment.state == Assignment.State.SKIPPED:
        # Undo asks whether the study still takes anything of this rater.
        raise NotAllowedError("You have skipped this, so it was not stored. Undo brings it back.")
    if assignment.rater.kind == Rater.Kind.PERSON and assignment.kind not in assignment.study.tasks:
        raise NotAllowedError(
            "This study no longer asks for this, so it was not stored. What you sent before is kept."
        )
    if assignment.study.is_closed:
        raise NotAllowedError("This study was closed before your rating arrived; it was not stored.")
    if assignment.completion_id and assignment.study.reveal_names and knows_names(assignment):
        raise NotAllowedError("You have seen who wrote answers to this prompt, so this one was not stored.")
    recorder.refuse(assignment, said)
    return Entry(assignment, said, earlier, earlier if is_repeated else None, finishes=True)


def finish(assignments: Sequence[Assignment], state: Assignment.State, reason: str = "") -> None:
    if not assignments:
        return
    now = timezone.now()
    for each in assignments:
        each.state, each.skip_reason, each.finished_at = state, reason, now
    rows = Assignment.objects.filter(pk__in=[each.pk for each in assignments])
    rows.update(state=state, skip_reason=reason, finished_at=now)


def _hand_on(entries: Sequence[Entry]) -> None:
    """Send ``answers_received``; a call that no receiver keeps stays with its opinion."""
    if not entries:
        return
    received = [Received(each.assignment, _stored(each)[-1], _call(each.said)) for each in entries]
    replies = answers_received.send(sender=Opinion, answers=received)
    kept: set[int] = {assignment for _, some in replies for assignment in cast("set[int]", some or set())}
    left: dict[type[Opinion], list[Opinion]] = defaultdict(list)
    for assignment, opinion, call in received:
        if call is not None and assignment.pk not in kept and "call" not in opinion.extra:
            opinion.extra = {**opinion.extra, "call": call}
            left[type(opinion)].append(opinion)
    for model, opinions in left.items():
        model._default_manager.bulk_update(opinions, ["extra"])


def _call(said: Said) -> dict[str, Any] | None:
    return said.call.model_dump(mode="json", exclude_none=True) if said.call else None


def _stored(entry: Entry) -> Stored:
    return list((entry.stored or {}).values())
