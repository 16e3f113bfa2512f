"""The table of standings on the board: sorted, searched, with links and drawings. No database."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from django.utils.safestring import SafeString, mark_safe

from leaderboard.pages.columns import Column, Heading, Order, TableQuery
from leaderboard.pages.dots import Axis
from leaderboard.pages.format import NONE
from leaderboard.pages.standings.table import Row, ranks_shown


@dataclass(frozen=True)
class About:
    organisation: str = ""
    licence: str = ""
    address: str = ""
    benchmarks: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class OfTexts:
    """A figure of each model by opinions about its single answers.

    ``order``: how far it orders models as pairs do.
    """

    figures: Mapping[str, float] = field(default_factory=dict)
    order: str = ""


NO_TEXTS: Final = (OfTexts(), OfTexts())


@dataclass(frozen=True)
class Entry:
    """A row with everything its columns need; None where unknown.

    ``moved`` is how many places it stands higher in this category than in all; ``other_rank``,
    ``other_rating`` and ``other_moved`` (places higher) are of the standings beside. ``leads`` marks the
    first and those it cannot be told apart from. ``met`` is the share of requirements met, ``text_score``
    the mean score of its answers one by one.
    """

    row: Row
    about: About = About()
    moved: int | None = None
    other_rank: int | None = None
    other_rating: float | None = None
    other_moved: int | None = None
    leads: bool = False
    met: float | None = None
    text_score: float | None = None


RANK: Final = Column[Entry](
    "rank",
    "Rank",
    lambda e: e.row.place,
    lambda e: str(e.row.rank),
    "num nowrap",
    falling=False,
    help=(
        "The place by score, before rounding; 1= is shared. Then the possible ranks: without the places of "
        "models that are clearly better or worse, each pair judged as head to head, with no correction for "
        "many pairs."
    ),
)
CONTESTANT: Final = Column[Entry](
    "contestant", "Model", lambda e: e.row.contestant, lambda e: e.row.contestant, "name", falling=False
)
RATING: Final = Column[Entry](
    "rating",
    "Score",
    lambda e: e.row.rating,
    lambda e: whole(e.row.rating),
    help="What the method computes from the ratings. Only differences between scores have a meaning.",
)
WINS: Final = Column[Entry](
    "wins",
    "Win share",
    lambda e: e.row.win_share,
    lambda e: percent(e.row.win_share),
    "num on-wide",
    help="How often this model won its pairs. A tie counts half.",
)
GAMES: Final = Column[Entry](
    "games",
    "Ratings",
    lambda e: e.row.games,
    lambda e: f"{e.row.games:,}",
    "num on-wide",
    help="How many ratings of its pairs count at this setting.",
)
USUAL: Final = (RANK, CONTESTANT, RATING, WINS, GAMES)
"""The columns of a board beside the drawn interval; the others are shown on demand."""


def further_columns(
    entries: Sequence[Entry], other: str, other_method: str, of_texts: Sequence[OfTexts] = NO_TEXTS
) -> tuple[Column[Entry], ...]:
    """The columns on demand that have something to say.

    ``other`` (empty for none) and ``other_method`` name what the numbers beside are by. ``of_texts``
    are requirements met and text scores.
    """
    met, scores = of_texts
    return (
        Column(
            "ties",
            "Tie share",
            lambda e: e.row.tie_percent,
            lambda e: percent(e.row.tie_percent),
            help="Share of its ratings that prefer neither answer.",
        ),
        *_change(entries),
        *_certainty(),
        *(_other(other) if other else ()),
        Column(
            "beside",
            other_method,
            lambda e: e.row.beside,
            lambda e: whole(e.row.beside),
            help="The score by another method, from the same ratings.",
        ),
        Column(
            "requirements",
            "Requirements met",
            lambda e: e.met,
            lambda e: NONE if e.met is None else f"{100 * e.met:.1f}%",
            help=" ".join((_MET, met.order)).rstrip(),
        ),
        Column(
            "text-score",
            "Mean text score",
            lambda e: e.text_score,
            lambda e: NONE if e.text_score is None else f"{e.text_score:.2f}",
            help=" ".join((_SCORED, scores.order)).rstrip(),
        ),
        *_benchmarks(entries),
        *_licence(entries),
    )


_MET: Final = "Share of requirements met (DRFR), by the same raters if they checked any."
_SCORED: Final = "Mean score of its answers one by one, by the same raters if they scored any."


def _change(entries: Sequence[Entry]) -> Iterator[Column[Entry]]:
    if any(entry.moved is not None for entry in entries):
        yield Column(
            "change",
            "Against all",
            lambda e: e.moved,
            lambda e: moved_text(e.moved),
            help="Places higher (+) or lower (−) than over all categories.",
        )


def _certainty() -> Iterator[Column[Entry]]:
    # Groups are letters by best member, so they sort as the ranking does.
    yield Column(
        "group",
        "Group",
        lambda e: e.row.group or None,
        lambda e: e.row.group_shown or NONE,
        "mono",
        falling=False,
        help="Models that share a letter cannot be told apart. “+3”: three more letters, which the CSV has.",
    )
    yield Column(
        "first",
        "First",
        lambda e: e.row.first_percent,
        lambda e: percent(e.row.first_percent),
        help="Share of resamples in which this model comes first.",
    )


def _other(name: str) -> Iterator[Column[Entry]]:
    yield Column(
        "other-rank",
        f"{name}: rank",
        lambda e: e.other_rank,
        _other_rank,
        "num nowrap",
        falling=False,
        help="The rank under the other setting, and how many places higher (+) or lower (−) that is.",
    )
    yield Column(
        "other-rating",
        f"{name}: score",
        lambda e: e.other_rating,
        lambda e: whole(e.other_rating),
        help="The score under the other setting.",
    )


def _other_rank(entry: Entry) -> str:
    if entry.other_rank is None:
        return NONE
    return (
        f"{entry.other_rank} {moved_text(entry.other_moved)}" if entry.other_moved else str(entry.other_rank)
    )


def _benchmarks(entries: Sequence[Entry]) -> Iterator[Column[Entry]]:
    names = sorted({name for entry in entries for name in entry.about.benchmarks})
    for name in names:
        yield Column(
            f"benchmark-{name}",
            name,
            lambda e, name=name: e.about.benchmarks.get(name),  # type: ignore[misc]
            lambda e, name=name: _score(e.about.benchmarks.get(name)),  # type: ignore[misc]
            help="A score on another benchmark, given by the operators of the study.",
        )


def _licence(entries: Sequence[Entry]) -> Iterator[Column[Entry]]:
    if any(entry.about.licence for entry in entries):
        yield Column(
            "licence",
            "Licence",
            lambda e: e.about.licence or None,
            lambda e: e.about.licence or NONE,
            "word",
            falling=False,
        )


def whole(value: float | None) -> str:
    return NONE if value is None else f"{value:.0f}"


def percent(value: float | None) -> str:
    return NONE if value is None else f"{value:.0f}%"


def moved_text(places: int | None) -> str:
    if places is None:
        return NONE
    if places == 0:
        return "="
    return f"↑+{places}" if places > 0 else f"↓−{-places}"


def _score(value: float | None) -> str:
    return NONE if value is None else f"{value:g}"


@dataclass(frozen=True)
class Line:
    """A row as texts; those of its interval are empty without one, and ``possible`` without other ranks.

    ``dots`` is SVG, ``cells`` holds class and text of each further cell, ``found`` says whether the search
    finds it.
    """

    entry: Entry
    rank: str
    possible: str
    rating: str
    low: str
    high: str
    arms: str
    dots: str
    cells: tuple[tuple[str, str], ...]
    found: bool


class StandingsView:
    """The table asked for; ``setting`` is the setting's end of addresses.

    Intervals are shown only with ``intervals``.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        asked: TableQuery,
        setting: str,
        *,
        other: str,
        other_method: str,
        intervals: bool,
        of_texts: Sequence[OfTexts] = NO_TEXTS,
    ) -> None:
        self.entries = entries
        self.asked = asked
        self.setting = setting
        self.intervals = intervals
        self.every = bool(asked.columns)
        further = further_columns(entries, other, other_method, of_texts) if self.every else ()
        every = (WINS, *further, GAMES)
        # A column of dashes says nothing.
        self.further = [column for column in every if any(column.text(e) != NONE for e in entries)]
        self.axis = axis_of(entries) if intervals else None

    @property
    def ends(self) -> bool:
        """Whether a column holds the ends of intervals."""
        return self.every and any(line.arms for line in self.lines)

    @property
    def columns_query(self) -> str:
        """The address with all columns, or with the usual ones where all are shown."""
        return self.asked.turned(USUAL).query(self.setting)

    @cached_property
    def _order(self) -> Order[Entry]:
        return Order.of(self.asked, RANK, (RANK, CONTESTANT, RATING, *self.further))

    @cached_property
    def headings(self) -> tuple[Heading[Entry], ...]:
        return tuple(map(self._heading, self.further))

    @property
    def first_headings(self) -> tuple[Heading[Entry], ...]:
        rank = replace(RANK, label="Rank (range)") if any(line.possible for line in self.lines) else RANK
        return tuple(map(self._heading, (rank, CONTESTANT, RATING)))

    @property
    def explained(self) -> list[Column[Entry]]:
        return [column for column in (RANK, RATING, *self.further) if column.help]

    def _heading(self, column: Column[Entry]) -> Heading[Entry]:
        return self._order.heading(column, self.setting)

    @property
    def axis_drawing(self) -> SafeString:
        return mark_safe(self.axis.heading()) if self.axis else mark_safe("")  # noqa: S308 - numbers alone

    @cached_property
    def _ranks(self) -> dict[str, str]:
        return ranks_shown([entry.row for entry in self.entries])

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        return tuple(map(self._line, self._order.rows(self.entries)))

    def _line(self, entry: Entry) -> Line:
        row, sure = entry.row, self.intervals and entry.row.plus is not None
        return Line(
            entry,
            self._ranks[row.contestant],
            row.rank_range if self.intervals and row.rank_range != str(row.rank) else "",
            whole(row.rating),
            whole(row.low) if sure else "",
            whole(row.high) if sure else "",
            f"+{whole(row.plus)} / −{whole(row.minus)}" if sure else "",
            self.axis.row(row.rating, row.low, row.high) if self.axis else "",
            tuple(_cell(column, entry) for column in self.further),
            self._found(entry),
        )

    def _found(self, entry: Entry) -> bool:
        about = f"{entry.row.contestant} {entry.about.organisation}".casefold()
        return all(word in about for word in self.asked.search.casefold().split())

    @property
    def found(self) -> int:
        return sum(line.found for line in self.lines)


def _cell(column: Column[Entry], entry: Entry) -> tuple[str, str]:
    text = column.text(entry)
    if not column.kind.startswith("num"):
        return column.kind, text
    return column.kind + (" up" if "↑" in text else " down" if "↓" in text else ""), text


def axis_of(entries: Sequence[Entry]) -> Axis | None:
    """The scale that holds the rows that are not provisional, or all where all are."""
    relied = [entry.row for entry in entries if not entry.row.provisional]
    rows = relied or [entry.row for entry in entries]
    return Axis.around(
        value for row in rows for value in (row.low, row.rating, row.high) if value is not None
    )
