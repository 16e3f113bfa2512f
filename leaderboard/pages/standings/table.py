"""Standings as rows of a page, as tables, and as the file of the published ranking."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, Self

from arena.files.writing import Table, Type
from leaderboard.pages.columns import Column, bare, ends_at, ends_of
from leaderboard.pages.format import NONE, counted
from leaderboard.pages.standings.sentences import interval_line, letters_shown, provisional, ranks_written
from leaderboard.pages.table import DataTable, Matrix
from leaderboard.pages.units import COEFFICIENT, COUNT, FRACTION, PERCENT, SCORE, Estimate
from leaderboard.pages.wording import verb
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.method_names import METHOD_NAMES, STYLE_NAMES, method_beside
from leaderboard.stats.shares import wilson_ends

WILSON_CAUTION: Final = (
    "Where several raters saw one prompt, they are too narrow: see the two models head to head instead."
)


@dataclass(frozen=True)
class Row:
    """A contestant on the board. Percentages are of its games; ``plus`` and ``minus`` are the interval's
    arms.

    ``rank_ub`` is the best rank the intervals leave possible, ``group`` the letters shared with those it
    cannot be told apart from, ``ranks`` the best and worst rank among these, ``first_percent`` how often it
    is first; None or empty without intervals.
    ``beside`` is its rating by the other method, ``provisional`` why the row is greyed, or empty. Ranks are
    those within its ``component``, of models that met directly or through others; the first is the largest.
    """

    rank: int
    rank_ub: int | None
    ranks: tuple[int, int] | None
    contestant: str
    kind: str
    rating: float
    low: float | None
    high: float | None
    group: str
    first_percent: float | None
    games: int
    win_percent: float
    tie_percent: float
    beside: float | None
    provisional: str
    component: int = 0
    expected_share: float | None = None

    @classmethod
    def read(
        cls, row: Content, beside: float | None = None, ranks: tuple[int, int] | None = None, **more: Any
    ) -> Self:
        """From a row of stored standings that has a rating; ``more`` are fields of a subclass."""
        return cls(
            rank=row["rank"],
            rank_ub=row.get("rank_ub"),
            ranks=ranks,
            contestant=row["contestant"],
            kind=row.get("kind", ""),
            rating=row["rating"],
            low=row["low"],
            high=row["high"],
            group=row.get("group") or "",
            first_percent=None if row.get("p_first") is None else 100.0 * row["p_first"],
            games=row["games"],
            win_percent=100.0 * row["wins"] / row["games"],
            tie_percent=100.0 * row["ties"] / row["games"],
            beside=beside,
            expected_share=row.get("share"),
            provisional=provisional(row),
            component=row["component"],
            **more,
        )

    @property
    def win_share(self) -> float:
        """Percent of its games won, a tie counting half; by expected ratings the mean share of a win."""
        if self.expected_share is not None:
            return 100.0 * self.expected_share
        return self.win_percent + self.tie_percent / 2

    @property
    def place(self) -> tuple[int, int]:
        """Its place in the table: those of one component stand together."""
        return self.component, self.rank

    @property
    def rank_range(self) -> str:
        """The ranks that are possible, or the rank by score without intervals."""
        best, worst = self.ranks or (self.rank, self.rank)
        return str(best) if best == worst else f"{best}–{worst}"

    @property
    def group_shown(self) -> str:
        """The letters as a page shows them; files have them all."""
        return letters_shown(self.group)

    @property
    def score(self) -> Estimate:
        return Estimate(self.rating, self.low, self.high)

    @property
    def plus(self) -> float | None:
        return None if self.high is None else max(self.high - self.rating, 0.0)

    @property
    def minus(self) -> float | None:
        return None if self.low is None else max(self.rating - self.low, 0.0)


RANK: Final = Column[Row](
    "Rank",
    "rank",
    key="rank",
    kind="num nowrap",
    sort=lambda row: row.place,
    falling=False,
    help="The place by score, before rounding; 1= is shared. Then the possible ranks: without the places of "
    "models that are clearly better or worse, each pair judged as head to head, with no correction for "
    "many pairs.",
)
BEST_RANK: Final = Column[Row]("Rank (UB)", "rank_ub", label="Best rank by intervals")
CONTESTANT: Final = Column[Row](
    "Contestant", "contestant", label="Model", key="contestant", kind="name", falling=False
)
RATING: Final = Column[Row](
    "Rating",
    "score",
    SCORE,
    label="Score",
    key="rating",
    help="What the method computes from the ratings. Only differences between scores have a meaning.",
)
GROUP: Final = Column[Row](
    "Group",
    "group",
    key="group",
    kind="mono",
    write=lambda row: row.group_shown or NONE,
    sort=lambda row: row.group or None,
    falling=False,
    help="Models that share a letter cannot be told apart. “+3”: three more letters, which the CSV has.",
)
FIRST: Final = Column[Row](
    "First %",
    "first_percent",
    PERCENT,
    label="First",
    key="first",
    help="Share of resamples in which this model comes first.",
)
GAMES: Final = Column[Row](
    "Games",
    "games",
    COUNT,
    label="Ratings",
    key="games",
    kind="num on-wide",
    help="How many ratings of its pairs count at this setting.",
)
OUTRIGHT: Final = Column[Row]("Win %", "win_percent", PERCENT, label="Outright wins")
TIES: Final = Column[Row](
    "Tie %",
    "tie_percent",
    PERCENT,
    label="Tie share",
    key="ties",
    help="Share of its ratings that prefer neither answer.",
)
WINS: Final = Column[Row](
    "Win share %",
    "win_share",
    PERCENT,
    label="Win share",
    key="wins",
    kind="num on-wide",
    help="How often this model won its pairs. A tie counts half.",
)
PROVISIONAL: Final = Column[Row]("Provisional", "provisional")


def rating_at(level: float) -> Column[Row]:
    """The score with an interval at ``level``, for files."""
    return replace(RATING, ends=ends_at(level))


def beside_by(method: str) -> Column[Row]:
    """The score by the method that stands beside ``method``."""
    name = METHOD_NAMES[method_beside(method)]
    return Column(f"{name} rating", "beside", SCORE, label=f"{name} score")


def standing_rows(content: Content, others: Content | None) -> tuple[Row, ...]:
    """``others`` are the standings by the other method."""
    beside, ranks = ratings_by_name(others), rank_ranges(content)
    ranked = (row for row in content["standings"] if row["rating"] is not None)
    return tuple(Row.read(row, beside.get(row["contestant"]), ranks.get(row["contestant"])) for row in ranked)


def ranks_shown(rows: Sequence[Row]) -> dict[str, str]:
    """Ranks as pages write them, by name."""
    written = ranks_written((row.component, row.rank) for row in rows)
    return {row.contestant: rank for row, rank in zip(rows, written, strict=True)}


def rank_ranges(content: Content, among: Set[str] | None = None) -> dict[str, tuple[int, int]]:
    """The best and worst rank of each contestant, of all or ``among`` some.

    The best is 1 + the number above it that share no group with it; the worst leaves out those below it that
    share none. Nobody has a range without groups.
    """
    rows = [
        row
        for row in content["standings"]
        if row.get("group") and (among is None or row["contestant"] in among)
    ]
    close: dict[str, set[str]] = {}
    for group in map(set, content.get("groups") or ()):
        for name in group:
            close.setdefault(name, set()).update(group)
    component: dict[int, dict[str, int]] = {}
    for row in rows:
        places = component.setdefault(row["component"], {})
        places[row["contestant"]] = len(places)
    found = {}
    for places in component.values():
        for name, place in places.items():
            near = sorted(places[other] for other in close.get(name, ()) if other in places)
            above, below = bisect_left(near, place), len(near) - bisect_right(near, place)
            found[name] = 1 + place - above, 1 + place + below
    return found


def ratings_by_name(content: Content | None) -> dict[str, float]:
    rows = content["standings"] if content else ()
    return {row["contestant"]: row["rating"] for row in rows if row["rating"] is not None}


def comparable(content: Content | None) -> dict[str, float]:
    """The ratings of the first component, best first: only these have places among each other."""
    rows = content["standings"] if content else ()
    return {
        row["contestant"]: row["rating"] for row in rows if row["rating"] is not None and not row["component"]
    }


def moves(here: Mapping[str, float], there: Mapping[str, float]) -> dict[str, int]:
    """How many places each contestant stands higher in ``here`` than in ``there``, among those in both.

    Both are ratings by name, best first. Equal ratings share a place.
    """
    shared = here.keys() & there.keys()
    after, before = (_places(ratings, shared) for ratings in (here, there))
    return {name: before[name] - place for name, place in after.items()}


def _places(ratings: Mapping[str, float], shared: Set[str]) -> dict[str, int]:
    """The place of each shared contestant, from 0; ratings are best first."""
    found: dict[str, int] = {}
    place, last = 0, None
    for number, name in enumerate(name for name in ratings if name in shared):
        if ratings[name] != last:
            place, last = number, ratings[name]
        found[name] = place
    return found


def standings_table(rows: Sequence[Row], method: str, parameters: Mapping[str, Any]) -> DataTable:
    drawn = interval_line(parameters) if any(row.low is not None for row in rows) else ""
    columns: list[Column[Row]] = [
        *(RANK, BEST_RANK, CONTESTANT, Column("Kind", "kind"), rating_at(parameters["interval"])),
        *(GROUP, FIRST, GAMES, OUTRIGHT, TIES, beside_by(method), PROVISIONAL, WINS),
        Column("Best possible rank", lambda row: row.ranks and row.ranks[0]),
        Column("Worst possible rank", lambda row: row.ranks and row.ranks[1]),
    ]
    return DataTable.of(f"Leaderboard. {drawn}".rstrip(), columns, rows)


_STANDING: Final = {
    "rank": Type.INTEGER,
    "rank_ub": Type.INTEGER,
    "contestant": Type.TEXT,
    "rating": Type.NUMBER,
    "low": Type.NUMBER,
    "high": Type.NUMBER,
    "p_first": Type.NUMBER,
    "group": Type.TEXT,
    "unbounded": Type.TEXT,
    "games": Type.INTEGER,
    "wins": Type.INTEGER,
    "losses": Type.INTEGER,
    "ties": Type.INTEGER,
    "component": Type.INTEGER,
}
_PARAMETERS: Final = {
    "tie_band": Type.TEXT,
    "interval": Type.NUMBER,
    "intervals": Type.TEXT,
    "rounds": Type.INTEGER,
    "resample": Type.TEXT,
    "clusters": Type.INTEGER,
    "units": Type.INTEGER,
    "seed": Type.INTEGER,
    "k": Type.NUMBER,
    "scale": Type.NUMBER,
    "base": Type.NUMBER,
    "init": Type.NUMBER,
    "prior_games": Type.NUMBER,
    "prior_rounds": Type.INTEGER,
    "methodology": Type.TEXT,
}

NOT_USED: Final = ("identical", "unscored", "no_model", "retired", "other_kind", "same_model")
"""Why opinions became no game; none is known of snapshots before methodology 7."""

STANDINGS: Final = Table(
    "standings",
    {
        **_STANDING,
        **dict.fromkeys(("study", "raters", "category", "criterion"), Type.TEXT),
        "turn": Type.INTEGER,
        **dict.fromkeys(("prompts", "visitors", "method", "tie_rule"), Type.TEXT),
        "simulated": Type.FLAG,
        "all_games": Type.INTEGER,
        "left_out": Type.INTEGER,
        **dict.fromkeys(NOT_USED, Type.INTEGER),
        **_PARAMETERS,
        "snapshot_at": Type.MOMENT,
        "watermark": Type.TEXT,
    },
)
"""One row per contestant, with the method its numbers were made by."""


def file_rows(content: Content, about: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The rows of STANDINGS; ``about`` is the rest of a board: its setting and snapshot."""
    parameters = content["parameters"]
    method = {
        **about,
        "method": content["method"],
        "tie_rule": parameters["ties"],
        "all_games": content["games"],
        "left_out": content["left_out"],
        **{name: (content.get("not_used") or {}).get(name) for name in NOT_USED},
        **{name: parameters.get(name) for name in _PARAMETERS},
    }
    for row in content["standings"]:
        yield {**{name: row.get(name) for name in _STANDING}, **method}


