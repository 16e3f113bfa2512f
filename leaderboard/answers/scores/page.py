"""The page of text scores: how raters score the answers of each model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

from django.http import HttpRequest

from arena.models import Study
from arena.pages.permissions import can_operate
from leaderboard.answers.asked import SCORES, Known
from leaderboard.answers.figure import beside as beside_figure
from leaderboard.answers.page import Measured, TextsPage
from leaderboard.answers.scores import figure, table
from leaderboard.answers.scores.content import Asked, seal
from leaderboard.answers.table import beside_table, order_sentence
from leaderboard.models import Snapshot
from leaderboard.pages.columns import Column
from leaderboard.pages.figure import MOST_SERIES
from leaderboard.pages.format import NONE, counted, number_range
from leaderboard.pages.page import Panel, step
from leaderboard.pages.rater_kinds.choices import choices
from leaderboard.pages.switches import Switch
from leaderboard.pages.units import COEFFICIENT, Estimate
from leaderboard.snapshots.canonical import Content

OWN: Final = "Text score above the average model"


@dataclass(frozen=True, kw_only=True)
class ScoresPage(TextsPage):
    asked: Asked

    template: ClassVar[str] = "leaderboard/scores.html"
    tab: ClassVar[str] = "study-scores"
    kind: ClassVar[str] = SCORES
    by: ClassVar[str] = "Scored by"
    task: ClassVar[str] = "score"
    ranked_by: ClassVar[str] = "mean"
    least_room: ClassVar[float] = 0.05
    api: ClassVar[str] = "show_scores"

    @classmethod
    def asked_for(cls, wanted: Mapping[str, str], known: Known, *, sealed: bool) -> Asked:
        return Asked.of(wanted, known)

    def stored_content(self) -> Content | None:
        if not self.known.raters:
            raise self.nobody_yet("nobody has scored an answer of this study yet")
        own, everybody = (self.stored.get(SCORES, raters) for raters in (self.asked.raters, ""))
        if own is None or everybody is None:
            return None
        chosen = self.known.chosen(self.asked.raters)
        named = {name: chosen[name] for name in ("label", "simulated")}
        return {"parameters": self.asked.parameters(), **named, **own, **everybody}

    def seal(self, content: Content) -> Content:
        return seal(content)

    def answer(self) -> dict[str, Any]:
        return super().answer() | {"pairs": self.told_beside}

    def _switches(self) -> Iterator[Switch]:
        yield from super()._switches()
        named = ((str(turn), str(turn) if turn else "Whole answer") for turn in self.known.turns)
        turns = [("", "All"), *named]
        if len(turns) > 2:
            yield choices("turn", "Turn", turns, self.asked.turn, self.query_with)

    @property
    def verdict(self) -> tuple[str, str]:
        return table.verdict(self.found) if self.found else ("", "")

    def notes(self, content: Content) -> Iterator[str]:
        return table.notes(content)

    @property
    def caption(self) -> str:
        if self.found is None:
            return ""
        scores = sum(each["n"] for each in self.found["contestants"])
        return f"{self.found['label']}: {counted(scores, 'score')}."

    @property
    def first_column(self) -> tuple[str, str]:
        return "Mean text score", "The mean of all scores of its answers."

    @property
    def columns(self) -> list[tuple[str, str]]:
        found = [
            ("Above average", "Points above the average model on the same prompts. It orders the rows."),
            ("SD", "Standard deviation: how far scores lie from their mean."),
            ("Scores", "Scores of its answers, several of one answer if several raters scored it."),
        ]
        if self._has_gaps:
            found.append(("No score", "Replies of which no score could be read. They count nowhere else."))
        return found

    @property
    def _has_gaps(self) -> bool:
        return bool(self.found) and any(each["unscored"] for each in (self.found or {})["contestants"])

    def measured(self) -> Iterator[Measured]:
        for each in (self.found or {})["contestants"]:
            above, mean = Estimate.of(each, "above_average"), Estimate.of(each, "mean")
            yield Measured(
                each["contestant"],
                mean,
                table.points(mean.value),
                number_range(mean.low, mean.high),
                (
                    NONE if above.value is None else COEFFICIENT.told(above),
                    table.points(each["sd"]),
                    f"{each['n']:,}",
                    *([f"{each['unscored']:,}"] if self._has_gaps else []),
                ),
            )

    @cached_property
    def edges(self) -> list[float]:
        return table.edges_of(self.found) if self.found else []

    @property
    def sentences(self) -> list[tuple[str, str]]:
        """How far raters agree and whether the order is that of pairs, and where the figure is."""
        if self.found is None:
            return []
        found = (" ".join(table.agreement_sentences(self.found)), "agreement"), (self._order, "pairs")
        return [each for each in found if each[0]]

    @property
    def _order(self) -> str:
        if self.beside is None:
            return ""
        other = f"scores from pairs by {self.beside['label']}"
        return order_sentence("text scores", other, self.beside["agreement"])

    def _panels(self) -> Iterator[Panel]:
        content = self.found
        if content is None:
            return
        models, edges = len(content["contestants"]), self.edges
        yield self.make_panel(
            "models",
            "Text scores by model",
            self.lines,
            lambda: table.models_table(content, edges),
            draw=lambda: figure.means(content),
            height=step(models * 1.4 + 4),
        )
        yield self.make_panel(
            "by-model",
            "Scores of each model",
            "What share of a model’s scores each score has, in percent.",
            lambda: table.models_table(content, edges),
            draw=lambda: figure.by_model(content, edges),
            height=step(models * 2 + 5),
            width=figure.width(edges),
        )
        yield from self._of_raters(content)
        if self.beside:
            own = {model: above for model, above, _ in self.beside["models"]}
            scores = {model: score for model, _, score in self.beside["models"]}
            yield self.make_panel(
                "pairs",
                "Text scores and scores from pairs",
                self._order,
                beside_table(
                    "Text scores and scores from pairs",
                    self.beside["models"],
                    Column(OWN, lambda each: round(each[1], 4), label="Above average"),
                ),
                draw=lambda: beside_figure(own, scores, OWN, "Elo score"),
                height=20,
            )

    def _of_raters(self, content: Content) -> Iterator[Panel]:
        raters = len(content["raters"])
        some = f" The first {MOST_SERIES} raters." if raters > MOST_SERIES else ""
        yield self.make_panel(
            "distribution",
            "How raters use the scale",
            f"What share of a rater’s scores each score has, in percent.{some}",
            lambda: table.raters_table(content),
            draw=lambda: figure.distribution(content),
            height=20,
        )
        pairs = table.pairs_of_raters(content)
        if pairs:
            known = [each for _, each in pairs if each["pearson"] is not None]
            bounded = any(each["pearson_low"] is not None for each in known)
            ceiling = (content["people"] or {}).get("pearson")
            line = " The line is people’s ceiling: one person and the mean of the others." if ceiling else ""
            yield self.make_panel(
                "agreement",
                "Raters on the same answers",
                f"Pearson’s correlation{' with its 95% interval' if bounded else ''}.{line}"
                if known
                else "No correlation can be told of them; the table says why.",
                lambda: table.agreement_table(content),
                draw=(lambda: figure.agreement(content, ceiling)) if known else None,
                height=step(len(pairs) * 3 + 5),
            )
        length = {name: table.slopes(content, kind) for kind, name in table.LENGTH.items()}
        if any(length.values()):
            alike = length[table.LENGTH["alike"]]
            clear = table.slope_sentence(alike, "They do with", "They score lower with")
            yield self.make_panel(
                "length",
                "Do longer answers score higher?",
                f"{clear} The figure shows how many points an answer gains if it is twice as long, to the "
                "same prompt. Better models may simply write more, so rely on what remains without "
                "differences between models.",
                lambda: table.length_table(content),
                draw=lambda: figure.slopes(length, "Points for an answer twice as long"),
                height=step(raters * 3 + 7),
            )
        drift = table.slopes(content, "drift")
        if drift:
            clear = table.slope_sentence(drift, "They rise with", "They fall with")
            yield self.make_panel(
                "drift",
                "Do scores change over time?",
                f"{clear} The figure shows how far a rater’s scores of the same model move from the first to "
                "the last.",
                lambda: table.drift_table(content),
                draw=lambda: figure.slopes({"Change": drift}, "Points from first to last score"),
                height=step(raters * 3 + 5),
            )


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> ScoresPage:
    operator = can_operate(request.user, study)
    return ScoresPage.read(study, snapshot, request.GET, operator=operator)
