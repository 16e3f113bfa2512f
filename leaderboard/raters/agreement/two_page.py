"""The page of any two raters: kinds, groups or single people, and the members of one among themselves."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from django.http import HttpRequest
from django.urls import reverse

from arena.models import Study
from leaderboard.models import Snapshot
from leaderboard.pages.page import MOST_ROWS, Panel
from leaderboard.pages.rater_kinds.choices import (
    PEOPLE,
    AboutRaters,
    Reading,
    at_switches,
    choices,
    labels,
    listed,
    one_of,
)
from leaderboard.pages.rater_kinds.flags import flag_sentences
from leaderboard.pages.switches import Switch
from leaderboard.pages.wording import on_intervals, with_intervals
from leaderboard.raters.agreement.figure import confusion, preferences
from leaderboard.raters.agreement.table import (
    UNMIRRORED,
    confusion_table,
    difference_sentence,
    differences_table,
    scatter_table,
    two_notes,
    two_sentence,
    two_table,
    twos_table,
)
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.contents import find
from leaderboard.snapshots.settings import Scope, Setting, people_of


@dataclass(frozen=True, kw_only=True)
class View(Reading):
    raters: str
    against: str
    ties: str = "on"

    @classmethod
    def of(cls, wanted: Mapping[str, str], snapshot: Snapshot) -> "View":
        """By default the first judge against people. Raises UnknownSettingError."""
        known, people = list(labels(snapshot)), people_of(snapshot.counts)
        against = PEOPLE if PEOPLE in known else known[0]
        usual = {
            "raters": next((one for one in known if one.startswith("judge:")), against),
            "against": against,
        }
        two = {
            name: wanted[name] if wanted.get(name) in people else one_of(wanted, name, known, default)
            for name, default in usual.items()
        }
        return cls(**two, ties=one_of(wanted, "ties", ("on", "off"), "on"), **cls.asked(wanted, snapshot))

    @property
    def setting(self) -> Setting:
        return replace(super().setting, raters=f"{self.raters},{self.against}", ties=self.ties).settled()

    def parts(self) -> list[tuple[str, str]]:
        ties = "" if self.ties == "on" else self.ties
        return [("raters", self.raters), ("against", self.against), ("ties", ties), *super().parts()]

    @property
    def words(self) -> str:
        return "; ".join(filter(None, (super().words, "" if self.ties == "on" else "ties off")))


@dataclass(frozen=True, kw_only=True)
class TwoPage(AboutRaters):
    view: View
    content: Content | None

    template: ClassVar[str] = "leaderboard/two_raters.html"
    tab: ClassVar[str] = "study-two"

    @property
    def offered(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """Selectors and labels of all who can be chosen, under headings."""
        entries = [
            (entry["selector"], entry["label"])
            for entry in listed(self.snapshot, self.view.raters, self.view.against)
        ]
        groups = [each for each in entries if each[0].startswith("group:")]
        people = [(name, name) for name in people_of(self.snapshot.counts)]
        kinds = [each for each in entries if each not in groups]
        headed = [("Kinds of raters", kinds), ("Groups", groups), ("Single people", people)]
        return [(heading, offered) for heading, offered in headed if offered]

    @property
    def chosen(self) -> list[tuple[str, str, str]]:
        """Name, label and value of the two choices."""
        return [("raters", "Raters", self.view.raters), ("against", "Against", self.view.against)]

    @property
    def kept(self) -> list[tuple[str, str]]:
        two = ("raters", "against")
        return [(name, value) for name, value in self.view.parts() if name not in two and value]

    @property
    def sentence(self) -> str:
        return two_sentence(self.content) if self.content else ""

    @property
    def difference(self) -> str:
        return difference_sentence(self.content) if self.content else ""

    @property
    def notes(self) -> list[str]:
        return two_notes(self.content) if self.content else []

    @property
    def notices(self) -> list[str]:
        view = self.view
        return flag_sentences(self.study, self.snapshot, view.raters, view.against, turn=view.turn)

    @property
    def rare_choices(self) -> list[Switch]:
        ties = [("on", "As verdicts"), ("off", "Off")]
        own = choices("ties", "Ties", ties, self.view.ties, self.view.query)
        return [*self.category_choices, own, *super().rare_choices]

    @property
    def close(self) -> list[Panel]:
        return [panel for panel in self.panels if panel.has_figure]

    @property
    def tables(self) -> list[Panel]:
        return [panel for panel in self.panels if not panel.has_figure]

    def _panels(self) -> Iterator[Panel]:
        content = self.content
        if content is None:
            return
        one, other = content["raters"][0]["label"], content["raters"][-1]["label"]
        if content.get("scatter"):
            yield self._scatter(one, other, content["scatter"])
            yield self._confusion(one, other, content)
        if content.get("within") or content.get("between", {}).get("n"):
            measured = two_table(content)
            yield self.make_panel(
                "measures",
                "How they agree",
                f"{on_intervals(f'Intervals of {self.level:g}%.', measured)} {UNMIRRORED}",
                measured,
            )
        if content.get("differences"):
            yield self.make_panel(
                "differences",
                "Judges’ agreement with people",
                "How often each judge has people’s verdict, over the pairs that both judges and people "
                f"rated{with_intervals(self.level, content['differences'])}. p is of McNemar’s exact test by "
                "prompt, then adjusted for all rows by Holm.",
                differences_table(content["differences"]),
            )
        if content.get("twos"):
            yield self.make_panel(
                "members",
                f"{one}: every two members",
                "Cohen's kappa with quadratic weights of every two who rated the same pairs.",
                twos_table(content),
                apart=len(content["twos"]) > MOST_ROWS,
            )

    def _scatter(self, one: str, other: str, points: Any) -> Panel:
        return self.make_panel(
            "scatter",
            f"{one} and {other}: the same pairs",
            "Where both prefer the same answer as much, a bubble lies on the dashed line. Larger bubbles "
            "are more pairs. Each pair is drawn twice, once mirrored.",
            scatter_table(one, other, points),
            draw=lambda: preferences(one, other, points),
            height=20,
        )

    def _confusion(self, one: str, other: str, content: Content) -> Panel:
        found, every = content["confusion"], content["between"]["n"]
        shown = sum(map(sum, found["counts"])) // 2
        counted = (
            ""
            if shown >= every
            else f" It counts {shown:,} of {every:,}: those on the commonest scale of both."
        )
        return self.make_panel(
            "confusion",
            f"{one} and {other}: rating against rating",
            f"Across a row: what {other} said where {one} gave that rating. Each pair counts twice, once "
            f"mirrored.{counted}",
            confusion_table(one, other, found),
            draw=lambda: confusion(one, other, found),
            height=20,
        )


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> TwoPage:
    snapshot = at_switches(request.GET, snapshot)
    view = View.of(request.GET, snapshot)
    found = find(snapshot, view.setting, Scope.TWO)
    return TwoPage(
        study=study,
        snapshot=snapshot,
        address=reverse("study-two", args=[study.slug]),
        query=view.query(),
        view=view,
        stored=found.stored,
        pending=found.pending,
        content=found.stored.get("two", view.setting.raters),
    )
