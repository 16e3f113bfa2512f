"""Recording what raters answer.

Rows are locked in one order, assignments before pairs and each by id, so that batches never block each other.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple, cast

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from arena.models import Assignment, Comparison, CriterionRating, Membership, Pair, Purpose, Rater
from arena.models.signals import Received, answers_received, comparison_recorded
from arena.rating import scales


class RatingError(Exception):
    """A service refused; the message is for the person who asked."""


class NotAllowedError(RatingError):
    """The rater may not rate here, or not now."""


class LeaseLostError(RatingError):
    """The assignment is answered, put aside, or was taken back."""


class NotStoredError(RatingError):
    """The answer is well-formed, but the database cannot hold it."""


class InvalidAnswerError(RatingError):
    """The answer cannot be stored; ``field`` names what is wrong with it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class AlreadyAnsweredError(RatingError):
    """The assignment has another answer already: ``comparison``."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__(f"This pair is already answered with {comparison.rating or comparison.reason}.")
        self.comparison = comparison


@dataclass(frozen=True)
class Answer:
    """What a rater says about an assignment, in presentation order.

    rating: 1..points, or None with a ``reason``. criteria: such a rating or reason by criterion. expected: a
    judge's expected rating over its tokens. scores: of a two-score judge. reasons: chosen of the study's.
    call: the model call as JSON (arena.api.schemas.CallIn).
    """

    points: int
    rating: int | None = None
    reason: str = ""
    expected: float | None = None
    scores: tuple[Decimal, Decimal] | None = None
    criteria: Mapping[str, int | str] = field(default_factory=dict)
    raw_reply: str = ""
    rationale: str = ""
    reasons: tuple[str, ...] = ()
    seconds: float | None = None
    source: str = Comparison.Source.WEB
    call: Mapping[str, Any] | None = None

    def check(self) -> None:
        """Raise InvalidAnswerError naming the field that cannot be stored."""
        try:
            scales.check_points(self.points)
        except scales.ScaleError as error:
            raise InvalidAnswerError("points", str(error)) from error
        if (self.rating is None) == (self.reason == ""):
            raise InvalidAnswerError(
                "rating", "An answer needs either a rating or the reason why it has none."
            )
        by_criterion = {f"criteria.{name}": said for name, said in self.criteria.items()}
        reasons = {name: said for name, said in by_criterion.items() if isinstance(said, str)}
        for name, reason in {"reason": self.reason or None, **reasons}.items():
            if reason is not None and reason not in Comparison.Reason.values:
                raise InvalidAnswerError(
                    name, f"{name.capitalize()} must be one of {', '.join(Comparison.Reason.values)}."
                )
        if self.seconds is not None and not 0 <= self.seconds < 1e7:
            raise InvalidAnswerError("seconds", "Seconds must lie between 0 and 10,000,000.")
        ratings: dict[str, float | None] = {
            "rating": self.rating,
            "expected": self.expected,
            **{name: said for name, said in by_criterion.items() if not isinstance(said, str)},
        }
        for name, value in ratings.items():
            if value is not None and not 1 <= value <= self.points:
                raise InvalidAnswerError(name, f"{name} is {value}; it must be between 1 and {self.points}.")


logger = logging.getLogger(__name__)

TEXTS = [f"pair__{side}__{field}" for side in ("first", "second") for field in ("turns", "extra")]
"""Columns that recording an answer does not read."""

BATCH = 1000


def write_comparisons(
    rows: Sequence[Comparison],
    *,
    criteria: Sequence[Mapping[str, int | str]] = (),
    people_ratings: Iterable[int] = (),
    judge_ratings: Iterable[int] = (),
    announce: bool = True,
) -> None:
    """Store new comparisons in the caller's transaction; nothing else creates any. Raises IntegrityError.
    - the status follows from the rating, unless the caller set IDENTICAL;
    - a revised comparison is no longer current;
    - ``criteria`` holds by criterion each row's rating, or the reason why there is none;
    - pairs in ``people_ratings`` or ``judge_ratings`` are counted up, once per mention;
    - with ``announce``, ``comparison_recorded`` is sent for each study after the commit.
    """
    for row in rows:
        if not row.status:
            row.status = Comparison.Status.UNSCORED if row.rating is None else Comparison.Status.SCORED
    revised = [row.revises_id for row in rows if row.revises_id is not None]
    for some in _batches(revised):
        Comparison.objects.filter(pk__in=some).update(is_current=False)
    _count_up(people_ratings, "people_ratings")
    _count_up(judge_ratings, "judge_ratings")
    Comparison.objects.bulk_create(rows, batch_size=BATCH)
    CriterionRating.objects.bulk_create(
        CriterionRating(
            comparison=row,
            criterion=name,
            points=row.points,
            **({"reason": said} if isinstance(said, str) else {"rating": said}),
        )
        for row, given in zip(rows, criteria, strict=bool(criteria))
        for name, said in given.items()
    )
    if announce:
        for study, newest in {row.study_id: row.pk for row in rows}.items():
            transaction.on_commit(
                partial(comparison_recorded.send, Comparison, study_id=study, comparison_id=newest)
            )


def _count_up(pairs: Iterable[int], counter: str) -> None:
    pairs_of: dict[int, list[int]] = {}
    for pair, times in Counter(pairs).items():
        pairs_of.setdefault(times, []).append(pair)
    for times, named in pairs_of.items():
        for some in _batches(named):
            Pair.objects.filter(pk__in=some).update(**{counter: F(counter) + times})


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))


class Submission(NamedTuple):
    assignment: str
    answer: Answer


def record_comparison(rater: Rater, public_id: str, answer: Answer) -> Comparison:
    """Store a rater's answer; submitted twice, it is one comparison. Raises RatingError.

    A new answer to a reopened assignment is a new row. One after the end of its lease is taken, and marked as
    late if others have given or hold all ratings wanted.
    """
    with transaction.atomic():
        outcome = _record(rater, [Submission(public_id, answer)])[0]
    if isinstance(outcome, RatingError):
        raise outcome
    return outcome


def record_comparisons(rater: Rater, submissions: Sequence[Submission]) -> list[Comparison | RatingError]:
    """Store a rater's answers in one transaction; each gives its comparison or why it was refused."""
    outcomes: dict[int, Comparison | RatingError] = {}
    for turn in _turns(submissions):
        chosen = [submissions[number] for number in turn]
        try:
            with transaction.atomic():
                found = _record(rater, chosen)
        except IntegrityError:
            found = [_record_alone(rater, each) for each in chosen]
        outcomes |= zip(turn, found, strict=True)
    return [outcomes[number] for number in range(len(submissions))]


