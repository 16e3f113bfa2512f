"""What pages of opinions about single answers share: the choices, and the table of models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

from django.db.models import Q
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from arena.models import Study
from arena.rating.publication import in_groups, no_people_yet, waiting
from leaderboard.answers.asked import BESIDE_PAIRS, AskedOfAnswers, AskedOfTexts, Known, NoOpinionsError
from leaderboard.answers.table import lead
from leaderboard.models import Snapshot
from leaderboard.pages.computed_page import AnsweredPage
from leaderboard.pages.dots import Axis
from leaderboard.pages.page import Panel
from leaderboard.pages.rater_kinds.choices import choices, ending
from leaderboard.pages.rater_kinds.flags import kin_sentences
from leaderboard.pages.switches import Switch
from leaderboard.pages.units import Estimate
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.contents import Found, computed
from leaderboard.snapshots.settings import PEOPLE, Scope
from leaderboard.snapshots.stored import Stored


@dataclass(frozen=True, kw_only=True)
class AnswersPage(AnsweredPage):
    """What raters say of single answers. ``operator``: whether the reader sees all while the study is open.

    Subclasses name the kind of their tables and say how an address is read, how the switch of raters is
    called, and which operation of the API has the same numbers.
    """

    asked: AskedOfAnswers
    known: Known
    stored: Stored = field(repr=False)
    operator: bool = False

    kind: ClassVar[str]
    by: ClassVar[str]
    api: ClassVar[str]

    @classmethod
    @abstractmethod
    def asked_for(cls, wanted: Mapping[str, str], known: Known, *, sealed: bool) -> AskedOfAnswers:
        """What an address asks for. Raises UnknownSettingError."""

    @classmethod
    def read(
        cls, study: Study, snapshot: Snapshot, wanted: Mapping[str, str], *, operator: bool, **more: Any
    ) -> Self:
        """The page an address asks for. Raises UnknownSettingError."""
        known = Known.of(snapshot.counts, cls.kind)
        asked = cls.asked_for(wanted, known, sealed=not (study.is_closed or operator))
        found = find(snapshot, cls.kind, asked)
        page = cls(
            study=study,
            snapshot=snapshot,
            address=reverse(cls.tab, args=[study.slug]),
            asked=asked,
            known=known,
            stored=found.stored,
            pending=found.pending,
            operator=operator,
            **more,
        )
        return replace(page, query=page.query_with())

    @property
    def sealed(self) -> bool:
        """Whether what few opinions tell is hidden, as until the study closes."""
        return not (self.study.is_closed or self.operator)

    def nobody(self, said: str, what: str, *, asked: bool = True) -> NoOpinionsError:
        """That nobody said anything, or where raters are ``asked`` that what they may have said waits."""
        waits = no_people_yet(self.study, what) if asked else ""
        return NoOpinionsError(waits.removesuffix(".") or said)

    @property
    def waiting(self) -> str:
        """For operators, how much of it waits."""
        return waiting(self.study) if self.operator and self.nothing else ""

    @abstractmethod
    def stored_content(self) -> Content | None:
        """The figures as they are stored. Raises NoOpinionsError."""

    @abstractmethod
    def seal(self, content: Content) -> Content:
        """What everybody may see of them while people rate. Raises NoOpinionsError."""

    @cached_property
    def _found(self) -> tuple[Content | None, str]:
        """The content, or None and the sentence that says why there is none."""
        if self.pending is not None:
            return None, ""
        try:
            content = self.stored_content()
            if content is None:
                return None, "These numbers are not there yet."
            if "nothing" in content:
                raise NoOpinionsError(content["nothing"])
            return (self.seal(content) if self.sealed else content), ""
        except NoOpinionsError as error:
            reason = str(error)
            return None, f"{reason[:1].upper()}{reason[1:]}."

    @property
    def found(self) -> Content | None:
        return self._found[0]

    @property
    def nothing(self) -> str:
        return self._found[1]

    def answer(self) -> dict[str, Any]:
        return {"study": self.study.slug, "simulated": self.simulated, **super().answer()}

    def make_panel(self, *given: Any, **more: Any) -> Panel:
        """Raters who compared no pairs have a look of their own, too."""
        panel = super().make_panel(*given, **more)
        labels = dict.fromkeys((*panel.raters, *(each["label"] for each in self.known.raters)))
        return replace(panel, raters=tuple(labels))

    @property
    def json_url(self) -> str:
        return reverse(f"api-v1:{self.api}", args=[self.study.slug]) + self.query

    @property
    def simulated(self) -> bool:
        return super().simulated or bool(self.found and self.found["simulated"])

    def query_with(self, **changes: Any) -> str:
        """The end of the address with some of what is asked changed."""
        return ending(replace(self.asked, **changes).parts())

    @property
    def filters(self) -> str:
        """What the switches are set to, in words."""
        named = [
            self.words_of(switch, option.label)
            for switch in self.switches
            for place, option in enumerate(switch.options)
            if option.chosen and (place or switch.name == "raters")
        ]
        return ", ".join(named) or "all"

    def words_of(self, switch: Switch, label: str) -> str:
        """What a switch is set to, among others."""
        return label

    @cached_property
    def switches(self) -> list[Switch]:
        return [switch for switch in self._switches() if len(switch.options) > 1]

    @property
    def setting_words(self) -> str:
        return self.filters

    def _switches(self) -> Iterator[Switch]:
        raters = [
            (each["selector"], each["label"])
            for each in self.known.raters
            if each["same_as"] is None or each["selector"] == self.asked.raters
        ]
        yield choices("raters", self.by, raters, self.asked.raters, self.query_with)


@dataclass(frozen=True)
class Measured:
    """A model's figure with its interval, in numbers of the axis and as texts, and further cells."""

    name: str
    found: Estimate
    shown: str
    ends: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class ModelRow:
    """A model in the table."""

    measured: Measured
    address: str
    dots: SafeString
    leads: bool


