"""Columns of tables that do not declare them yet, guessed from the words of their headings. Pure."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from leaderboard.pages.columns import Column
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import PLAIN, Cell, Estimate, P, Unit

_END: Final = re.compile(r"\b(low|high)\b", re.IGNORECASE)
_READ: Final = {
    "alpha among themselves": "alpha",
    "bradley-terry rating": "Bradley-Terry score",
    "changed %": "changes its verdict (%)",
    "completions": "answers",
    "contestant": "model",
    "elo rating": "Elo score",
    "comparisons": "ratings",
    "comparisons (n)": "ratings",
    "difference: rating": "score above the other setting",
    "difference: places": "places above the other setting",
    "effective votes": "effective ratings",
    "first %": "first (%)",
    "flip %": "changes its verdict (%)",
    "games": "ratings",
    "kappa with people": "weighted kappa",
    "longer wins %": "longer wins (%)",
    "met": "number met",
    "met (%)": "requirements met (%)",
    "neutral mean": "mean rating without bias",
    "other games": "other ratings",
    "other share %": "other win share (%)",
    "pairs (n)": "pairs",
    "pearson r with people": "agrees with people (r)",
    "points won %": "points won (%)",
    "prefers first %": "prefers the first (%)",
    "rank (ub)": "best rank by intervals",
    "rater count": "raters",
    "rating": "score",
    "rating change": "score change",
    "ratings (n)": "ratings",
    "ratings compared (n)": "ratings compared",
    "requirements met": "number met",
    "same verdict %": "same verdict (%)",
    "score from pairs": "Elo score",
    "share %": "win share (%)",
    "share of points: %": "win share (%)",
    "share, %": "not rated (%)",
    "standard deviation": "SD",
    "text score above the average model": "above average",
    "tie %": "tie share (%)",
    "unscored": "replies not rated",
    "votes": "ratings",
    "win %": "outright wins (%)",
    "win rate": "win share (%)",
    "win share %": "win share (%)",
    "without bias": "mean rating without bias",
}
"""Names of columns that pages write in the words of docs/methodology.md (Measures); files keep theirs."""

_IN_PERCENT: Final = ("win rate",)
"""Columns of shares that pages write in percent."""


def _end(label: str) -> str:
    """Which end of an interval a column holds: low, high or none."""
    found = _END.search(label)
    return found[0].lower() if found else ""


def _read(label: str) -> str:
    if word := _READ.get(label.lower()):
        return word[:1].upper() + word[1:] if label[:1].isupper() else word
    heading, colon, last = label.rpartition(": ")
    return heading + colon + _read(last) if colon else label


Row = Sequence[Cell]


def guessed(
    caption: str, rows: Iterable[Mapping[str, Cell]], words: Mapping[str, str] | None = None
) -> DataTable:
    """A table of rows that name their columns, all the same ones."""
    listed = list(rows)
    names = tuple(listed[0]) if listed else ()
    return guessed_rows(caption, names, [tuple(each.values()) for each in listed], words)


def guessed_rows(
    caption: str, names: Sequence[str], rows: Iterable[Row], words: Mapping[str, str] | None = None
) -> DataTable:
    """A table of rows of cells; ``words``: what a page writes over columns whose names the file keeps."""
    ends = [_end(name) for name in names]
    lows = {at for at in range(2, len(names) - 1) if ends[at : at + 2] == ["low", "high"]}
    columns = []
    for place, name in enumerate(names):
        if place not in lows and place - 1 not in lows:
            shown = _read((words or {}).get(name, name))
            if not place:
                shown = _read(name) if name in ("Contestant", "Votes") else name
            over, _, label = shown.rpartition(": ")
            last = place + 1 in lows
            columns.append(
                Column[Row](
                    name,
                    _reader(place, last=last),
                    _unit(shown, name),
                    label=label,
                    over=over,
                    ends=(names[place + 1], names[place + 2]) if last else None,
                )
            )
    return DataTable.of(caption, columns, rows)


def _reader(place: int, *, last: bool) -> Callable[[Row], Cell | Estimate]:
    if last:
        return lambda row: Estimate(*row[place : place + 3])  # type: ignore[arg-type]
    return lambda row: row[place]


_PERCENT: Final = Unit(str, str, places=1)
_TIMES: Final = Unit(str, str, places=1, times=100)


def _unit(label: str, name: str) -> Unit:
    if label.rpartition(": ")[2].startswith("p ("):
        return P
    if name.rpartition(": ")[2].lower() in _IN_PERCENT:
        return _TIMES
    return _PERCENT if "%" in label else PLAIN
