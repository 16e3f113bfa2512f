"""Tables of the board: from a snapshot's content to rows for a page and for a CSV file. Pure."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from leaderboard.presentation import METHOD_NAMES, interval_line, letters_shown

Cell = str | int | float | None
Content = Mapping[str, Any]

FEWEST_GAMES: Final = 30
"""A row with fewer games is provisional."""

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
_UNSCORED: Final = {
    "empty": "empty",
    "out_of_range": "out of range",
    "unparsable": "unparsable",
    "truncated": "truncated",
    "refused": "refused",
}


@dataclass(frozen=True)
class DataTable:
    """The numbers of a figure; the first column names the row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def header(self) -> list[tuple[str, bool]]:
        """The columns, each with whether it holds numbers."""
        numbers = [
            any(isinstance(row[place], int | float) for row in self.rows)
            for place in range(len(self.columns))
        ]
        return list(zip(self.columns, numbers, strict=True))

    def csv(self) -> str:
        """The table as CSV; a text that a spreadsheet would run as a formula gets an apostrophe in front."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([_safe(column) for column in self.columns])
        writer.writerows([_safe(cell) for cell in row] for row in self.rows)
        return out.getvalue()


def _safe(cell: Cell) -> Cell:
    if isinstance(cell, str) and cell.lstrip(" ").startswith(_FORMULA_STARTS):
        return f"'{cell}"
    return cell


@dataclass(frozen=True)
class Row:
    """A contestant on the board. Percentages are of its games; ``plus`` and ``minus`` the interval's arms.

    ``rank_ub`` is the best rank the intervals leave possible, ``group`` the letters it shares with those it
    cannot be told apart from, ``first_percent`` how often it is first; None or empty without intervals.
    ``beside`` is its rating by the other method, ``provisional`` why the row is greyed, or empty.
    """

    rank: int
    rank_ub: int | None
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
    """The rows of the board in the order of the standings; ``others`` are those of the other method."""
    other = ratings_by_name(others)
    return tuple(
        Row(
            row["rank"],
            row.get("rank_ub"),
            row["contestant"],
            row["kind"],
            row["rating"],
            row["low"],
            row["high"],
            row.get("group") or "",
            None if row.get("p_first") is None else 100.0 * row["p_first"],
            row["games"],
            100.0 * row["wins"] / row["games"],
            100.0 * row["ties"] / row["games"],
            other.get(row["contestant"]),
            provisional(row),
        )
        for row in content["standings"]
        if row["rating"] is not None
    )


def provisional(row: Content) -> str:
    """Why a row's rating is not to be relied on yet; empty where nothing speaks against it."""
    if row["component"]:
        return "never met, directly or through others, the contestants of the main group"
    if row["games"] < FEWEST_GAMES:
        return f"fewer than {FEWEST_GAMES} games"
    if row["wins"] == row["games"]:
        return "won every game, so its strength has no upper limit"
    if row["losses"] == row["games"]:
        return "lost every game, so its strength has no lower limit"
    if row.get("unbounded"):
        lost, limit = ("lost", "upper") if row["unbounded"] == "above" else ("won", "lower")
        return f"its set of contestants {lost} no point against the others, so it has no {limit} limit"
    return ""


def ratings_by_name(content: Content | None) -> dict[str, float]:
    """Rating of each contestant that has one."""
    rows = content["standings"] if content else ()
    return {row["contestant"]: row["rating"] for row in rows if row["rating"] is not None}


def standings_table(rows: Sequence[Row], method: str, parameters: Mapping[str, Any]) -> DataTable:
    """The board as plain columns; what its intervals are stands in the caption and in their headings."""
    level = f"{parameters['interval']:g} % interval"
    columns = ("Rank", "Rank (UB)", "Contestant", "Kind", "Rating", f"Low ({level})", f"High ({level})")
    more = ("Group", "First %", "Games", "Win %", "Tie %", f"{METHOD_NAMES[beside(method)]} rating")
    return DataTable(
        f"Standings. {interval_line(parameters)}",
        (*columns, *more, "Provisional"),
        tuple(
            (
                *(row.rank, row.rank_ub, row.contestant, row.kind, row.rating, row.low, row.high),
                *(row.group, _rounded(row.first_percent), row.games),
                *(_rounded(row.win_percent), _rounded(row.tie_percent), row.beside, row.provisional),
            )
            for row in rows
        ),
    )


