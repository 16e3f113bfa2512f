"""What a study holds, how much rating it wants, and how fast people rate."""

from collections import Counter, defaultdict
from dataclasses import astuple, dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Final, NamedTuple

from django.db.models import Count, Exists, F, IntegerField, Min, OuterRef, Q, QuerySet, Sum, Value
from django.db.models.functions import Least
from django.template.defaultfilters import pluralize
from django.utils import timezone

from arena.models import Answer, Comparison, Completion, Contestant, Pair, Prompt, Rater, Role, Score, Study
from arena.models.querysets import CompletionQuerySet
from arena.rating.offering_texts import CHECK, TASKS, given, has_questions, texts_of


def study_prompts(study: Study) -> QuerySet[Prompt]:
    return Prompt.objects.rated().filter(study=study).exclude(turns=[])


def answers(study: Study) -> CompletionQuerySet:
    """The study's current answers with a known text by active contestants."""
    return (
        Completion.objects.filter(prompt__in=study_prompts(study), is_current=True)
        .filter(contestant__isnull=False, contestant__retired_at__isnull=True)
        .exclude(turns=[])
    )


class Cells(NamedTuple):
    prompts: int
    contestants: int
    filled: int

    @property
    def holes(self) -> int:
        return max(0, self.prompts * self.contestants - self.filled)


def cells(study: Study) -> Cells:
    contestants = Contestant.objects.active().filter(study=study).count()
    return Cells(study_prompts(study).count(), contestants, answers(study).count())