PLACE: Final = ("rank", "rating", "low", "high")


def raters_table(
    order: Sequence[str],
    boards: Sequence[tuple[str, Content]],
    caption: str = "Rank, score and interval by kind of rater",
) -> DataTable:
    """Rank, rating and interval of each contestant on several boards (label and standings)."""
    placed = [{row["contestant"]: row for row in content["standings"]} for _, content in boards]
    names = [*order, *sorted({name for board in placed for name in board} - set(order))]
    columns = chain.from_iterable(
        _on_board(label, board) for (label, _), board in zip(boards, placed, strict=True)
    )
    return DataTable.of(caption, [Column[str]("Contestant", str, label="Model"), *columns], names)


def _on_board(label: str, board: Mapping[str, Content]) -> Iterator[Column[str]]:
    yield Column(f"{label}: rank", lambda name: board.get(name, {}).get("rank"), over=label)
    yield Column(
        f"{label}: rating",
        lambda name: Estimate.bare(board.get(name), "rating"),
        label="score",
        over=label,
        ends=ends_of(f"{label}:"),
    )


@dataclass(frozen=True)
class RankCell:
    """A rank by some raters; ``tone`` is the class of its colour where it differs from the first column's.

    ``text``: the rank as pages write it.
    """

    rank: int
    text: str
    tone: str
    interval: str


