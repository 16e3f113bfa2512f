"""The page of what features are worth: held against what raters say of the same answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse

from arena.models import Completion, Pair, Study
from arena.pages.permissions import can_operate
from arena.rating.said import SaidOf, said_of
from arena.rules.feature_names import Variant
from judging.models import Author
from judging.writing.second import offered
from leaderboard.answers.asked import FEATURES, Known, NoOpinionsError
from leaderboard.answers.features import figure, table
from leaderboard.answers.features.content import CHOSEN, FIELDS, Asked, seal
from leaderboard.answers.features.reading import TURNS, WHOLE
from leaderboard.answers.page import AnswersPage
from leaderboard.answers.requirements.reading import checked_texts
from leaderboard.models import Snapshot
from leaderboard.pages.format import NONE, number, signed
from leaderboard.pages.page import Panel, step
from leaderboard.pages.rater_kinds.choices import choices
from leaderboard.pages.switches import Switch
from leaderboard.snapshots.canonical import Content

MOST_SAID: Final = 5
"""Opinions of an answer that are shown beside it."""


@dataclass(frozen=True)
class WeakRow:
    """An answer; without an address nobody may read it, or there is no page of it."""

    prompt: str
    contestant: str
    value: str
    quality: str
    address: str
    said: list[SaidOf]


@dataclass(frozen=True, kw_only=True)
class FeaturesPage(AnswersPage):
    asked: Asked

    template: ClassVar[str] = "leaderboard/features.html"
    tab: ClassVar[str] = "study-features"
    kind: ClassVar[str] = FEATURES
    by: ClassVar[str] = "Compared with"
    api: ClassVar[str] = "show_features"

    @classmethod
    def asked_for(cls, wanted: Mapping[str, str], known: Known, *, sealed: bool) -> Asked:
        return Asked.of(wanted, known)

    def stored_content(self) -> Content | None:
        if not self.known.features:
            raise NoOpinionsError("no answer of this study has features yet")
        if not self.known.raters:
            if all(each.get("turn", WHOLE) != WHOLE for each in self.known.features):
                raise NoOpinionsError(
                    "the features are of single turns, which nobody has scored yet; ratings of pairs are of "
                    "whole answers"
                )
            raise self.nobody(
                "nobody has rated an answer that has features yet", "opinion of an answer with features"
            )
        own, all_of_them = (
            self.stored.get(FEATURES, self.asked.raters, method=each) for each in (CHOSEN, "")
        )
        if own is None or all_of_them is None:
            return None
        chosen = self.known.chosen(self.asked.raters)
        named = {name: chosen[name] for name in ("label", "simulated")}
        return {"parameters": self.asked.parameters(), **named, **all_of_them, **own}

    def seal(self, content: Content) -> Content:
        return seal(content)

    def query_with(self, **changes: Any) -> str:
        """Another feature is asked for in its first variant, and another variant from its first source."""
        later = next((FIELDS[FIELDS.index(name) + 1 :] for name in changes if name in FIELDS), ())
        return super().query_with(**(dict.fromkeys(later, "") | changes))

    def _switches(self) -> Iterator[Switch]:
        yield from super()._switches()
        features = self.known.features
        labels = {
            "feature": {each["feature"]: each["label"] for each in features},
            "variant": {variant.value: variant.label.capitalize() for variant in Variant},
            "source": {"": "Not named"},
            "turn": {WHOLE: "Whole answer", TURNS: "All turns"},
        }
        for field in FIELDS:
            title = field.capitalize()
            named = [
                ("" if place == 0 else value, labels[field].get(value, value))
                for place, value in enumerate(self.asked.offered(features, field))
            ]
            yield choices(field, title, named, getattr(self.asked, field), self.query_with)
        if self.found and self.found["weakest"] and len(self.known.models) > 1:
            named = [("", "Of all models"), *((name, name) for name in self.known.models)]
            yield choices("model", "Weakest answers", named, self.asked.model, self.query_with)

    @property
    def filters(self) -> str:
        chosen = [
            self.words_of(switch, option.label)
            for switch in self.switches
            for option in switch.options
            if option.chosen and (switch.name != "model" or self.asked.model)
        ]
        return ", ".join(chosen) or "all"

    def words_of(self, switch: Switch, label: str) -> str:
        return f"turn {label}" if switch.name == "turn" and label.isdigit() else label

    @property
    def verdict(self) -> tuple[str, str]:
        return table.verdict(self.found) if self.found else ("", "")

    @property
    def notices(self) -> list[str]:
        return [*table.notes(self.found)] if self.found else []

    @cached_property
    def weakest(self) -> list[WeakRow]:
        return [
            WeakRow(
                table.prompt_of(each, self._prompts),
                each["contestant"],
                number(each["value"], "#.4g"),
                NONE if each["quality"] is None else signed(each["quality"]),
                self._addresses.get(each["text"], ""),
                [
                    one
                    for one in self._said[each["text"]]
                    if not each["turn"] or one.turn in (0, each["turn"])
                ],
            )
            for each in (self.found or {"weakest": ()})["weakest"]
        ]

    @cached_property
    def _said(self) -> dict[int, list[SaidOf]]:
        return said_of(self.study, self._listed, MOST_SAID)

    @property
    def second_address(self) -> str:
        """Where an operator has the model write second answers; empty if that is nothing to do now."""
        feature = self.asked.series(self.known.features).name if self.known.features else ""
        is_asked = self.operator and self.weakest and self.asked.model and not self.study.is_closed
        author = (
            is_asked
            and Author.objects.filter(
                contestant__study=self.study, contestant__name=self.asked.model, second_to=None
            )
            .select_related("contestant")
            .first()
        )
        if not author or feature not in offered(author.contestant):
            return ""
        page = reverse("judge_author", args=[self.study.slug, author.contestant.slug])
        return f"{page}?{urlencode({'kind': 'second', 'weakest_by': feature, 'limit': len(self.weakest)})}"

    @cached_property
    def _listed(self) -> list[int]:
        return [each["text"] for each in (self.found or {"weakest": ()})["weakest"]]

    @cached_property
    def _prompts(self) -> dict[int, str]:
        rows = Completion.objects.filter(pk__in=self._listed)
        return dict(rows.values_list("pk", "prompt__external_id"))

    @cached_property
    def _addresses(self) -> dict[int, str]:
        """Of the pages where answers are read: of one that was checked, or else of a pair that was rated."""
        found: dict[int, str] = {}
        if self.study.is_closed:
            listed = set(self._listed)
            pairs = Pair.objects.filter(
                Q(first__in=listed) | Q(second__in=listed), comparisons__is_current=True
            )
            for pk, *texts in pairs.order_by("-pk").values_list("pk", "first", "second"):
                page = reverse("study-comparison", args=[self.study.slug, pk])
                found |= dict.fromkeys(listed.intersection(texts), page)
        for pk in checked_texts(self.study).filter(pk__in=self._listed).values_list("pk", flat=True):
            found[pk] = reverse("study-requirement-text", args=[self.study.slug, pk])
        return found

    @property
    def figures(self) -> list[Panel]:
        """Those that the page shows below the list of answers, which has a file too."""
        return [panel for panel in self.panels if panel.has_figure]

    def _panels(self) -> Iterator[Panel]:
        content = self.found
        if content is None:
            return
        yield from self._of_all(content)
        yield from self._of_one(content)

    def _of_all(self, content: Content) -> Iterator[Panel]:
        correlated = [(name, each["correlation"]) for name, each in table.rows_of(content)]
        if any(own["spearman"] is not None for _, own in correlated):
            bounded = any(own["spearman_low"] is not None for _, own in correlated)
            lines = (
                " Lines are 95% intervals for other prompts."
                if bounded
                else " These numbers give no interval."
            )
            yield self.make_panel(
                "correlations",
                "Correlation of every feature",
                f"With {content['label']}, over all answers.{lines}",
                lambda: table.correlations_table(content),
                draw=lambda: figure.coefficients(correlated),
                height=step(len(correlated) * 2 + 5),
            )
        if any(map(figure.has_pairs, content["features"])):
            yield self.make_panel(
                "pairs",
                "How often a feature picks the preferred answer",
                "Beside how often the longer answer of these pairs is preferred. The line is chance. "
                f"The table has the intervals of both.{table.by_higher(content)}",
                lambda: table.pairs_table(content),
                draw=lambda: figure.pairs(content),
                height=step(len(correlated) * 2 + 7),
            )

    def _of_one(self, content: Content) -> Iterator[Panel]:
        name = content["feature"]["label"]
        models = [(each["contestant"], each["correlation"]) for each in content["contestants"]]
        if any(own["spearman"] is not None for _, own in models):
            yield self.make_panel(
                "models",
                f"{name}: correlation for each model",
                "Among the answers of one model, where values have one scale.",
                lambda: table.models_table(content),
                draw=lambda: figure.coefficients(models),
                height=step(len(models) * 2 + 5),
            )
        if content["points"]:
            some = (
                " Of many, 1,000 are drawn." if content["correlation"]["n"] > len(content["points"]) else ""
            )
            yield self.make_panel(
                "answers",
                f"{name} and quality",
                f"Each dot is {'a turn of ' if content['feature'].get('turn') == TURNS else ''}an answer. "
                f"{self._quality}{some}",
                lambda: table.points_table(content),
                draw=lambda: figure.scatter(content),
                height=25,
            )
        if content["deciles"]:
            yield self.make_panel(
                "deciles",
                f"Quality by {name}",
                "Answers in ten parts of equal size by their value; equal values stay together.",
                lambda: table.deciles_table(content),
                draw=lambda: figure.deciles(content),
                height=20,
            )
        if content["standings"]:
            yield self.make_panel(
                "standings",
                f"Models by their mean of {name}",
                table.order_sentence(content),
                lambda: table.standings_table(content),
                draw=lambda: figure.standings(content),
                height=step(len(content["standings"]) * 2 + 5),
            )
        if content["weakest"]:
            yield self.make_panel(
                "weakest",
                "Answers expected to be weakest",
                "",
                lambda: table.weakest_table(content, self._prompts),
            )

    @property
    def _quality(self) -> str:
        if self.asked.raters.startswith("scores:"):
            return "Quality is its mean text score."
        return "Quality is the mean preference for it, from −1 to 1."


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> FeaturesPage:
    operator = can_operate(request.user, study)
    return FeaturesPage.read(study, snapshot, request.GET, operator=operator)
