"""Two contestants head to head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Final, Self
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from arena.models import Contestant, Study
from leaderboard.head_to_head.figure import differences
from leaderboard.head_to_head.settings import PAIR_METHODS, PAIR_SWITCHES, parse_for_pair
from leaderboard.head_to_head.table import Driver, Line, drivers, drivers_table, lines, lines_table
from leaderboard.head_to_head.verdict import MarginError, margin_of, result
from leaderboard.models import Snapshot
from leaderboard.pages.computed_page import ComputedPage
from leaderboard.pages.page import NoRatingsError, Panel, step
from leaderboard.pages.pairs import Entry, entries
from leaderboard.pages.rater_kinds.flags import flag_sentences
from leaderboard.pages.shell import visible
from leaderboard.pages.standings.table import opponents
from leaderboard.pages.switches import Switch, list_of
from leaderboard.pages.wording import on_intervals
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.contents import find
from leaderboard.snapshots.settings import PairSetting, Scope, Setting, UnknownSettingError, parse

MARGINS: Final = ("10", "20", "50", "100")
"""Points to choose from; an address may name others."""


@dataclass(frozen=True, kw_only=True)
class HeadToHead(ComputedPage):
    """``margin`` is how many points the first may be worse; ``every_look``: intervals hold at every look."""

    setting: PairSetting
    first: Contestant
    second: Contestant
    contestants: Sequence[Contestant] = field(repr=False)
    margin: float
    every_look: bool

    template: ClassVar[str] = "leaderboard/head_to_head.html"
    tab: ClassVar[str] = "study"
    takes: ClassVar[Sequence[str]] = PAIR_SWITCHES

    @classmethod
    def read(cls, study: Study, snapshot: Snapshot, wanted: Mapping[str, str]) -> Self:
        contestants = list(Contestant.objects.filter(study=study, retired_at=None).order_by("name"))
        by_slug = {each.slug: each for each in contestants}
        first, second = (by_slug.get(wanted[side]) for side in ("contestant", "against"))
        if first is None or second is None or first == second:
            raise Http404("Choose two different models that are ranked.")
        setting = parse_for_pair(wanted, snapshot.known)
        if setting is None:
            raise NoRatingsError(study)
        try:
            margin = margin_of(wanted.get("margin", ""))
        except MarginError as error:
            raise UnknownSettingError(str(error)) from error
        found = find(snapshot, setting, Scope.HEAD_TO_HEAD)
        page = cls(
            study=study,
            snapshot=snapshot,
            address=reverse("study-head-to-head", args=[study.slug, first.slug, second.slug]),
            pending=found.pending,
            setting=setting,
            first=first,
            second=second,
            contestants=contestants,
            margin=margin,
            every_look=wanted.get("looks") == "every",
            content=found.stored.get("head-to-head", setting.raters),
        )
        return replace(page, query=page._with(setting.query()))

    def answer(self) -> dict[str, Any]:
        found = super().answer()
        decision = self.chosen.decision if self.chosen else None
        return found | {
            "method": self.setting.method,
            "decision": decision.as_dict() if decision else None,
            "drivers": [vars(each) for each in self.drivers],
            "pairs": found["pairs"] if self.study.is_closed else [],
        }

    @property
    def level(self) -> float:
        return float(self.setting.level)

    @property
    def switches(self) -> Sequence[Switch]:
        """The links keep margin and looks."""
        own = {name: value for name, value in self.setting.parts().items() if name in PAIR_SWITCHES}
        kept = {"first": self.first.slug, "second": self.second.slug, **own, **self._more}
        choices = partial(list_of, kept=kept, address=reverse("study-compare", args=[self.study.slug]))
        names = {each.slug: each.name for each in self.contestants}
        margins = dict.fromkeys((*MARGINS, *([kept["margin"]] if self.margin else [])))
        found = [
            replace(
                switch,
                options=tuple(
                    replace(option, query=self._with(option.query))
                    for option in switch.options
                    if switch.field != "method" or option.value in PAIR_METHODS
                ),
                kept=(*switch.kept, *self._more.items()),
            )
            for switch in super().switches
        ]
        return [
            choices("first", "Model", names, group="pair"),
            choices("second", "Against", names, group="pair"),
            *found,
            choices(
                "margin",
                "Counts as not worse",
                {"": "at no gap", **{each: f"within {each} points" for each in margins}},
                group="more",
            ),
            choices(
                "looks",
                "You check the result",
                {"": "once", "every": "again and again"},
                group="more",
                meaning="Wider intervals keep you from being misled when you check often.",
            ),
        ]

    @property
    def _more(self) -> Mapping[str, str]:
        more = {"margin": f"{self.margin:g}"} if self.margin else {}
        return more | ({"looks": "every"} if self.every_look else {})

    def _with(self, query: str) -> str:
        kept = "&".join(part for part in query.split("&") if not part.startswith(("contestant=", "against=")))
        return f"{kept}&{urlencode(self._more)}" if self._more else kept

    @property
    def turned_address(self) -> str:
        slugs = [self.study.slug, self.second.slug, self.first.slug]
        return reverse("study-head-to-head", args=slugs) + self.query

    @cached_property
    def kinds(self) -> list[Line]:
        if self.content is None:
            return []
        together = [row | {"label": f"People with {row['label']}"} for row in self.content["anchored"]]
        return lines(self.content, [*self.content["by_raters"], *together], self.margin, self.every_look)

    @cached_property
    def chosen(self) -> Line | None:
        own = self.setting.raters
        return next((line for line in self.kinds if line.own["selector"] == own), None)

    @cached_property
    def own(self) -> Mapping[str, Any]:
        """The games of the two, until they are computed as the snapshot counted them; empty where unknown."""
        if self.pending is None:
            return self.chosen.own if self.chosen else {}
        asked = replace(self.setting, method=Setting.method, level=Setting.level)
        if not asked.is_stored(self.snapshot.counts["categories"]):
            return {}
        place = {"raters": asked.raters, "ties": asked.ties, "category": asked.category}
        held = self.snapshot.slices.filter(kind="matrices", **place).first()
        met = opponents(held.content, self.first.name, self.level) if held else []
        found = (vars(each) | {"losses": each.losses} for each in met if each.name == self.second.name)
        return next(found, {"games": 0} if held else {})

    @property
    def result(self) -> str:
        """The games of the two in a sentence; only the names where these are unknown."""
        if not self.own:
            return f"{self.first.name} against {self.second.name}"
        ends = self.chosen.share_ends(self.every_look) if self.chosen else (None, None)
        return result(self.first.name, self.second.name, self.own, ends)

    @cached_property
    def flags(self) -> list[str]:
        """What must be said of the judge; empty for people and groups."""
        return flag_sentences(self.study, self.snapshot, self.setting.raters)

    @cached_property
    def by_category(self) -> list[Line]:
        found = self.content["categories"] if self.content and not self.setting.category else []
        return lines(self.content or {}, found, self.margin, self.every_look)

    @cached_property
    def drivers(self) -> list[Driver]:
        found = drivers(self.content) if self.content else []
        # How results go with length tells raters of an open study how long whose answers are.
        return [each for each in found if each.what != "length" or self.study.is_closed]

    @property
    def leaning(self) -> str:
        """What all raters prefer although the verdict is open; empty where they are of two minds."""
        own = self.content["preferring"] if self.content else {}
        decided = self.chosen is None or self.chosen.decision is None or not self.chosen.decision.outlook
        if decided or own.get("neither") or bool(own["first"]) == bool(own["second"]):
            return ""
        raters, name = max((own["first"], self.first.name), (own["second"], self.second.name))
        if raters < 2:
            return ""
        return f"{'Both' if raters == 2 else f'All {raters}'} raters lean to {name}, but not clearly enough."

    @property
    def moved_by(self) -> list[str]:
        return [each.sentence(self.first.name, self.level) for each in self.drivers if each.tells]

    @cached_property
    def pairs(self) -> list[tuple[Entry, Mapping[str, Any]]]:
        """Pairs on which raters leave least doubt; none in an open study."""
        if self.content is None or not self.study.is_closed:
            return []
        told = {row["pair"]: row for row in self.content["pairs"]}
        return [(entry, told[entry.pair.pk]) for entry in entries(self.study, list(told))]

    def _panels(self) -> Iterator[Panel]:
        first, second, level = self.first.name, self.second.name, self.level
        looks = " for repeated looks" if self.every_look else ""
        intervals = on_intervals(
            f"Intervals are {level:g}%{looks}.", [line.own for line in (*self.kinds, *self.by_category)]
        )
        looks = f"{first} minus {second}, from all ratings. {intervals}"
        if self.margin:
            looks += f" The dashed line is the margin, \N{MINUS SIGN}{self.margin:g} points."
        for slug, heading, rows in (
            ("raters", "Raters", self.kinds),
            ("categories", "Category", self.by_category),
        ):
            if rows:
                title = "By raters" if slug == "raters" else "By category"
                yield self.make_panel(
                    slug,
                    title,
                    looks,
                    lines_table(f"{first} against {second}", heading, rows, level, self.every_look),
                    draw=lambda rows=rows: differences(rows, self.margin),
                    height=step(2.5 * len(rows) + 3),
                )
        if self.drivers:
            yield self.make_panel(
                "drivers",
                "What moves the result",
                f"How often {first} wins against {second} in one part of the ratings by "
                f"{self.raters['label']}, and in the other. Of many rows, some differ by chance.",
                drivers_table(f"What moves {first} against {second}", self.drivers, level),
            )


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> HeadToHead:
    """Raises Http404, UnknownSettingError or NoNumbersError."""
    wanted = {**request.GET.dict(), "contestant": place["first"], "against": place["second"]}
    return HeadToHead.read(study, snapshot, wanted)


def _usual_board(study: Study) -> tuple[list[str], Content | None]:
    """The contestants' names as the usual board ranks them, and its matrices; none without a board."""
    snapshot = Snapshot.objects.newest(study)
    setting = parse({}, snapshot.known) if snapshot else None
    if snapshot is None or setting is None:
        return [], None
    place = {"raters": setting.raters, "ties": setting.ties, "category": setting.category}
    held = snapshot.slices.filter(kind="matrices", **place).first()
    ranked = snapshot.slices.all().ranking(setting.raters, setting.ties, "", setting.method)
    return ranked, held.content if held else None


@require_safe
def choose(request: HttpRequest, slug: str) -> HttpResponse:
    """The two that a form names; else the first of the board and the best that it has met."""
    study = visible(request, slug)
    slugs = dict(Contestant.objects.filter(study=study, retired_at=None).values_list("name", "slug"))
    if len(slugs) < 2:
        raise Http404("You need two models to compare.")
    asked = [request.GET.get(side, "") for side in ("first", "second")]
    wanted = [slug for slug in asked if slug in slugs.values()]
    ranked, matrices = _usual_board(study)
    leaders = [slugs[name] for name in ranked if name in slugs]
    first, *others = dict.fromkeys((*wanted, *leaders, *slugs.values()))
    if len(set(wanted)) < 2:
        names = {slug: name for name, slug in slugs.items()}
        met = {each.name for each in opponents(matrices, names[first], float(Setting.level))}
        others.sort(key=lambda slug: names[slug] not in met)
    pair = (first, others[0])
    query = request.GET.copy()
    for side in ("first", "second"):
        query.pop(side, None)
    address = reverse("study-head-to-head", args=[study.slug, *pair])
    return redirect(f"{address}?{query.urlencode()}" if query else address)
