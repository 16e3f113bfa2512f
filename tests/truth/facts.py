"""What is so in a small study, counted from its rows in the plainest way."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Final

import numpy as np

from arena.models import Answer, Comparison, Score
from tests.truth.studies import Made

RELATED: Final = ("rater", "assignment", "pair__first__contestant", "pair__second__contestant")


@dataclass(frozen=True)
class Facts:
    made: Made

    @cached_property
    def rows(self) -> list[Comparison]:
        return list(
            self.made.study.comparisons.select_related(
                "rater", "assignment", "pair__first__contestant", "pair__second__contestant"
            )
        )

    @cached_property
    def counted(self) -> list[Comparison]:
        """Those that numbers may count: in an open study that others see, what was published."""
        small = self.made.small
        if small.state in ("closed", "open and private"):
            return self.rows
        return [row for row in self.rows if not row.assignment or row.assignment.published_in]

    def by(self, kind: str) -> list[Comparison]:
        return [row for row in self.counted if row.rater.kind == kind]

    def of(self, raters: str, waiting: bool = False) -> list[Comparison]:
        """The counted ratings of people, or of the judge that an address names; or those that wait, too."""
        rows = self.rows if waiting else self.counted
        if raters == "people":
            return [row for row in rows if row.rater.kind == "person"]
        return [row for row in rows if f"judge:{row.rater.slug}" == raters]

    @staticmethod
    def results(rows: list[Comparison], ties: bool) -> dict[str, Counter[str]]:
        """How often each model won, tied and lost."""
        found = defaultdict[str, Counter[str]](Counter)
        for row in rows:
            side = side_of(row, ties)
            if side is None:
                continue
            shown = [row.pair.first.contestant.name, row.pair.second.contestant.name]
            one, other = reversed(shown) if row.swapped else shown
            found[one]["won" if side > 0 else "lost" if side < 0 else "tied"] += 1
            found[other]["lost" if side > 0 else "won" if side < 0 else "tied"] += 1
        return dict(found)

    @property
    def pairs_by_two_people(self) -> int:
        """Pairs that two people or more rated, waiting or not."""
        raters = defaultdict[int, set[int]](set)
        for row in self.rows:
            if row.rater.kind == "person" and row.rating is not None:
                raters[row.pair_id].add(row.rater_id)
        return sum(len(each) > 1 for each in raters.values())

    @cached_property
    def models_rated(self) -> tuple[int, int]:
        """How many models somebody was asked about, and of how many a rating could be read."""
        every, read = ({each for row in self.counted for each in self._models(row)}, set[int | None]())
        for row in self.counted:
            read |= set(self._models(row)) if row.rating is not None else set()
        return len(every), len(read)

    @staticmethod
    def _models(row: Comparison) -> tuple[int | None, int | None]:
        return row.pair.first.contestant_id, row.pair.second.contestant_id

    @cached_property
    def prompts_rated(self) -> int:
        return len({row.pair.prompt_id for row in self.counted})

    @cached_property
    def judges(self) -> list[str]:
        """The names of judges that rated, readable or not."""
        return sorted({row.rater.name for row in self.by("judge")})

    @cached_property
    def judges_with_sides(self) -> list[str]:
        """Those of whom something could be read."""
        return sorted({row.rater.name for row in self.by("judge") if row.rating is not None})

    @cached_property
    def people(self) -> list[str]:
        return sorted({row.rater.name for row in self.by("person")})

    def pearson(self, judge: str) -> float | None:
        """Pearson r with the mean of people over the pairs both rated, each with its mirror image."""
        own, people = defaultdict[int, list[float]](list), defaultdict[int, list[float]](list)
        for row in self.counted:
            if row.rating is not None:
                side = (1 if row.swapped else -1) * (row.rating - (1 + row.points) / 2)
                if row.rater.name == judge:
                    own[row.pair_id].append(side)
                elif row.rater.kind == "person":
                    people[row.pair_id].append(side)
        both = sorted(own.keys() & people.keys())
        one, other = ([fmean(each[pair]) for pair in both] for each in (own, people))
        spread = float(np.sqrt(np.dot(one, one) * np.dot(other, other)))
        return float(np.dot(one, other)) / spread if spread > 1e-9 else None

    @cached_property
    def scores(self) -> int:
        return Score.objects.filter(study=self.made.study).count()

    @cached_property
    def checks(self) -> int:
        return Answer.objects.filter(study=self.made.study).count()


def side_of(row: Comparison, ties: bool) -> int | None:
    """1 for the answer shown first, -1 for the second, 0 for a tie; None where the rating has no side."""
    if row.rating is None:
        return None
    double = 2 * row.rating - (1 + row.points)
    is_tie = double == 0 or (row.points == 8 and abs(double) == 1)
    if is_tie and (ties or double == 0):
        return 0 if ties else None
    return 1 if double < 0 else -1
