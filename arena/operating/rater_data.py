"""Reads: what people rated, without anything that says who they are."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from django.db.models import Prefetch

from arena.formats.writing.schema import Row, Table, Type
from arena.models import Comparison, CriterionRating, Rater, Study
from arena.pseudonyms import pseudonym
from arena.querysets import ComparisonQuerySet, left_out_raters

CHUNK: Final = 2000
"""Rows fetched at a time."""

_WITHOUT_COMMENTS: Final = {
    "rater": Type.TEXT,
    "simulated": Type.FLAG,
    "number": Type.INTEGER,
    "day": Type.TEXT,
    **dict.fromkeys(("prompt", "subset", "category", "first", "second"), Type.TEXT),
    "points": Type.INTEGER,
    "rating": Type.INTEGER,
    "reason": Type.TEXT,
    "criteria": Type.JSON,
    "reasons": Type.TEXTS,
    "seconds": Type.NUMBER,
    "purpose": Type.TEXT,
    "repeat": Type.INTEGER,
    "random": Type.FLAG,
    "late": Type.FLAG,
    "left_out": Type.FLAG,
    "source": Type.TEXT,
}


def table(*, comments: bool) -> Table:
    """The columns. Comments are texts of raters, who may have said in them who they are."""
    said = {"comment": Type.TEXT} if comments else {}
    return Table("raters", {**_WITHOUT_COMMENTS, **said}, complete=True)


def of_people(study: Study) -> ComparisonQuerySet:
    """What people rated and did not revise, whatever it was for."""
    return Comparison.objects.current().filter(study=study, rater__kind=Rater.Kind.PERSON)


def rows(study: Study, *, comments: bool) -> Iterator[Row]:
    """One row for each comparison by a person, rater by rater in the order in which they rated.

    A rater goes by a pseudonym. Of the time the day alone is told: with the minute, somebody who saw a person
    at work could find them.
    """
    out = set(left_out_raters(study))
    done: Counter[int] = Counter()
    texts = [f"pair__{side}__{field}" for side in ("first", "second") for field in ("turns", "extra")]
    related = ("rater", "assignment", "pair__prompt", "pair__first__contestant", "pair__second__contestant")
    criteria = Prefetch("criterion_ratings", CriterionRating.objects.order_by("criterion"))
    found = (
        of_people(study)
        .select_related(*related)
        .prefetch_related(criteria)
        .defer(*texts, "pair__prompt__turns")
    )
    for one in found.order_by("rater", "created_at", "pk").iterator(CHUNK):
        done[one.rater_id] += 1
        yield _row(study, one, done[one.rater_id], one.rater_id in out) | (
            {"comment": one.rationale or None} if comments else {}
        )


def _row(study: Study, one: Comparison, number: int, left_out: bool) -> dict[str, object]:
    first, second = one.pair.shown(one.swapped)
    return {
        "rater": pseudonym(study, one.rater_id),
        "simulated": one.rater.simulated,
        "number": number,
        "day": one.created_at.date().isoformat(),
        "prompt": one.pair.prompt.external_id,
        "subset": one.pair.prompt.subset or None,
        "category": one.pair.prompt.category or None,
        "first": first.contestant.name if first.contestant else first.external_id or None,
        "second": second.contestant.name if second.contestant else second.external_id or None,
        "points": one.points,
        "rating": one.rating,
        "reason": one.reason or None,
        "criteria": {each.criterion: each.rating for each in one.criterion_ratings.all()} or None,
        "reasons": one.reasons or None,
        "seconds": one.seconds,
        "purpose": one.purpose,
        "repeat": one.repeat,
        "random": one.assignment.is_random if one.assignment else False,
        "late": one.is_late,
        "left_out": left_out,
        "source": one.source,
    }
