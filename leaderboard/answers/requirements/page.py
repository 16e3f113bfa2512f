"""The page of which requirements each model meets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, ClassVar, Final, Self

from django.db.models import QuerySet, Sum
from django.http import HttpRequest
from django.urls import reverse

from arena.models import Completion, Question, Study
from arena.pages.permissions import can_operate
from judging.models import JudgeCall
from leaderboard.answers.asked import BESIDE_SCORES, CHECKS, Known
from leaderboard.answers.figure import beside as beside_figure
from leaderboard.answers.page import Measured, TextsPage
from leaderboard.answers.requirements import figure, table
from leaderboard.answers.requirements.beside_scores import seal as seal_scores
from leaderboard.answers.requirements.content import OUT, Asked, seal
from leaderboard.answers.requirements.reading import checked_texts
from leaderboard.answers.scores.table import points, scale_words
from leaderboard.answers.table import FROM_PAIRS, beside_table, order_sentence
from leaderboard.models import Snapshot
from leaderboard.pages.columns import Column
from leaderboard.pages.figure import MOST_ON_A_PHONE, MOST_SERIES
from leaderboard.pages.format import counted, percent, percent_range
from leaderboard.pages.page import Panel, step
from leaderboard.pages.rater_kinds.choices import choices, ending
from leaderboard.pages.switches import Switch
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import SHARE, Estimate
from leaderboard.pages.wording import verb
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.settings import UnknownSettingError
from leaderboard.stats.requirement_pairs import cost_by_hour, cost_by_task
from leaderboard.stats.requirements import MISSING

MET: Final = "requirements met"
_MET: Final = Column[Sequence[Any]]("Met (%)", itemgetter(1), SHARE, label="Requirements met")
RULES: Final = {"exclude": "Left out", "no": "Not met", "script": "As InFoBench"}
MOST_LISTED: Final = 10
LARGEST_PAY: Final = 1e6
PAY: Final = {"hour": "Pay per hour", "text": "Pay per answer", "fee": "Fee of a platform (%)"}


@dataclass(frozen=True)
class Pay:
    """What people cost: per hour, or per answer with a fee in percent."""

    hour: float | None = None
    text: float | None = None
    fee: float | None = None

    @classmethod
    def of(cls, wanted: Mapping[str, str]) -> Self:
        """Raises UnknownSettingError."""
        return cls(**{name: _amount(name, wanted.get(name, "")) for name in PAY})

    def parts(self) -> list[tuple[str, str]]:
        return [(name, f"{value:g}") for name, value in asdict(self).items() if value is not None]

    def cost(self, texts: int, raters: int, minutes: float | None) -> float | None:
        if self.text is not None:
            return cost_by_task(texts, self.text, raters, (self.fee or 0.0) / 100)
        if self.hour is not None and minutes is not None:
            return cost_by_hour(minutes / 60, self.hour)
        return None


def _amount(name: str, written: str) -> float | None:
    if not written.strip():
        return None
    try:
        value = float(written)
    except ValueError:
        value = -1.0
    if not 0 <= value <= LARGEST_PAY:
        raise UnknownSettingError(f'"{written[:100]}" is no {PAY[name].lower()}: give a number from 0 on.')
    return value


@dataclass(frozen=True, kw_only=True)
class RequirementsPage(TextsPage):
    asked: Asked
    pay: Pay = Pay()

    template: ClassVar[str] = "leaderboard/requirements.html"
    tab: ClassVar[str] = "study-requirements"
    kind: ClassVar[str] = CHECKS
    by: ClassVar[str] = "Checked by"
    task: ClassVar[str] = "check"
    ranked_by: ClassVar[str] = "drfr"
    api: ClassVar[str] = "show_requirements"

    @classmethod
    def read(
        cls, study: Study, snapshot: Snapshot, wanted: Mapping[str, str], *, operator: bool, **more: Any
    ) -> Self:
        return super().read(study, snapshot, wanted, operator=operator, pay=Pay.of(wanted), **more)

    @classmethod
    def asked_for(cls, wanted: Mapping[str, str], known: Known, *, sealed: bool) -> Asked:
        asked = Asked.of(wanted, known)
        if asked.contested and sealed:
            raise UnknownSettingError("Which requirements people contest is told when the study closes.")
        return asked

    def stored_content(self) -> Content | None:
        if not self.known.raters:
            raise self.nobody_yet("nobody has checked an answer against its requirements yet")
        return self.stored.get(CHECKS, self.asked.raters)

    def seal(self, content: Content) -> Content:
        return seal(content)

    def query_with(self, **changes: Any) -> str:
        return ending([*replace(self.asked, **changes).parts(), *self.pay.parts()])

    def answer(self) -> dict[str, Any]:
        direct, told = self.direct, None
        if direct:
            named = ("lowest", "highest", "agreement", "people")
            told = {"raters": direct["label"], "means": self.means, **{name: direct[name] for name in named}}
        return super().answer() | {"scores": self.told_beside, "text_scores": told}

    @property
    def shows_texts(self) -> bool:
        """Whether the reader may see single requirements and answers."""
        return not self.sealed

    @property
    def verdict(self) -> tuple[str, str]:
        return table.verdict(self.found) if self.found else ("", "")

    def notes(self, content: Content) -> Iterator[str]:
        return table.notes(content)

    def words_of(self, switch: Switch, label: str) -> str:
        named = switch.name in ("missing", "contested")
        return f"{switch.label.lower()}: {label.lower()}" if named else label

    def _switches(self) -> Iterator[Switch]:
        yield from super()._switches()
        asked, content = self.asked, self.found
        if content and any(each["unanswered"] for each in content["contestants"]):
            rules = [(rule, RULES[rule]) for rule in MISSING]
            yield choices("missing", "Missing answers", rules, asked.missing, self.query_with)
        if asked.contested or (content and content["contested"] and not self.sealed):
            contested = [("", "Included"), (OUT, "Left out")]
            yield choices("contested", "Contested requirements", contested, asked.contested, self.query_with)

    @property
    def caption(self) -> str:
        found = self.found
        return f"{found['label']}: {counted(found['answers'], 'check')}." if found else ""

    @property
    def first_column(self) -> tuple[str, str]:
        meaning = "Each requirement counts the same. “Cannot tell” does not count."
        return "Requirements met", f"The share (DRFR). {meaning}"

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Headings and meanings of the cells behind the interval."""
        found = [
            ("Number met", "Requirements met, of all that count."),
            ("All met", "Share of answers that meet every requirement."),
            ("Mean of answers", "The share of requirements met, averaged over answers."),
        ]
        if self._has_gaps:
            found.append(("Answered", "Share of requirements answered yes or no."))
        if self.direct:
            whose = (
                f"By {self.direct['label']}, {scale_words((self.direct['lowest'], self.direct['highest']))}"
            )
            found.append(("Mean text score", f"{whose}: one score for the whole answer."))
        return found

    @property
    def _has_gaps(self) -> bool:
        return any((each["coverage"] or 0) < 1 for each in (self.found or {"contestants": ()})["contestants"])

    def measured(self) -> Iterator[Measured]:
        for each in (self.found or {})["contestants"]:
            yield Measured(
                each["contestant"],
                Estimate.bare(each, "drfr").times(100),
                percent(each["drfr"]),
                percent_range(each["low"], each["high"]),
                (
                    f"{each['met']:,} of {each['counted']:,}",
                    percent(each["all_met"]),
                    percent(each["macro"]),
                    *([percent(each["coverage"])] if self._has_gaps else []),
                    *([points(self.means.get(each["contestant"]))] if self.direct else []),
                ),
            )

    @cached_property
    def wordings(self) -> list[str]:
        """The texts of the content's questions."""
        asked = Question.objects.asked().filter(prompt__study=self.study, prompt__is_private=False)
        place = ("prompt__external_id", "prompt__subset", "position")
        texts = {(*key,): text for *key, text in asked.values_list(*place, "text")}
        questions = self.found["questions"] if self.found else ()
        return [texts.get((each["prompt"], each["subset"], each["position"]), "") for each in questions]

    @cached_property
    def failed(self) -> list[tuple[Content, str]]:
        """The requirements that no answer meets, with their texts."""
        if not self.found:
            return []
        told = zip(self.found["questions"], self.wordings, strict=True)
        return [(each, text) for each, text in told if each["met"] == 0]

    @cached_property
    def same(self) -> int:
        """How many requirements tell no models apart, since all answers meet them or none."""
        found = self.found["questions"] if self.found else ()
        return sum(not each["tells_apart"] and each["texts"] > 1 for each in found)

    @property
    def _apart(self) -> str:
        questions = self.found["questions"] if self.found else ()
        if not any(each["texts"] > 1 for each in questions):
            return ""
        of = f"{self.same:,} of {counted(len(questions), 'requirement')}"
        return f" {of} {verb('tell', self.same)} no two models apart."

    @property
    def listed(self) -> list[table.Line]:
        """The first of them, with an answer to read."""
        shown = self.failed[:MOST_LISTED]
        names = {each["prompt"] for each, _ in shown}
        rows = self._texts.filter(prompt__external_id__in=names).order_by("-pk")
        first = {(*key,): pk for *key, pk in rows.values_list("prompt__external_id", "prompt__subset", "pk")}
        return [
            table.Line(text, each["prompt"], each["texts"], self._address_of(pk))
            for each, text in shown
            if (pk := first.get((each["prompt"], each["subset"])))
        ]

    @property
    def _texts(self) -> QuerySet[Completion]:
        """The answers that somebody checked."""
        return checked_texts(self.study)

    def _address_of(self, text: int) -> str:
        return reverse("study-requirement-text", args=[self.study.slug, text])

    @property
    def any_text(self) -> str:
        """The address of a text with what all raters said."""
        first = self._texts.order_by("pk").first() if self.shows_texts and self.found else None
        return self._address_of(first.pk) if first else ""

    @cached_property
    def direct(self) -> Content | None:
        """The shares met beside the text scores."""
        stored = self.stored.get(CHECKS, self.asked.raters, method=BESIDE_SCORES)
        if stored is None or self.found is None or not self.sealed:
            return stored if self.found else None
        return seal_scores(stored, {each["contestant"] for each in self.found["contestants"]})

    @property
    def means(self) -> dict[str, float]:
        """The mean text score of each model."""
        return {name: mean for name, _, mean, _ in self.direct["models"]} if self.direct else {}

    @property
    def sentences(self) -> list[tuple[str, str]]:
        """Whether pairs and text scores order models alike, and where the figure is."""
        found = (self._pairs_sentence, "scores"), (self._direct_sentence, "text-scores")
        return [each for each in found if each[0]]

    @property
    def _pairs_sentence(self) -> str:
        if self.beside is None:
            return ""
        other = f"scores from pairs by {self.beside['label']}"
        return order_sentence(MET, other, self.beside["agreement"])

    @property
    def _direct_sentence(self) -> str:
        if self.direct is None or self.direct["agreement"] is None:
            return ""
        return order_sentence(MET, f"mean text scores by {self.direct['label']}", self.direct["agreement"])

    @property
    def sources(self) -> Content | None:
        found: Content | None = self.found["sources"] if self.found else None
        return found

    @property
    def beside_switch(self) -> list[Switch]:
        options = [(each["selector"], each["label"]) for each in self.known.raters]
        now = self.sources["beside"] if self.sources else ""
        return [choices("beside", "Compared with", options, now, self.query_with)]

    @property
    def pay_fields(self) -> list[tuple[str, str, str]]:
        now = dict(self.pay.parts())
        return [(name, label, now.get(name, "")) for name, label in PAY.items()]

    @property
    def kept(self) -> list[tuple[str, str]]:
        """The rest of the address, for the form of pay."""
        return self.asked.parts()

    def _costs(self) -> dict[str, float | None]:
        """What each source cost: people by their pay, judges by their calls, for operators only."""
        found: dict[str, float | None] = {}
        for each in self.sources["rows"] if self.sources else ():
            if not each["rater"].startswith("judge:"):
                found[each["rater"]] = self.pay.cost(each["texts"], each["raters"], each["minutes"])
            elif self.operator:
                calls = JudgeCall.objects.filter(
                    assignment__study=self.study,
                    assignment__kind="check",
                    run__judge__rater__slug=each["rater"].removeprefix("judge:"),
                )
                cost = calls.aggregate(cost=Sum("cost"))["cost"]
                found[each["rater"]] = None if cost is None else float(cost)
        return found

    def _panels(self) -> Iterator[Panel]:
        content = self.found
        if content is None:
            return
        for kind, name, what in (
            ("labels", "Kinds of requirement", "A requirement counts under each of its kinds."),
            ("domains", "Domains", "Domains of the prompts."),
        ):
            yield from self._by(content, kind, name, what)
        yield self.make_panel(
            "models",
            "Requirements met by model",
            self.lines,
            lambda: table.models_table(content),
            draw=lambda: figure.shares(content),
            height=step(len(content["contestants"]) * 1.4 + 4),
        )
        if self.beside:
            title, models = "Requirements met and scores from pairs", self.beside["models"]
            yield self._panel_beside("scores", title, self._pairs_sentence, models, FROM_PAIRS)
        if self.direct and self._direct_sentence:
            title, models = "Requirements met and text scores", self.direct["models"]
            mean = Column[Sequence[Any]]("Mean text score", lambda each: round(each[2], 2))
            yield self._panel_beside("text-scores", title, self._direct_sentence, models, mean)
        if content["questions"]:
            yield self.make_panel(
                "questions",
                "How hard the requirements are",
                f"How many requirements are met by what share of the answers.{self._apart}",
                lambda: table.questions_table(content, self.wordings),
                draw=lambda: figure.difficulty(content),
                height=20,
            )
        yield from self._people(content)
        if content["sources"]:
            yield self.make_panel(
                "sources",
                "Raters side by side",
                f"Each kind of raters beside {content['sources']['label']}, by the answer of most of them. "
                "WPLD is 0 where both order all models alike, and 2 where one turns the order round.",
                lambda: table.sources_table(content["sources"], self._costs()),
            )

    def _panel_beside(
        self,
        slug: str,
        title: str,
        sentence: str,
        models: Sequence[Sequence[Any]],
        other: Column[Sequence[Any]],
    ) -> Panel:
        met, scores = ({each[0]: each[place] for each in models} for place in (1, 2))
        return self.make_panel(
            slug,
            title,
            sentence,
            beside_table(title, models, _MET, other),
            draw=lambda: beside_figure(
                {name: 100 * met[name] for name in scores}, scores, "Requirements met (%)", other.name
            ),
            height=20,
        )

    def _by(self, content: Content, kind: str, name: str, what: str) -> Iterator[Panel]:
        parts, models = table.parts(content, kind), len(content["contestants"])
        fewest, most = figure.RADAR
        some = f" The first {MOST_SERIES} models." if models > MOST_SERIES else ""

        def by_part() -> DataTable:
            return table.parts_table(content, kind)

        if len(parts) < 2:
            return
        if len(parts) > most:
            yield self.make_panel(
                kind,
                name,
                f"Share met. {what}{some}",
                by_part,
                draw=lambda: figure.part_bars(content, kind, parts),
                height=step(len(parts) * (0.8 + 0.6 * min(models, MOST_SERIES)) + 5),
            )
            return
        if fewest <= len(parts):
            yield self.make_panel(
                kind,
                name,
                f"Share met; the rim is 100%. {what}{some}",
                by_part,
                draw=lambda: figure.radar(content, kind, parts),
                height=20,
            )
        if kind == "labels" or len(parts) < fewest:
            yield self.make_panel(
                f"{kind}-map",
                f"{name} by model",
                f"Requirements met, in percent. {what}",
                by_part,
                draw=lambda: figure.part_map(content, kind, parts),
                height=step(models * 2 + 9),
                width="large" if len(parts) > MOST_ON_A_PHONE else "",
            )

    def _people(self, content: Content) -> Iterator[Panel]:
        agreement = content["agreement"]
        if not agreement:
            return
        by_scores = self.direct["people"] if self.direct else None
        yield self.make_panel(
            "people",
            "How far people agree",
            table.people_sentence(agreement, by_scores),
            lambda: table.people_table(agreement, by_scores),
        )
        yield self.make_panel(
            "contested",
            "How contested requirements are",
            "On how many models’ answers people disagree whether the requirement is met. From 2 on it is "
            "contested.",
            lambda: table.levels_table(agreement),
        )


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> RequirementsPage:
    operator = can_operate(request.user, study)
    return RequirementsPage.read(study, snapshot, request.GET, operator=operator)
