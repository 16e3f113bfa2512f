"""The standings as a page shows them: columns that can be sorted by, and rows of texts. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from leaderboard.standings.table import Row

NOTHING: Final = "–"


@dataclass(frozen=True)
class About:
    """What a board says of a contestant beside its numbers."""

    organisation: str = ""
    licence: str = ""
    address: str = ""
    benchmarks: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """A row with everything its columns need.

    ``moved`` is how many places it stands higher in this category than in all of them together;
    ``other_rank`` and ``other_rating`` are its own under the other tie rule, where it stands ``other_moved``
    places higher. None where unknown.
    """

    row: Row
    about: About = About()
    moved: int | None = None
    other_rank: int | None = None
    other_rating: float | None = None
    other_moved: int | None = None


Value = float | str | None


@dataclass(frozen=True)
class Column:
    """A column: its name in addresses, its heading, what it sorts by and what its cells say.

    ``kind`` is the class of its cells; ``falling`` whether a first click puts the largest on top.
    """

    key: str
    label: str
    value: Callable[[Entry], Value]
    text: Callable[[Entry], str]
    kind: str = "num"
    falling: bool = True
    help: str = ""


def ordered(entries: Sequence[Entry], column: Column, *, falling: bool) -> list[Entry]:
    """The rows by a column; equal ones by rank, and those without a value last in either direction."""
    known = [entry for entry in entries if column.value(entry) is not None]
    unknown = [entry for entry in entries if column.value(entry) is None]
    return sorted(known, key=lambda entry: _sortable(column.value(entry)), reverse=falling) + unknown


def _sortable(value: Value) -> tuple[float, str]:
    return (0.0, value.casefold()) if isinstance(value, str) else (value or 0.0, "")


RANK: Final = Column("rank", "Rank (UB)", lambda e: e.row.rank, lambda e: str(e.row.rank), falling=False)
CONTESTANT: Final = Column(
    "contestant", "Contestant", lambda e: e.row.contestant, lambda e: e.row.contestant, falling=False
)
RATING: Final = Column("rating", "Rating", lambda e: e.row.rating, lambda e: whole(e.row.rating))


def further_columns(entries: Sequence[Entry], other_ties: str, other_method: str) -> tuple[Column, ...]:
    """The columns after the interval, those that have something to say.

    ``other_ties`` and ``other_method`` name the tie rule and the method whose numbers stand beside; the
    first is empty where there is no other rule.
    """
    return (
        *_change(entries),
        *_certainty(),
        *_counts(),
        *(_other_ties(other_ties) if other_ties else ()),
        Column("beside", other_method, lambda e: e.row.beside, lambda e: whole(e.row.beside)),
        *_benchmarks(entries),
        *_words(entries),
    )


def _change(entries: Sequence[Entry]) -> Iterator[Column]:
    if any(entry.moved is not None for entry in entries):
        yield Column(
            "change",
            "Δ rank",
            lambda e: e.moved,
            lambda e: moved_text(e.moved),
            help="Places higher (+) or lower (−) than over all categories",
        )


def _certainty() -> Iterator[Column]:
    # Groups are letters by best member, so they sort as the ranking does.
    yield Column(
        "group",
        "Group",
        lambda e: e.row.group or None,
        lambda e: e.row.group_shown or NOTHING,
        "mono",
        falling=False,
        help="Those who share a letter cannot be told apart",
    )
    yield Column("first", "First %", lambda e: e.row.first_percent, lambda e: whole(e.row.first_percent))


def _counts() -> Iterator[Column]:
    yield Column("games", "Games", lambda e: e.row.games, lambda e: f"{e.row.games:,}")
    yield Column("wins", "Win %", lambda e: e.row.win_percent, lambda e: f"{e.row.win_percent:.1f}")
    yield Column("ties", "Tie %", lambda e: e.row.tie_percent, lambda e: f"{e.row.tie_percent:.1f}")


def _other_ties(rule: str) -> Iterator[Column]:
    yield Column(
        "other-rank", f"{rule}: rank", lambda e: e.other_rank, _other_rank, "num nowrap", falling=False
    )
    yield Column("other-rating", f"{rule}: rating", lambda e: e.other_rating, lambda e: whole(e.other_rating))


def _other_rank(entry: Entry) -> str:
    if entry.other_rank is None:
        return NOTHING
    return (
        f"{entry.other_rank} {moved_text(entry.other_moved)}" if entry.other_moved else str(entry.other_rank)
    )


def _benchmarks(entries: Sequence[Entry]) -> Iterator[Column]:
    names = sorted({name for entry in entries for name in entry.about.benchmarks})
    for name in names:
        yield Column(
            f"benchmark-{name}",
            name,
            lambda e, name=name: e.about.benchmarks.get(name),  # type: ignore[misc]
            lambda e, name=name: _score(e.about.benchmarks.get(name)),  # type: ignore[misc]
            help="A score on another benchmark, as the study's operators gave it",
        )


def _words(entries: Sequence[Entry]) -> Iterator[Column]:
    for name in ("organisation", "licence"):
        if any(getattr(entry.about, name) for entry in entries):
            yield Column(
                name,
                name.capitalize(),
                lambda e, name=name: getattr(e.about, name) or None,  # type: ignore[misc]
                lambda e, name=name: getattr(e.about, name) or NOTHING,  # type: ignore[misc]
                "word",
                falling=False,
            )


def whole(value: float | None) -> str:
    """A number without decimals, or a dash."""
    return NOTHING if value is None else f"{value:.0f}"


def moved_text(places: int | None) -> str:
    """Places up or down with an arrow and a sign."""
    if places is None:
        return NOTHING
    if places == 0:
        return "="
    return f"↑+{places}" if places > 0 else f"↓−{-places}"


def _score(value: float | None) -> str:
    return NOTHING if value is None else f"{value:g}"


def moves(here: Mapping[str, float], there: Mapping[str, float]) -> dict[str, int]:
    """How many places each contestant stands higher in ``here`` than in ``there``, among those in both.

    Both are ratings by name, best first. Equal ratings share a place, as they share a rank.
    """
    shared = here.keys() & there.keys()
    after, before = (_places(ratings, shared) for ratings in (here, there))
    return {name: before[name] - place for name, place in after.items()}


def _places(ratings: Mapping[str, float], shared: Set[str]) -> dict[str, int]:
    """The place of each of some contestants, from 0; ratings are in the order of places."""
    found: dict[str, int] = {}
    place, last = 0, None
    for number, name in enumerate(name for name in ratings if name in shared):
        if ratings[name] != last:
            place, last = number, ratings[name]
        found[name] = place
    return found
