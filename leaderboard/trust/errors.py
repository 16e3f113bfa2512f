"""What every judge said about the pairs with a right answer, and who was wrong where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from arena.models import Study
from leaderboard.models import Snapshot
from leaderboard.snapshots.reading import Choice, Opinions, opinions_of
from leaderboard.stats.checks import BoolArray, FloatArray, IntArray
from leaderboard.stats.gold import Judged
from leaderboard.stats.sides import NOT_ASKED, UNSCORED, is_scored
from leaderboard.trust.reading import Gold, Instances, instances, judges_of, verdicts_of

IN_MEMORY: Final = 4
"""Results that a process keeps; one of 24 judges on 1,000 pairs takes about a megabyte."""

ORDERS: Final = ("one", "both", "unscored")


@dataclass(frozen=True, eq=False)
class Errors:
    """``said`` by judge, order (as stored, then swapped) and instance. A tie beside a side is wrong."""

    instances: Instances
    choices: tuple[Choice, ...]
    said: IntArray = field(repr=False)

    @cached_property
    def slugs(self) -> tuple[str, ...]:
        return tuple(choice.selector.partition(":")[2] for choice in self.choices)

    def within(self, subset: str) -> BoolArray:
        """Which instances are of a subset; all where it is empty."""
        own = self.instances
        return np.asarray(own.subset == own.subsets.index(subset) if subset else own.subset >= 0)

    def subset(self, place: int) -> str:
        """Of an instance; empty where all are of one."""
        own = self.instances
        return own.subsets[own.subset[place]] if len(own.subsets) > 1 else ""

    @cached_property
    def asked(self) -> BoolArray:
        """(judges, instances): in any order."""
        return np.asarray((self.said != NOT_ASKED).any(axis=1))

    @cached_property
    def right(self) -> BoolArray:
        """(judges, instances): in each order asked."""
        fits = (self.said == self.instances.gold) | (self.said == NOT_ASKED)
        return np.asarray(fits.all(axis=1) & self.asked)

    @cached_property
    def wrong(self) -> IntArray:
        """(judges, instances): in how many orders."""
        return np.asarray((is_scored(self.said) & (self.said != self.instances.gold)).sum(axis=1))

    @cached_property
    def in_both_orders(self) -> BoolArray:
        """Which instances each judge was asked about in both orders."""
        return np.asarray((self.said != NOT_ASKED).all(axis=1))

    @cached_property
    def unscored(self) -> BoolArray:
        """(judges, instances): in any order."""
        return np.asarray((self.said == UNSCORED).any(axis=1))

    def of(self, judge: int, orders: str = "") -> BoolArray:
        """Instances that the judge gets wrong in one of ORDERS, or in any of them."""
        kinds = {
            "one": self.wrong[judge] == 1,
            "both": self.wrong[judge] == 2,
            "unscored": self.unscored[judge],
        }
        return kinds[orders] if orders else np.asarray(np.logical_or.reduce(list(kinds.values())))

    @cached_property
    def easiest_first(self) -> IntArray:
        """All instances, those first that most judges get right."""
        return np.lexsort((self.instances.pair, -self.right.sum(axis=0)))

    def right_throughout(self, one: int, other: int) -> tuple[FloatArray, FloatArray]:
        """Whether each of two judges is right in every order in which both were asked; NaN where unknown."""
        a, b = (Judged(self.instances.gold, self.said[judge]) for judge in (one, other))
        orders = a.asked & b.asked
        return a.right_throughout(orders), b.right_throughout(orders)


def errors(study: Study, snapshot: Snapshot, gold: Gold) -> Errors:
    """As of the snapshot. Raises NothingToJudgeError."""
    return _errors(snapshot, (snapshot.last_comparison, study.revision, study.created_at), gold)


@lru_cache(maxsize=IN_MEMORY)
def _errors(snapshot: Snapshot, mark: tuple[int, int, datetime], gold: Gold) -> Errors:
    return errors_in(snapshot.study, opinions_of(snapshot).at(), gold)


def errors_in(study: Study, read: Opinions, gold: Gold, slugs: Sequence[str] = ()) -> Errors:
    """Of these judges, or all that have rated. Raises NothingToJudgeError."""
    found, judges = instances(study, read, gold), judges_of(read, slugs)
    said = np.stack([verdicts_of(read, choice, found.pair) for choice in judges])
    return Errors(found, tuple(judges), said)