@dataclass(frozen=True, kw_only=True)
class TextsPage(AnswersPage):
    """With a table of models. Subclasses name the figure that ranks them, and say how much room the axis
    leaves at least.
    """

    asked: AskedOfTexts

    task: ClassVar[str]
    """What raters do, by the name that the study has for it; a noun as well."""

    ranked_by: ClassVar[str]
    least_room: ClassVar[float] = 1.0

    def nobody_yet(self, said: str) -> NoOpinionsError:
        return self.nobody(said, self.task, asked=self.task in self.study.tasks)

    @cached_property
    def beside(self) -> Content | None:
        """The order of models beside their order by pairs, where every model is shown."""
        stored = self.stored.get(self.kind, self.asked.raters, method=BESIDE_PAIRS)
        if stored is None or self.found is None:
            return None
        shown = {each["contestant"] for each in self.found["contestants"]}
        return stored if shown.issuperset(name for name, *_ in stored["models"]) else None

    @property
    def told_beside(self) -> dict[str, Any] | None:
        """As the API has it."""
        return {"raters": self.beside["label"], **self.beside["agreement"]} if self.beside else None

    @property
    @abstractmethod
    def caption(self) -> str: ...

    @property
    @abstractmethod
    def first_column(self) -> tuple[str, str]:
        """Heading and meaning of the figure."""

    @abstractmethod
    def measured(self) -> Iterator[Measured]:
        """What the table of models shows; of a page with content."""

    @abstractmethod
    def notes(self, content: Content) -> Iterator[str]:
        """What must be said beside the numbers."""

    @property
    def notices(self) -> list[str]:
        if self.found is None:
            return []
        chosen = {self.asked.raters: self.found["label"]}
        said = [*self.notes(self.found), *kin_sentences(self.study, chosen), self._waits]
        return [each for each in said if each]

    @property
    def _waits(self) -> str:
        """How what raters say comes to count, where they are asked and others see the numbers."""
        if self.task not in self.study.tasks:
            return ""
        counts = PEOPLE in self.known.selectors
        return in_groups(self.study) if counts else no_people_yet(self.study, f"{self.task} by people")

    def _switches(self) -> Iterator[Switch]:
        yield from super()._switches()
        asked, known = self.asked, self.known
        for name, label, values in (
            ("subset", "Set", known.subsets),
            ("category", "Category", known.categories),
        ):
            if len(values) > 1:
                offered = [value for value in values if self._is_offered(name, value)]
                options = [("", "All"), *((value, value) for value in offered)]
                yield choices(name, label, options, getattr(asked, name), self.query_with)

    def _is_offered(self, name: str, value: str) -> bool:
        """Whether a set or category has numbers that the reader may see, or is the one asked for."""
        if not self.sealed or value == getattr(self.asked, name):
            return True
        return value in self.known.chosen(self.asked.raters)["enough"][name]

    @cached_property
    def rows(self) -> list[ModelRow]:
        if self.found is None:
            return []
        # The page of a model is of its place in the ranking of pairs.
        ranked = bool(self.snapshot.counts["raters"])
        slugs = dict(self.study.contestants.values_list("name", "slug")) if ranked else {}
        found = lead(self.found["contestants"], self.ranked_by)
        leading = found.marked if found else ()
        measured = list(self.measured())
        axis = self.axis
        return [
            ModelRow(
                each,
                reverse("study-contestant", args=[self.study.slug, slugs[each.name]])
                if each.name in slugs
                else "",
                _dots(axis, each),
                each.name in leading,
            )
            for each in measured
        ]

    @property
    def marks_leaders(self) -> bool:
        return any(row.leads for row in self.rows)

    @property
    def has_intervals(self) -> bool:
        return any(row.measured.ends for row in self.rows)

    @property
    def lines(self) -> str:
        """What the lines of a figure are."""
        meaning = "Lines are 95% intervals for other prompts of this kind."
        return meaning if self.has_intervals else "These numbers give no interval."

    @cached_property
    def axis(self) -> Axis | None:
        found = self.measured() if self.found else ()
        ends = (end for each in found for end in each.found)
        return Axis.around((end for end in ends if end is not None), least=self.least_room)

    @property
    def axis_drawing(self) -> SafeString:
        return mark_safe(self.axis.heading()) if self.axis else mark_safe("")  # noqa: S308 - numbers alone


def _dots(axis: Axis | None, own: Measured) -> SafeString:
    return mark_safe(axis.row(*own.found) if axis else "")  # noqa: S308 - numbers alone


def find(snapshot: Snapshot, kind: str, asked: AskedOfAnswers) -> Found:
    """The tables of what is asked, in the snapshot or on demand."""
    if asked.is_stored:
        return Found(Stored.read(snapshot, Q(kind=kind, raters__in=("", asked.raters))))
    return computed(snapshot, asked, Scope(f"{kind}/"))
