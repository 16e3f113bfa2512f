"""What imported raters have said already, small enough to hold millions of comparisons in memory."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from arena.models import Comparison, Study
from arena.transfer.completions import Owner

Matchup: TypeAlias = tuple[int, Owner, Owner]
"""Prompt, owner of what is shown first, owner of the other: a pair in its order, of whatever version."""


class Verdict(NamedTuple):
    """What a comparison says."""

    points: int
    rating: int | None
    reason: str

    def __str__(self) -> str:
        return f"{self.rating} of {self.points}" if self.rating is not None else self.reason


class Stored(NamedTuple):
    """A stored comparison that has an id from its file."""

    pk: int
    matchup: Matchup
    verdict: Verdict


def _matchup(
    prompt: int, first: int | None, first_id: str, second: int | None, second_id: str, swapped: bool
) -> Matchup:
    """From the columns _MATCHUP; completions without a contestant are known by their own ids."""
    one: Owner = first_id if first is None else first
    two: Owner = second_id if second is None else second
    return (prompt, two, one) if swapped else (prompt, one, two)


_MATCHUP = (
    "pair__prompt",
    "pair__first__contestant",
    "pair__first__external_id",
    "pair__second__contestant",
    "pair__second__external_id",
    "swapped",
)
_VERDICT = ("points", "rating", "reason")


class Said:
    """Verdicts by rater, matchup and repeat. Small numbers stand for matchups, equal verdicts are shared."""

    def __init__(self, study: Study) -> None:
        self._rows = Comparison.objects.current().filter(study=study, rater__study=study).order_by()
        self._numbers: dict[Matchup, int] = {}
        self._shared: dict[Verdict, Verdict] = {}
        self._next: Counter[tuple[int, int]] = Counter()
        self._loaded = False
        self._said: dict[int, dict[tuple[int, int], Verdict]] = {}

    def number(self, matchup: Matchup) -> int:
        """A small number for a matchup."""
        return self._numbers.setdefault(matchup, len(self._numbers))

    def get(self, rater: int, matchup: Matchup, repeat: int) -> Verdict | None:
        """What this rater said about this matchup at this repeat."""
        return self._of(rater).get((self.number(matchup), repeat))

    def add(self, rater: int, matchup: Matchup, repeat: int, verdict: Verdict) -> None:
        shared = self._shared.setdefault(verdict, verdict)
        self._of(rater)[self.number(matchup), repeat] = shared

    def free_repeat(self, rater: int, matchup: Matchup) -> int:
        """The smallest repeat number that is not taken; never given out twice."""
        number = self.number(matchup)
        said = self._of(rater)
        repeat = self._next[rater, number]
        while (number, repeat) in said:
            repeat += 1
        self._next[rater, number] = repeat + 1
        return repeat

    def with_ids(self, ids: Iterable[str]) -> dict[tuple[int, str], Stored]:
        """The stored comparisons with these ids, by rater and id."""
        rows = self._rows.filter(external_id__in=ids)
        columns = rows.values_list("rater", "external_id", "pk", *_MATCHUP, *_VERDICT)
        return {
            (row[0], row[1]): Stored(row[2], _matchup(*row[3:9]), Verdict._make(row[9:])) for row in columns
        }

    def _of(self, rater: int) -> dict[tuple[int, int], Verdict]:
        if not self._loaded:
            self._loaded = True
            columns = self._rows.values_list("rater", "repeat", *_MATCHUP, *_VERDICT)
            for row in columns.iterator(chunk_size=5000):
                self.add(row[0], _matchup(*row[2:8]), row[1], Verdict._make(row[8:]))
        return self._said.setdefault(rater, {})