def _rounded(percent: float | None) -> float | None:
    return None if percent is None else round(percent, 2)


def beside(method: str) -> str:
    """The method whose ratings stand beside those of another."""
    return "elo" if method == "bradley-terry" else "bradley-terry"


def raters_table(order: Sequence[str], boards: Sequence[tuple[str, Content]]) -> DataTable:
    """Rank and rating of each contestant by each kind of rater; ``boards`` are label and standings."""
    placed = [{row["contestant"]: row for row in content["standings"]} for _, content in boards]
    names = [*order, *sorted({name for board in placed for name in board} - set(order))]
    columns = [f"{label}: {what}" for label, _ in boards for what in ("rank", "rating")]
    rows = []
    for name in names:
        found = [board.get(name, {}) for board in placed]
        rows.append((name, *(row.get(what) for row in found for what in ("rank", "rating"))))
    return DataTable("Rank and rating by kind of rater", ("Contestant", *columns), tuple(rows))


def ties_table(order: Sequence[str], on: Content, off: Content) -> DataTable:
    """Rank and rating with ties counted half beside those without ties."""
    table = raters_table(order, [("Ties count half", on), ("Ties off", off)])
    return DataTable("With and without ties", table.columns, table.rows)


def same_order(one: Content, other: Content) -> bool:
    """Whether two standings rank the contestants they share in the same order."""
    first, second = ([row["contestant"] for row in content["standings"]] for content in (one, other))
    shared = set(first) & set(second)
    return [name for name in first if name in shared] == [name for name in second if name in shared]


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


@dataclass(frozen=True)
class Shown:
    """How one kind of rater used a scale: counts as shown, and the unscored by reason in words."""

    label: str
    counts: tuple[int, ...]
    unscored: Mapping[str, int]
    share_first: float | None
    mean: float | None

    @property
    def replies(self) -> int:
        return sum(self.counts) + sum(self.unscored.values())


def shown_by_scale(ratings: Iterable[tuple[str, Content]]) -> dict[int, list[Shown]]:
    """The histograms of all kinds of raters by the points of their scale, largest scale first."""
    scales: dict[int, list[Shown]] = {}
    for label, content in ratings:
        for scale in content["scales"]:
            unscored = {_UNSCORED.get(reason, reason): n for reason, n in scale["unscored"].items()}
            found = Shown(label, tuple(scale["counts"]), unscored, scale["share_first"], scale["mean"])
            scales.setdefault(scale["points"], []).append(found)
    return dict(sorted(scales.items(), reverse=True))


def unscored_reasons(shown: Iterable[Shown]) -> list[str]:
    """The reasons that occur, in a fixed order."""
    present = {reason for one in shown for reason in one.unscored}
    known = [word for word in _UNSCORED.values() if word in present]
    return known + sorted(present - set(known))


def ratings_table(points: int, shown: Sequence[Shown]) -> DataTable:
    """How often each rating was given as shown, then the unscored, then the position statistics."""
    rows: list[tuple[Cell, ...]] = [
        (f"Rating {rating}", *(one.counts[rating - 1] for one in shown)) for rating in range(1, points + 1)
    ]
    rows += [
        (f"Unscored: {reason}", *(one.unscored.get(reason, 0) for one in shown))
        for reason in unscored_reasons(shown)
    ]
    rows.append(("All replies", *(one.replies for one in shown)))
    share = (None if one.share_first is None else round(100 * one.share_first, 2) for one in shown)
    rows.append(("Share preferring the first, % (50 without bias)", *share))
    mean = (None if one.mean is None else round(one.mean, 3) for one in shown)
    rows.append((f"Mean rating ({(points + 1) / 2:g} without bias)", *mean))
    caption = f"Ratings as shown, scale of {points} points"
    return DataTable(caption, ("Rating", *(one.label for one in shown)), tuple(rows))


def correlation_table(judges: Iterable[tuple[str, Content]]) -> DataTable:
    """Pearson's r, Spearman's rho and Kendall's tau of each judge with people, by category, with n."""
    rows = [
        (
            label,
            "All" if row["category"] is None else row["category"],
            row["n"],
            *(row[name] for name in ("pearson", "spearman", "kendall")),
            row["reason"] or "",
        )
        for label, content in judges
        for row in content["rows"]
    ]
    columns = ("Judge", "Category", "Pairs (n)", "Pearson r", "Spearman rho", "Kendall tau", "Note")
    return DataTable("Correlation with people", columns, tuple(rows))
