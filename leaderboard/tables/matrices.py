"""Matrices of contestants against contestants."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.tables.parts import Cell, Content, DataTable
from leaderboard.tables.shares import wilson


@dataclass(frozen=True)
class Matrix:
    """A square matrix in the board's order of contestants: ``values[i][j]`` is about i against j."""

    names: tuple[str, ...]
    values: tuple[tuple[float | int | None, ...], ...]

    def table(self, caption: str) -> DataTable:
        """The matrix as a table, the row's contestant first."""
        rows = zip(self.names, self.values, strict=True)
        return DataTable(
            caption, ("Contestant", *self.names), tuple((name, *values) for name, values in rows)
        )


def count_matrix(content: Content, what: str, order: Sequence[str]) -> Matrix:
    """Games, wins or ties in the given order of contestants; None on the diagonal."""
    place = {name: index for index, name in enumerate(content["contestants"])}
    names = tuple(name for name in order if name in place)
    source = content[what]
    return Matrix(
        names,
        tuple(tuple(None if a == b else source[place[a]][place[b]] for b in names) for a in names),
    )


def win_rates(content: Content, order: Sequence[str]) -> Matrix:
    """(wins + ties / 2) / games of the row against the column; None where they never met."""
    place = {name: index for index, name in enumerate(content["contestants"])}
    names = tuple(name for name in order if name in place)

    def rate(a: int, b: int) -> float | None:
        games = content["games"][a][b]
        return (content["wins"][a][b] + content["ties"][a][b] / 2) / games if games else None

    return Matrix(names, tuple(tuple(rate(place[a], place[b]) for b in names) for a in names))


def win_rates_table(rates: Matrix, games: Matrix, level: float) -> DataTable:
    """The share of points against each opponent with the ends of Wilson's interval of ``level`` percent."""

    def cells(rate: float | None, played: float | int | None) -> tuple[Cell, ...]:
        return (None,) * 3 if rate is None or not played else (rate, *wilson(rate, int(played), level))

    columns = [f"{name}: {what}" for name in rates.names for what in ("win rate", "low", "high")]
    return DataTable(
        f"Win rates with {level:g} % intervals",
        ("Contestant", *columns),
        tuple(
            (name, *(cell for pair in zip(own, played, strict=True) for cell in cells(*pair)))
            for name, own, played in zip(rates.names, rates.values, games.values, strict=True)
        ),
    )
