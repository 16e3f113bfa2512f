"""The page of how many more prompts would tell two contestants apart."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any, ClassVar, Final, Self

from django.http import HttpRequest
from django.urls import reverse

from arena.models import Contestant, Study
from leaderboard.models import Snapshot
from leaderboard.pages.columns import Column, place
from leaderboard.pages.computed_page import ComputedPage
from leaderboard.pages.page import NoNumbersError, NoRatingsError, Panel
from leaderboard.pages.switches import Switch, list_of
from leaderboard.pages.table import DataTable
from leaderboard.planning.settings import POWERS, PlanSetting, parse_for_plan
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.contents import find
from leaderboard.snapshots.holding import holds_standings
from leaderboard.snapshots.settings import OF_PLANS, Scope, UnknownSettingError, words

_MEASURED: Final = ", measured"


@dataclass(frozen=True, kw_only=True)
class PlanPage(ComputedPage):
    """A plan for ``two`` contestants by their slugs, which ``setting`` need not name; ``names`` has all."""

    setting: PlanSetting
    two: tuple[str, str]
    names: Mapping[str, str] = field(repr=False)

    template: ClassVar[str] = "leaderboard/plan.html"
    tab: ClassVar[str] = "study-plan"
    takes: ClassVar[Sequence[str]] = OF_PLANS

    @classmethod
    def read(cls, study: Study, snapshot: Snapshot, wanted: Mapping[str, str]) -> Self:
        setting = parse_for_plan(wanted, snapshot.known)
        if setting is None:
            raise NoRatingsError(study)
        contestants = Contestant.objects.filter(study=study, retired_at=None).order_by("name", "pk")
        names = dict(contestants.values_list("slug", "name"))
        two = _two(setting, names, snapshot)
        computed = replace(setting, contestant=two[0], against=two[1])
        found = find(snapshot, computed, Scope.PLAN)
        return cls(
            study=study,
            snapshot=snapshot,
            address=reverse("study-plan", args=[study.slug]),
            query=computed.query(),
            setting=setting,
            two=two,
            names=names,
            pending=found.pending,
            content=found.stored.get("plan", setting.raters),
        )

    @property
    def setting_words(self) -> str:
        one, other = (self.names[slug] for slug in self.two)
        return f"{one} and {other}; {words(self.setting, self.snapshot.counts)}"

    @property
    def switches(self) -> Sequence[Switch]:
        kept = self.setting.parts()
        kept |= {"contestant": self.two[0], "against": self.two[1], "power": self.setting.power}
        return [
            list_of("contestant", "Model", self.names, kept),
            list_of("against", "Against", self.names, kept),
            *super().switches,
            list_of(
                "power",
                "Chance to tell them apart",
                {each: f"{each}%" for each in POWERS},
                kept,
                group="more",
            ),
        ]

    @property
    def gap_words(self) -> str:
        """By how much which of the two is above the other."""
        if self.found is None:
            return ""
        there = self.found["evidence"]
        way, apart = "above" if there["gap"] > 0 else "below", f"{abs(there['gap']):.1f}"
        if apart == "0.0":
            return f"{there['first']} and {there['second']} have the same score"
        return f"{there['first']} is {way} {there['second']} by {apart} points"

    @property
    def between(self) -> float:
        """The standard deviation between prompts, in points."""
        return sqrt(self.found["variance"]["between"]) if self.found else 0.0

    @property
    def within(self) -> float | None:
        """The same between raters of the same two answers; None where not known."""
        own = self.found["variance"]["within"] if self.found else None
        return None if own is None else sqrt(own)

    def _panels(self) -> Iterator[Panel]:
        if self.found is None:
            return
        plan = self.found
        yield self.make_panel(
            "needs",
            "Other gaps, more raters" if len(plan["needs"]) > 1 else "Other gaps",
            f"With so many more prompts, a {plan['level']:g}% interval shows a gap of this width with a "
            f"chance of {plan['power']:g}%.",
            needs_table(plan),
        )


def _two(setting: PlanSetting, names: Mapping[str, str], snapshot: Snapshot) -> tuple[str, str]:
    """The contestants named, or the first of the ranking in their place. Raises the errors of a page."""
    named = [slug for slug in (setting.contestant, setting.against) if slug]
    for slug in named:
        if slug not in names:
            raise UnknownSettingError(f'This study has no model "{slug[:100]}".')
    if len(named) == 2 and named[0] == named[1]:
        raise UnknownSettingError("Choose two different models.")
    best = iter([slug for slug in _ranked(setting, names, snapshot) if slug not in named])
    one, other = (slug or next(best, "") for slug in (setting.contestant, setting.against))
    if not one or not other:
        raise NoNumbersError("A plan needs two models with ratings.")
    return one, other


def _ranked(setting: PlanSetting, names: Mapping[str, str], snapshot: Snapshot) -> list[str]:
    """The slugs of the contestants, best first."""
    known = setting.category if setting.category in snapshot.counts["categories"] else ""
    slugs = {name: slug for slug, name in names.items()}
    place = (setting.raters, setting.ties, known, setting.method)
    if not holds_standings(snapshot.counts, *place):
        place = (setting.raters, "on", "", setting.method)
    best = snapshot.slices.all().ranking(*place)
    return [slugs[name] for name in best if name in slugs]


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> PlanPage:
    return PlanPage.read(study, snapshot, request.GET)


def needs_table(content: Content) -> DataTable:
    """How many more prompts each gap takes, by raters of every pair."""
    needs = content["gaps"][0]["needs"] if content["gaps"] else ()
    columns: list[Column[Content]] = [
        Column("Gap", lambda gap: f"{gap['gap']:.3g} points{_MEASURED if gap['measured'] else ''}"),
        *(
            Column[Content](f"{need['raters']} rater{'' if need['raters'] == 1 else 's'}", place("more", at))
            for at, need in enumerate(needs)
        ),
    ]
    found = ({**gap, "more": [need["more"] for need in gap["needs"]]} for gap in content["gaps"])
    return DataTable.of("More prompts you need, by the gap and the raters of every pair", columns, found)
