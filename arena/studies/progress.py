"""Reads: how far a study has come, by rater and by pair. Sums are made by the database."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, Max, Q, QuerySet

from arena.data.writing.tables import Row, Table, Type, batches
from arena.models import (
    Assignment,
    Comparison,
    CriterionRating,
    Flag,
    Membership,
    Pair,
    Purpose,
    Rater,
    Study,
)
from arena.models.querysets import ComparisonQuerySet, left_out_raters
from arena.people.pseudonyms import pseudonym


@dataclass(frozen=True)
class Sums:
    """What people's comparisons in a study are, by what they were for."""

    study: int
    repeats: int
    checks: int
    adjudications: int
    late: int
    revised: int
    flags: int
    in_hand: int


def sums(study: Study) -> Sums:
    """Everything counted once over a study's comparisons by people. Three queries."""
    people = Comparison.objects.filter(study=study, rater__kind=Rater.Kind.PERSON).order_by()
    now = Q(is_current=True)
    found = people.aggregate(
        **{f"n_{one}": Count("pk", filter=now & Q(purpose=one)) for one in Purpose.values},
        n_late=Count("pk", filter=now & Q(is_late=True)),
        n_revised=Count("pk", filter=Q(revises__isnull=False)),
    )
    return Sums(
        study=found["n_study"],
        repeats=found["n_repeat"],
        checks=found["n_check"],
        adjudications=found["n_adjudication"],
        late=found["n_late"],
        revised=found["n_revised"],
        flags=open_flags(study).count(),
        in_hand=Assignment.objects.live().filter(study=study, rater__kind=Rater.Kind.PERSON).count(),
    )


@dataclass(frozen=True)
class Line:
    """A rater with what they did here."""

    rater: Rater
    membership: Membership | None
    rated: int
    others: int
    skipped: int
    flagged: int
    late: int
    last: datetime | None


def by_rater(study: Study) -> list[Line]:
    """Every person who may rate here or has rated, those with the fewest first. Four queries."""
    said = (
        Comparison.objects.current()
        .filter(study=study, rater__kind=Rater.Kind.PERSON)
        .order_by()
        .values("rater")
        .annotate(
            rated=Count("pk", filter=Q(purpose="study")),
            others=Count("pk", filter=~Q(purpose="study")),
            late=Count("pk", filter=Q(is_late=True)),
            last=Max("created_at"),
        )
    )
    rated = {row["rater"]: row for row in said}
    aside = (
        Assignment.objects.filter(study=study, state=Assignment.State.SKIPPED)
        .order_by()
        .values("rater")
        .annotate(skipped=Count("pk"), flagged=Count("flag"))
    )
    put_aside = {row["rater"]: row for row in aside}
    members = {one.rater_id: one for one in study.memberships.exclude(role="viewer").select_related("rater")}
    gone = Rater.objects.filter(pk__in=rated.keys() - members.keys())
    raters = {one.pk: one for one in gone} | {pk: one.rater for pk, one in members.items()}
    lines = [
        _line(rater, members.get(pk), rated.get(pk, {}), put_aside.get(pk, {}))
        for pk, rater in raters.items()
    ]
    return sorted(lines, key=lambda line: (line.rated, line.rater.name, line.rater.pk))


def _line(rater: Rater, membership: Membership | None, said: Any, aside: Any) -> Line:
    return Line(
        rater=rater,
        membership=membership,
        rated=said.get("rated", 0),
        others=said.get("others", 0),
        skipped=aside.get("skipped", 0),
        flagged=aside.get("flagged", 0),
        late=said.get("late", 0),
        last=said.get("last"),
    )


def by_pair(study: Study) -> QuerySet[Pair]:
    """The pairs that were offered before, the least rated first."""
    texts = [f"{side}__{field}" for side in ("first", "second") for field in ("turns", "extra")]
    return (
        Pair.objects.filter(prompt__study=study, use="rate")
        .select_related("prompt", "first__contestant", "second__contestant")
        .defer(*texts, "prompt__turns", "prompt__input")
        .order_by("people_ratings", "pk")
    )


def flags(study: Study, *, settled: bool) -> QuerySet[Flag]:
    """What raters found wrong, with what they were shown; the newest first."""
    related = ("assignment__rater", "assignment__pair__prompt")
    sides = ("assignment__pair__first__contestant", "assignment__pair__second__contestant")
    found = Flag.objects.filter(assignment__study=study, settled_at__isnull=not settled)
    return found.select_related(*related, *sides)


def open_flags(study: Study) -> QuerySet[Flag]:
    """What nobody has looked at yet."""
    return Flag.objects.filter(assignment__study=study, settled_at__isnull=True)


def open_by_reason(study: Study) -> Iterable[tuple[str, int]]:
    """How many open flags there are, by reason in words."""
    rows = open_flags(study).order_by().values_list("reason").annotate(n=Count("pk")).order_by("-n", "reason")
    return [(Flag.Reason(reason).label, number) for reason, number in rows]


# Reads: what people rated, without anything that says who they are.


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
    names: dict[int, str] = {}
    found = of_people(study).order_by("rater", "created_at", "pk").values(*_COLUMNS).iterator(CHUNK)
    for chunk in batches(found, CHUNK):
        criteria = _criteria([one["pk"] for one in chunk])
        for one in chunk:
            rater = one["rater"]
            done[rater] += 1
            names.setdefault(rater, pseudonym(study, rater))
            said = {"comment": one["rationale"] or None} if comments else {}
            yield {
                "rater": names[rater],
                "number": done[rater],
                "left_out": rater in out,
                "criteria": criteria.get(one["pk"]),
                **_rated(one),
                **said,
            }


_COLUMNS: Final = (
    *("pk", "rater", "rater__simulated", "created_at", "swapped", "points", "rating", "reason", "reasons"),
    *("seconds", "purpose", "repeat", "assignment__is_random", "is_late", "source", "rationale"),
    *("pair__prompt__external_id", "pair__prompt__subset", "pair__prompt__category"),
    *("pair__first__contestant__name", "pair__first__external_id"),
    *("pair__second__contestant__name", "pair__second__external_id"),
)


def _rated(one: Mapping[str, Any]) -> dict[str, Any]:
    sides = [
        one[f"pair__{side}__contestant__name"] or one[f"pair__{side}__external_id"] or None
        for side in ("first", "second")
    ]
    first, second = reversed(sides) if one["swapped"] else sides
    return {
        "simulated": one["rater__simulated"],
        "day": one["created_at"].date().isoformat(),
        "prompt": one["pair__prompt__external_id"],
        "subset": one["pair__prompt__subset"] or None,
        "category": one["pair__prompt__category"] or None,
        "first": first,
        "second": second,
        "reason": one["reason"] or None,
        "reasons": one["reasons"] or None,
        "random": bool(one["assignment__is_random"]),
        "late": one["is_late"],
        **{name: one[name] for name in ("points", "rating", "seconds", "purpose", "repeat", "source")},
    }


def _criteria(comparisons: list[int]) -> dict[int, dict[str, int]]:
    """Ratings by criterion of these comparisons."""
    found: dict[int, dict[str, int]] = {}
    given = CriterionRating.objects.filter(comparison__in=comparisons).order_by("criterion")
    for comparison, criterion, rating in given.values_list("comparison", "criterion", "rating"):
        found.setdefault(comparison, {})[criterion] = rating
    return found