def _turns(submissions: Sequence[Submission]) -> Iterator[list[int]]:
    """The numbers of the submissions, in turns that name no assignment twice."""
    left = list(range(len(submissions)))
    while left:
        turn = list({submissions[number].assignment: number for number in reversed(left)}.values())
        yield sorted(turn)
        left = [number for number in left if number not in turn]


def _record_alone(rater: Rater, submission: Submission) -> Comparison | RatingError:
    try:
        return record_comparison(rater, *submission)
    except RatingError as error:
        return error
    except IntegrityError:
        logger.exception("The answer to assignment %s cannot be stored", submission.assignment)
        return NotStoredError("This answer contradicts what is stored already.")


@dataclass
class _Entry:
    """An answer that is taken. comparison: None until it is stored."""

    assignment: Assignment
    answer: Answer
    earlier: Comparison | None
    comparison: Comparison | None
    finishes: bool


def _record(rater: Rater, submissions: Sequence[Submission]) -> list[Comparison | RatingError]:
    assignments = own_assignments(rater, [each.assignment for each in submissions])
    current = Comparison.objects.current().filter(assignment__in=assignments.values())
    earlier = {each.assignment_id: each for each in current}
    entries: list[_Entry | RatingError] = []
    for name, answer in submissions:
        try:
            answer.check()
            assignment = _existing(assignments.get(name))
            entries.append(_entry(assignment, answer, earlier.get(assignment.pk)))
        except RatingError as error:
            entries.append(error)
    taken = [each for each in entries if isinstance(each, _Entry)]
    new = [each for each in taken if each.comparison is None]
    _store(new)
    finish([each.assignment for each in taken if each.finishes], Assignment.State.SUBMITTED)
    _hand_on(taken)
    return [each if isinstance(each, RatingError) else _stored(each) for each in entries]


