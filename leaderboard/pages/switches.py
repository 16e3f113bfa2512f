"""Switches of a board as links. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from leaderboard.pages.wording import judge_called
from leaderboard.snapshots.settings import SETTINGS, Choice, Counts, Declaration, Setting, counts_at, offered

_MOST: Final = 4
_LONGEST: Final = 60
"""Choices, and letters in them, that stand side by side."""


@dataclass(frozen=True)
class Option:
    label: str
    query: str
    chosen: bool
    comparisons: int | None = None
    value: str = ""


@dataclass(frozen=True)
class Switch:
    """A row of choices.

    ``field`` is its name in addresses, which two switches may share; ``kept`` the rest of the address.
    ``group`` is "main" or, under *Settings*, "more"; ``meaning`` explains the choices. ``address`` replaces
    that of the page; ``listed``: it is a list to choose from however short.
    """

    name: str
    label: str
    options: tuple[Option, ...]
    group: str = "main"
    field: str = ""
    kept: tuple[tuple[str, str], ...] = ()
    meaning: str = ""
    address: str = ""
    listed: bool = False

    @property
    def is_long(self) -> bool:
        """Whether a list to choose from serves better than choices side by side."""
        letters = sum(len(option.label) for option in self.options)
        return self.listed or len(self.options) > _MOST or letters > _LONGEST


def switches(setting: Setting, counts: Counts) -> tuple[Switch, ...]:
    rows = [(each, each.choices(setting, counts)) for each in SETTINGS]
    return tuple(
        Switch(
            declared.name or declared.field,
            declared.label,
            tuple(_option(declared, choice, setting, counts) for choice in choices),
            "more" if declared.is_rare else "main",
            declared.field,
            tuple((name, value) for name, value in setting.parts().items() if name != declared.field),
            declared.meaning,
        )
        for declared, choices in rows
        if len(choices) > 1
    )


def list_of(
    field: str, label: str, choices: Mapping[str, str], kept: Mapping[str, str], **more: Any
) -> Switch:
    """A list of ``choices``: labels by value. ``kept`` is all of the address, ``more`` the switch's."""
    chosen = kept.get(field, "")
    options = tuple(Option(text, "", value == chosen, value=value) for value, text in choices.items())
    rest = tuple((name, value) for name, value in kept.items() if name != field)
    return Switch(field, label, options, field=field, kept=rest, listed=True, **more)


def _among(setting: Setting, counts: Counts) -> Setting:
    """The setting without raters and a category that there are not among these."""
    raters = [each["selector"] for each in counts["raters"]]
    there = setting.category.removeprefix("-") in ("", *counts["categories"])
    return replace(
        setting,
        raters=setting.raters if setting.raters in raters else "",
        category=setting.category if there else "",
    )


def _option(declared: Declaration, choice: Choice, setting: Setting, counts: Counts) -> Option:
    chosen = getattr(setting, declared.field) == choice.value
    changed = replace(setting, **{declared.field: choice.value})
    if declared.field == "raters":
        changed = offered(changed, counts)
    if declared.field in ("prompts", "visitors"):
        changed = _among(changed, counts_at(counts, changed.prompts, changed.visitors))
    if declared.field == "method":
        changed = replace(changed, adjust="")  # which would choose the method
    text = choice.text
    if choice.value.startswith("judge:"):
        text = judge_called(text, "Judge")
    return Option(text, changed.query(), chosen, choice.comparisons, choice.value)
