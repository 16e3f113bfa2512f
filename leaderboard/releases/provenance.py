"""Where the comparisons of a release come from, counted."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, F, Q

from arena.models import Comparison, Study
from arena.models.querysets import left_out_raters
from arena.rating.publication import held_back
from leaderboard.models import Snapshot

MEANINGS: Final[Mapping[str, tuple[str, str]]] = {
    "counted": (
        "Pairs given to raters",
        "The leaderboard uses those that they rated.",
    ),
    "simulated": (
        "of these simulated",
        "A program made them up; they say nothing about real models.",
    ),
    "imported": (
        "of these imported",
        "Read from files; this arena did not show the pairs.",
    ),
    "late": (
        "of these late",
        "Given after the pair had all its ratings, or after the study was closed.",
    ),
    "panels": (
        "of these derived: panels",
        "Computed from the ratings of a panel’s judges, which count as well.",
    ),
    "identical": (
        "of these of identical answers",
        "Both answers are the same, so the judge was not asked.",
    ),
    "left_out": (
        "Left out",
        "By raters whom the operators left out. Not counted.",
    ),
    "adjudicated": (
        "Derived: adjudications",
        "Decisions of operators where raters disagree. Not counted.",
    ),
    "apart": (
        "Hidden repeats and checks",
        "They test raters. Not counted.",
    ),
}
"""What each count is called and means, in order."""


@dataclass(frozen=True)
class Part:
    key: str
    label: str
    people: int
    judges: int
    meaning: str


def parts(provenance: Mapping[str, Mapping[str, int]]) -> Iterator[Part]:
    """The counts of a release with their sentences."""
    for key, (label, meaning) in MEANINGS.items():
        yield Part(key, label, **provenance[key], meaning=meaning)


def by_origin(study: Study, snapshot: Snapshot) -> dict[str, dict[str, int]]:
    """How many comparisons of each part are by people and by judges, as of a snapshot."""
    kept_in = ~Q(rater__in=left_out_raters(study))
    counts = Q(purpose="study") & kept_in
    late = Q(is_late=True)
    if study.closed_at:
        late |= Q(created_at__gt=study.closed_at, is_dated=True) & ~Q(source=Comparison.Source.PANEL)
    conditions = {
        "counted": counts,
        "simulated": counts & Q(rater__simulated=True),
        "imported": counts & Q(source=Comparison.Source.IMPORT),
        "late": counts & late,
        "panels": counts & ~Q(rater__derived_from=[]),
        "identical": counts & Q(source=Comparison.Source.PLAN),
        "left_out": Q(purpose="study") & ~kept_in,
        "adjudicated": Q(purpose="adjudication"),
        "apart": Q(purpose__in=["repeat", "check"]),
    }
    last = snapshot.last_comparison
    # As they were then: what was revised later was current.
    then = Comparison.objects.filter(
        Q(is_current=True) | Q(revised_by__pk__gt=last), study=study, pk__lte=last
    )
    if snapshot.holds_back:
        then = then.exclude(held_back(snapshot.pk))
    rows = then.order_by().values(kind=F("rater__kind"))
    counts_by = rows.annotate(**{key: Count("pk", filter=about) for key, about in conditions.items()})
    found: dict[str, Mapping[str, Any]] = {row["kind"]: row for row in counts_by}
    people, judges = found.get("person", {}), found.get("judge", {})
    return {key: {"people": people.get(key, 0), "judges": judges.get(key, 0)} for key in conditions}
