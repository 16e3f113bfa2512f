"""The page of one contestant."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Final

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from arena.models import Contestant, Prompt, Study
from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.pages.format import whole_percent
from leaderboard.pages.page import Panel, step
from leaderboard.pages.setting_page import OF_ALL_CATEGORIES, SettingPage
from leaderboard.pages.shell import visible
from leaderboard.pages.standings.sentences import intervals_shown, ties_phrase
from leaderboard.pages.standings.table import (
    WILSON_CAUTION,
    Opponent,
    opponents,
    rank_ranges,
    ranks_shown,
    standing_rows,
)
from leaderboard.pages.wording import enumerated, on_intervals
from leaderboard.snapshots import comparison_store as index_store
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.comparison_index import Index, Question, places
from leaderboard.snapshots.contents import find, is_held
from leaderboard.snapshots.levels import at_level
from leaderboard.snapshots.method_names import METHOD_NAMES
from leaderboard.snapshots.settings import Scope, Setting
from leaderboard.snapshots.stored import Stored
from leaderboard.snapshots.visible_lengths import visible_lengths
from leaderboard.standings.categories.table import differs
from leaderboard.standings.contestants.figure import history, win_rates
from leaderboard.standings.contestants.figure import places as charts_places
from leaderboard.standings.contestants.table import (
    FEWEST_MET,
    Moment,
    Placed,
    extremes,
    history_table,
    opponents_table,
    placed,
    placed_table,
)

SAMPLES: Final = 5

FEWEST_MOMENTS: Final = 3
"""Fewer show no course."""

MOST_SNAPSHOTS: Final = 60
"""Snapshots in the history: those of a month, one a day."""


@dataclass(frozen=True)
class Sample:
    """One of its pairs; ``ratings`` counts what raters said of it."""

    instruction: str
    opponent: str
    ratings: int
    address: str


@dataclass(frozen=True, kw_only=True)
class ContestantPage(SettingPage):
    contestant: Contestant
    stored: Stored = field(repr=False)
    past: list[tuple[Any, str, str]] = field(repr=False)

    template: ClassVar[str] = "leaderboard/contestant.html"
    tab: ClassVar[str] = "study"
    takes: ClassVar[Sequence[str]] = OF_ALL_CATEGORIES

    @property
    def name(self) -> str:
        return self.contestant.name

    @property
    def label(self) -> str:
        return str(self.raters["label"])

    @property
    def board_url(self) -> str:
        return self.study.get_absolute_url() + self.query

    @property
    def comparisons_url(self) -> str:
        return f"{reverse('study-comparisons', args=[self.study.slug])}?contestant={self.contestant.slug}"

    def _standings(self, raters: str, category: str) -> Content | None:
        setting = self.setting
        return self.stored.get("standings", raters, category, setting.ties, setting.method)

    @cached_property
    def overall(self) -> Placed | None:
        """None where it has no game."""
        content = self._standings(self.setting.raters, "")
        found = placed("All categories", content, self.name)
        return replace(found, ranks=rank_ranges(content).get(self.name)) if content and found else found

    @property
    def rank(self) -> str:
        """As the leaderboard writes it."""
        content = self._standings(self.setting.raters, "")
        return ranks_shown(standing_rows(content, None))[self.name] if content else ""

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        content = self._standings(self.setting.raters, "")
        return content["parameters"] if content else {}

    @property
    def warnings(self) -> list[str]:
        content = self._standings(self.setting.raters, "")
        return content["warnings"] if content else []

    @property
    def level(self) -> float:
        return float(self.setting.level)

    @property
    def method_line(self) -> str:
        method = ", ".join(filter(None, (self.about_words, METHOD_NAMES[self.setting.method])))
        if not self.parameters:
            return method
        ties = ties_phrase(self.setting.method, self.parameters)
        content = self._standings(self.setting.raters, "")
        intervals = intervals_shown(content) if content else ""
        return f"{method}, {ties}{f'. {intervals}' if intervals else ''}"

    @property
    def verdict(self) -> str:
        """The categories in which it is clearly better or worse than overall; empty without one."""
        return " ".join(
            f"Clearly {word} than overall in {enumerated(there)}."
            for word, way in (("better", 1), ("worse", -1))
            if (there := [each.label for each in self.by_category[1:] if differs(each, self.overall) == way])
        )

    @property
    def fewest_met(self) -> int:
        """From how many ratings on an opponent counts as the easiest or hardest."""
        return FEWEST_MET

    @property
    def rivals(self) -> list[tuple[str, str, str, str]]:
        """Whom it wins most and least against: label, name, win share and the page of the two."""
        slugs = {each.name: each.slug for each in self._known.values()}
        compare = f"{reverse('study-compare', args=[self.study.slug])}?first={self.contestant.slug}&second="
        return [
            (label, rival.name, whole_percent(rival.rate), compare + slugs.get(rival.name, ""))
            for label, rival in extremes(self.opponents)
        ]

    @cached_property
    def by_category(self) -> list[Placed]:
        named = self.snapshot.counts["categories"]
        found = [placed(name, self._standings(self.setting.raters, name), self.name) for name in named]
        return [each for each in (self.overall, *found) if each]

    @cached_property
    def by_raters(self) -> list[Placed]:
        found = [
            placed(choice["label"], self._standings(choice["selector"], ""), self.name)
            for choice in self.snapshot.counts["raters"]
            if choice.get("same_as") is None or choice["selector"] == self.setting.raters
        ]
        return [each for each in found if each]

    @cached_property
    def opponents(self) -> list[Opponent]:
        content = self.stored.get("matrices", self.setting.raters, "", self.setting.ties)
        return opponents(content, self.name, self.level)

    @cached_property
    def history(self) -> list[Moment]:
        """Its place in each snapshot kept, oldest first; without intervals where they have another level."""
        found = []
        for at, methodology, payload in reversed(self.past):
            content = json.loads(payload)
            shown = at_level(content, self.setting.level)
            place = placed("", shown or content, self.name)
            if place:
                known = place if shown else replace(place, low=None, high=None)
                found.append(Moment(at, methodology, known))
        return found

    @property
    def methods_changed(self) -> bool:
        return len({moment.methodology for moment in self.history}) > 1

    @cached_property
    def lengths(self) -> Content | None:
        """How long its texts are; None in an open study and where the snapshot did not measure it.

        It measures answers to the usual prompts alone.
        """
        lengths = None if self.setting.prompts else self.stored.get("data", "")
        rows = visible_lengths(self.study, lengths)["contestants"] if lengths else ()
        return next((row for row in rows if row["contestant"] == self.name), None)

    @cached_property
    def samples(self) -> list[Sample]:
        """Its pairs with the newest ratings; none in an open study."""
        index = index_store.newest(self.study) if self.study.is_closed else None
        if index is None:
            return []
        newest = places(index, Question(contestants=(self.contestant.pk,)))[:SAMPLES].tolist()
        published = Prompt.objects.filter(is_private=False).only("turns", "external_id")
        prompts = published.in_bulk(index.prompt[newest].tolist())
        found = ((place, prompts.get(int(index.prompt[place]))) for place in newest)
        return [self._sample(index, place, prompt) for place, prompt in found if prompt]

    def _sample(self, index: Index, place: int, prompt: Prompt) -> Sample:
        authors = dict(zip("AB", (int(index.first[place]), int(index.second[place])), strict=True))
        opponents = [(letter, pk) for letter, pk in authors.items() if pk != self.contestant.pk]
        letter, opponent = opponents[0] if opponents else ("", self.contestant.pk)
        name = self._known[opponent].name if opponent in self._known else f"Answer {letter}"
        ratings = len(index.rater[index.answers(place)])
        root, _, query = self.comparisons_url.partition("?")
        address = f"{root}{index.pair[place]}/?{query}"
        return Sample(prompt.instruction or prompt.external_id, name, ratings, address)

    @cached_property
    def _known(self) -> Mapping[int, Contestant]:
        return Contestant.objects.filter(study=self.study).only("name", "slug").in_bulk()

    def _panels(self) -> Iterator[Panel]:
        level = self.level
        if self.opponents:
            few = (
                f"Open circles: fewer than {FEWEST_MET} ratings. "
                if any(each.games < FEWEST_MET for each in self.opponents)
                else ""
            )
            yield self.make_panel(
                "opponents",
                "Opponents",
                f"By {self.label}. Win share; a tie counts half. Intervals are {level:g}%. {few}"
                f"{WILSON_CAUTION}",
                opponents_table(self.name, self.opponents, level),
                draw=lambda: win_rates(self.opponents, level),
                height=step(len(self.opponents) + 3),
            )
        if len(self.by_category) > 1:
            ends = [{"low": each.low} for each in self.by_category]
            yield self.make_panel(
                "categories",
                "Scores by category",
                f"By {self.label}. {on_intervals(f'Intervals are {level:g}%.', ends)} Each category has its "
                "own scores, around the same average.",
                placed_table("Scores by category", "Category", self.by_category, level),
                draw=lambda: charts_places(self.by_category, level),
                height=step(len(self.by_category) + 3),
            )
        if self.by_raters:
            yield self.make_panel(
                "raters",
                "Scores by raters",
                "Over all categories.",
                placed_table("Scores by raters", "Raters", self.by_raters, level),
                draw=lambda: charts_places(self.by_raters, level),
                height=step(1.5 * len(self.by_raters) + 3),
            )
        if len(self.history) >= FEWEST_MOMENTS:
            changed = " Open circles are scores by an earlier method."
            yield self.make_panel(
                "history",
                "Score over time",
                f"By {self.label}, all categories. One point a day for the last month."
                + (changed if self.methods_changed else ""),
                history_table(self.history, level),
                draw=lambda: history(self.history, level),
                height=10,
            )


@require_safe
def to_board(request: HttpRequest, slug: str) -> HttpResponse:
    return redirect(visible(request, slug))


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> ContestantPage:
    """Raises Http404, UnknownSettingError or NoNumbersError."""
    contestant = get_object_or_404(Contestant, study=study, slug=place["contestant"])
    setting = ContestantPage.setting_for(request.GET, snapshot)
    found = find(snapshot, setting, Scope.BOARD, Scope.CATEGORIES, also=Q(kind="data"))
    return ContestantPage(
        study=study,
        snapshot=snapshot,
        address=reverse("study-contestant", args=[study.slug, contestant.slug]),
        query=setting.query(),
        contestant=contestant,
        setting=setting,
        stored=found.stored,
        pending=found.pending,
        past=_past(snapshot, setting),
    )


def _past(snapshot: Snapshot, setting: Setting) -> list[tuple[Any, str, str]]:
    """Time, methodology and standings of the snapshots kept, newest first.

    Empty for a setting that they do not hold: only the newest is computed on demand.
    """
    if not is_held(snapshot, setting, Scope.BOARD):
        return []
    rows = SnapshotSlice.objects.filter(snapshot__study=snapshot.study_id)
    own = rows.for_categories(setting.raters, setting.ties, setting.method).filter(category="")
    newest = own.order_by("-snapshot_id")
    return list(
        newest.values_list("snapshot__created_at", "snapshot__methodology", "payload")[:MOST_SNAPSHOTS]
    )