def own_assignments(rater: Rater, public_ids: Sequence[str]) -> dict[str, Assignment]:
    """The rater's own assignments by public id, locked."""
    # PostgreSQL refuses to look for a NUL.
    names = [name for name in public_ids if "\0" not in name]
    found = Assignment.objects.filter(public_id__in=names, rater=rater).order_by("pk")
    found = found.select_related("pair__first", "pair__second").prefetch_related("study").defer(*TEXTS)
    assignments = list(found.select_for_update(no_key=True, of=("self",)))
    for each in assignments:
        each.rater = rater  # read once, not with every row
    return {each.public_id: each for each in assignments}


def own_assignment(rater: Rater, public_id: str) -> Assignment:
    return _existing(own_assignments(rater, [public_id]).get(public_id))


def _existing(assignment: Assignment | None) -> Assignment:
    if assignment is None:
        raise NotAllowedError("This rater has no such assignment.")
    return assignment


def _entry(assignment: Assignment, answer: Answer, earlier: Comparison | None) -> _Entry:
    reopened = assignment.state == Assignment.State.CLAIMED
    if earlier and not reopened:
        # What a person wrote in another tab beside the same rating must not be dropped without a word.
        is_person = assignment.rater.kind == Rater.Kind.PERSON
        if not _same(earlier, answer) or (is_person and not _same_remarks(earlier, answer)):
            raise AlreadyAnsweredError(earlier)
        return _Entry(assignment, answer, earlier, earlier, finishes=False)
    _refuse_unwanted(assignment, answer)
    if earlier and _same(earlier, answer) and _same_remarks(earlier, answer):
        return _Entry(assignment, answer, earlier, earlier, finishes=True)
    return _Entry(assignment, answer, earlier, None, finishes=True)


def _same(comparison: Comparison, answer: Answer) -> bool:
    return (comparison.rating, comparison.reason, comparison.points) == (
        answer.rating,
        answer.reason,
        answer.points,
    )


def _same_remarks(comparison: Comparison, answer: Answer) -> bool:
    criteria = {each.criterion: each.said for each in comparison.criterion_ratings.all()}
    return (comparison.rationale, comparison.reasons, criteria) == (
        answer.rationale,
        _reasons(answer),
        dict(answer.criteria),
    )


def _reasons(answer: Answer) -> list[str]:
    return list(dict.fromkeys(answer.reasons))


def _refuse_unwanted(assignment: Assignment, answer: Answer) -> None:
    study = assignment.study
    if study.is_closed:
        raise NotAllowedError("This study was closed before your rating arrived; it was not stored.")
    if assignment.rater.kind == Rater.Kind.PERSON and answer.points != study.points:
        raise InvalidAnswerError("points", f"This study rates on {study.points} points, not {answer.points}.")
    if assignment.pair_id is None:
        raise InvalidAnswerError("assignment", "This assignment is not a comparison.")
    unknown = sorted(set(answer.criteria) - set(study.criteria))
    if unknown:
        raise InvalidAnswerError(f"criteria.{unknown[0]}", f"This study has no criterion {unknown[0]}.")
    strange = [reason for reason in answer.reasons if reason not in study.reasons]
    if strange:
        offered = ", ".join(f"“{reason}”" for reason in study.reasons) or "none"
        raise InvalidAnswerError(
            "reasons", f"This study does not offer the reason “{strange[0]}”. It offers: {offered}."
        )


def _store(entries: Sequence[_Entry]) -> None:
    if not entries:
        return
    new = [each for each in entries if not each.earlier]
    locked = Pair.objects.filter(pk__in={_pair_of(each.assignment) for each in new}).order_by("pk")
    ratings = dict(locked.select_for_update(no_key=True).values_list("pk", "people_ratings"))
    is_person = entries[0].assignment.rater.kind == Rater.Kind.PERSON
    late = _late(new, ratings) if is_person else set()
    rows = [_row(each, late) for each in entries]
    write_comparisons(
        rows,
        criteria=[each.answer.criteria for each in entries],
        people_ratings=[_pair_of(each.assignment) for each in _counted(new)] if is_person else (),
        judge_ratings=() if is_person else [_pair_of(each.assignment) for each in new],
    )
    for each, comparison in zip(entries, rows, strict=True):
        each.comparison = comparison


