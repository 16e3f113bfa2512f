"""The page of people's ranking, made more certain by a judge's ratings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

from django.http import HttpRequest
from django.urls import reverse

from arena.models import Study
from leaderboard.anchoring.settings import OF_ANCHORING, parse_for_anchoring
from leaderboard.anchoring.table import anchored_table, boards, gain_may_be_chance, leader
from leaderboard.models import Snapshot
from leaderboard.pages.computed_page import ComputedPage
from leaderboard.pages.page import MOST_ROWS, NoNumbersError, Panel, step
from leaderboard.pages.rater_kinds.flags import flag_sentences
from leaderboard.pages.standings.figure import intervals
from leaderboard.pages.switches import Switch
from leaderboard.pages.wording import gives_interval
from leaderboard.snapshots.contents import find
from leaderboard.snapshots.settings import Scope, Setting, method_words, words


@dataclass(frozen=True, kw_only=True)
class AnchoredPage(ComputedPage):
    """The raters of its setting are the judge."""

    template: ClassVar[str] = "leaderboard/anchored.html"
    tab: ClassVar[str] = "study-anchored"
    takes: ClassVar[Sequence[str]] = OF_ANCHORING

    @classmethod
    def read(cls, study: Study, snapshot: Snapshot, wanted: Mapping[str, str]) -> Self:
        setting = parse_for_anchoring(wanted, snapshot.known)
        if setting is None:
            raise NoNumbersError("This ranking needs people and a judge.")
        found = find(snapshot, setting, Scope.ANCHORED)
        return cls(
            study=study,
            snapshot=snapshot,
            address=reverse("study-anchored", args=[study.slug]),
            query=setting.query(),
            setting=setting,
            pending=found.pending,
            content=found.stored.get("anchored", setting.raters),
        )

    @property
    def _used(self) -> Setting:
        """Its setting, which names no method, with the only one there is."""
        return replace(self.setting, method="bradley-terry")

    @property
    def method_words(self) -> str:
        return ", ".join(method_words(self._used))

    @property
    def setting_words(self) -> str:
        return words(self._used, self.snapshot.counts)

    @property
    def switches(self) -> list[Switch]:
        """Among raters the judges alone."""
        return [
            replace(
                switch,
                label="Judge",
                options=tuple(each for each in switch.options if each.value.startswith("judge:")),
            )
            if switch.field == "raters"
            else switch
            for switch in super().switches
        ]

    @cached_property
    def flags(self) -> list[str]:
        """What must be said of the judge."""
        return flag_sentences(self.study, self.snapshot, self.setting.raters)

    @property
    def notices(self) -> list[str]:
        return [*self.found["warnings"], *self.flags] if self.found else []

    @property
    def verdict(self) -> str:
        """What the judge is worth, and who leads."""
        return leader(self.found) if self.found else ""

    @property
    def gain_may_be_chance(self) -> bool:
        return self.found is not None and gain_may_be_chance(self.found)

    @property
    def level(self) -> float:
        return float(self.setting.level)

    def _panels(self) -> Iterator[Panel]:
        content = self.found
        if content is None:
            return
        lines = f", lines {self.level:g}% intervals" if gives_interval(content["standings"]) else ""
        order = [row["contestant"] for row in content["standings"] if row["rating"] is not None]
        yield self.make_panel(
            "anchored",
            "People, the judge, and both",
            f"Dots are scores by Bradley-Terry{lines}. Each pair counts once, however many "
            "people rated it; on the leaderboard each rating counts.",
            anchored_table(content),
            draw=lambda: intervals(order, boards(content)),
            height=step(len(order) * 1.2 + 6),
            apart=len(content["standings"]) > MOST_ROWS,
        )


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: object) -> AnchoredPage:
    return AnchoredPage.read(study, snapshot, request.GET)
