"""The pages about a study's progress and what raters flagged."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any, Final, NamedTuple

from django.db.models import Count, Max, Q, QuerySet, Sum
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import floatformat, pluralize
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from arena.models import Assignment, Comparison, Completion, Flag, Membership, Pair, Rater, Study
from arena.models.querysets import left_out_raters
from arena.pages.operating import paged, show
from arena.pages.permissions import OperatorRequest, operator
from arena.rating import publication
from arena.rating.limits import by_rater as limits_by_rater
from arena.rating.tasks import TASKS
from arena.studies import counts, forecast


def sums(study: Study) -> dict[str, int]:
    """People's comparisons in a study by what they were for, with open flags and pairs in hand."""
    people = Comparison.objects.filter(study=study, rater__kind=Rater.Kind.PERSON).order_by()
    now = Q(is_current=True)
    found = people.aggregate(
        study=Count("pk", filter=now & Q(purpose="study")),
        repeats=Count("pk", filter=now & Q(purpose="repeat")),
        checks=Count("pk", filter=now & Q(purpose="check")),
        adjudications=Count("pk", filter=now & Q(purpose="adjudication")),
        revised=Count("pk", filter=Q(revises__isnull=False)),
    )
    for rows, counted in ((study.scores, "pk"), (study.answers, "assignment")):
        changed = rows.filter(rater__kind=Rater.Kind.PERSON, revises__isnull=False)
        found["revised"] += changed.aggregate(n=Count(counted, distinct=True))["n"]
    held = Assignment.objects.live().filter(study=study, rater__kind=Rater.Kind.PERSON)
    numbers = {"flags": open_flags(study).count(), "in_hand": held.count(), "left_out": _left_out(study)}
    return {**found, **numbers}


def _left_out(study: Study) -> int:
    """The ratings, scores and checked answers of people who are left out."""
    out = left_out_raters(study)
    if not out:
        return 0
    said = Q(is_current=True, purpose="study", rater__in=out)
    texts = [
        rows.filter(said).order_by().values("rater", "completion") for rows in (study.scores, study.answers)
    ]
    return study.comparisons.filter(said).count() + sum(rows.distinct().count() for rows in texts)


@dataclass(frozen=True)
class Line:
    rater: Rater
    membership: Membership | None
    rated: int = 0
    scored: int = 0
    checked: int = 0
    per_text: float | None = None  # median seconds for a score, or all checks of an answer
    others: int = 0
    skipped: int = 0
    flagged: int = 0
    late: int = 0
    last: datetime | None = None
    limit: str = ""  # which limit they have reached, in words

    @property
    def done(self) -> int:
        return self.rated + self.scored + self.checked


class Column(NamedTuple):
    """A figure about each rater: its heading, the attribute of ``Line``, and the tasks that it needs."""

    label: str
    attribute: str
    tasks: Collection[str] = TASKS
    title: str = ""

    def words(self, line: Line) -> str:
        value = getattr(line, self.attribute)
        return f"{value:,}" if isinstance(value, int) else "" if value is None else f"{floatformat(value)} s"


COLUMNS: Final = (
    Column("Ratings", "rated", ("compare",)),
    Column("Scores", "scored", ("score",)),
    Column("Checked", "checked", ("check",), "Answers checked against their requirements"),
    Column("Time", "per_text", ("score", "check"), "Median time for one answer"),
    Column("Repeats, checks, adjudications", "others", ("compare",)),
    Column("Skipped", "skipped"),
    Column("Flagged", "flagged"),
    Column("Late", "late"),
)