@dataclass(frozen=True)
class RankTable:
    """Ranks of each contestant by several kinds of raters, among those that all of them rated."""

    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[RankCell, ...]], ...]
    are_sure: bool = True  # intervals of the first and of another tell what is more than chance


def rank_table(order: Sequence[str], boards: Sequence[tuple[str, Content]]) -> RankTable:
    """A rank is higher or lower than the first raters' where the possible ranks of both do not overlap."""
    found = [{row["contestant"]: row for row in content["standings"]} for _, content in boards]
    ratings = [comparable(content) for _, content in boards]
    shared = set(order).intersection(*ratings)
    places = [_places(own, shared) for own in ratings]
    ranges = [rank_ranges(content, shared) for _, content in boards]
    written = [
        dict(zip(own, ranks_written((0, 1 + place) for place in own.values()), strict=True)) for own in places
    ]

    def cell(name: str, place: int) -> RankCell:
        row, tone = found[place][name], ""
        (best, worst), (top, last) = (ranges[each].get(name, (1, len(shared))) for each in (place, 0))
        if worst < top or best > last:
            tone = "up" if worst < top else "down"
        ends = (
            "" if row.get("low") is None else f"{row['rating']:.0f} ({row['low']:.0f} to {row['high']:.0f})"
        )
        return RankCell(1 + places[place][name], written[place][name], tone, ends)

    rows = tuple(
        (name, tuple(cell(name, place) for place in range(len(boards)))) for name in order if name in shared
    )
    are_sure = bool(ranges[0]) and any(ranges[1:])
    return RankTable(tuple(label for label, _ in boards), rows, are_sure)


