"""Pairs with prompt, both texts and all answers, in a fixed number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from arena.models import Comparison, Completion, Contestant, CriterionRating, Pair, Rater, Study
from arena.rules import scales

LARGEST_ID: Final = 2**63 - 1
"""The largest id that every database can hold."""

FEW_ANSWERS: Final = 8
MOST_ANSWERS: Final = 100


@dataclass(frozen=True)
class Side:
    """One of the two texts. ``letter`` is A for the one stored first, in whatever order they were shown."""

    letter: str
    completion: Completion

    @property
    def contestant(self) -> Contestant | None:
        return self.completion.contestant

    @property
    def name(self) -> str:
        return self.contestant.name if self.contestant else f"Answer {self.letter}"

    @property
    def is_known(self) -> bool:
        """Whether the text is known, be it empty."""
        return bool(self.completion.turns) or self.completion.is_empty


@dataclass(frozen=True)
class Rated:
    """A rating as if A had been shown first: 1 is A much better, the last point B."""

    rating: int
    points: int
    words: str

    @property
    def preference(self) -> float:
        return scales.preference(self.rating, self.points)


@dataclass(frozen=True)
class Answer:
    """What one rater said."""

    comparison: Comparison
    rater: str
    overall: Rated | None
    criteria: Sequence[tuple[str, Rated | None, str]]
    """By criterion the rating, or None and why."""

    @property
    def by_judge(self) -> bool:
        return self.comparison.rater.kind == Rater.Kind.JUDGE

    @property
    def identical(self) -> bool:
        """Whether a judge was shown the same text twice, which tests the judge."""
        return self.comparison.status == Comparison.Status.IDENTICAL

    @property
    def scores(self) -> str:
        """Those of A and of B; empty for a rater who gave none."""
        first, second = self.comparison.first_score, self.comparison.second_score
        if first is None or second is None:
            return ""
        a, b = (second, first) if self.comparison.swapped else (first, second)
        return f"A {a:g}, B {b:g}"

    @property
    def reason(self) -> str:
        return self.comparison.get_reason_display() if self.comparison.reason else ""


@dataclass(frozen=True)
class Entry:
    """A pair with its answers: people first, then judges by name.

    ``left_out`` counts answers that are too many to show.
    """

    pair: Pair
    first: Side
    second: Side
    answers: Sequence[Answer]
    left_out: int

    @property
    def first_answers(self) -> Sequence[Answer]:
        """Those that a list of pairs shows at once: all, or some of many."""
        return self.answers if len(self.answers) <= FEW_ANSWERS else self.answers[: FEW_ANSWERS // 2]

    @property
    def further_answers(self) -> Sequence[Answer]:
        return self.answers[len(self.first_answers) :]

    @property
    def of_people(self) -> float | None:
        """The mean preference of people, each counted once; -1 is A much better, 1 is B."""
        said: dict[int, list[float]] = defaultdict(list)
        for answer in self.answers:
            if answer.overall and not answer.by_judge:
                said[answer.comparison.rater_id].append(answer.overall.preference)
        return fmean(map(fmean, said.values())) if said else None

    @property
    def all_simulated(self) -> bool:
        return all(answer.comparison.rater.simulated for answer in self.answers)

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.first, self.second


def entries(study: Study, pairs: Sequence[int]) -> list[Entry]:
    """Pairs by id, in this order; those of private prompts or other studies are left out. Three queries."""
    found = (
        Pair.objects.published()
        .filter(prompt__study=study)
        .select_related("prompt", "first__contestant", "second__contestant")
        .in_bulk(pairs)
    )
    said = _comparisons(study, found)
    criteria = _criteria(comparison.pk for given in said.values() for comparison in given[:MOST_ANSWERS])
    return [_entry(found[pk], said[pk], criteria) for pk in pairs if pk in found]


def _comparisons(study: Study, pairs: Iterable[int]) -> dict[int, list[Comparison]]:
    """The comparisons of each pair that count, those of one rater together.

    People come first, by their first answers, so that the order does not tell their names.
    """
    said: dict[int, list[Comparison]] = defaultdict(list)
    read = Comparison.objects.counted(study).filter(pair__in=list(pairs)).order_by("pk")
    for comparison in read.select_related("rater__judge__endpoint"):
        said[comparison.pair_id].append(comparison)
    for given in said.values():
        began: dict[int, int] = {}
        for comparison in given:
            began.setdefault(comparison.rater_id, comparison.pk)
        given.sort(key=lambda each: (*_rank(each.rater), began[each.rater_id], each.pk))
    return said


def _rank(rater: Rater) -> tuple[bool, str]:
    judge = rater.kind == Rater.Kind.JUDGE
    return judge, rater.name if judge else ""


def _criteria(comparisons: Iterable[int]) -> dict[int, list[CriterionRating]]:
    found: dict[int, list[CriterionRating]] = defaultdict(list)
    for rated in CriterionRating.objects.filter(comparison__in=list(comparisons)).order_by("pk"):
        found[rated.comparison_id].append(rated)
    return found


def _entry(pair: Pair, said: Sequence[Comparison], criteria: dict[int, list[CriterionRating]]) -> Entry:
    first, second = Side("A", pair.first), Side("B", pair.second)
    names = _names(comparison.rater for comparison in said)
    answers = []
    for comparison in said[:MOST_ANSWERS]:
        overall = _rated(comparison, comparison, first, second)
        by_criterion = [
            (each.criterion, _rated(each, comparison, first, second), each.get_reason_display())
            for each in criteria.get(comparison.pk, ())
        ]
        answers.append(Answer(comparison, names[comparison.rater_id], overall, by_criterion))
    return Entry(pair, first, second, answers, max(len(said) - MOST_ANSWERS, 0))


def _names(raters: Iterable[Rater]) -> dict[int, str]:
    """The name of each judge; people get numbers that hold for one pair, so that nobody can gather what one
    said.
    """
    names: dict[int, str] = {}
    people = 0
    for rater in raters:
        if rater.pk not in names:
            people += rater.kind == Rater.Kind.PERSON
            names[rater.pk] = rater.name if rater.kind == Rater.Kind.JUDGE else f"Person {people}"
    return names


def _rated(
    given: Comparison | CriterionRating, comparison: Comparison, first: Side, second: Side
) -> Rated | None:
    if not given.rating:
        return None
    rating = scales.mirror(given.rating, given.points) if comparison.swapped else given.rating
    letter, _, rest = scales.CAPTIONS[given.points][rating - 1].partition(" ")
    words = f"{(first if letter == 'A' else second).name} {rest}" if rest else letter
    return Rated(rating, given.points, words)
