"""Which answers published numbers may count while a study takes ratings.

An answer counts together with others, so that no number tells of one alone, and from then on a person cannot
change it: whatever may still be changed has moved no number that raters can see.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Case, F, Q, When

from arena.models import Assignment, Rater, Role, Study
from arena.models.querysets import left_out_raters
from arena.models.signals import answer_shown
from arena.rating.recorders import batches

LEAST_ANSWERS: Final = 10
LEAST_RATERS: Final = 3
"""New answers in a cell until they count, and by how many people. A cell is the smallest part of a study of
which a page shows numbers; each judge has its own.
"""
IN_GROUPS: Final = (
    f"While the study is open, new ratings of a category count in groups of at least {LEAST_ANSWERS}, by at "
    f"least {LEAST_RATERS} people (none of whom gave more than half) or by one judge."
)

Due = Mapping[int, datetime]
"""By assignment when its answer was given."""


@dataclass(frozen=True)
class Held:
    """How many answers wait until there are enough in their cell; those of people, and of how many."""

    answers: int = 0
    by_people: int = 0
    people: int = 0

    def __str__(self) -> str:
        judges = self.answers - self.by_people
        people = "1 person" if self.people == 1 else f"{self.people:,} people"
        by = (
            f"{self.by_people:,} by {people}" * bool(self.by_people),
            f"{judges:,} by judges" * bool(judges),
        )
        return " and ".join(filter(None, by))

    @property
    def helps(self) -> str:
        """Return what makes those of people count before the study is closed, as a sentence."""
        if not self.by_people:
            return "More ratings by the same judge help"
        missing = LEAST_RATERS - self.people
        if missing > 0:
            return "A third person helps" if missing == 1 else f"{missing} more people help"
        return "More ratings of the same category by several people help"


class ReopenedError(Exception):
    """An answer that was about to count is being changed."""


def holds_back(study: Study) -> bool:
    """Return True if others than operators see the numbers of a study that takes ratings."""
    if study.is_closed:
        return False
    return study.is_public or study.memberships.filter(role=Role.VIEWER).exists()


def in_groups(study: Study) -> str:
    """How new ratings come to count where others see the numbers of a study that takes them; else empty."""
    return IN_GROUPS if holds_back(study) else ""


def held_back(number: int | None = None) -> Q:
    """The opinions that wait to count; with ``number`` those that did not count by then."""
    late = Q(assignment__published_in=None)
    if number is not None:
        late |= Q(assignment__published_in__gt=number)
    return late & Q(assignment__isnull=False)


def may_count(study: Study) -> Q:
    """The opinions that numbers may count which are made whenever somebody looks."""
    return ~held_back() if holds_back(study) else Q()


def stays(answer: Assignment) -> bool:
    """Return True if others than operators see numbers that count a person's answer: it then stays.

    So they do at once when a study becomes public, or opens again, until the next numbers are made.
    """
    if answer.rater.kind == Rater.Kind.JUDGE:
        return False
    if answer.published_in is not None:
        return True
    return holds_back(answer.study) and any(
        shown for _, shown in answer_shown.send(Assignment, assignment=answer)
    )


def divided(study: Study, seen: datetime | None = None, by: Rater | None = None) -> tuple[Due, int]:
    """The answers that wait and may count now, and how many wait on until there are enough in their cell.

    Those given until ``seen`` were shown alone already. Of one judge with ``by``.
    """
    found: dict[int, datetime] = {}
    number = 0
    for (judge, *_), cell in _cells(study, by).items():
        enough = _is_due(judge, cell)
        found |= {pk: given for pk, _, given in cell if enough or (seen and given <= seen)}
        number += len(cell)
    return found, number - len(found)


def due(study: Study) -> Due:
    """The answers that wait and may count now."""
    return divided(study)[0]


def held(study: Study, judge: Rater | None = None) -> Held:
    """Return what waits on, of all or of one judge, while others see the numbers of the study."""
    if not holds_back(study):
        return Held()
    cells = _cells(study, judge)
    on = [(of, cell) for (of, *_), cell in cells.items() if not _is_due(of, cell)]
    by_people = [rater for of, cell in on if of is None for _, rater, _ in cell]
    return Held(sum(len(cell) for _, cell in on), len(by_people), len(set(by_people)))


def waiting(study: Study, judge: Rater | None = None) -> str:
    """How many answers, of all or of one judge, wait to count on the leaderboard, for what, and what helps.

    Empty where none waits.
    """
    found = held(study, judge)
    if not found.answers:
        return ""
    return (
        f"Waiting to count on the leaderboard: {found}. {IN_GROUPS} So the leaderboard reveals no single "
        f"rating. {found.helps}; closing the study counts the rest."
    )


def no_people_yet(study: Study, what: str = "rating by people") -> str:
    """Sentences for readers of numbers that count nothing of a kind yet; empty where nothing would wait.

    They are the same however many wait: a public page tells nothing of ratings that it does not count.
    """
    if not holds_back(study):
        return ""
    return f"No {what} counts yet. {IN_GROUPS} More people who rate help; closing the study counts the rest."


_Cell = list[tuple[int, int, datetime]]
"""Assignment, rater and time of each answer."""


def is_enough(cell: _Cell) -> bool:
    """Return True if these answers tell nothing about one: there are enough, and nobody gave most."""
    by_rater = Counter(rater for _, rater, _ in cell)
    return (
        len(cell) >= LEAST_ANSWERS
        and len(by_rater) >= LEAST_RATERS
        and 2 * max(by_rater.values()) <= len(cell)
    )


def _is_due(judge: Hashable, cell: _Cell) -> bool:
    return len(cell) >= LEAST_ANSWERS if judge else is_enough(cell)


def _cells(study: Study, by: Rater | None) -> dict[tuple[Hashable, ...], _Cell]:
    """The answers that wait, by what an address can choose them by: the judge first, None for people."""
    waiting = Assignment.objects.filter(study=study, state=Assignment.State.SUBMITTED, published_in=None)
    if by:
        waiting = waiting.filter(rater=by)
    found = waiting.order_by("pk").annotate(
        judge=Case(When(rater__kind=Rater.Kind.JUDGE, then=F("rater"))),
    )
    about = [f"{of}__prompt__{field}" for of in ("pair", "completion") for field in ("category", "subset")]
    fields = ("pk", "rater", "finished_at", "judge", "kind", "purpose", "is_random", *about)
    rows: list[tuple[Any, ...]] = list(
        found.exclude(rater__in=left_out_raters(study)).exclude(finished_at=None).values_list(*fields)
    )
    groups = defaultdict(set)
    members = Rater.groups.through.objects.filter(rater__in={row[1] for row in rows})
    for rater, group in members.values_list("rater", "ratergroup"):
        groups[rater].add(group)
    cells: dict[tuple[Hashable, ...], _Cell] = defaultdict(list)
    for pk, rater, given, *cell in rows:
        cells[*cell, frozenset(groups[rater])].append((pk, rater, given))
    return cells


def publish(answers: Due, number: int) -> None:
    """Note in the caller's transaction that these answers count from the state of this number on.

    Raises ReopenedError if one was changed or reopened since it was found due.
    """
    for some in batches(sorted(answers)):
        rows = Assignment.objects.filter(pk__in=some, state=Assignment.State.SUBMITTED, published_in=None)
        # Undoing waits for this lock, and then finds the answer published.
        locked = rows.order_by("pk").select_for_update(no_key=True).values_list("pk", "finished_at")
        if dict(locked) != {pk: answers[pk] for pk in some}:
            raise ReopenedError
        Assignment.objects.filter(pk__in=some).update(published_in=number)