def side_sentence(shown: RankTable) -> str:
    """Whether the others give the order of the first raters."""
    if len(shown.rows) < 2:
        return "No two models are ranked by all of them."
    label, models = shown.labels[0], len(shown.rows)
    among = f"Ranks among the {models} models that all of them rated."
    if all(cell.rank == cells[0].rank for _, cells in shown.rows for cell in cells):
        return f"{among} All raters give the same order."
    moved = sum(any(cell.tone for cell in cells) for _, cells in shown.rows)
    if not shown.are_sure:
        return f"{among} The orders differ. Without intervals nothing shows if by more than chance."
    if not moved:
        return f"{among} No rank clearly differs from that by {label}."
    clearly = f"{counted(moved, 'model')} clearly {verb('differ', moved)} in rank by some raters"
    return f"{among} {clearly}. Blue: higher than by {label}. Orange: lower."


def differences(own: Content, other: Content) -> list[dict[str, Any]]:
    """Where each contestant of ``own`` stands in ``other``, and how far it stands higher in ``own``."""
    ratings = comparable(own)
    moved = moves(ratings, comparable(other))
    return [
        {
            "contestant": row["contestant"],
            **{what: row[what] for what in PLACE},
            "rating_difference": ratings[row["contestant"]] - row["rating"],
            "places": moved[row["contestant"]],
        }
        for row in other["standings"]
        if row["contestant"] in moved
    ]


def beside_table(
    order: Sequence[str], own: tuple[str, Content], other: tuple[str, Content], caption: str
) -> DataTable:
    """``raters_table`` of two boards, and the differences."""
    places = raters_table(order, (own, other), caption)
    moved = {row["contestant"]: row for row in differences(own[1], other[1])}
    columns: list[Column[str]] = [
        *places.declared,
        Column(
            "Difference: rating",
            lambda name: round(moved[name]["rating_difference"], 2) if name in moved else None,
            label="Score above the other setting",
        ),
        Column(
            "Difference: places",
            lambda name: moved.get(name, {}).get("places"),
            label="Places above the other setting",
        ),
    ]
    return DataTable.of(caption, columns, places.items)


def control_table(control: Content) -> DataTable:
    """How each strength changes on pairs drawn at random, the largest change first."""
    columns: list[Column[Content]] = [
        Column("Contestant", "contestant", label="Model"),
        Column(
            "Change",
            bare("change"),
            label="Score by random pairs less that by all",
            ends=ends_at(control["level"]),
        ),
        Column("More than chance explains", lambda row: "yes" if row["certain"] else "no"),
    ]
    return DataTable.of("How random pairs change each rating", columns, control["changes"])


_EXPECTED: Final[Sequence[Column[Content]]] = (
    Column("Coefficient", "name"),
    Column(
        "Expected: correlation",
        bare("expected.value"),
        COEFFICIENT,
        label="By expected ratings",
        ends=ends_of("Expected:"),
    ),
    Column(
        "Given: correlation",
        bare("given.value"),
        COEFFICIENT,
        label="By ratings as given",
        ends=ends_of("Given:"),
    ),
    Column(
        "Difference: value",
        bare("difference.value"),
        COEFFICIENT,
        label="Difference of both",
        ends=ends_of("Difference:"),
    ),
)