@dataclass(frozen=True)
class Wanted:
    """The opinions of people that pairs, or answers, want and have; useful: none beyond what each wants."""

    pairs: int = 0
    wanted: int = 0
    useful: int = 0
    given: int = 0
    full: int = 0
    untouched: int = 0

    @property
    def left(self) -> int:
        return max(0, self.wanted - self.useful)

    @property
    def percent(self) -> int:
        """Whole percent, rounded down: 100 means all."""
        return min(100, 100 * self.useful // self.wanted) if self.wanted else 0

    @property
    def beyond(self) -> int:
        return max(0, self.given - self.useful)

    def __add__(self, other: "Wanted") -> "Wanted":
        return Wanted(*map(sum, zip(astuple(self), astuple(other), strict=True)))


def wanted_by_category(study: Study) -> dict[str, Wanted]:
    """What people are still to compare, by category of the prompt."""
    possible = Completion.objects.rateable_in(study).pairs_by("prompt__category")
    overlap = study.ratings_per_pair_people
    given = F("people_ratings")
    rows = (
        Pair.objects.filter(prompt__study=study, use="rate")
        .order_by()
        .values_list("prompt__category")
        .annotate(
            useful=Sum(Least(given, Value(overlap), output_field=IntegerField())),
            given=Sum(given),
            full=Count("pk", filter=Q(people_ratings__gte=overlap)),
            touched=Count("pk", filter=Q(people_ratings__gt=0)),
        )
    )
    found = {category: numbers for category, *numbers in rows}
    result = {}
    for category in sorted(possible.keys() | found.keys()):
        useful, all_given, full, touched = found.get(category, (0, 0, 0, 0))
        # A pair that lost a completion to a new version has ratings and is not offered any more.
        pairs = max(possible[category], touched)
        result[category] = Wanted(pairs, pairs * overlap, useful, all_given, full, pairs - touched)
    return result


def wanted(study: Study) -> Wanted:
    return sum(wanted_by_category(study).values(), Wanted())


def texts_wanted(study: Study, kind: str) -> dict[str, Wanted]:
    """What people are still to score or to check, by category of the prompt."""
    texts, overlap = texts_of(study), study.ratings_per_pair_people
    if kind == CHECK:
        texts = texts.filter(has_questions())
    category = "completion__prompt__category"
    rows = given(study, kind).filter(study=study).values_list(category, "completion")
    found: dict[str, list[int]] = defaultdict(list)
    for name, _, raters in rows.annotate(n=Count("rater", distinct=True)):
        found[name].append(raters)
    possible = dict(texts.order_by().values_list("prompt__category").annotate(n=Count("pk")))
    result = {}
    for name in sorted(possible.keys() | found.keys()):
        raters = found[name]
        count = max(possible.get(name, 0), len(raters))
        full, useful = sum(n >= overlap for n in raters), sum(min(n, overlap) for n in raters)
        result[name] = Wanted(count, count * overlap, useful, sum(raters), full, count - len(raters))
    return result


def wanted_by_task(study: Study) -> dict[str, dict[str, Wanted]]:
    """What people are still to do, by task in the order of the study, and by category."""
    return {
        kind: texts_wanted(study, kind) if kind in TASKS else wanted_by_category(study)
        for kind in study.tasks
    }


def people_in(study: Study) -> int:
    return study.memberships.filter(role__in=[Role.RATER, Role.OPERATOR], paused_at=None).count()


def judges_in(study: Study) -> int:
    """How many judges were asked in the study or came with an import."""
    own = Exists(study.assignments.filter(rater=OuterRef("pk")))
    said = (
        Exists(rows.filter(rater=OuterRef("pk"))) for rows in (study.comparisons, study.scores, study.answers)
    )
    return Rater.objects.filter(reduce(or_, said, own), kind=Rater.Kind.JUDGE).count()


WINDOWS: Final = {
    "the last hour": timedelta(hours=1),
    "the last 24 hours": timedelta(hours=24),
    "the last 7 days": timedelta(days=7),
}
"""Windows for the present pace: the shortest in which enough was rated is taken."""

SHORTEST: Final = timedelta(minutes=10)
ENOUGH: Final = 20  # comparisons that make a pace worth telling


@dataclass(frozen=True)
class Pace:
    comparisons: int
    hours: float
    window: str
    left: int

    @property
    def per_hour(self) -> float:
        return self.comparisons / self.hours

    @property
    def is_long(self) -> bool:
        """Whether the window holds nights, in which nobody rates."""
        return self.hours > 12

    @property
    def is_thin(self) -> bool:
        return self.comparisons < ENOUGH

    @property
    def hours_left(self) -> float | None:
        """None if nobody rates."""
        return self.left / self.per_hour if self.comparisons else None

    @property
    def words(self) -> str:
        """How long the rest takes, if known."""
        hours = self.hours_left
        if hours is None:
            return ""
        if hours < 1:
            return "less than an hour"
        if hours < 48:
            return f"about {hours:.0f} hour{pluralize(round(hours))}"
        if hours < 24 * 60:
            return f"about {hours / 24:.0f} day{pluralize(round(hours / 24))}"
        return "more than two months"


def of(study: Study, left: int, now: datetime | None = None) -> Pace:
    """How fast people rate here, and what that means for ``left``; imports and checks are not counted.

    Where a window reaches back before the first rating, the time since that rating counts.
    """
    now = now or timezone.now()
    longest = max(WINDOWS.values())
    rated = Q(
        study=study,
        is_current=True,
        purpose="study",
        rater__kind="person",
        source__in=["web", "api"],
        created_at__gt=now - longest,
    )
    names = [f"window_{number}" for number in range(len(WINDOWS))]
    found: Counter[str] = Counter()
    firsts: list[datetime] = []
    for model, counted in ((Comparison, "pk"), (Score, "pk"), (Answer, "assignment")):
        windows = {
            name: Count(counted, distinct=True, filter=Q(created_at__gt=now - window))
            for name, window in zip(names, WINDOWS.values(), strict=True)
        }
        rows = model._default_manager.filter(rated).aggregate(**windows, first=Min("created_at"))
        if first := rows.pop("first"):
            firsts.append(first)
        found.update(rows)
    for name, (words, window) in zip(names, WINDOWS.items(), strict=True):  # noqa: B007 - the last stays
        if found[name] >= ENOUGH:
            break
    since = max(now - min(firsts), SHORTEST) if firsts else window
    if since < window:
        window, words = since, _the_last(since)
    return Pace(found[name], window / timedelta(hours=1), words, left)


def _the_last(time: timedelta) -> str:
    minutes = round(time / timedelta(minutes=1))
    if minutes < 120:
        return f"the last {minutes} minutes"
    return f"the last {minutes / 60:.0f} hours" if minutes < 48 * 60 else f"the last {time.days} days"
