"""What storing an opinion takes, whatever its kind: see arena.rating.recording for the way there."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

from django.utils import timezone

from arena.models import Answer, Assignment, Comparison, Membership, Purpose, Rater, Score
from arena.models.comparisons import Opinion
from arena.rating.opinions import Said

BATCH = 1000

Stored = Comparison | Score | list[Answer]
"""What an assignment ends in: a comparison, a score, or an answer to each question."""

SaidT = TypeVar("SaidT", bound=Said)
StoredT = TypeVar("StoredT", Comparison, Score, list[Answer])


@dataclass
class Entry(Generic[SaidT, StoredT]):
    """An opinion that is taken. stored: None until it is."""

    assignment: Assignment
    said: SaidT
    earlier: StoredT | None
    stored: StoredT | None
    finishes: bool


class Recorder(ABC, Generic[SaidT, StoredT]):
    """How opinions of one kind are compared with earlier ones, refused and stored."""

    kind: ClassVar[Assignment.Kind]
    said: type[SaidT]

    @abstractmethod
    def earlier(self, assignments: Iterable[Assignment]) -> dict[int, StoredT]:
        """What is stored and current, by assignment."""

    @abstractmethod
    def is_same(self, earlier: StoredT, said: SaidT) -> bool:
        """Whether the verdict is the same."""

    @abstractmethod
    def has_same_remarks(self, earlier: StoredT, said: SaidT) -> bool:
        """Whether the comments are the same too."""

    @abstractmethod
    def in_words(self, earlier: StoredT) -> str:
        """A sentence that says what is stored, for somebody whose other answer is refused."""

    @abstractmethod
    def refuse(self, assignment: Assignment, said: SaidT) -> None:
        """Raise InvalidAnswerError if this is no opinion about this assignment."""

    @abstractmethod
    def store(self, entries: Sequence[Entry[SaidT, StoredT]]) -> None:
        """Store entries of one rater that are new or revise what was said before."""


def common_fields(entry: Entry[Any, Any], late: Iterable[int]) -> dict[str, Any]:
    """The fields of a row that all kinds share, but for the verdict and what it revises."""
    assignment, said = entry.assignment, entry.said
    return {
        "study_id": assignment.study_id,
        "assignment": assignment,
        "rater_id": assignment.rater_id,
        "repeat": assignment.repeat,
        "purpose": assignment.purpose,
        "is_late": assignment.pk in late,
        "source": said.source,
    }


def retire(model: type[Opinion], rows: Sequence[Opinion]) -> None:
    """What new rows revise is no longer current."""
    revised = [row.revises_id for row in rows if row.revises_id is not None]  # type: ignore[attr-defined]
    for some in batches(revised):
        model._default_manager.filter(pk__in=some).update(is_current=False)


def batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))


def is_person(entries: Sequence[Entry[Any, Any]]) -> bool:
    return entries[0].assignment.rater.kind == Rater.Kind.PERSON


def counted(entries: Sequence[Entry[Any, Any]]) -> list[Entry[Any, Any]]:
    """The opinions of a person that count as wanted."""
    given = [each for each in entries if each.assignment.purpose == Purpose.STUDY]
    if not given:
        return []
    out = Membership.objects.filter(rater=given[0].assignment.rater_id, left_out_at__isnull=False)
    left_out = set(out.values_list("study", flat=True))
    return [each for each in given if each.assignment.study_id not in left_out]


def late(entries: Sequence[Entry[Any, Any]], given: Mapping[int, int]) -> set[int]:
    """The assignments whose place was given up, by a lapsed lease or a skip, and then taken by others.

    given: how many opinions of people each pair or completion has. To be called with those rows locked.
    """
    now = timezone.now()
    found: set[int] = set()
    for assignment in (each.assignment for each in entries if _gave_up_place(each.assignment, now)):
        same = {"pair": assignment.pair_id, "completion": assignment.completion_id, "kind": assignment.kind}
        claims = Assignment.objects.live(now).unanswered().filter(**same, purpose=Purpose.STUDY)
        by_others = claims.filter(rater__kind=Rater.Kind.PERSON).exclude(pk=assignment.pk).count()
        if given[target(assignment)] + by_others >= assignment.study.ratings_per_pair_people:
            found.add(assignment.pk)
    return found


def _gave_up_place(assignment: Assignment, now: datetime) -> bool:
    if assignment.purpose != Purpose.STUDY:
        return False
    held = assignment.state == Assignment.State.CLAIMED and assignment.finished_at is None
    return not held or assignment.leased_until is None or assignment.leased_until <= now


def target(assignment: Assignment) -> int:
    """The pair or the completion that it is about."""
    found = assignment.pair_id or assignment.completion_id
    assert found is not None  # noqa: S101 - held by a constraint
    return found
