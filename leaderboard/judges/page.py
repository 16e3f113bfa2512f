"""The page of judges side by side on the same pairs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

from django.db.models import Count, OuterRef, Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from arena.models import Study
from judging.models import JudgeRun
from leaderboard.judges import table as side_by_side
from leaderboard.judges.table import Line, Spending
from leaderboard.models import Snapshot
from leaderboard.pages.computed_page import Computed
from leaderboard.pages.figure import MOST_SERIES
from leaderboard.pages.format import counted
from leaderboard.pages.marks import summary
from leaderboard.pages.page import NoRatingsError, Panel
from leaderboard.pages.rater_kinds.choices import check_raters, ending, labels
from leaderboard.pages.rater_kinds.flags import flags_of, sentences
from leaderboard.pages.rater_kinds.judge_facts import JudgeFacts, facts_of_judges
from leaderboard.pages.shell import is_staff
from leaderboard.pages.wording import on_intervals, with_intervals
from leaderboard.raters.agreement.page import ORDER_BY
from leaderboard.raters.agreement.table import PEARSON_WITH_MEAN, correlation_table
from leaderboard.raters.agreement.trust import of_snapshot
from leaderboard.raters.agreement.verdict import Verdict
from leaderboard.raters.bias.table import shown, shown_by_scale, told_apart
from leaderboard.raters.panels import boards_panel, correlation_panel, position_panel, ratings_panel
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.contents import computed
from leaderboard.snapshots.settings import Scope, Setting, UnknownSettingError

PEOPLE = "people"


@dataclass(frozen=True)
class Kind:
    selector: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class Described:
    label: str
    address: str
    facts: JudgeFacts | None
    panel: bool


@dataclass(frozen=True, kw_only=True)
class JudgesPage(Computed):
    """Some judges, and perhaps people, on the pairs that all of these judges rated."""

    chosen: tuple[str, ...]
    usual: tuple[str, ...]
    spending: Spending

    template: ClassVar[str] = "leaderboard/judges.html"
    tab: ClassVar[str] = "study-judges"

    @property
    def kinds(self) -> list[Kind]:
        return [Kind(one, label, one in self.chosen) for one, label in labels(self.snapshot).items()]

    @property
    def setting_words(self) -> str:
        names = labels(self.snapshot)
        return "\n".join(names[one] for one in self.chosen)

    @property
    def raters(self) -> Sequence[Content]:
        own: Sequence[Content] = self.found["raters"] if self.found else ()
        return own

    @cached_property
    def notices(self) -> list[str]:
        """Flags of the judges, and warnings about the numbers."""
        if self.found is None:
            return []
        return [*sentences(flags_of(self.study, self.found)), *self.found["warnings"]]

    @cached_property
    def facts(self) -> dict[str, JudgeFacts]:
        return facts_of_judges(self.study, self.chosen, timezone.now())

    @cached_property
    def judges(self) -> list[Described]:
        panels = [each["selector"] for each in self.snapshot.counts["raters"] if each.get("panel")]
        return [
            Described(
                own["label"],
                reverse("study-rater", args=[self.study.slug, own["selector"]]),
                self.facts.get(own["selector"]),
                own["selector"] in panels,
            )
            for own in self.raters
            if own["selector"].startswith("judge:")
        ]

    @property
    def caption(self) -> str:
        pairs, prompts = (self.found or {}).get("pairs", 0), (self.found or {}).get("prompts", 0)
        return (
            f"{counted(pairs, 'pair')} of {counted(prompts, 'prompt')} that every judge here rated. "
            f"{on_intervals(f'Intervals are {self.level:g}%.', self.found)} "
            "Shifts are in points on a scale of 1–8, whatever scale raters used."
        )

    @property
    def verdict(self) -> Verdict:
        """On all judges and all pairs, as on the leaderboard."""
        return of_snapshot(self.snapshot, method=ORDER_BY)

    @cached_property
    def lines(self) -> list[Line]:
        free = [selector for selector, facts in self.facts.items() if facts.order_free]
        return side_by_side.lines(self.found, free) if self.found else []

    @cached_property
    def costs(self) -> list[Line]:
        """What answers cost per thousand pairs; empty for all but operators."""
        return side_by_side.spent(self.found, self.spending) if self.found else []

    def _panels(self) -> Iterator[Panel]:
        if self.found is None:
            return
        yield self.make_panel(
            "measures",
            "Measures",
            "A row for each.",
            side_by_side.lines_table("Judges side by side", self.found, self.lines),
        )
        if self.costs:
            yield self.make_panel(
                "costs",
                "Per thousand pairs",
                "What answers cost.",
                side_by_side.lines_table("Per thousand pairs", self.found, self.costs),
            )
        yield from self._histograms()
        found = [one for own in self.raters for one in told_apart(shown(own["label"], own["ratings"]))]
        yield from position_panel(self, found, self.level)
        yield from self._standings()
        yield from self._correlation()

    @property
    def figures(self) -> list[Panel]:
        return [panel for panel in self.panels if panel.has_figure]

    def _histograms(self) -> Iterator[Panel]:
        ratings = [(own["label"], own["ratings"]) for own in self.raters]
        for points, found in shown_by_scale(ratings).items():
            yield ratings_panel(self, points, found)

    def _standings(self) -> Iterator[Panel]:
        for ties, name in (("on", "ties count half"), ("off", "ties off")):
            boards = [(own["label"], own["standings"][ties]) for own in self.raters if own["standings"][ties]]
            yield from boards_panel(self, f"elo-ties-{ties}", f"Elo, {name}", boards, self.level)

    def _correlation(self) -> Iterator[Panel]:
        found = {
            own["selector"]: (own["label"], {"rows": own["correlation"]})
            for own in self.raters
            if own["correlation"]
        }
        _, ceiling = found.pop(PEOPLE, ("", None))
        yield from correlation_panel(
            self,
            "Correlation with the mean of people by category",
            "Pearson’s r with the mean of people over the pairs both rated"
            f"{with_intervals(self.level, [own for _, own in found.values()])}.",
            list(found.values()),
            ceiling,
            correlation_table,
            PEARSON_WITH_MEAN,
        )

    @property
    def level(self) -> float:
        """Of the intervals, in percent."""
        return float(self.found["level"]) if self.found else 95.0


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> JudgesPage:
    """Raises NoNumbersError where no judge has rated."""
    known = list(labels(snapshot))
    if not known:
        raise NoRatingsError(study)
    apart = [one for one in known if not one.startswith("group:")]
    usual = tuple(apart[:MOST_SERIES])
    chosen = _chosen(request.GET.getlist("with"), known) or usual
    query = ending([("with", one) for one in chosen] if chosen != usual else [])
    found = computed(snapshot, Setting(",".join(chosen)), Scope.JUDGES)
    content = found.stored.get("judges", ",".join(chosen))
    there = content is not None and "nothing" not in content
    return JudgesPage(
        study=study,
        snapshot=snapshot,
        address=reverse("study-judges", args=[study.slug]),
        query=query,
        pending=found.pending,
        chosen=chosen,
        usual=usual,
        content=content,
        spending=_spending(study, content) if there and content and is_staff(request) else {},
    )


def _spending(study: Study, content: Content) -> Mapping[str, Spending | None]:
    # Operators alone see what calls cost: the estimates load SciPy, which no other page needs.
    from leaderboard.pages.rater_kinds.spending import spending_of

    return spending_of(study, content, float(content["level"]))


def _chosen(wanted: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Raises UnknownSettingError."""
    check_raters(wanted, known)
    found = tuple(one for one in known if one in wanted)
    if len(found) > MOST_SERIES:
        raise UnknownSettingError(f"You can compare at most {MOST_SERIES} kinds of raters.")
    return found


_RUNS: Final = JudgeRun.objects.filter(study=OuterRef("pk"))

RUNS_NOW: Final = (summary(_RUNS, Sum("purse__spent")), summary(_RUNS, Count("finished_at")))
"""The progress of the judges' runs, on which costs depend."""
