"""What storing an opinion takes, whatever its kind: see arena.rating.recording for the way there."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

from django.utils import timezone

from arena.models import Answer, Assignment, Comparison, Purpose, Rater, Score
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
    def other_remarks(self, earlier: StoredT, said: SaidT) -> list[str]:
        """What differs beside the verdict, such as "another comment"."""

    @abstractmethod
    def in_words(self, earlier: StoredT) -> str:
        """What is stored, for somebody whose other answer is refused: a sentence without its full stop."""

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
    return [each for each in given if not each.assignment.is_left_out]  # type: ignore[attr-defined]


def gave_up_place(entries: Sequence[Entry[Any, Any]]) -> list[Assignment]:
    """The assignments whose place was given up, by a lapsed lease or a skip."""
    now = timezone.now()
    return [each.assignment for each in entries if not _holds_place(each.assignment, now)]


def _holds_place(assignment: Assignment, now: datetime) -> bool:
    if assignment.purpose != Purpose.STUDY:
        return True  # there is none to hold
    held = assignment.state == Assignment.State.CLAIMED and assignment.finished_at is None
    return held and assignment.leased_until is not None and assignment.leased_until > now


def late(given_up: Iterable[Assignment], given: Mapping[int, int]) -> set[int]:
    """Those of these assignments whose place was taken by others.

    given: how many opinions of people each pair or completion has. To be called with those rows locked.
    """
    found: set[int] = set()
    for assignment in given_up:
        same = {"pair": assignment.pair_id, "completion": assignment.completion_id, "kind": assignment.kind}
        claims = Assignment.objects.holding().filter(**same, purpose=Purpose.STUDY)
        by_others = claims.filter(rater__kind=Rater.Kind.PERSON).exclude(pk=assignment.pk).count()
        if given[target(assignment)] + by_others >= assignment.study.ratings_per_pair_people:
            found.add(assignment.pk)
    return found


def target(assignment: Assignment) -> int:
    """The pair or the completion that it is about."""
    found = assignment.pair_id or assignment.completion_id
    assert found is not None  # noqa: S101 - held by a constraint
    return found
