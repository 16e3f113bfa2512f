"""Tables of one contestant: where it stands, against whom it wins, and its rating over time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from leaderboard.pages.guessed import guessed
from leaderboard.pages.standings.table import Opponent, Row
from leaderboard.pages.table import DataTable
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
    return guessed(
        caption,
        (
            {
                heading: row.label,
                "Rank": row.rank,
                "Of": row.of,
                "Rating": row.rating,
                f"Low ({level:g} % interval)": row.low,
                f"High ({level:g} % interval)": row.high,
                "Games": row.games,
                "Win %": round(row.win_percent, 2),
                "Tie %": round(row.tie_percent, 2),
                "Provisional": row.provisional,
            }
            for row in rows
        ),
    )


def opponents_table(name: str, rows: Sequence[Opponent], level: float) -> DataTable:
    return guessed(
        f"Ratings of {name} by opponent",
        (
            {
                "Opponent": row.name,
                "Games": row.games,
                "Wins": row.wins,
                "Ties": row.ties,
                "Losses": row.losses,
                "Win rate": round(row.rate, 4),
                f"Low ({level:g} % interval)": round(row.low, 4),
                f"High ({level:g} % interval)": round(row.high, 4),
            }
            for row in rows
        ),
    )


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
    return guessed(
        "Score over time",
        (
            {
                "Snapshot": f"{moment.at:%Y-%m-%d %H:%M}",
                "Rating": moment.place.rating,
                f"Low ({level:g} % interval)": moment.place.low,
                f"High ({level:g} % interval)": moment.place.high,
                "Rank": moment.place.rank,
                "Of": moment.place.of,
                "Games": moment.place.games,
                "Methodology": moment.methodology,
            }
            for moment in moments
        ),
    )
