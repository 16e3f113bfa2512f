"""The queue of pairs that raters differ about, and what was decided about those that left it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator

from arena import scales
from arena.adjudication import adjudications
from arena.models import Comparison, Pair, Rater, Study
from leaderboard.quality import kept
from leaderboard.quality.disagreements import Disputes

PER_PAGE = 20


@dataclass(frozen=True)
class Dispute:
    """A pair of the queue. What is said of it does not tell which answer anybody prefers.

    ``split`` are the verdicts of people, most frequent side first: for one answer, for the other, ties.
    ``points`` is how far two people, or people and judges, lie apart on the study's scale.
    """

    pair: Pair
    split: tuple[int, int, int]
    people: int
    judges: int
    points: float
    from_judges: float | None


def disputed(study: Study, kind: str, category: str, page: Any) -> Page[Dispute]:
    """A page of the queue of one kind: settled pairs are none of it, nor those of other categories."""
    import numpy as np

    found = kept.disputed(study)
    places = found.ranked(kind)
    settled = list(adjudications(study).values_list("pair", flat=True))
    places = places[~np.isin(found.pair[places], settled)]
    if category:
        wanted = Pair.objects.filter(prompt__study=study, prompt__category=category)
        places = places[np.isin(found.pair[places], list(wanted.values_list("pk", flat=True)))]
    chosen: Page[Any] = Paginator(places.tolist(), PER_PAGE).get_page(page)
    pairs = Pair.objects.select_related("prompt").in_bulk([int(found.pair[place]) for place in chosen])
    entries = [
        _entry(study, found, place, pairs[int(found.pair[place])])
        for place in chosen
        if int(found.pair[place]) in pairs
    ]
    chosen.object_list = entries
    return chosen


def _entry(study: Study, found: Disputes, place: int, pair: Pair) -> Dispute:
    sides = sorted((int(found.for_first[place]), int(found.for_second[place])), reverse=True)
    steps = (study.points - 1) / 2
    from_judges = float(found.from_judges[place])
    apart = float(found.apart[place])
    return Dispute(
        pair=pair,
        split=(sides[0], sides[1], int(found.ties[place])),
        people=int(found.people[place]),
        judges=int(found.judges[place]),
        points=0.0 if apart != apart else apart * steps,
        from_judges=None if from_judges != from_judges else from_judges * steps,
    )


@dataclass(frozen=True)
class Said:
    """What somebody said of a pair, in the order in which it is shown on the page."""

    who: str
    judge: bool
    simulated: bool
    words: str
    side: str
    rating: int
    points: int
    rationale: str
    reasons: Sequence[str]
    left_out: bool


def settled(study: Study, page: Any) -> Page[Comparison]:
    """A page of decisions, the newest first."""
    rows = adjudications(study).select_related("pair__prompt", "rater")
    return Paginator(rows, PER_PAGE).get_page(page)


def everybody(study: Study, pair: Pair, *, swapped: bool, left_out: Sequence[int]) -> list[Said]:
    """All that people and judges said of a pair, people first and without names.

    Answers are given in the order in which the page shows the two texts.
    """
    rows = Comparison.objects.current().filter(study=study, pair=pair, rating__isnull=False)
    rows = rows.filter(purpose="study").select_related("rater").order_by("pk")
    people = [row for row in rows if row.rater.kind == Rater.Kind.PERSON]
    numbers = {pk: place for place, pk in enumerate(dict.fromkeys(row.rater_id for row in people), start=1)}
    judges = sorted((row for row in rows if row.rater_id not in numbers), key=lambda row: row.rater.name)
    return [_said(row, numbers.get(row.rater_id), swapped, left_out) for row in (*people, *judges)]


def _said(row: Comparison, number: int | None, swapped: bool, left_out: Sequence[int]) -> Said:
    rating = in_order(row, swapped=swapped)
    return Said(
        who=f"Person {number}" if number else row.rater.name,
        judge=number is None,
        simulated=row.rater.simulated,
        words=scales.CAPTIONS[row.points][rating - 1],
        side=side(rating, row.points),
        rating=rating,
        points=row.points,
        rationale=row.rationale,
        reasons=row.reasons,
        left_out=row.rater_id in left_out,
    )


def in_order(row: Comparison, *, swapped: bool) -> int:
    """The rating as if the texts had been shown in this order."""
    rating = row.rating or 0
    return rating if row.swapped == swapped else scales.mirror(rating, row.points)


def side(rating: int, points: int) -> str:
    """a, b or tie: which answer a rating prefers."""
    score = scales.score(rating, points, ties=True)
    return "tie" if score == 0.5 else "a" if score else "b"
