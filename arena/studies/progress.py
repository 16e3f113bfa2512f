"""The pages about a study's progress and what raters flagged."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from statistics import median
from typing import Any, Final, NamedTuple

from django.db.models import Count, Max, Q, QuerySet, Sum
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import pluralize
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from arena.models import Assignment, Comparison, Completion, Flag, Membership, Pair, Prompt, Rater, Study
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


class Words(NamedTuple):
    """What pages call the work of a task: where it is counted, on what, and what was given."""

    caption: str
    items: str
    given: str
    needed: str
    nothing: str


WORDS: Final = {
    "compare": Words(
        "People’s ratings by category", "Pairs", "Ratings", "Ratings needed", "No pairs to rate yet."
    ),
    "turns": Words(
        *("People’s ratings by category", "Turns of pairs", "Ratings"),
        *("Ratings needed", "No pairs to rate yet."),
    ),
    "score": Words(
        "People’s scores by category", "Answers", "Scores", "Scores needed", "No answers to score yet."
    ),
    "check": Words(
        *("Answers that people checked, by category", "Answers", "Checked"),
        *("Checks needed", "No answers to check yet."),
    ),
}
"""By task; of comparisons turn by turn under "turns"."""


@dataclass(frozen=True)
class Work:
    """What people are to do for one task of a study, and have done."""

    study: Study
    kind: str
    by_category: Mapping[str, counts.Wanted]

    @cached_property
    def sum(self) -> counts.Wanted:
        return sum(self.by_category.values(), counts.Wanted())

    @property
    def name(self) -> str:
        return TASKS[self.kind].name

    @property
    def words(self) -> Words:
        by_turn = self.kind == "compare" and self.study.rated_turns == Study.Rated.EACH
        return WORDS["turns" if by_turn else self.kind]

    @property
    def rows(self) -> list[tuple[str, counts.Wanted]]:
        """The categories that have something to do."""
        return [(name, found) for name, found in self.by_category.items() if found.pairs]


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


def flagged(flag: Flag) -> tuple[Flag, Prompt, str]:
    """A flag, its prompt, and who wrote what its rater saw, in that order."""
    seen = flag.assignment
    texts = (seen.pair.first, seen.pair.second) if seen.pair else (seen.completion,)
    shown = [each for each in texts if each]
    if seen.swapped:
        shown.reverse()
    return flag, shown[0].prompt, ", ".join(str(each.contestant or "a text") for each in shown)


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
    tasks = [Work(request.study, *each) for each in counts.wanted_by_task(request.study).items()]
    total = sum((each.sum for each in tasks), counts.Wanted())
    context: dict[str, Any] = {
        "tasks": tasks,
        "total": total,
        "needed": tasks[0].words.needed if len(tasks) == 1 else "Needed",
        "outlook": forecast.outlook(request.study, {each.kind: each.sum for each in tasks}),
        "sums": (found := sums(request.study)),
        "not_counted": _not_counted(found, total),
        "waiting": publication.waiting(request.study),
        "names_cost": _names_cost(request.study),
        "now": timezone.now(),
    }
    if request.htmx:
        return show(request, "_progress_figures.html", context)
    asks = {kind: kind in request.study.tasks for kind in TASKS}
    context |= {"asks": asks, "of_texts": asks["score"] or asks["check"]}
    return show(request, "progress.html", context | {"raters": paged(request, by_rater(request.study))})


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
    page = paged(request, flags_of(request.study, settled=settled))
    context = {
        "page": page,
        "rows": [flagged(flag) for flag in page],
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
