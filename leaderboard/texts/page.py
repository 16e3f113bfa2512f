"""What pages of opinions about single answers share: the choices, and the table of models.

They show the opinions as they are now, beside the newest snapshot.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from arena.models import Study
from leaderboard.models import Snapshot
from leaderboard.pages.page import NoNumbersError, Page, Panel
from leaderboard.pages.switches import Switch
from leaderboard.rater_kinds.flags import kin_sentences
from leaderboard.rater_kinds.page import choices, ending, one_of
from leaderboard.snapshots.canonical import Content
from leaderboard.standings.rows import Axis
from leaderboard.texts.asked import FEWEST, AskedOfTexts, NoOpinionsError
from leaderboard.texts.table import lead


class Choice(Protocol):
    @property
    def selector(self) -> str: ...

    @property
    def label(self) -> str: ...

    @property
    def ids(self) -> frozenset[int]: ...


class Known(Protocol):
    """The opinions of a study."""

    @property
    def raters(self) -> Sequence[Choice]: ...

    def subsets(self) -> list[str]: ...

    def categories(self) -> list[str]: ...

    def about(self, subset: str = "", category: str = "") -> Self: ...

    def most_of_a_model(self, choice: Any) -> int: ...


@dataclass(frozen=True)
class Measured:
    """A model's figure with its interval, in numbers of the axis and as texts, and further cells."""

    name: str
    value: float | None
    low: float | None
    high: float | None
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
class TextsPage(Page):
    """``content`` is None where there is ``nothing`` to show, which says why.

    ``operator``: whether the reader may see everything while the study is open. Subclasses say how the switch
    of raters is called, which figure ranks models, how much room the axis leaves at least, and which
    operation of the API has the same numbers.
    """

    asked: AskedOfTexts
    content: Content | None
    nothing: str = ""
    operator: bool = False

    known: Known

    by: ClassVar[str]
    ranked_by: ClassVar[str]
    least_room: ClassVar[float] = 1.0
    api: ClassVar[str]

    @classmethod
    @abstractmethod
    def read(cls, study: Study, snapshot: Snapshot, wanted: Mapping[str, str], *, operator: bool) -> Self:
        """The page an address asks for. Raises UnknownSettingError."""

    @classmethod
    def newest(cls, study: Study, wanted: Mapping[str, str], *, operator: bool) -> Self:
        """The page beside the newest snapshot. Raises UnknownSettingError or NoNumbersError."""
        snapshot = Snapshot.objects.newest(study)
        if snapshot is None:
            raise NoNumbersError("This study has no numbers yet.")
        return cls.read(study, snapshot, wanted, operator=operator)

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
        if self.content is None:
            return []
        chosen = {self.asked.raters: self.content["label"]}
        return [*self.notes(self.content), *kin_sentences(self.study, chosen)]

    def answer(self) -> dict[str, Any]:
        """The content as JSON values. Raises NoNumbersError."""
        if self.content is None:
            raise NoNumbersError(self.nothing)
        return {"study": self.study.slug, "simulated": self.simulated, **self.content}

    def make_panel(self, *given: Any, **more: Any) -> Panel:
        """Raters who compared no pairs have a look of their own, too."""
        panel = super().make_panel(*given, **more)
        labels = dict.fromkeys((*panel.raters, *(each.label for each in self.known.raters)))
        return replace(panel, raters=tuple(labels))

    @property
    def json_url(self) -> str:
        return reverse(f"api-v1:{self.api}", args=[self.study.slug]) + self.query

    @property
    def simulated(self) -> bool:
        return super().simulated or bool(self.content and self.content["simulated"])

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

    def _switches(self) -> Iterator[Switch]:
        asked, known = self.asked, self.known
        distinct = {each.ids: each for each in reversed(known.raters)}
        raters = [
            (each.selector, each.label)
            for each in known.raters
            if distinct[each.ids] is each or each.selector == asked.raters
        ]
        yield choices("raters", self.by, raters, asked.raters, self.query_with)
        for name, label, values in (
            ("subset", "Set", known.subsets()),
            ("category", "Category", known.categories()),
        ):
            if len(values) > 1:
                offered = [value for value in values if self._is_offered(name, value)]
                options = [("", "All"), *((value, value) for value in offered)]
                yield choices(name, label, options, getattr(asked, name), self.query_with)

    def _is_offered(self, name: str, value: str) -> bool:
        """Whether a set or category has numbers that the reader may see, or is the one asked for."""
        asked = self.asked
        if not asked.sealed or value == getattr(asked, name):
            return True
        chosen = next(each for each in self.known.raters if each.selector == asked.raters)
        part = {"subset": asked.subset, "category": asked.category} | {name: value}
        return self.known.about(**part).most_of_a_model(chosen) >= FEWEST

    @cached_property
    def rows(self) -> list[ModelRow]:
        if self.content is None:
            return []
        # The page of a model is of its place in the ranking of pairs.
        ranked = bool(self.snapshot.counts["raters"])
        slugs = dict(self.study.contestants.values_list("name", "slug")) if ranked else {}
        first, alike = lead(self.content["contestants"], self.ranked_by)
        leading = {first["contestant"], *alike} if first and alike else set()
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

    @cached_property
    def axis(self) -> Axis | None:
        found = self.measured() if self.content else ()
        ends = (end for each in found for end in (each.low, each.value, each.high))
        return Axis.around((end for end in ends if end is not None), least=self.least_room)

    @property
    def axis_drawing(self) -> SafeString:
        return mark_safe(self.axis.heading()) if self.axis else mark_safe("")  # noqa: S308 - numbers alone


def _dots(axis: Axis | None, own: Measured) -> SafeString:
    if axis is None or own.value is None:
        return mark_safe("")
    return mark_safe(axis.row(own.value, own.low, own.high))  # noqa: S308 - numbers alone


def content_or_reason(make: Callable[[], Content]) -> tuple[Content | None, str]:
    """The content, or None and the sentence that says why there is none."""
    try:
        return make(), ""
    except NoOpinionsError as error:
        reason = str(error)
        return None, f"{reason[:1].upper()}{reason[1:]}."


def asked_of_all(known: Known, wanted: Mapping[str, str]) -> dict[str, str]:
    """Raters, set and category of an address. Raises UnknownSettingError."""
    raters = [each.selector for each in known.raters]
    return {
        "raters": one_of(wanted, "raters", raters, raters[0] if raters else ""),
        "subset": one_of(wanted, "subset", known.subsets(), ""),
        "category": one_of(wanted, "category", known.categories(), ""),
    }
