"""Switches of a board as links. Pure."""

from dataclasses import dataclass, replace
from typing import Final

from leaderboard.snapshots.settings import SETTINGS, Choice, Counts, Declaration, Setting, offered

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
    ``group`` is "main" or, under *Settings*, "more"; ``meaning`` explains the choices.
    """

    name: str
    label: str
    options: tuple[Option, ...]
    group: str = "main"
    field: str = ""
    kept: tuple[tuple[str, str], ...] = ()
    meaning: str = ""

    @property
    def is_long(self) -> bool:
        """Whether a list to choose from serves better than choices side by side."""
        return len(self.options) > _MOST or sum(len(option.label) for option in self.options) > _LONGEST


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


def _option(declared: Declaration, choice: Choice, setting: Setting, counts: Counts) -> Option:
    chosen = getattr(setting, declared.field) == choice.value
    changed = replace(setting, **{declared.field: choice.value})
    if declared.field == "raters":
        changed = offered(changed, counts)
    if declared.field == "method":
        changed = replace(changed, adjust="")  # which would choose the method
    return Option(choice.text, changed.query(), chosen, choice.comparisons, choice.value)