def _counted(entries: Sequence[_Entry]) -> list[_Entry]:
    """The answers of a person that count as ratings wanted."""
    given = [each for each in entries if each.assignment.purpose == Purpose.STUDY]
    if not given:
        return []
    out = Membership.objects.filter(rater=given[0].assignment.rater_id, left_out_at__isnull=False)
    left_out = set(out.values_list("study", flat=True))
    return [each for each in given if each.assignment.study_id not in left_out]


def _late(entries: Sequence[_Entry], ratings: Mapping[int, int]) -> set[int]:
    """The assignments whose place was given up, by a lapsed lease or a skip, and then taken by others.

    To be called with the pairs locked.
    """
    now = timezone.now()
    late: set[int] = set()
    for assignment in (each.assignment for each in entries if _gave_up_place(each.assignment, now)):
        pair = _pair_of(assignment)
        claims = Assignment.objects.live(now).unanswered().filter(pair=pair, purpose=Purpose.STUDY)
        by_others = claims.filter(rater__kind=Rater.Kind.PERSON).exclude(pk=assignment.pk).count()
        if ratings[pair] + by_others >= assignment.study.ratings_per_pair_people:
            late.add(assignment.pk)
    return late


def _gave_up_place(assignment: Assignment, now: datetime) -> bool:
    if assignment.purpose != Purpose.STUDY:
        return False
    held = assignment.state == Assignment.State.CLAIMED and assignment.finished_at is None
    return not held or assignment.leased_until is None or assignment.leased_until <= now


def _pair_of(assignment: Assignment) -> int:
    assert assignment.pair_id is not None  # noqa: S101 - held by _refuse_unwanted
    return assignment.pair_id


def _row(entry: _Entry, late: Set[int]) -> Comparison:
    assignment, answer = entry.assignment, entry.answer
    first_score, second_score = map(float, answer.scores) if answer.scores else (None, None)
    return Comparison(
        study_id=assignment.study_id,
        assignment=assignment,
        pair_id=_pair_of(assignment),
        rater_id=assignment.rater_id,
        swapped=assignment.swapped,
        repeat=assignment.repeat,
        points=answer.points,
        status=Comparison.Status.IDENTICAL if _is_control(assignment) else "",
        rating=answer.rating,
        reason=answer.reason,
        first_score=first_score,
        second_score=second_score,
        expected=answer.expected,
        raw_reply=answer.raw_reply,
        rationale=answer.rationale,
        reasons=_reasons(answer),
        purpose=assignment.purpose,
        is_late=assignment.pk in late or (entry.earlier is not None and entry.earlier.is_late),
        seconds=answer.seconds,
        source=answer.source,
        revises=entry.earlier,
    )


def _is_control(assignment: Assignment) -> bool:
    """Whether the answer is a control of a judge, about two equal texts."""
    return assignment.rater.kind == Rater.Kind.JUDGE and bool(
        assignment.pair and assignment.pair.is_identical
    )


def _stored(entry: _Entry) -> Comparison:
    assert entry.comparison is not None  # noqa: S101 - _store was here
    return entry.comparison


def finish(assignments: Sequence[Assignment], state: Assignment.State, reason: str = "") -> None:
    if not assignments:
        return
    now = timezone.now()
    for each in assignments:
        each.state, each.skip_reason, each.finished_at = state, reason, now
    rows = Assignment.objects.filter(pk__in=[each.pk for each in assignments])
    rows.update(state=state, skip_reason=reason, finished_at=now)


def _hand_on(entries: Sequence[_Entry]) -> None:
    """Send ``answers_received``; a call that no receiver keeps stays with its comparison."""
    if not entries:
        return
    received = [Received(each.assignment, _stored(each), each.answer.call) for each in entries]
    replies = answers_received.send(sender=Comparison, answers=received)
    kept: set[int] = {assignment for _, some in replies for assignment in cast("set[int]", some or set())}
    left = [
        each
        for each in received
        if each.call is not None and each.assignment.pk not in kept and "call" not in each.comparison.extra
    ]
    for each in left:
        each.comparison.extra = {**each.comparison.extra, "call": dict(each.call or {})}
    Comparison.objects.bulk_update([each.comparison for each in left], ["extra"])
