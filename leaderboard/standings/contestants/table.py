"""Tables of one contestant: where it stands, against whom it wins, and its rating over time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from leaderboard.pages.columns import Column, ends_at, inside
from leaderboard.pages.standings.table import (
    GAMES,
    OUTRIGHT,
    PROVISIONAL,
    RANK,
    TIES,
    Opponent,
    Row,
    rating_at,
)
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import FRACTION
from leaderboard.snapshots.canonical import Content


@dataclass(frozen=True, kw_only=True)
class Placed(Row):
    """A contestant in the standings ``label``, with ``of`` contestants in its component."""

    label: str
    of: int


def placed(label: str, content: Content | None, name: str) -> Placed | None:
    """None where it has no game in the standings."""
    rows = [row for row in (content or {}).get("standings", ()) if row["rating"] is not None]
    row = next((row for row in rows if row["contestant"] == name), None)
    if row is None:
        return None
    return Placed.read(row, label=label, of=sum(other["component"] == row["component"] for other in rows))


def placed_table(caption: str, heading: str, rows: Iterable[Placed], level: float) -> DataTable:
    columns: list[Column[Any]] = [
        *(Column(heading, "label"), RANK, Column("Of", "of"), rating_at(level)),
        *(GAMES, OUTRIGHT, TIES, PROVISIONAL),
    ]
    return DataTable.of(caption, columns, rows)


_SHARE: Final = replace(FRACTION, cell=lambda share: None if share is None else round(share, 4))


def opponents_table(name: str, rows: Sequence[Opponent], level: float) -> DataTable:
    columns: list[Column[Opponent]] = [
        Column("Opponent", "name"),
        Column("Games", "games", label="Ratings"),
        Column("Wins", "wins"),
        Column("Ties", "ties"),
        Column("Losses", "losses"),
        Column("Win rate", "share", _SHARE, label="Win share", ends=ends_at(level)),
    ]
    return DataTable.of(f"Ratings of {name} by opponent", columns, rows)


FEWEST_MET: Final = 10
"""Against opponents with fewer ratings a win share says little."""


def extremes(rows: Sequence[Opponent], fewest: int = FEWEST_MET) -> Iterator[tuple[str, Opponent]]:
    """The opponents it wins most and least against, of those met at least ``fewest`` times.

    Where several are equal, none of them is.
    """
    met = [row for row in rows if row.games >= fewest]
    if len(met) > 1 and met[0].rate > met[1].rate:
        yield "easiest", met[0]
    if len(met) > 1 and met[-1].rate < met[-2].rate:
        yield "hardest", met[-1]


@dataclass(frozen=True)
class Moment:
    at: datetime
    methodology: str
    place: Placed


def history_table(moments: Sequence[Moment], level: float) -> DataTable:
    def placed(column: Column[Any]) -> Column[Moment]:
        return inside(column, lambda moment: moment.place)

    columns: list[Column[Moment]] = [
        Column("Snapshot", lambda moment: f"{moment.at:%Y-%m-%d %H:%M}"),
        *map(placed, (rating_at(level), RANK, Column("Of", "of"), GAMES)),
        Column("Methodology", "methodology"),
    ]
    return DataTable.of("Score over time", columns, moments)
