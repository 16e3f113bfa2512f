"""The page of which requirements each model meets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Self

from django.db.models import Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from arena.models import Question, Study
from arena.people.permissions import can_operate
from judging.models import JudgeCall
from leaderboard.models import Snapshot
from leaderboard.pages.figure import MOST_ON_A_PHONE, MOST_SERIES
from leaderboard.pages.page import NoNumbersError, Page, Panel, step
from leaderboard.pages.switches import Switch
from leaderboard.pages.table import DataTable
from leaderboard.pages.wording import counted, percent, percent_range
from leaderboard.rater_kinds.page import choices, ending, one_of
from leaderboard.requirements import figure, table
from leaderboard.requirements.beside import BesideScores, beside_scores
from leaderboard.requirements.cached import checked_now, content_now
from leaderboard.requirements.content import OUT, Asked, NothingCheckedError, held_against, lead
from leaderboard.requirements.reading import Checked
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.settings import UnknownSettingError
from leaderboard.standings.rows import Axis
from leaderboard.stats.requirement_pairs import cost_by_hour, cost_by_task
from leaderboard.stats.requirements import MISSING

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


@dataclass(frozen=True)
class ModelRow:
    """A model in the table."""

    name: str
    address: str
    share: str
    ends: str
    dots: SafeString
    cells: tuple[str, ...]
    leads: bool


@dataclass(frozen=True, kw_only=True)
class RequirementsPage(Page):
    """``content`` is None where there is ``nothing`` to show, which says why.

    ``operator``: whether the reader may see everything while the study is open.
    """

    asked: Asked
    checked: Checked
    content: Content | None
    nothing: str = ""
    operator: bool = False
    pay: Pay = Pay()

    template: ClassVar[str] = "leaderboard/requirements.html"
    tab: ClassVar[str] = "study-requirements"

    @classmethod
    def read(cls, study: Study, snapshot: Snapshot, wanted: Mapping[str, str], *, operator: bool) -> Self:
        """The page an address asks for. Raises UnknownSettingError."""
        checked = checked_now(study)
        asked, pay = asked_of(checked, wanted), Pay.of(wanted)
        asked = replace(asked, sealed=not (study.is_closed or operator))
        content, nothing = None, "nobody has checked an answer against its requirements yet"
        if checked.raters:
            try:
                content, nothing = content_now(study, asked), ""
            except NothingCheckedError as error:
                nothing = str(error)
        return cls(
            study=study,
            snapshot=snapshot,
            address=reverse("study-requirements", args=[study.slug]),
            query=_query(asked, pay),
            asked=asked,
            checked=checked,
            content=content,
            nothing=f"{nothing[:1].upper()}{nothing[1:]}." if nothing else "",
            operator=operator,
            pay=pay,
        )

    @classmethod
    def newest(cls, study: Study, wanted: Mapping[str, str], *, operator: bool) -> Self:
        """The page beside the newest snapshot. Raises UnknownSettingError or NoNumbersError."""
        snapshot = Snapshot.objects.newest(study)
        if snapshot is None:
            raise NoNumbersError("This study has no numbers yet.")
        return cls.read(study, snapshot, wanted, operator=operator)

    def answer(self) -> dict[str, Any]:
        """The content as JSON values. Raises NoNumbersError."""
        if self.content is None:
            raise NoNumbersError(self.nothing)
        beside = self.beside
        return {
            "study": self.study.slug,
            "simulated": self.simulated,
            **self.content,
            "scores": beside and {"raters": beside.label, **beside.agreement.as_dict()},
        }

    @property
    def simulated(self) -> bool:
        return super().simulated or bool(self.content and self.content["simulated"])

    @property
    def shows_texts(self) -> bool:
        """Whether the reader may see single requirements and answers."""
        return not self.asked.sealed

    @property
    def verdict(self) -> tuple[str, str]:
        return table.verdict(self.content) if self.content else ("", "")

    @property
    def notices(self) -> list[str]:
        return list(table.notes(self.content)) if self.content else []

    @property
    def filters(self) -> str:
        """What the switches are set to, in words."""
        named = [
            f"{switch.label.lower()}: {option.label.lower()}"
            if switch.name in ("missing", "contested")
            else option.label
            for switch in self.switches
            for option in switch.options
            if option.chosen and (option.value not in ("", MISSING[0]))
        ]
        return ", ".join(named) or "all"

    def _changed(self, **changes: Any) -> str:
        return _query(replace(self.asked, **changes), self.pay)

    @cached_property
    def switches(self) -> list[Switch]:
        asked, known = self.asked, self.checked
        distinct = {each.ids: each for each in reversed(known.raters)}
        raters = [
            (each.selector, each.label)
            for each in known.raters
            if distinct[each.ids] is each or each.selector == asked.raters
        ]
        found = [choices("raters", "Checked by", raters, asked.raters, self._changed)]
        for name, label, every, values in (
            ("subset", "Set", "All", known.subsets()),
            ("category", "Category", "All", known.categories()),
        ):
            options = [("", every), *((value, value) for value in values)]
            if len(values) > 1:
                found.append(choices(name, label, options, getattr(asked, name), self._changed))
        rules = [(rule, RULES[rule]) for rule in MISSING]
        if self.content and any(each["unanswered"] for each in self.content["contestants"]):
            found.append(choices("missing", "Missing answers", rules, asked.missing, self._changed))
        if asked.contested or (self.content and self.content["contested"]):
            contested = [("", "Included"), (OUT, "Left out")]
            found.append(
                choices("contested", "Contested requirements", contested, asked.contested, self._changed)
            )
        return [switch for switch in found if len(switch.options) > 1]

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Headings and meanings of the cells behind the interval."""
        found = [
            ("Met of checked", "Requirements met, of all that were checked."),
            ("All met", "Share of answers that meet every requirement."),
            ("Mean of answers", "The share of requirements met, averaged over answers."),
        ]
        if self._has_gaps:
            found.append(("Answered", "Share of requirements answered yes or no."))
        return found

    @property
    def _has_gaps(self) -> bool:
        return any(
            (each["coverage"] or 0) < 1 for each in (self.content or {"contestants": ()})["contestants"]
        )

    @cached_property
    def rows(self) -> list[ModelRow]:
        if self.content is None:
            return []
        slugs = dict(self.study.contestants.values_list("name", "slug"))
        first, alike = lead(self.content)
        leading = {first["contestant"], *alike} if first and alike else set()
        return [
            ModelRow(
                each["contestant"],
                reverse("study-contestant", args=[self.study.slug, slugs[each["contestant"]]])
                if each["contestant"] in slugs
                else "",
                percent(each["drfr"]),
                percent_range(each["low"], each["high"]),
                self._dots(each),
                (
                    f"{each['met']:,} of {each['questions']:,}",
                    percent(each["all_met"]),
                    percent(each["macro"]),
                    *([percent(each["coverage"])] if self._has_gaps else []),
                ),
                each["contestant"] in leading,
            )
            for each in self.content["contestants"]
        ]

    @property
    def marks_leaders(self) -> bool:
        return any(row.leads for row in self.rows)

    @cached_property
    def axis(self) -> Axis | None:
        found = self.content["contestants"] if self.content else ()
        ends = (each[name] for each in found for name in ("low", "drfr", "high"))
        return Axis.around(100 * end for end in ends if end is not None)

    @property
    def axis_drawing(self) -> SafeString:
        return mark_safe(self.axis.heading()) if self.axis else mark_safe("")  # noqa: S308 - numbers alone

    def _dots(self, own: Content) -> SafeString:
        if self.axis is None or own["drfr"] is None:
            return mark_safe("")
        ends = (None if own[end] is None else 100 * own[end] for end in ("low", "high"))
        return mark_safe(self.axis.row(100 * own["drfr"], *ends))  # noqa: S308 - numbers alone

    @cached_property
    def wordings(self) -> list[str]:
        """The texts of the content's questions."""
        numbers = {(each.name, each.subset, each.position): each.number for each in self.checked.asked}
        texts = dict(Question.objects.filter(pk__in=numbers.values()).values_list("pk", "text"))
        questions = self.content["questions"] if self.content else ()
        return [
            texts.get(numbers[each["prompt"], each["subset"], each["position"]], "") for each in questions
        ]

    def _lines(self, chosen: Any) -> list[table.Line]:
        first: dict[tuple[str, str], int] = {}
        for question, text in zip(
            self.checked.answers.question.tolist(), self.checked.text.tolist(), strict=True
        ):
            one = self.checked.asked[question]
            first.setdefault((one.name, one.subset), text)
        return [
            table.Line(
                text,
                each["prompt"],
                each["met"],
                each["texts"],
                reverse(
                    "study-requirement-text", args=[self.study.slug, first[each["prompt"], each["subset"]]]
                ),
            )
            for each, text in zip((self.content or {})["questions"], self.wordings, strict=True)
            if chosen(each)
        ]

    @cached_property
    def failed(self) -> list[table.Line]:
        """The requirements that no answer meets."""
        return self._lines(lambda each: each["met"] == 0) if self.content else []

    @cached_property
    def same(self) -> int:
        """How many requirements tell no models apart, since all answers meet them or none."""
        found = self.content["questions"] if self.content else ()
        return sum(not each["tells_apart"] and each["texts"] > 1 for each in found)

    @property
    def listed(self) -> list[table.Line]:
        return self.failed[:MOST_LISTED]

    @property
    def any_text(self) -> str:
        """The address of a text with what all raters said."""
        if not self.shows_texts or not self.content:
            return ""
        text = self.checked.text
        return reverse("study-requirement-text", args=[self.study.slug, int(text[0])]) if len(text) else ""

    @cached_property
    def beside(self) -> BesideScores | None:
        """The shares met beside the scores from pairs."""
        if self.content is None or self.asked.contested or self.asked.subset:
            return None
        asked = self.asked
        (choice,) = (each for each in self.checked.raters if each.selector == asked.raters)
        part = self.checked.about("", asked.category)
        return beside_scores(part, choice, asked.missing, self.snapshot, asked.category)

    @property
    def scores_sentence(self) -> str:
        return table.scores_sentence(self.beside) if self.beside else ""

    @property
    def sources(self) -> Content | None:
        found: Content | None = self.content["sources"] if self.content else None
        return found

    @property
    def beside_switch(self) -> list[Switch]:
        options = [(each.selector, each.label) for each in self.checked.raters]
        gold = held_against(self.checked, self.asked.beside)
        now = gold.selector if gold else ""
        return [choices("beside", "Compared with", options, now, self._changed)]

    @property
    def pay_fields(self) -> list[tuple[str, str, str]]:
        now = dict(self.pay.parts())
        return [(name, label, now.get(name, "")) for name, label in PAY.items()]

    @property
    def kept(self) -> list[tuple[str, str]]:
        """The rest of the address, for the form of pay."""
        return _parts(self.asked)

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
        content = self.content
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
            "Bars are 95% intervals for other prompts of this kind.",
            lambda: table.models_table(content),
            draw=lambda: figure.shares(content),
            height=step(len(content["contestants"]) * 1.4 + 4),
        )
        if self.beside:
            beside = self.beside
            yield self.make_panel(
                "scores",
                "Requirements met and scores from pairs",
                table.scores_sentence(beside),
                table.scores_table(beside),
                draw=lambda: figure.beside_scores(beside),
                height=20,
            )
        if content["questions"]:
            yield self.make_panel(
                "questions",
                "How hard the requirements are",
                f"How many requirements are met by which share of answers. {self.same:,} of "
                f"{counted(len(content['questions']), 'requirement')} tell no two models apart.",
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

    def _by(self, content: Content, kind: str, name: str, what: str) -> Iterator[Panel]:
        parts, models = table.parts(content, kind), len(content["contestants"])
        fewest, most = figure.RADAR

        def by_part() -> DataTable:
            return table.parts_table(content, kind)

        if len(parts) < 2:
            return
        if fewest <= len(parts) <= most:
            some = f" The first {MOST_SERIES} models." if models > MOST_SERIES else ""
            yield self.make_panel(
                kind,
                name,
                f"Share met; the rim is 100%. {what}{some}",
                by_part,
                draw=lambda: figure.radar(content, kind, parts),
                height=20,
            )
        if kind == "labels" or not fewest <= len(parts) <= most:
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
        yield self.make_panel(
            "people",
            "How far people agree",
            table.people_sentence(agreement),
            lambda: table.people_table(agreement),
        )
        yield self.make_panel(
            "contested",
            "How contested requirements are",
            "On how many models’ answers people disagree whether the requirement is met. From 2 on it is "
            "contested.",
            lambda: table.levels_table(agreement),
        )


def asked_of(checked: Checked, wanted: Mapping[str, str]) -> Asked:
    """What an address asks for. Raises UnknownSettingError."""
    raters = [each.selector for each in checked.raters]
    usual = raters[0] if raters else ""
    return Asked(
        raters=one_of(wanted, "raters", raters, usual),
        subset=one_of(wanted, "subset", checked.subsets(), ""),
        category=one_of(wanted, "category", checked.categories(), ""),
        missing=one_of(wanted, "missing", MISSING, MISSING[0]),
        contested=one_of(wanted, "contested", (OUT,), ""),
        beside=one_of(wanted, "beside", raters, ""),
    )


def _parts(asked: Asked) -> list[tuple[str, str]]:
    said = {**asdict(asked), "missing": "" if asked.missing == MISSING[0] else asked.missing}
    return [(name, value) for name, value in said.items() if name != "sealed"]


def _query(asked: Asked, pay: Pay) -> str:
    return ending([*_parts(asked), *pay.parts()])


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> RequirementsPage:
    operator = can_operate(request.user, study)
    return RequirementsPage.read(study, snapshot, request.GET, operator=operator)
