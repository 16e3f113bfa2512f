"""The kinds of raters of a snapshot, read from its tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from leaderboard.models import Snapshot
from leaderboard.pages.figure import MOST_ON_A_PHONE
from leaderboard.pages.shell import Published
from leaderboard.rater_kinds.facts import as_they_are
from leaderboard.snapshots.settings import UnknownSettingError

PEOPLE: Final = "people"

FEW_KINDS: Final = MOST_ON_A_PHONE
"""A matrix of more kinds of raters is wider than a phone and scrolls there."""


@dataclass(frozen=True)
class Link:
    """One choice of a row of choices: the end of an address."""

    label: str
    query: str
    chosen: bool


@dataclass(frozen=True)
class Choices:
    """A row of choices, as plain links."""

    name: str
    label: str
    links: tuple[Link, ...]


def choices(name: str, title: str, options: Sequence[tuple[str, str]], now: str, query: Any) -> Choices:
    """A row of links; ``query`` makes the end of an address with one value changed."""
    links = (Link(text, query(**{name: value}) or "?", value == now) for value, text in options)
    return Choices(name, title, tuple(links))


def ending(values: Sequence[tuple[str, str]]) -> str:
    """The end of an address with what is not empty."""
    given = urlencode([(name, value) for name, value in values if value])
    return f"?{given}" if given else ""


def one_of(wanted: Mapping[str, str], name: str, known: Sequence[str], default: str) -> str:
    """What an address asks for, if it exists. Raises UnknownSettingError."""
    value = wanted.get(name) or default
    if value not in (*known, default):
        there = ", ".join(entry for entry in known if entry)
        raise UnknownSettingError(f'There is no {name} "{value[:100]}" here. There is: {there or "none"}.')
    return value


def listed(snapshot: Snapshot, *also: str) -> list[dict[str, Any]]:
    """The entries of the snapshot's raters; a group of the very raters of another only if in ``also``."""
    raters: list[dict[str, Any]] = snapshot.counts["raters"]
    return [each for each in raters if each.get("same_as") is None or each["selector"] in also]


def labels(snapshot: Snapshot) -> dict[str, str]:
    """The label of every kind of raters by its selector."""
    return {each["selector"]: each["label"] for each in snapshot.counts["raters"]}


def judges_now(now: Published) -> Any:
    """The judges of a study as pages show them beside its snapshot: what is edited shows at once."""
    return as_they_are(labels(now.snapshot)) if now.snapshot else None
