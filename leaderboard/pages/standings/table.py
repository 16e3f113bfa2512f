"""Standings as rows of a page, as tables, and as the file of the published ranking."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any, Final, Self

from arena.files.writing import Table, Type
from leaderboard.pages.format import counted
from leaderboard.pages.guessed import guessed, guessed_rows
from leaderboard.pages.table import DataTable, Matrix
from leaderboard.pages.units import Cell
from leaderboard.pages.wording import verb
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.presentation import (
    METHOD_NAMES,
    STYLE_NAMES,
    interval_line,
    letters_shown,
    method_beside,
    provisional,
    ranks_written,
)

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
            provisional=provisional(row),
            component=row["component"],
            **more,
        )

    @property
    def win_share(self) -> float:
        """Percent of its games won, a tie counting half."""
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
    def plus(self) -> float | None:
        return None if self.high is None else max(self.high - self.rating, 0.0)

    @property
    def minus(self) -> float | None:
        return None if self.low is None else max(self.rating - self.low, 0.0)


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
    level, other = f"{parameters['interval']:g} % interval", METHOD_NAMES[method_beside(method)]
    drawn = interval_line(parameters) if any(row.low is not None for row in rows) else ""
    return guessed(
        f"Leaderboard. {drawn}".rstrip(),
        (
            {
                "Rank": row.rank,
                "Rank (UB)": row.rank_ub,
                "Contestant": row.contestant,
                "Kind": row.kind,
                "Rating": row.rating,
                f"Low ({level})": row.low,
                f"High ({level})": row.high,
                "Group": row.group,
                "First %": None if row.first_percent is None else round(row.first_percent, 2),
                "Games": row.games,
                "Win %": round(row.win_percent, 2),
                "Tie %": round(row.tie_percent, 2),
                f"{other} rating": row.beside,
                "Provisional": row.provisional,
                "Win share %": round(row.win_share, 2),
                "Best possible rank": row.ranks[0] if row.ranks else None,
                "Worst possible rank": row.ranks[1] if row.ranks else None,
            }
            for row in rows
        ),
    )


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
        **dict.fromkeys(("study", "raters", "category", "criterion", "method", "tie_rule"), Type.TEXT),
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
    columns = [f"{label}: {what}" for label, _ in boards for what in PLACE]
    rows = []
    for name in names:
        found = [board.get(name, {}) for board in placed]
        rows.append((name, *(row.get(what) for row in found for what in PLACE)))
    return guessed_rows(caption, ("Contestant", *columns), tuple(rows))


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
    columns = (*places.columns, "Difference: rating", "Difference: places")
    rows = []
    for row in places.rows:
        found = moved.get(str(row[0]))
        both = (round(found["rating_difference"], 2), found["places"]) if found else (None, None)
        rows.append((*row, *both))
    return guessed_rows(caption, columns, tuple(rows))


def control_table(control: Content) -> DataTable:
    """How each strength changes on pairs drawn at random, the largest change first."""
    level = f"{control['level']:g} % interval"
    return guessed(
        "How random pairs change each rating",
        (
            {
                "Contestant": row["contestant"],
                "Change": row["change"],
                f"Low ({level})": row["low"],
                f"High ({level})": row["high"],
                "More than chance explains": "yes" if row["certain"] else "no",
            }
            for row in control["changes"]
        ),
        {"Change": "Score by random pairs less that by all"},
    )


def expected_table(found: Content) -> DataTable:
    """Correlation with people of expected ratings and of those given, a row for each coefficient."""
    names = {"pearson": "Pearson’s r", "spearman": "Spearman’s rho", "kendall": "Kendall’s tau-b"}
    kinds = {"expected": "correlation", "given": "correlation", "difference": "value"}
    return guessed(
        f"Correlation with the mean of people over {counted(found['pairs'], 'pair')} of "
        f"{counted(found['prompts'], 'prompt')}",
        (
            {
                "Coefficient": label,
                **{
                    f"{kind.capitalize()}: {what if end == 'value' else end}": found[name][kind][end]
                    for kind, what in kinds.items()
                    for end in ("value", "low", "high")
                },
            }
            for name, label in names.items()
        ),
        {
            "Expected: correlation": "By expected ratings",
            "Given: correlation": "By ratings as given",
            "Difference: value": "Difference of both",
        },
    )


def effects_table(content: Content) -> DataTable:
    """What the ordinal model was adjusted for, a row for each."""
    level = f"{content['parameters']['interval']:g} % interval"
    return guessed(
        "What length and style are worth",
        (
            {
                "One standard deviation more": STYLE_NAMES.get(name, name),
                "Points": effect["points"],
                f"Low ({level})": effect.get("low"),
                f"High ({level})": effect.get("high"),
                "Log-odds": effect["log_odds"],
                "Standard error": effect["se"],
                "Standard deviation": effect["sd"],
            }
            for name, effect in content["effects"].items()
        ),
    )


def wilson(share: float, n: int, level: float) -> tuple[float, float]:
    """The ends of Wilson's interval (1927) of a share of ``n`` independent games, at ``level`` percent.

    With ties counted half it is too wide: points then vary less than wins.
    """
    # The same as in leaderboard.stats.intervals, which would load SciPy.
    z = NormalDist().inv_cdf(0.5 + level / 200)
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


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
    def cells(rate: float | None, played: float | int | None) -> tuple[Cell, ...]:
        return (None,) * 3 if rate is None or not played else (rate, *wilson(rate, int(played), level))

    columns = [f"{name}: {what}" for name in rates.names for what in ("win rate", "low", "high")]
    return guessed_rows(
        f"Win shares (%) with {level:g}% intervals",
        ("Contestant", *columns),
        tuple(
            (name, *(cell for pair in zip(own, played, strict=True) for cell in cells(*pair)))
            for name, own, played in zip(rates.names, rates.values, games.values, strict=True)
        ),
    )


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
            found.append(Opponent(other, played, won, tied, rate, *wilson(rate, played, level)))
    return sorted(found, key=lambda each: (-each.rate, each.name))
