"""The switches of a board: rows of links, each to the same page with one thing changed. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.snapshots.presentation import METHOD_NAMES
from leaderboard.snapshots.settings import (
    ALL_CATEGORIES,
    LEVELS,
    MODELS,
    RESAMPLE,
    Setting,
    bands,
    choice_of,
    left_out,
    people_play,
    scales,
)


@dataclass(frozen=True)
class Option:
    """One choice of a switch: a link, with the number of comparisons behind it where that is known."""

    label: str
    query: str
    chosen: bool
    comparisons: int | None = None
    value: str = ""


@dataclass(frozen=True)
class Switch:
    """One row of choices.

    ``field`` is its name in addresses, which two switches may share; ``kept`` the rest of the address, for
    a form. ``group`` is "main" or, for what is rarely used, "more".
    """

    name: str
    label: str
    options: tuple[Option, ...]
    group: str = "main"
    field: str = ""
    kept: tuple[tuple[str, str], ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the address names it: something else than the usual is chosen."""
        return any(option.chosen and f"{self.field}=" in option.query for option in self.options)


def switches(setting: Setting, counts: Mapping[str, Any]) -> tuple[Switch, ...]:
    """The switches that have something to choose between, with their links.

    A group of the very raters that another option has is offered only while it is chosen.
    """
    return tuple(switch for switch in _Switches(setting, counts).all() if len(switch.options) > 1)


def words(setting: Setting, counts: Mapping[str, Any]) -> str:
    """A setting in words: the raters, the category, the method, and whatever is not as usual."""
    without = left_out(setting.category, counts["categories"])
    category = f"all categories but {without}" if without else setting.category or "all categories"
    said = [choice_of(counts, setting.raters)["label"], category, METHOD_NAMES[setting.method]]
    if setting.ties == "off":
        said.append("ties off")
    if setting.band:
        said.append(f"ratings {setting.band} are ties")
    if setting.contestants:
        said.append("models only")
    if setting.resample != RESAMPLE[0]:
        said.append(f"intervals resample {setting.resample.replace('-', ' ')}")
    return "; ".join([*said, f"intervals of {setting.level} %"])


@dataclass(frozen=True)
class _Switches:
    setting: Setting
    counts: Mapping[str, Any]

    def all(self) -> Iterator[Switch]:
        yield self._raters()
        if people_play(self.counts):
            yield self._switch("contestants", "Contestants", [("", "Everyone"), (MODELS, "Models only")])
        if self.setting.method != "ordinal":
            yield self._switch("ties", "Ties", [("on", "Count half"), ("off", "Off")])
        yield self._categories()
        yield self._switch("method", "Method", list(METHOD_NAMES.items()))
        yield self._bands()
        yield self._all_but()
        yield self._levels()
        drawn = [(value, value.replace("-", " ").capitalize()) for value in RESAMPLE]
        yield self._switch("resample", "Resampled", drawn, group="more")

    def _switch(
        self,
        field: str,
        label: str,
        choices: Sequence[tuple[str, str]],
        comparisons: Mapping[str, int] | None = None,
        **place: Any,
    ) -> Switch:
        """A switch of (value, text) choices; ``comparisons`` holds the number behind some of the values."""
        now, known = getattr(self.setting, field), comparisons or {}
        options = tuple(
            Option(text, self._query(field, value), value == now, known.get(value), value)
            for value, text in choices
        )
        kept = tuple((name, value) for name, value in self.setting.parts().items() if name != field)
        return Switch(place.pop("name", field), label, options, field=field, kept=kept, **place)

    def _query(self, field: str, value: str) -> str:
        other_scale = field == "raters" and self._scales(value) != self._scales(self.setting.raters)
        return self.setting.query(**{field: value, **({"band": ""} if other_scale else {})})

    def _scales(self, raters: str) -> list[int]:
        return scales(self.counts, raters)

    def _raters(self) -> Switch:
        offered = [
            choice
            for choice in self.counts["raters"]
            if choice["same_as"] is None or choice["selector"] == self.setting.raters
        ]
        numbers = {choice["selector"]: choice["comparisons"] for choice in offered}
        named = [(choice["selector"], choice["label"]) for choice in offered]
        return self._switch("raters", "Raters", named, numbers)

    def _categories(self) -> Switch:
        named = [(name, name) for name in self.counts["categories"]]
        return self._switch("category", "Category", [("", ALL_CATEGORIES), *named], self._numbers())

    def _all_but(self) -> Switch:
        names, numbers = self.counts["categories"], self._numbers()
        choices = [(f"-{name}", name) for name in names if f"-{name}" not in names]
        known = {value: numbers[""] - numbers[value[1:]] for value, _ in choices if value[1:] in numbers}
        return self._switch(
            "category",
            "All categories but",
            [("", "None"), *choices],
            known,
            name="all-but",
            group="more",
        )

    def _numbers(self) -> dict[str, int]:
        """Comparisons of the chosen raters by category, as far as the snapshot counted them."""
        choice = choice_of(self.counts, self.setting.raters)
        return {"": choice["comparisons"], **choice.get("by_category", {})}

    def _bands(self) -> Switch:
        points = self._scales(self.setting.raters)
        acts = self.setting.settled().ties == "on" and self.setting.method != "ordinal"
        known = bands(points[0]) if acts and len(points) == 1 else []
        choices = [("" if number == 0 else band, band) for number, band in enumerate(known)]
        return self._switch("band", "Ratings that are ties", choices, group="more")

    def _levels(self) -> Switch:
        usual = [level for level in LEVELS if level != "50"]
        offered = sorted({*usual, self.setting.level}, key=float)
        return self._switch(
            "level", "Interval level", [(level, f"{level} %") for level in offered], group="more"
        )
