"""The switches of a board: which raters, ties, category and method its address asks for. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

from leaderboard.presentation import METHOD_NAMES

ALL_CATEGORIES: Final = "All"


class UnknownSettingError(ValueError):
    """The address asks for something this board does not have; the message is a sentence for the reader."""


@dataclass(frozen=True)
class Option:
    """One choice of a switch: a link, with the number of comparisons behind it where that is known."""

    label: str
    query: str
    chosen: bool
    comparisons: int | None = None


@dataclass(frozen=True)
class Switch:
    """One row of choices."""

    name: str
    label: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Setting:
    """One setting of all switches; ``category`` is empty for all of them together."""

    raters: str
    ties: str = "on"
    category: str = ""
    method: str = "elo"

    def query(self, **changes: str) -> str:
        """The setting as the end of an address, with some switches changed."""
        values = asdict(replace(self, **changes))
        return "?" + urlencode({name: value for name, value in values.items() if value})


def parse(wanted: Mapping[str, str], counts: Mapping[str, Any]) -> Setting | None:
    """The setting an address asks for, from a snapshot's ``counts``; None where nobody has rated yet.

    What is not asked for is people (or the first judge), ties on, all categories, Elo. The ordinal model
    takes every rating as given, so for it ties are on whatever the address says. Raises UnknownSettingError
    for a value this board does not have.
    """
    raters = [choice["selector"] for choice in counts["raters"]]
    if not raters:
        return None
    found = Setting(
        _one_of("raters", wanted, raters, raters[0]),
        _one_of("ties", wanted, ("on", "off"), "on"),
        _one_of("category", wanted, ("", *counts["categories"]), ""),
        _one_of("method", wanted, tuple(METHOD_NAMES), "elo"),
    )
    return replace(found, ties="on") if found.method == "ordinal" else found


def _one_of(name: str, wanted: Mapping[str, str], known: Sequence[str], default: str) -> str:
    value = wanted.get(name, default)
    if value not in known:
        there = ", ".join(entry for entry in known if entry)
        raise UnknownSettingError(f'This board has no {name} "{value[:100]}". It has: {there or "none"}.')
    return value


def switches(setting: Setting, counts: Mapping[str, Any]) -> tuple[Switch, ...]:
    """The switches with their links: categories where there are some, ties where they change something.

    A group of the very raters that another option has is offered only while it is chosen.
    """

    def switch(name: str, label: str, choices: Sequence[tuple[str, str]]) -> Switch:
        now = getattr(setting, name)
        return Switch(
            name,
            label,
            tuple(Option(text, setting.query(**{name: value}), value == now) for value, text in choices),
        )

    raters = tuple(
        Option(
            choice["label"],
            setting.query(raters=choice["selector"]),
            choice["selector"] == setting.raters,
            choice["comparisons"],
        )
        for choice in counts["raters"]
        if choice["same_as"] is None or choice["selector"] == setting.raters
    )
    named = [(name, name) for name in counts["categories"]]
    found = (
        Switch("raters", "Raters", raters),
        switch("ties", "Ties", [("on", "Count half"), ("off", "Off")]),
        switch("category", "Category", [("", ALL_CATEGORIES), *named]),
        switch("method", "Method", list(METHOD_NAMES.items())),
    )
    shown = {"raters", "method"}
    if setting.method != "ordinal":
        shown.add("ties")
    if named:
        shown.add("category")
    return tuple(each for each in found if each.name in shown)
