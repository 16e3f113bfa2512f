"""What imported raters have said already, small enough to hold millions of comparisons in memory."""

from collections.abc import Collection
from typing import Final, NamedTuple, TypeAlias

from django.db import connection

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
        return f"{self.rating} of {self.points}" if self.rating is not None else self.reason or "identical"


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


_BITS: Final = 24
"""Room for one number in a key: sixteen million raters, prompts or owners."""


class Said:
    """Verdicts by rater, matchup and repeat.

    A key is one number made of small numbers that stand for rater, prompt and owners, and equal verdicts are
    shared: a comparison then takes about a hundred bytes.
    """

    def __init__(self, study: Study) -> None:
        self._rows = Comparison.objects.current().filter(study=study, rater__study=study).order_by()
        self._study = study.pk
        self._numbers: dict[Owner, int] = {}
        self._shared: dict[Verdict, Verdict] = {}
        self._next: dict[int, int] = {}
        self._loaded = False
        self._said: dict[int, Verdict] = {}

    def key(self, rater: int, matchup: Matchup) -> int:
        """What stands for this rater and this matchup."""
        key = 0
        for part in (rater, *matchup):
            key = key << _BITS | self._numbers.setdefault(part, len(self._numbers) + 1)
        return key

    def get(self, key: int, repeat: int) -> Verdict | None:
        """What this rater said about this matchup at this repeat."""
        return self._all().get(_at(key, repeat))

    def add(self, key: int, repeat: int, verdict: Verdict) -> None:
        self._all()[_at(key, repeat)] = self._shared.setdefault(verdict, verdict)

    def free_repeat(self, key: int) -> int:
        """The smallest repeat number that is not taken."""
        said = self._all()
        repeat = self._next.get(key, 0)
        while _at(key, repeat) in said:
            repeat += 1
        if repeat:
            self._next[key] = repeat
        return repeat

    def with_ids(self, ids: Collection[tuple[int, str]]) -> dict[tuple[int, str], Stored]:
        """The stored comparisons with these ids, by rater and id."""
        found = self._rows.filter(pk__in=self._named(ids)) if ids else self._rows.none()
        columns = found.values_list("rater", "external_id", "pk", *_MATCHUP, *_VERDICT)
        return {
            (row[0], row[1]): Stored(row[2], _matchup(*row[3:9]), Verdict._make(row[9:])) for row in columns
        }

    def _named(self, ids: Collection[tuple[int, str]]) -> list[int]:
        """The comparisons with these raters and ids; the condition is that of comparison_external_id_unique.

        In SQL, because only a join whose order is fixed makes SQLite use that index. Any other way it reads
        all comparisons of the study, for every chunk of an import.
        """
        wanted = ", ".join(["(%s, %s)"] * len(ids))
        with connection.cursor() as cursor:
            cursor.execute(
                f"""
                WITH wanted (rater, external_id) AS (VALUES {wanted})
                SELECT c.id FROM wanted CROSS JOIN arena_comparison c
                WHERE c.study_id = %s AND c.rater_id = wanted.rater AND c.external_id = wanted.external_id
                  AND c.is_current AND NOT (c.external_id = '')
                """,  # noqa: S608 - place holders only
                [*(value for pair in ids for value in pair), self._study],
            )
            return [row[0] for row in cursor.fetchall()]

    def _all(self) -> dict[int, Verdict]:
        if not self._loaded:
            self._loaded = True
            columns = self._rows.values_list("rater", "repeat", *_MATCHUP, *_VERDICT)
            for row in columns.iterator(chunk_size=5000):
                self.add(self.key(row[0], _matchup(*row[2:8])), row[1], Verdict._make(row[8:]))
        return self._said


def _at(key: int, repeat: int) -> int:
    """The key of one repeat; that of the first is the key itself, which saves memory."""
    return repeat << 4 * _BITS | key if repeat else key