def expected_table(found: Content) -> DataTable:
    """Correlation with people of expected ratings and of those given, a row for each coefficient."""
    names = {"pearson": "Pearson’s r", "spearman": "Spearman’s rho", "kendall": "Kendall’s tau-b"}
    of = f"{counted(found['pairs'], 'pair')} of {counted(found['prompts'], 'prompt')}"
    rows = ({**found[key], "name": name} for key, name in names.items())
    return DataTable.of(f"Correlation with the mean of people over {of}", _EXPECTED, rows)


def effects_table(content: Content) -> DataTable:
    """What the ordinal model was adjusted for, a row for each."""
    columns: list[Column[Content]] = [
        Column("One standard deviation more", "name"),
        Column("Points", bare("points"), ends=ends_at(content["parameters"]["interval"])),
        Column("Log-odds", "log_odds"),
        Column("Standard error", "se"),
        Column("Standard deviation", "sd", label="SD"),
    ]
    rows = ({**effect, "name": STYLE_NAMES.get(name, name)} for name, effect in content["effects"].items())
    return DataTable.of("What length and style are worth", columns, rows)


def count_matrix(content: Content, what: str, order: Sequence[str]) -> Matrix:
    """Games, wins or ties in the given order of contestants; None on the diagonal."""
    place = {name: index for index, name in enumerate(content["contestants"])}
    names = tuple(name for name in order if name in place)
    source = content[what]
    return Matrix(
        names,
        tuple(tuple(None if a == b else source[place[a]][place[b]] for b in names) for a in names),
    )


def above(content: Content, order: Sequence[str]) -> Matrix | None:
    """How likely the row's contestant is above the column's; None where the standings do not hold it."""
    known = content.get("probability_above")
    if known is None:
        return None
    place = {row["contestant"]: number for number, row in enumerate(content["standings"])}
    return Matrix(tuple(order), tuple(tuple(known[place[a]][place[b]] for b in order) for a in order))


def win_rates(content: Content, order: Sequence[str]) -> Matrix:
    """(wins + ties / 2) / games of the row against the column; None where they never met."""
    place = {name: index for index, name in enumerate(content["contestants"])}
    names = tuple(name for name in order if name in place)

    def rate(a: int, b: int) -> float | None:
        games = content["games"][a][b]
        return (content["wins"][a][b] + content["ties"][a][b] / 2) / games if games else None

    return Matrix(names, tuple(tuple(rate(place[a], place[b]) for b in names) for a in names))


def win_rates_table(rates: Matrix, games: Matrix, level: float) -> DataTable:
    def against(at: int, name: str) -> Column[int]:
        def read(row: int) -> Estimate:
            rate, played = rates.values[row][at], games.values[row][at]
            return (
                Estimate()
                if rate is None or not played
                else Estimate(rate, *wilson_ends(rate, int(played), level))
            )

        ends = ends_of(f"{name}:")
        return Column(f"{name}: win rate", read, FRACTION, label="win share", over=name, ends=ends)

    names = Column[int]("Contestant", lambda row: rates.names[row], label="Model")
    columns = [names, *(against(at, name) for at, name in enumerate(rates.names))]
    return DataTable.of(f"Win shares (%) with {level:g}% intervals", columns, range(len(rates.names)))


@dataclass(frozen=True)
class Opponent:
    """The games of a contestant against another; ``rate`` is its share of the points, a tie counting half."""

    name: str
    games: int
    wins: float
    ties: float
    rate: float
    low: float
    high: float

    @property
    def share(self) -> Estimate:
        return Estimate(self.rate, self.low, self.high)

    @property
    def losses(self) -> float:
        return self.games - self.wins - self.ties


def opponents(matrices: Content | None, name: str, level: float) -> list[Opponent]:
    """Everybody a contestant met, highest win rate first, with Wilson's intervals."""
    names: list[str] = (matrices or {}).get("contestants", [])
    if matrices is None or name not in names:
        return []
    own = names.index(name)
    wins, ties, games = (matrices[what][own] for what in ("wins", "ties", "games"))
    found = []
    for other, won, tied, played in zip(names, wins, ties, games, strict=True):
        if played and other != name:
            rate = (won + tied / 2) / played
            found.append(Opponent(other, played, won, tied, rate, *wilson_ends(rate, played, level)))
    return sorted(found, key=lambda each: (-each.rate, each.name))
