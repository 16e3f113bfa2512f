"""The pairs that people, or people and judges, differ about most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from arena.models import Rater, Study
from arena.models.querysets import left_out_raters
from leaderboard.snapshots import columns, pair_turns
from leaderboard.snapshots.comparison_index import preferences
from leaderboard.stats.sums import group_means
from leaderboard.stats.verdicts import verdicts_of_means

Array = npt.NDArray[Any]

PEOPLE: Final = "people"
JUDGES: Final = "judges"
KINDS: Final = (PEOPLE, JUDGES)


@dataclass(frozen=True, eq=False)
class Disputes:
    """Rated pairs as parallel arrays; preferences run from -1 (the pair's first is much better) to 1.

    ``people`` and ``judges`` count raters, ``for_first``, ``ties`` and ``for_second`` verdicts of people.
    ``apart`` is the mean distance of two people, ``from_judges`` that of the means of people and judges, from
    0 to 2 or NaN. ``opposite`` and ``against_judges`` say whether they prefer different answers.
    """

    pair: Array
    people: Array
    judges: Array
    for_first: Array
    ties: Array
    for_second: Array
    apart: Array
    from_judges: Array
    opposite: Array
    against_judges: Array

    def rated_by_both(self, kind: str) -> Array:
        """Which pairs have ratings that can differ: of two people, or of people and judges."""
        found: Array = self.people >= 2 if kind == PEOPLE else (self.people > 0) & (self.judges > 0)
        return found

    def ranked(self, kind: str, *, strength: bool = False) -> Array:
        """Places of the pairs with different sides, the farthest apart first.

        With ``strength`` also those that differ in strength only, after the others.
        """
        far, sides = (
            (self.apart, self.opposite) if kind == PEOPLE else (self.from_judges, self.against_judges)
        )
        found = np.flatnonzero((np.nan_to_num(far) > 1e-9) & (sides | strength))
        return found[np.lexsort((self.pair[found], -far[found], ~sides[found]))]


def disputes(study: Study, revision: int) -> Disputes:
    rows = columns.comparisons(study, revision)
    chosen = rows["current"] & rows["counts"] & (rows["rating"] > 0) & (pair_turns.turns(rows["pair"]) == 0)
    panels = Rater.objects.in_study(study).panels().values_list("pk", flat=True)
    rows = rows[chosen & ~np.isin(rows["rater"], [*left_out_raters(study), *panels])]
    people = Rater.objects.in_study(study).filter(kind=Rater.Kind.PERSON).values_list("pk", flat=True)
    return compare(rows, np.isin(rows["rater"], list(people)))


def compare(rows: Array, person: Array) -> Disputes:
    """The disputes of rows with pair, rater, swapped, points and rating.

    A rater who rated a pair twice counts once.
    """
    pairs, place = np.unique(rows["pair"], return_inverse=True)
    who = np.unique(rows["rater"], return_inverse=True)[1]
    key = place * (int(who.max(initial=0)) + 1) + who
    _, start, group = np.unique(key, return_index=True, return_inverse=True)
    mean = group_means(group, preferences(rows), len(start))
    of_pair, by_person = place[start], person[start]
    size = len(pairs)
    own, theirs = mean[by_person], mean[~by_person]
    at, at_judges = of_pair[by_person], of_pair[~by_person]
    verdict = verdicts_of_means(own)
    counts = [np.bincount(at[verdict == side], minlength=size) for side in (-1, 0, 1)]
    of_people, of_judges = group_means(at, own, size), group_means(at_judges, theirs, size)
    against = verdicts_of_means(of_people) * verdicts_of_means(of_judges) < 0
    return Disputes(
        pair=pairs,
        people=np.bincount(at, minlength=size),
        judges=np.bincount(at_judges, minlength=size),
        for_first=counts[0],
        ties=counts[1],
        for_second=counts[2],
        apart=_apart(at, own, size),
        from_judges=np.abs(of_people - of_judges),
        opposite=(counts[0] > 0) & (counts[2] > 0),
        against_judges=against,
    )


def _apart(group: Array, values: Array, groups: int) -> Array:
    """The mean difference of two values of each group; NaN with fewer than two.

    In order, the value at place i of n is added i - 1 times and taken away n - i times.
    """
    order = np.lexsort((values, group))
    group, values = group[order], values[order]
    counted = np.bincount(group, minlength=groups)
    first = np.cumsum(counted) - counted
    rank = np.arange(len(group)) - first[group]
    total = np.bincount(group, values * (2 * rank - counted[group] + 1), minlength=groups)
    possible = counted * (counted - 1) / 2
    found: Array = np.divide(total, possible, out=np.full(groups, np.nan), where=possible > 0)
    return found
