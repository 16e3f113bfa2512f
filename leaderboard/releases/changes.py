"""What is different between two releases of a study. Works on what they store."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leaderboard.releases.content import Board
from leaderboard.releases.provenance import MEANINGS

_PLACE: Final = ("rank", "rating", "low", "high")
_ROUNDED: Final = 6

Judge = Mapping[str, Any]


@dataclass(frozen=True)
class Place:
    """Where a contestant stands in a release; ``low`` and ``high`` are its interval."""

    rank: int
    rating: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ContestantChange:
    """A contestant in two releases; None where it has no game. ``up``: places gained."""

    contestant: str
    before: Place | None
    after: Place | None

    @property
    def what(self) -> str:
        if self.before and self.after:
            return ""
        return "removed" if self.before else "added"

    @property
    def up(self) -> int | None:
        return self.before.rank - self.after.rank if self.before and self.after else None

    @property
    def gained(self) -> float | None:
        if not (self.before and self.after):
            return None
        return round(self.after.rating - self.before.rating, _ROUNDED)


@dataclass(frozen=True)
class VoteChange:
    part: str
    by: str
    before: int
    after: int


@dataclass(frozen=True)
class Change:
    """A value that differs, ``before`` and ``after`` as JSON values; ``of`` says of which judge, if any."""

    of: str
    what: str
    before: Any
    after: Any


def shared_boards(earlier: Iterable[Board], later: Iterable[Board]) -> tuple[Board, Board] | None:
    """The boards of both by the first kind of raters that both have."""
    by_selector = {board.selector: board for board in earlier}
    found = next((board for board in later if board.selector in by_selector), None)
    return (by_selector[found.selector], found) if found else None


def contestants(earlier: Board, later: Board) -> list[ContestantChange]:
    """Every contestant of either, in the later order, then those that are gone."""
    before, after = _places(earlier), _places(later)
    names = [*after, *(name for name in before if name not in after)]
    return [ContestantChange(name, before.get(name), after.get(name)) for name in names]


def _places(board: Board) -> dict[str, Place]:
    ranked = (row for row in board.content["standings"] if row["rating"] is not None)
    return {row["contestant"]: Place(*(row[name] for name in _PLACE)) for row in ranked}


def votes(
    earlier: Mapping[str, Mapping[str, int]], later: Mapping[str, Mapping[str, int]]
) -> list[VoteChange]:
    """Each count of provenance, by people and by judges."""
    return [
        VoteChange(part, by, earlier[part][by], later[part][by])
        for part in MEANINGS
        for by in ("people", "judges")
    ]


def judges(earlier: Sequence[Judge], later: Sequence[Judge]) -> list[Change]:
    """What is set otherwise for each judge; one that only one release has is "added" or "removed"."""
    before, after = _by_name(earlier), _by_name(later)
    return [
        change
        for name in sorted(before.keys() | after.keys())
        for change in _of_judge(name, before.get(name), after.get(name))
    ]


def _by_name(listed: Iterable[Judge]) -> dict[str, Judge]:
    return {judge["judge"]: judge for judge in listed}


def _of_judge(name: str, before: Judge | None, after: Judge | None) -> Iterator[Change]:
    if before is None or after is None:
        yield Change(
            name, "removed" if before else "added", before and before["name"], after and after["name"]
        )
        return
    # Of the wording the hash is enough.
    yield from values({**before, "wording": None}, {**after, "wording": None}, name)


def values(before: Mapping[str, Any], after: Mapping[str, Any], of: str = "") -> Iterator[Change]:
    """The entries that differ, in order of their names."""
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield Change(of, name, before.get(name), after.get(name))


def in_words(value: Any) -> str:
    """A value of a change for a table."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
