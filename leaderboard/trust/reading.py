"""Instances with a right answer, and what each judge said about them, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Q, QuerySet

from arena.models import Pair, Study
from leaderboard.snapshots.columns import IDENTICAL
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.snapshots.rows import Rows
from leaderboard.snapshots.settings import LABELS, PEOPLE
from leaderboard.stats.checks import IntArray
from leaderboard.stats.sides import (
    FIRST,
    NOT_ASKED,
    SECOND,
    TIE,
    UNSCORED,
    counted,
    is_scored,
    is_tied,
    majority,
)

WITHOUT_SUBSET: Final = "all"
"""What a subset is called whose prompts name none."""

NO_GOLD: Final = 9
_GOLD: Final = {"": NO_GOLD, Pair.Gold.FIRST: FIRST, Pair.Gold.TIE: TIE, Pair.Gold.SECOND: SECOND}


class NothingToJudgeError(ValueError):
    """Nothing can be held against a right answer; the message is a sentence for the reader."""


@dataclass(frozen=True)
class Gold:
    """Where right answers come from: LABELS, or the majority of PEOPLE or of a ``group:NAME``.

    Such a majority needs ``least`` people. Pairs without one are left out, and those where it is a tie unless
    ``ties`` are right answers as well.
    """

    source: str = LABELS
    least: int = 2
    ties: bool = False


@dataclass(frozen=True, eq=False)
class Instances:
    """The pairs with a right answer, by id; parallel arrays.

    ``tied`` and ``too_few`` count pairs rated by people that have none, because their majority takes no side
    or because fewer than ``Gold.least`` rated them. Of labels both are 0. ``comparable``: the pairs of each
    subset on which people are held against each other, those with labels or all.
    """

    pair: IntArray
    gold: IntArray
    subset: IntArray  # indexes into ``subsets``
    prompt: IntArray  # numbered as they come
    longer: IntArray  # FIRST, SECOND, TIE for equal lengths, NOT_ASKED where a text is unknown
    subsets: tuple[str, ...]
    comparable: tuple[IntArray, ...]
    tied: int = 0
    too_few: int = 0
    not_asked: tuple[str, ...] = ()  # subsets that are left out because no judge was asked about them

    def split(self, values: IntArray) -> list[IntArray]:
        """The parts by subset of an array whose last dimension is instances."""
        return [np.asarray(values[..., self.subset == number]) for number in range(len(self.subsets))]

    def all_comparable(self) -> Instances:
        """As by labels: people are held against each other on these very pairs."""
        return replace(self, comparable=tuple(self.split(self.pair)))

    def asked(self, pairs: npt.NDArray[np.int64]) -> Instances:
        """Without the subsets of which none of these pairs is. Raises NothingToJudgeError."""
        kept = np.unique(self.subset[np.isin(self.pair, pairs)])
        if not len(kept):
            raise NothingToJudgeError("these judges have rated no pair with a right answer")
        left_out = tuple(name for number, name in enumerate(self.subsets) if number not in kept)
        return replace(self._only(kept), not_asked=left_out)

    def _only(self, subsets: IntArray) -> Instances:
        own = np.isin(self.subset, subsets)
        return replace(
            self,
            pair=self.pair[own],
            gold=self.gold[own],
            subset=np.searchsorted(subsets, self.subset[own]),
            prompt=as_they_come(self.prompt[own]),
            longer=self.longer[own],
            subsets=tuple(self.subsets[number] for number in subsets),
            comparable=tuple(self.comparable[number] for number in subsets),
        )

    def check_left_out(self, names: Sequence[str]) -> None:
        """Raise NothingToJudgeError if these are no subsets, or all of them."""
        for name in names:
            if name not in (*self.subsets, *self.not_asked):
                raise NothingToJudgeError(
                    f'no subset is called "{name}"; there are: {", ".join(self.subsets)}'
                )
        if set(names) >= set(self.subsets):
            raise NothingToJudgeError("no subset is left for the average")

    def with_at_least(self, fewest: int) -> Instances:
        """The subsets of so many pairs or more. Raises NothingToJudgeError without any."""
        large = np.flatnonzero(np.bincount(self.subset) >= fewest)
        if not len(large):
            raise NothingToJudgeError(
                f"no subset has {fewest} pairs with a right answer; until the study closes, fewer stay hidden"
            )
        return self._only(large)


def instances(study: Study, read: Opinions, gold: Gold) -> Instances:
    """Raises NothingToJudgeError where no pair has a right answer."""
    asked = Pair.objects.filter(prompt__in=study.prompts.rated()).order_by("pk")
    if gold.source == LABELS:
        asked = asked.exclude(gold="")
    rows = list(asked.values_list("pk", "gold", "prompt__subset", "prompt"))
    pairs, prompts = (np.array([row[place] for row in rows], dtype=np.int64) for place in (0, 3))
    named = np.array([row[2] or WITHOUT_SUBSET for row in rows], dtype=object)
    if gold.source == LABELS:
        labels, tied, too_few = np.array([_GOLD[row[1]] for row in rows], dtype=np.int64), 0, 0
    else:
        labels, tied, too_few = held_by(read, gold, pairs)
    known = labels != NO_GOLD
    if not known.any():
        raise NothingToJudgeError(_why_none(read, gold))
    subsets = tuple(dict.fromkeys(named[known].tolist()))
    return Instances(
        pair=pairs[known],
        gold=labels[known],
        subset=np.array([subsets.index(name) for name in named[known]], dtype=np.int64),
        prompt=as_they_come(prompts[known]),
        longer=_longer(asked, pairs[known]),
        subsets=subsets,
        comparable=tuple(pairs[named == name] for name in subsets),
        tied=tied,
        too_few=too_few,
    )


def subsets(study: Study) -> dict[str, int]:
    """How many pairs of each subset have a label."""
    labelled = Count("pairs", filter=~Q(pairs__gold=""))
    found = study.prompts.rated().order_by("subset").values_list("subset").annotate(labelled=labelled)
    return {name or WITHOUT_SUBSET: pairs for name, pairs in found}


def as_they_come(prompts: IntArray) -> IntArray:
    """Prompts numbered from 0 in the order in which they first come, whatever their ids are."""
    _, first, number = np.unique(prompts, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number])


def _why_none(read: Opinions, gold: Gold) -> str:
    if gold.source == LABELS:
        return "no pair of this study has a right answer (gold label)"
    if people_of(read, gold.source):
        of = "" if gold.source == PEOPLE else "of "
        return f"on no pair rated by {gold.least} or more {of}{gold.source} a majority takes a side"
    known = ", ".join(each.selector for each in read.raters if each.ids & read.people) or "none"
    return f'nobody in "{gold.source}" has rated in this study; it has: {known}'


_TEXTS: Final = tuple(f"{side}__{name}" for side in ("first", "second") for name in ("turns", "is_empty"))


def _longer(asked: QuerySet[Pair], pairs: IntArray) -> IntArray:
    found = np.full(len(pairs), NOT_ASKED)
    place = {pk: number for number, pk in enumerate(pairs.tolist())}
    rows = asked.values_list("pk", *_TEXTS).iterator(chunk_size=500)
    for pk, first, first_empty, second, second_empty in rows:
        if pk in place and (first or first_empty) and (second or second_empty):
            found[place[pk]] = np.sign(sum(map(len, first)) - sum(map(len, second)))
    return found


def held_by(read: Opinions, gold: Gold, pairs: IntArray) -> tuple[IntArray, int, int]:
    """The majority about each of the pairs, NO_GOLD without one, and how many have none for which reason."""
    ids = people_of(read, gold.source)
    counts = counted(of_people(read, ids, pairs)[0])
    each, found = counts.sum(axis=1), majority(counts)
    enough = each >= gold.least
    held = enough & ((found != TIE) | (is_tied(counts) & gold.ties))
    tied, too_few = enough & ~held, (each > 0) & ~enough
    return np.where(held, found, NO_GOLD), int(tied.sum()), int(too_few.sum())


def people_of(read: Opinions, source: str) -> frozenset[int]:
    """The people of a group who rated; for LABELS and PEOPLE everybody."""
    if source in (LABELS, PEOPLE):
        return read.people
    return next((each.ids for each in read.raters if each.selector == source), frozenset()) & read.people


def judges_of(read: Opinions, slugs: Sequence[str]) -> list[Choice]:
    """The judges (and panels) with ratings, in the order named, or all of them by name."""
    known = {
        each.selector.partition(":")[2]: each for each in read.raters if each.selector.startswith("judge:")
    }
    wanted = [slug.removeprefix("judge:") for slug in slugs] or list(known)
    for slug in wanted:
        if slug not in known:
            there = ", ".join(known) or "none"
            raise NothingToJudgeError(f'no judge "{slug}" has rated in this study; judges that have: {there}')
    if not wanted:
        raise NothingToJudgeError("no judge has rated in this study")
    return [known[slug] for slug in dict.fromkeys(wanted)]


def verdicts_of(read: Opinions, choice: Choice, pairs: IntArray) -> IntArray:
    """What a judge said about the pairs, (orders, pairs): the first answer in each order.

    The middle of a scale is a tie; identical texts count as not asked.
    """
    rows = read.by(choice.ids).rows
    found = np.full((2, len(pairs)), NOT_ASKED)
    for order, said in enumerate(found):
        _place(said, rows[rows["swapped"] == order], pairs)
    return found


def of_people(read: Opinions, ids: frozenset[int], pairs: IntArray) -> tuple[IntArray, list[int]]:
    """What each person said first about the pairs (people, pairs), in any order; and their ids."""
    rows = read.by(ids).rows
    people = np.unique(rows["rater"]).tolist()
    found = np.full((len(people), len(pairs)), NOT_ASKED)
    for said, person in zip(found, people, strict=True):
        _place(said, rows[(rows["rater"] == person) & (rows["rating"] > 0)], pairs)
    return found, people


def prompts_of(read: Opinions, pairs: IntArray) -> IntArray:
    """The prompt of each of the pairs, numbered as they come; one that nobody rated stands alone."""
    rated, first = np.unique(read.rows["pair"], return_index=True)
    place = np.searchsorted(rated, pairs).clip(max=max(len(rated) - 1, 0))
    known = np.isin(pairs, rated)
    found = -1 - np.arange(len(pairs))
    found[known] = read.rows["prompt"][first[place[known]]]
    return as_they_come(found)


def as_shown(read: Opinions, ids: frozenset[int], pairs: IntArray, verdicts: IntArray) -> IntArray:
    """Verdicts in the order in which each pair was first shown to these raters.

    Alpha and kappa depend on which side is called the first, and published ones follow the order shown.
    """
    rows = read.by(ids).rows
    turned = rows["swapped"][np.unique(rows["pair"], return_index=True)[1]]
    shown = np.isin(pairs, np.unique(rows["pair"])[turned])
    return np.where(shown & is_scored(verdicts), -verdicts, verdicts)


def _place(said: IntArray, rows: Rows, pairs: IntArray) -> None:
    rows = rows[np.isin(rows["pair"], pairs) & (rows["reason"] != IDENTICAL.encode())]
    pair, first = np.unique(rows["pair"], return_index=True)
    order = np.argsort(pairs)
    own = rows[first]
    lean = np.sign(own["points"].astype(np.int64) + 1 - 2 * own["rating"])
    turned = np.where(own["swapped"], -lean, lean)
    said[order[np.searchsorted(pairs, pair, sorter=order)]] = np.where(own["rating"] > 0, turned, UNSCORED)
