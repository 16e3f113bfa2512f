"""The page of one kind of raters: people, a judge or a group."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from django.http import HttpRequest
from django.urls import reverse

from arena.models import Rater, Study
from leaderboard.models import Snapshot
from leaderboard.pages.page import Panel
from leaderboard.pages.rater_kinds.choices import (
    AboutRaters,
    Reading,
    at_switches,
    check_raters,
    ending,
    labels,
    listed,
)
from leaderboard.pages.rater_kinds.flags import flag_sentences
from leaderboard.pages.rater_kinds.judge_facts import JudgeFacts, judge_facts
from leaderboard.pages.switches import Option, Switch
from leaderboard.pages.wording import with_intervals
from leaderboard.raters.agreement.table import UNMIRRORED, between, kappa_table, within_table
from leaderboard.raters.bias.figure import length_effect, mirrored_histogram
from leaderboard.raters.bias.table import (
    flips_table,
    length_sentence,
    length_table,
    mirror_table,
    position_sentences,
    unknown_sentence,
)
from leaderboard.raters.page import kind
from leaderboard.raters.panels import scores_panel, without_bias
from leaderboard.raters.table import Kind, RaterFigure, summary
from leaderboard.raters.verdict import of_one
from leaderboard.snapshots.contents import find
from leaderboard.snapshots.settings import Scope, counts_at

MEASURES = {"words": "words", "unique_words": "different words"}


@dataclass(frozen=True, kw_only=True)
class RaterPage(AboutRaters):
    selector: str
    judge: JudgeFacts | None

    template: ClassVar[str] = "leaderboard/rater.html"
    tab: ClassVar[str] = "study-raters"

    @cached_property
    def entry(self) -> Mapping[str, Any]:
        raters: list[dict[str, Any]] = self.snapshot.counts["raters"]
        return next(entry for entry in raters if entry["selector"] == self.selector)

    @cached_property
    def kind(self) -> Kind:
        return kind(self.entry, self.stored, self.agreements, self.view.category)

    @property
    def whose(self) -> str:
        return self.kind.label

    @property
    def what(self) -> str:
        if self.kind.panel:
            return "Panel"
        return {"people": "People", "judge": "Judge", "group": "Group"}[self.selector.partition(":")[0]]

    @property
    def members(self) -> list[str]:
        """The judges from whose ratings a panel's follow; empty for others."""
        if not self.kind.panel:
            return []
        panels = Rater.objects.selected(self.study, self.selector).values_list("derived_from", flat=True)
        names = labels(self.snapshot)
        return [names.get(f"judge:{slug}", slug) for slug in panels[0]]

    @property
    def verdict(self) -> str:
        return of_one(self.kind)

    @property
    def figures(self) -> dict[str, RaterFigure]:
        """What is known, in the words of the table of all raters."""
        return {name: figure for name, figure in summary(self.kind).items() if figure.value != "–"}

    @property
    def sentences(self) -> list[str]:
        own = self.kind
        return position_sentences(own.shown, own.flips, own.scores, self.level) if own.replies else []

    @property
    def length_sentences(self) -> list[str]:
        content = self.kind.length
        if content is None:
            return []
        found = [
            length_sentence(each, self.level) for each in content["measures"] if each["name"] in MEASURES
        ]
        return [sentence for sentence in (*found, unknown_sentence(content)) if sentence]

    @property
    def warnings(self) -> list[str]:
        return flag_sentences(self.study, self.snapshot, self.selector, turn=self.view.turn)

    @property
    def dated(self) -> bool:
        """Whether the snapshot is older than the computing of position and agreement."""
        scored = [one for one in self.kind.shown if one.scored]
        placed = not scored or any(one.position for one in scored)
        return not self.pending and self.is_rated and not (self.agreements and placed)

    @property
    def board_url(self) -> str:
        return self.study.get_absolute_url() + self._same_raters

    @property
    def comparisons_url(self) -> str:
        return reverse("study-comparisons", args=[self.study.slug]) + self._same_raters

    @property
    def _same_raters(self) -> str:
        return ending((("raters", self.selector), ("category", self.view.category)))

    @property
    def others(self) -> list[tuple[str, str]]:
        return [
            (entry["label"], reverse("study-rater", args=[self.study.slug, entry["selector"]]) + self.query)
            for entry in listed(self.snapshot)
            if entry["selector"] != self.selector
        ]

    @property
    def drawn(self) -> list[Panel]:
        return [panel for panel in self.panels if panel.has_figure]

    @property
    def tables(self) -> list[Panel]:
        return [panel for panel in self.panels if not panel.has_figure]

    @property
    def prompt_choices(self) -> list[Switch]:
        """Those of which the rater has any."""
        every = super().prompt_choices
        own = {each.field: [one for one in each.options if self._is_in(each.field, one)] for each in every}
        return [replace(each, options=tuple(own[each.field])) for each in every if len(own[each.field]) > 1]

    def _is_in(self, name: str, option: Option) -> bool:
        shown = {"prompts": self.view.prompts, "visitors": self.view.visitors, name: option.value}
        found = counts_at(self.snapshot.counts, **shown)
        return self.selector in [entry["selector"] for entry in found["raters"]]

    @property
    def switches(self) -> list[Switch]:
        return [*self.prompt_choices, *self.rated_choices, *self.category_choices]

    def _panels(self) -> Iterator[Panel]:
        yield from self._histograms()
        yield from self._flips()
        yield from self._scores()
        yield from self._lengths()
        yield from self._agreement()

    def _histograms(self) -> Iterator[Panel]:
        for one in self.kind.shown:
            if one.replies:
                yield self.make_panel(
                    f"mirror-{one.points}",
                    f"Ratings as shown and mirrored, scale of {one.points} points",
                    "Filled bars show how often each rating was given. Frames show its mirror image: the "
                    "same preference with the answers swapped. Without position bias both are alike.",
                    mirror_table(one),
                    draw=lambda one=one: mirrored_histogram(one),
                    height=15,
                )

    def _flips(self) -> Iterator[Panel]:
        if self.kind.flips:
            yield self.make_panel(
                "flips",
                "The same pair in both orders",
                "What became of the verdict when the same rater saw the same answers in the other order.",
                flips_table([(self.kind.label, self.kind.flips)]),
            )

    def _scores(self) -> Iterator[Panel]:
        scores = self.kind.scores
        unbiased = without_bias(self.kind.shown, "Without position bias the picture is symmetric about 0.")
        note = f"Each answer gets a score of its own. {unbiased}"
        yield from scores_panel(self, [(self.kind.label, scores)] if scores else [], note)

    def _lengths(self) -> Iterator[Panel]:
        measures = self.kind.length["measures"] if self.kind.length else ()
        for measure in measures:
            if measure["name"] in MEASURES and measure["bins"]:
                noun, table = MEASURES[measure["name"]], length_table(self.kind.label, measure)
                yield self.make_panel(
                    f"length-{measure['name'].replace('_', '-')}",
                    f"Winning and the number of {noun}",
                    f"Share won by how many more {noun} an answer has than the other"
                    f"{with_intervals(self.level, table)}. Longer answers may also be better.",
                    table,
                    draw=lambda measure=measure: length_effect(self.kind.label, measure),
                    height=15,
                )

    def _agreement(self) -> Iterator[Panel]:
        names = labels(self.snapshot)
        entries = [
            (names[other], self.kind.label, entry)
            for other in names
            if other != self.selector and (entry := between(self.agreements, self.selector, other))
        ]
        if entries:
            yield self.make_panel(
                "kappa",
                "Agreement with other raters",
                "Cohen's kappa with quadratic weights: 1 is the same rating every time, 0 what chance gives. "
                f"{UNMIRRORED}",
                kappa_table(entries),
            )
        within = (self.agreements.get(self.selector) or {}).get("within")
        if within and within["rows"]:
            yield self.make_panel(
                "within",
                "Agreement among themselves",
                "Over pairs rated more than once. A judge is compared with itself in the other order. "
                f"{UNMIRRORED}",
                within_table([("", {"within": within})]),
            )


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> RaterPage:
    """Raises UnknownSettingError where the study has no such kind, NoRatingsError where it has none."""
    selector, snapshot = place["selector"], at_switches(request.GET, snapshot)
    view = Reading(**Reading.asked(request.GET, snapshot))
    check_raters([selector], list(labels(snapshot)))
    found = find(snapshot, view.setting, Scope.RATERS)
    return RaterPage(
        study=study,
        snapshot=snapshot,
        address=reverse("study-rater", args=[study.slug, selector]),
        query=view.query(),
        selector=selector,
        view=view,
        stored=found.stored,
        pending=found.pending,
        judge=judge_facts(study, selector, snapshot.created_at),
    )