def by_rater(study: Study) -> list[Line]:
    """Every person who may rate or has rated, who did least first."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    times: dict[int, list[float]] = defaultdict(list)
    last: dict[int, datetime] = {}
    for rater, column, number, late, at, seconds in _done(study):
        found[rater].update({column: number, "late": late})
        last[rater] = max(at, last.get(rater, at))
        if seconds is not None:
            times[rater].append(seconds)
    limits = {pk: allowed.in_short for pk, allowed in limits_by_rater(study).items()}
    members = {one.rater_id: one for one in study.memberships.exclude(role="viewer").select_related("rater")}
    gone = Rater.objects.filter(pk__in=found.keys() - members.keys())
    raters = {one.pk: one for one in gone} | {pk: one.rater for pk, one in members.items()}
    skipped = Assignment.objects.filter(study=study, state=Assignment.State.SKIPPED).order_by()
    for pk, number, flagged in skipped.values_list("rater").annotate(n=Count("pk"), flagged=Count("flag")):
        found[pk].update(skipped=number, flagged=flagged)
    lines = [
        Line(
            rater,
            members.get(pk),
            **found[pk],
            per_text=median(times[pk]) if times[pk] else None,
            last=last.get(pk),
            limit=limits.get(pk, ""),
        )
        for pk, rater in raters.items()
    ]
    return sorted(lines, key=lambda line: (line.done, line.rater.name, line.rater.pk))


def _done(study: Study) -> Iterator[tuple[int, str, int, int, datetime, float | None]]:
    """Yield what people did: rater, column of ``Line``, how much, how much of it late, when last, seconds."""
    now, late = {"is_current": True, "rater__kind": Rater.Kind.PERSON}, Count("pk", filter=Q(is_late=True))
    pairs = study.comparisons.filter(**now).order_by().values_list("rater", "purpose")
    for rater, purpose, n, n_late, at in pairs.annotate(n=Count("pk"), late=late, last=Max("created_at")):
        yield rater, "rated" if purpose == "study" else "others", n, n_late, at, None
    for column, rows in (("scored", study.scores), ("checked", study.answers)):
        texts = rows.filter(**now).order_by().values_list("rater", "completion")
        for rater, _, seconds, n_late, at in texts.annotate(
            seconds=Sum("seconds"), late=late, last=Max("created_at")
        ):
            yield rater, column, 1, bool(n_late), at, seconds


def by_pair(study: Study) -> QuerySet[Pair]:
    pairs = Pair.objects.filter(prompt__study=study, use="rate")
    return counts.listed(pairs).order_by("people_ratings", "pk")


def flags_of(study: Study, *, settled: bool) -> QuerySet[Flag]:
    related = ("assignment__rater", "assignment__pair__prompt", "assignment__completion__prompt")
    sides = (
        *("assignment__pair__first__contestant", "assignment__pair__second__contestant"),
        "assignment__completion__contestant",
    )
    found = Flag.objects.filter(assignment__study=study, settled_at__isnull=not settled)
    return found.select_related(*related, *sides)


def open_flags(study: Study) -> QuerySet[Flag]:
    return Flag.objects.filter(assignment__study=study, settled_at__isnull=True)


def open_by_reason(study: Study) -> Iterable[tuple[str, int]]:
    rows = open_flags(study).order_by().values_list("reason").annotate(n=Count("pk")).order_by("-n", "reason")
    return [(Flag.Reason(reason).label, number) for reason, number in rows]


def _not_counted(sums: dict[str, int], total: counts.Wanted) -> str:
    """The ratings that are in no number above, in words; empty if all are."""
    named = {"hidden repeat": "repeats", "hidden check": "checks", "adjudication": "adjudications"}
    numbers = {name: sums[key] for name, key in named.items()}
    said = [f"{number:,} {name}{pluralize(number)}" for name, number in numbers.items() if number]
    said += [f"{total.gone:,} of what is no longer offered"] * (total.gone > 0)
    return ", ".join(said + [f"{sums['left_out']:,} by people left out"] * (sums["left_out"] > 0))


def _names_cost(study: Study) -> str:
    """Say how much less each person can rate because names are shown; empty if no less."""
    pairs = Completion.objects.rateable_in(study).pairs_by("prompt") if study.reveal_names else {}
    most = max(pairs.values(), default=0)
    if most < 2:
        return ""
    prompts, total = sum(number > 0 for number in pairs.values()), sum(pairs.values())
    return (
        f"Raters see who wrote the answers, so each rates only one pair of a prompt: {prompts:,} of "
        f"{total:,} pairs. All ratings need at least {most * study.ratings_per_pair_people:,} people."
    )


@require_safe
@operator
def progress(request: OperatorRequest) -> HttpResponse:
    """Progress by category and rater; for htmx only the figures that move."""
    by_task = counts.wanted_by_task(request.study)
    tasks = [
        (TASKS[kind].name, kind, sum(by_category.values(), counts.Wanted()), by_category)
        for kind, by_category in by_task.items()
    ]
    total = sum((each for _, _, each, _ in tasks), counts.Wanted())
    context: dict[str, Any] = {
        "tasks": tasks,
        "total": total,
        "outlook": forecast.outlook(request.study, {kind: each for _, kind, each, _ in tasks}),
        "sums": (found := sums(request.study)),
        "not_counted": _not_counted(found, total),
        "waiting": publication.waiting(request.study),
        "names_cost": _names_cost(request.study),
        "now": timezone.now(),
    }
    if request.htmx:
        return show(request, "_progress_figures.html", context)
    columns = [each for each in COLUMNS if not {*request.study.tasks}.isdisjoint(each.tasks)]
    raters = paged(request, by_rater(request.study))
    rows = [(line, [(each.label, each.words(line)) for each in columns]) for line in raters]
    context |= {"raters": raters, "columns": columns, "rows": rows}
    return show(request, "progress.html", context)


@require_safe
@operator
def pairs(request: OperatorRequest) -> HttpResponse:
    total = counts.wanted(request.study)
    page = paged(request, by_pair(request.study))
    return show(request, "progress_pairs.html", {"total": total, "page": page})


@require_safe
@operator
def flags(request: OperatorRequest) -> HttpResponse:
    settled = request.GET.get("show") == "settled"
    context = {
        "page": paged(request, flags_of(request.study, settled=settled)),
        "settled": settled,
        "by_reason": open_by_reason(request.study),
        "query": "&show=settled" if settled else "",
    }
    return show(request, "flags.html", context)


@require_POST
@operator
def settle(request: OperatorRequest, flag: int) -> HttpResponse:
    found = get_object_or_404(Flag, pk=flag, assignment__study=request.study)
    again = "reopen" in request.POST
    Flag.objects.filter(pk=found.pk, settled_at__isnull=not again).update(
        settled_at=None if again else timezone.now()
    )
    address = redirect("operate-flags", slug=request.study.slug)
    if again:
        address["Location"] += "?show=settled"
    return address
