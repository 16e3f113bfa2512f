"""What a judge is to rate: how a plan is ordered and described, of pairs and of single answers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar

from django.db.models import F, Model, QuerySet

from arena.models import Assignment, Rater, Study

WAITING: Final = ("open", "failed", "expired")  # states in which an assignment is planned again, not anew

Row = TypeVar("Row", bound=Model)

UNSCORED: Final = "unscored"  # outcome of what was answered without a verdict


class Which(StrEnum):
    """Which of a judge's pairs or answers to plan."""

    ALL = "all"  # all that it has not answered
    EXTEND = "extend"  # those it was never asked about
    FAILURES = "failures"  # what it was asked, or was to be asked, without an answer
    UNSCORED = "unscored"  # what it answered without a rating; of requirements, without one to each


@dataclass(frozen=True)
class Wanted:
    """At most ``limit`` pairs or answers, of those in ``among`` if it is given, by their completions.

    With a ``contestant`` (id) only those with an answer of it. With ``controls`` identical completions are
    asked about too. Only comparisons have orders and controls.
    """

    which: Which = Which.ALL
    limit: int | None = None
    both_orders: bool = False
    controls: bool = False
    kind: str = Assignment.Kind.COMPARE
    among: frozenset[tuple[int, ...]] | None = None
    contestant: int | None = None

    @property
    def about(self) -> tuple[str, ...]:
        """The columns of an opinion that lead to its completions."""
        return ("pair__first", "pair__second") if self.kind == Assignment.Kind.COMPARE else ("completion",)

    def of_study(self, rows: QuerySet[Row], study: Study, path: str, *about: str) -> QuerySet[Row]:
        """The rows of a study, found by ``path``, or of them those about what is in ``among``.

        ``about`` names the columns of their completions.
        """
        if self.among is None:
            return rows.filter(**{path: study})
        # By the study SQLite would read all of it.
        shown = {pk for both in self.among for pk in both}
        return rows.filter(**{f"{column}__in": shown for column in about})

    def of_rater(self, rows: QuerySet[Row], study: Study, rater: Rater, *about: str) -> QuerySet[Row]:
        if self.among is None:
            return rows.filter(study=study, rater=rater)
        # A sum, because by the rater SQLite would read all that a judge has done.
        return self.of_study(rows, study, "study", *about).filter(rater=F("rater") * 0 + rater.pk)


EVERYTHING: Final = Wanted()


@dataclass(frozen=True)
class Showing:
    """A pair in one order, or an answer, with one repeat number; the id of its assignment, if any."""

    swapped: bool
    repeat: int
    seed: int
    assignment: int | None = None


@dataclass(frozen=True)
class Target:
    """A pair, or one of its turns, or an answer to rate. row: the id of its row, None if there is none yet.

    people, judges: the ratings that it has. asked: False if it is only recorded as identical.
    """

    prompt: int
    completions: tuple[int, ...]
    row: int | None
    people: int
    judges: int
    identical: bool = False
    turn: int = 0
    showings: tuple[Showing, ...] = ()
    asked: bool = True


@dataclass(frozen=True)
class Plan:
    """How much a run would ask, and how many assignments it would only record as identical."""

    pairs: int  # or answers
    assignments: int
    identical: int = 0


@dataclass(frozen=True)
class Planned:
    """Ids of the open assignments in the order of asking, and how many were recorded as identical."""

    assignments: list[int]
    identical: int
