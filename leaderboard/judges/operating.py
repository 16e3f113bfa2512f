"""The operators' table of the judges of a study."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from arena.models import Comparison, Rater, Study
from arena.people.permissions import OperatorRequest, operator
from arena.studies.pages import show
from judging.models import Judge, JudgeRun
from leaderboard.agreement.table import same_category
from leaderboard.models import Snapshot
from leaderboard.pages.wording import FEWEST_PAIRS
from leaderboard.snapshots.stored import Stored


@dataclass(frozen=True)
class Agreement:
    """Pearson's r with people over ``pairs`` that both rated."""

    value: float
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
    own = Q(Exists(study.comparisons.filter(rater=OuterRef("pk"))))
    asked = Q(Exists(study.judge_runs.filter(judge__rater=OuterRef("pk"))))
    said = Comparison.objects.current().filter(study=study, purpose="study", rater__kind=Rater.Kind.JUDGE)
    counted = (
        said.order_by()
        .values("rater")
        .annotate(
            rated=Count("pk", filter=Q(status="scored")), not_rated=Count("pk", filter=Q(status="unscored"))
        )
    )
    counts: dict[int, Any] = {row["rater"]: row for row in counted}
    runs = {run.judge.rater_id: run for run in study.judge_runs.select_related("judge").order_by("pk")}
    agreements = _agreements(study)
    return [
        Line(
            rater,
            counts.get(rater.pk, {}).get("rated", 0),
            counts.get(rater.pk, {}).get("not_rated", 0),
            runs.get(rater.pk),
            agreements.get(f"judge:{rater.slug}"),
        )
        for rater in Rater.objects.filter(own | asked, kind=Rater.Kind.JUDGE).order_by("name", "pk")
    ]


def _agreements(study: Study) -> dict[str, Agreement]:
    """Over all categories, of the newest snapshot, by selector."""
    snapshot = Snapshot.objects.newest(study)
    if snapshot is None:
        return {}
    found = {}
    for selector, content in Stored.read(snapshot, Q(kind="correlation")).all("correlation"):
        overall = next((row for row in content["rows"] if same_category(row, "")), None)
        if overall and overall["pearson"] is not None:
            found[selector] = Agreement(overall["pearson"], overall["n"])
    return found


@require_safe
@operator
def judges(request: OperatorRequest) -> HttpResponse:
    context = {"lines": lines(request.study), "has_judges": Judge.objects.filter(active=True).exists()}
    return show(request, "judges.html", context)
