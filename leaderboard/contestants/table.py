"""Tables of one contestant: where it stands, against whom it wins, and its rating over time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from leaderboard.pages.table import DataTable
from leaderboard.snapshots.canonical import Content
from leaderboard.standings.table import provisional, wilson


@dataclass(frozen=True)
class Placed:
    """Where a contestant stands in the standings ``label``: ``rank`` among ``of`` in its component.

    ``caution`` is why the rating is not to be relied on yet, or empty.
    """

    label: str
    rank: int
    of: int
    rating: float
    low: float | None
    high: float | None
    games: int
    win_percent: float
    tie_percent: float
    caution: str


def placed(label: str, content: Content | None, name: str) -> Placed | None:
    """None where it has no game in the standings."""
    rows = [row for row in (content or {}).get("standings", ()) if row["rating"] is not None]
    row = next((row for row in rows if row["contestant"] == name), None)
    if row is None:
        return None
    return Placed(
        label,
        row["rank"],
        sum(other["component"] == row["component"] for other in rows),
        row["rating"],
        row["low"],
        row["high"],
        row["games"],
        100.0 * row["wins"] / row["games"],
        100.0 * row["ties"] / row["games"],
        provisional(row),
    )


def placed_table(caption: str, heading: str, rows: Iterable[Placed], level: float) -> DataTable:
    interval = f"{level:g} % interval"
    columns = ("Rank", "Of", "Rating", f"Low ({interval})", f"High ({interval})", "Games", "Win %", "Tie %")
    return DataTable(
        caption,
        (heading, *columns, "Provisional"),
        tuple(
            (
                *(row.label, row.rank, row.of, row.rating, row.low, row.high, row.games),
                *(round(row.win_percent, 2), round(row.tie_percent, 2), row.caution),
            )
            for row in rows
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


def opponents_table(name: str, rows: Sequence[Opponent], level: float) -> DataTable:
    interval = f"{level:g} % interval"
    return DataTable(
        f"Games of {name} by opponent",
        (
            "Opponent",
            "Games",
            "Wins",
            "Ties",
            "Losses",
            "Win rate",
            f"Low ({interval})",
            f"High ({interval})",
        ),
        tuple(
            (
                *(row.name, row.games, row.wins, row.ties, row.losses),
                *(round(value, 4) for value in (row.rate, row.low, row.high)),
            )
            for row in rows
        ),
    )


def extremes(rows: Sequence[Opponent], fewest: int = 10) -> tuple[Opponent | None, Opponent | None]:
    """The opponents it wins most and least against, of those met at least ``fewest`` times."""
    met = [row for row in rows if row.games >= fewest]
    return (met[0], met[-1]) if len(met) > 1 else (None, None)


@dataclass(frozen=True)
class Moment:
    at: datetime
    methodology: str
    place: Placed


def history_table(moments: Sequence[Moment], level: float) -> DataTable:
    interval = f"{level:g} % interval"
    return DataTable(
        "Rating by snapshot",
        (
            "Snapshot",
            "Rating",
            f"Low ({interval})",
            f"High ({interval})",
            "Rank",
            "Of",
            "Games",
            "Methodology",
        ),
        tuple(
            (
                f"{moment.at:%Y-%m-%d %H:%M}",
                *(moment.place.rating, moment.place.low, moment.place.high),
                *(moment.place.rank, moment.place.of, moment.place.games, moment.methodology),
            )
            for moment in moments
        ),
    )
