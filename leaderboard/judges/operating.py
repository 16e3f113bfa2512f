"""The operators' table of the judges of a study."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Exists, OuterRef, Q
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from arena.models import Answer, Comparison, Rater, Score, Study
from arena.pages.operating import show
from arena.pages.permissions import OperatorRequest, operator
from judging.models import Judge, JudgeRun
from leaderboard.models import Snapshot
from leaderboard.pages.format import number_range, signed
from leaderboard.pages.wording import FEWEST_PAIRS
from leaderboard.raters.agreement.table import with_people
from leaderboard.snapshots.stored import Stored


@dataclass(frozen=True)
class Agreement:
    """Pearson's r with people over ``pairs`` that both rated, and its interval, as all pages show it."""

    value: str
    ends: str
    pairs: int

    @property
    def is_thin(self) -> bool:
        return self.pairs < FEWEST_PAIRS


@dataclass(frozen=True)
class Line:
    """A judge with its ratings, its last run, and how its ratings correlate with people's."""

    rater: Rater
    rated: int
    not_rated: int
    run: JudgeRun | None
    agreement: Agreement | None


def lines(study: Study) -> list[Line]:
    asked = Q(Exists(study.judge_runs.filter(judge__rater=OuterRef("pk"))))
    for model in KINDS:
        asked |= Q(Exists(model._default_manager.filter(study=study, rater=OuterRef("pk"))))
    counts = _counts(study)
    runs = {run.judge.rater_id: run for run in study.judge_runs.select_related("judge").order_by("pk")}
    agreements = _agreements(study)
    return [
        Line(
            rater,
            counts[rater.pk]["rated"],
            counts[rater.pk]["not_rated"],
            runs.get(rater.pk),
            agreements.get(f"judge:{rater.slug}"),
        )
        for rater in Rater.objects.filter(asked, kind=Rater.Kind.JUDGE).order_by("name", "pk")
    ]


KINDS: Final = {Comparison: "pk", Score: "pk", Answer: "completion"}
"""What judges say, and what is counted of it: pairs, scores, and answers whose requirements are checked."""


def _counts(study: Study) -> dict[int, Counter[str]]:
    """By rater what it rated, and what it left without a rating."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for model, what in KINDS.items():
        said = model._default_manager.filter(is_current=True, study=study, purpose="study")
        rows = said.filter(rater__kind=Rater.Kind.JUDGE).order_by().values_list("rater")
        for rater, rated, not_rated in rows.annotate(
            rated=Count(what, distinct=True, filter=Q(status="scored")),
            not_rated=Count(what, distinct=True, filter=Q(status="unscored")),
        ):
            counts[rater] += Counter(rated=rated, not_rated=not_rated)
    return counts


def _agreements(study: Study) -> dict[str, Agreement]:
    """Over all categories, of the newest snapshot, by selector."""
    snapshot = Snapshot.objects.newest(study)
    if snapshot is None:
        return {}
    found = {}
    for selector, content in Stored.read(snapshot, Q(kind="correlation")).all("correlation"):
        overall = with_people(content)
        if overall and overall["pearson"] is not None:
            ends = number_range(overall.get("pearson_low"), overall.get("pearson_high"))
            found[selector] = Agreement(signed(overall["pearson"]), ends, overall["n"])
    return found


@require_safe
@operator
def judges(request: OperatorRequest) -> HttpResponse:
    context = {"lines": lines(request.study), "has_judges": Judge.objects.filter(active=True).exists()}
    return show(request, "judges.html", context)
