"""Matrices of contestants against contestants."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.tables.parts import Content, DataTable


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
