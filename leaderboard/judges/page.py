"""The page of judges side by side on the same pairs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from arena.models import Study
from judging.models import JudgeRun
from leaderboard.agreement.figure import correlations
from leaderboard.agreement.table import correlated, correlation_table, without_pools
from leaderboard.bias.figure import histogram, position_dots
from leaderboard.bias.table import Shown, position_table, ratings_table, shown, shown_by_scale
from leaderboard.judges import table as side_by_side
from leaderboard.judges.table import Line, Spending
from leaderboard.models import Snapshot
from leaderboard.pages.figure import MOST_SERIES
from leaderboard.pages.page import NoNumbersError, Page, Panel, step
from leaderboard.pages.shell import Published, is_staff
from leaderboard.rater_kinds.flags import flags_of
from leaderboard.rater_kinds.judge_facts import JudgeFacts, facts_of_judges
from leaderboard.rater_kinds.page import ending, judges_now, labels
from leaderboard.snapshots import on_demand
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.on_demand import Ready
from leaderboard.snapshots.settings import Scope, Setting, UnknownSettingError
from leaderboard.snapshots.stored import Stored
from leaderboard.standings.figure import intervals
from leaderboard.standings.table import raters_table

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


@dataclass(frozen=True, kw_only=True)
class JudgesPage(Page):
    """Some judges, and perhaps people, on the pairs that all of these judges rated."""

    chosen: tuple[str, ...]
    usual: tuple[str, ...]
    content: Content | None
    spending: Spending

    template: ClassVar[str] = "leaderboard/judges.html"
    tab: ClassVar[str] = "study-judges"

    @property
    def kinds(self) -> list[Kind]:
        return [Kind(one, label, one in self.chosen) for one, label in labels(self.snapshot).items()]

    @property
    def setting_words(self) -> str:
        names = labels(self.snapshot)
        return ", ".join(names[one] for one in self.chosen)

    @property
    def nothing(self) -> str:
        """Why there is nothing to show, or empty."""
        reason: str = (self.content or {}).get("nothing", "")
        return f"{reason[:1].upper()}{reason[1:]}." if reason else ""

    @property
    def found(self) -> Content | None:
        """The content; None while it is computed and where there is nothing to show."""
        return None if self.nothing else self.content

    @property
    def raters(self) -> Sequence[Content]:
        own: Sequence[Content] = self.found["raters"] if self.found else ()
        return own

    @cached_property
    def notices(self) -> list[str]:
        """Flags of the judges, and warnings about the numbers."""
        if self.found is None:
            return []
        flags = flags_of(self.study, self.found).values()
        return [*(flag.sentence for own in flags for flag in own), *self.found["warnings"]]

    @cached_property
    def judges(self) -> list[Described]:
        facts = facts_of_judges(self.study, self.chosen, timezone.now())
        return [
            Described(
                own["label"],
                reverse("study-rater", args=[self.study.slug, own["selector"]]),
                facts.get(own["selector"]),
            )
            for own in self.raters
            if own["selector"].startswith("judge:")
        ]

    @cached_property
    def lines(self) -> list[Line]:
        return side_by_side.lines(self.found) if self.found else []

    @cached_property
    def costs(self) -> list[Line]:
        """What answers cost per thousand pairs; empty for all but operators."""
        return side_by_side.spent(self.found, self.spending) if self.found else []

    def _panels(self) -> Iterator[Panel]:
        if self.found is None:
            return
        yield self.make_panel(
            "measures",
            "Every measure",
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
        yield from self._position()
        yield from self._standings()
        yield from self._correlation()

    @property
    def figures(self) -> list[Panel]:
        return [panel for panel in self.panels if panel.has_figure]

    def _histograms(self) -> Iterator[Panel]:
        ratings = [(own["label"], own["ratings"]) for own in self.raters]
        for points, found in shown_by_scale(ratings).items():
            yield self.make_panel(
                f"ratings-{points}",
                f"Ratings as shown, scale of {points} points",
                "How often each rating was given, in the order in which the two completions were shown. "
                "Raters without position bias give a symmetric picture.",
                ratings_table(points, found),
                draw=lambda points=points, found=found: histogram(points, found),
                height=15,
            )

    def _position(self) -> Iterator[Panel]:
        found = [one for own in self.raters for one in _told_apart(own) if one.scored]
        if found:
            yield self.make_panel(
                "position",
                "How often the first was preferred",
                f"Among ratings that take a side. Bars are {self.level:g} % intervals; the dashed line at "
                "50 % is what raters without position bias tend to.",
                position_table(found),
                draw=lambda: position_dots(found),
                height=step(len(found) * 1.5 + 5),
            )

    def _standings(self) -> Iterator[Panel]:
        for ties, name in (("on", "ties count half"), ("off", "ties off")):
            boards = [(own["label"], own["standings"][ties]) for own in self.raters if own["standings"][ties]]
            if not boards:
                continue
            order = [row["contestant"] for row in boards[0][1]["standings"] if row["rating"] is not None]
            yield self.make_panel(
                f"elo-ties-{ties}",
                f"Elo, {name}",
                f"Dots are ratings, bars {self.level:g} % intervals; contestants are in the order of "
                f"{boards[0][0]}.",
                raters_table(order, boards),
                draw=lambda order=order, boards=boards: intervals(order, boards),
                height=step(len(order) * max(1, 0.4 * len(boards)) + 5),
            )

    def _correlation(self) -> Iterator[Panel]:
        own = [
            (each["label"], {"rows": each["correlation"]}, each["selector"])
            for each in self.raters
            if each["correlation"]
        ]
        judges = [(label, content) for label, content, one in own if one != PEOPLE]
        ceiling = next((content for _, content, one in own if one == PEOPLE), None)
        if not judges:
            return
        series = [correlated(label, without_pools(content), "pearson") for label, content in judges]
        people = correlated("People with each other", without_pools(ceiling), "pearson") if ceiling else []
        listed = [*judges, *([("People with each other", ceiling)] if ceiling else [])]
        yield self.make_panel(
            "correlation",
            "Correlation with people by category",
            f"Pearson’s r over the pairs both rated, with {self.level:g} % intervals from resampling "
            "prompts. The upright mark is how people agree with the other people.",
            correlation_table(listed),
            draw=lambda: correlations("pearson", series, people),
            height=step(len(series[0]) * (1 + 0.6 * len(series)) + 5),
        )

    @property
    def level(self) -> float:
        """Of the intervals, in percent."""
        return float(self.found["level"]) if self.found else 95.0


def _told_apart(own: Content) -> list[Shown]:
    """Histograms with the scale in the label where there are several."""
    scales = own["ratings"]["scales"]
    several = len(scales) > 1
    return [
        shown(f"{own['label']}, {scale['points']} points" if several else own["label"], scale)
        for scale in scales
    ]


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> JudgesPage:
    """Raises NoNumbersError where no judge has rated."""
    known = list(labels(snapshot))
    if not known:
        raise NoNumbersError("Nobody has rated yet.")
    apart = [one for one in known if not one.startswith("group:")]
    usual = tuple(apart[:MOST_SERIES])
    chosen = _chosen(request.GET.getlist("with"), known) or usual
    query = ending([("with", one) for one in chosen] if chosen != usual else [])
    answer = on_demand.contents(snapshot, Setting(",".join(chosen)), Scope.JUDGES)
    content = None
    if isinstance(answer, Ready):
        content = Stored(answer.contents).get("judges", ",".join(chosen))
    there = content is not None and "nothing" not in content
    return JudgesPage(
        study=study,
        snapshot=snapshot,
        address=reverse("study-judges", args=[study.slug]),
        query=query,
        pending=None if isinstance(answer, Ready) else answer,
        chosen=chosen,
        usual=usual,
        content=content,
        spending=_spending(study, content) if there and content and is_staff(request) else {},
    )


def _spending(study: Study, content: Content) -> Mapping[str, Spending | None]:
    # Operators alone see what calls cost: the estimates load SciPy, which no other page needs.
    from leaderboard.judges.spending import spending_of

    return spending_of(study, content, float(content["level"]))


def _chosen(wanted: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Raises UnknownSettingError."""
    for selector in wanted:
        if selector not in known:
            raise UnknownSettingError(
                f'This study has no raters "{selector[:100]}". It has: {", ".join(known)}.'
            )
    found = tuple(one for one in known if one in wanted)
    if len(found) > MOST_SERIES:
        raise UnknownSettingError(f"At most {MOST_SERIES} kinds of raters stand side by side.")
    return found


def runs_now(now: Published) -> Any:
    """The judges and the progress of their runs, on which costs depend."""
    runs = JudgeRun.objects.filter(study=now.study).order_by("pk")
    return judges_now(now), list(runs.values_list("pk", "state", "spent"))
