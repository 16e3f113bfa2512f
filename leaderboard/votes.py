"""Read a vote file into arrays: CSV, JSON Lines or one JSON array, recognised by its content.

Columns: ``model_a, model_b, winner`` with Chatbot Arena's literals; ``left, right, winner`` with left,
right and tie; or ``model_a, model_b, rating, points``. ``prompt`` and ``rater`` are used where present,
further columns are ignored. A winner becomes a rating on the scale of three points. Nothing is guessed:
an unknown literal is an error with its line, never a tie.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from leaderboard.stats.games import Games, IntArray, games_from_ratings
from leaderboard.stats.tie_bands import TIE_BAND

WINNERS: Final[Mapping[str, Mapping[str, int]]] = {
    "model_a": {"model_a": 1, "tie": 2, "tie (bothbad)": 2, "model_b": 3},
    "left": {"left": 1, "tie": 2, "right": 3},
}
"""Rating on three points for each winner literal, by the name of the first contestant's column."""

_WINNER_POINTS: Final = 3
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,9}(\.0+)?")
_SHOWN: Final = 60
_LONGEST_FIELD: Final = 2**31 - 1


class VoteFileError(ValueError):
    """What is wrong with a vote file, and in which line, in one sentence."""


class Layout(NamedTuple):
    """The columns in use: the two contestants, and what holds the verdict."""

    first: str
    second: str
    verdict: tuple[str, ...]


_LAYOUTS: Final = (
    Layout("model_a", "model_b", ("rating", "points")),
    Layout("model_a", "model_b", ("winner",)),
    Layout("left", "right", ("winner",)),
)


class Row(NamedTuple):
    """One record of the file and where it stands, for messages ("line 7" or "item 7")."""

    place: str
    values: Mapping[str, Any]


class Vote(NamedTuple):
    """One vote, its rating checked."""

    place: str
    first: str
    second: str
    rating: int
    points: int
    prompt: str
    rater: str


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes in file order.

    ``names`` are the contestants in order of their names; ``first`` and ``second`` are their numbers in
    presentation order, ``rating`` runs from 1 (first much better) to ``points``. ``prompt`` and ``rater``
    hold one text for each vote, or are None where the file has no such column.
    """

    names: tuple[str, ...]
    first: IntArray
    second: IntArray
    rating: IntArray
    points: IntArray
    prompt: tuple[str, ...] | None
    rater: tuple[str, ...] | None

    def __len__(self) -> int:
        return len(self.rating)

    def games(self, *, ties: bool) -> Games:
        """The votes as games, with the prompts as clusters where the file has them.

        A vote without a prompt in a file that has the column is a cluster of its own.
        """
        number: dict[str | int, int] = {}
        cluster = (
            None
            if self.prompt is None
            else [number.setdefault(text or index, len(number)) for index, text in enumerate(self.prompt)]
        )
        return games_from_ratings(
            self.first,
            self.second,
            self.rating,
            self.points,
            ties=ties,
            contestants=len(self.names),
            cluster=cluster,
        )


def read_votes(path: str | Path) -> Votes:
    """Read and check a vote file; raise VoteFileError with one sentence naming the file and line."""
    source = Path(path)
    try:
        return _parse(source.read_bytes())
    except OSError as error:
        raise VoteFileError(f"{source}: cannot be read ({error.strerror or error})") from error
    except VoteFileError as error:
        raise VoteFileError(f"{source}: {error}") from error


def _parse(content: bytes) -> Votes:
    text = _decode(content)
    rows = _rows(text)
    first_row = next(rows, None)
    if first_row is None:
        raise VoteFileError("the file holds no votes")
    layout = _layout(first_row)
    votes = [_vote(first_row, layout), *(_vote(row, layout) for row in rows)]
    names = tuple(sorted({vote.first for vote in votes} | {vote.second for vote in votes}))
    if len(names) == 1:
        raise VoteFileError(f"{_shown(names[0])} is the only contestant; a ranking needs at least two")
    for vote in votes:
        if vote.first == vote.second:
            raise VoteFileError(f"{vote.place}: {_shown(vote.first)} is compared with itself")
    number = {name: index for index, name in enumerate(names)}
    return Votes(
        names,
        np.array([number[vote.first] for vote in votes], dtype=np.int64),
        np.array([number[vote.second] for vote in votes], dtype=np.int64),
        np.array([vote.rating for vote in votes], dtype=np.int64),
        np.array([vote.points for vote in votes], dtype=np.int64),
        _column([vote.prompt for vote in votes]),
        _column([vote.rater for vote in votes]),
    )


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise VoteFileError(f"line {line}: the text is not UTF-8") from error


def _rows(text: str) -> Iterator[Row]:
    """The records, by the first character that is not white space: [ array, { JSON Lines, else CSV."""
    start = text.lstrip()[:1]
    if start == "[":
        return _array_rows(text)
    return _line_rows(text) if start == "{" else _csv_rows(text)


def _array_rows(text: str) -> Iterator[Row]:
    for number, item in enumerate(_json(text, 1), start=1):
        yield Row(f"item {number}", _object(item, f"item {number}"))


def _line_rows(text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield Row(f"line {number}", _object(_json(line, number), f"line {number}"))


def _csv_rows(text: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    # Ignored columns may hold whole conversations, longer than the module's default limit.
    usual_limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        for fields in reader:
            if not any(field.strip() for field in fields):
                continue
            if header is None:
                header = _header(fields)
                continue
            if len(fields) != len(header):
                raise VoteFileError(
                    f"line {reader.line_num}: there are {len(fields)} fields but {len(header)} columns"
                )
            yield Row(f"line {reader.line_num}", dict(zip(header, fields, strict=True)))
    except csv.Error as error:
        raise VoteFileError(f"line {reader.line_num}: not valid CSV ({error})") from error
    finally:
        csv.field_size_limit(usual_limit)


def _header(fields: Sequence[str]) -> list[str]:
    header = [field.strip() for field in fields]
    for name in header:
        if name and header.count(name) > 1:
            raise VoteFileError(f"the column {_shown(name)} appears twice")
    return header


def _json(text: str, first_line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise VoteFileError(f"line {line}: not valid JSON ({error.msg})") from error
    except (ValueError, RecursionError) as error:
        raise VoteFileError(f"line {first_line}: not valid JSON ({error})") from error


def _object(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise VoteFileError(f"{place}: not a JSON object")
    return value


def _layout(row: Row) -> Layout:
    for layout in _LAYOUTS:
        if {layout.first, layout.second, *layout.verdict} <= row.values.keys():
            return layout
    found = ", ".join(_shown(name) for name in list(row.values)[:12]) or "none"
    raise VoteFileError(
        "the columns must be model_a, model_b, winner, or left, right, winner, or model_a, model_b, rating, "
        f"points; found {found}"
    )


def _vote(row: Row, layout: Layout) -> Vote:
    first, second = _text(row, layout.first, needed=True), _text(row, layout.second, needed=True)
    rating, points = _rated(row) if "rating" in layout.verdict else _won(row, layout.first)
    return Vote(row.place, first, second, rating, points, _text(row, "prompt"), _text(row, "rater"))


def _won(row: Row, first_column: str) -> tuple[int, int]:
    literal, known = _text(row, "winner", needed=True), WINNERS[first_column]
    if literal not in known:
        raise VoteFileError(f"{row.place}: unknown winner {_shown(literal)}; known are {', '.join(known)}")
    return known[literal], _WINNER_POINTS


def _rated(row: Row) -> tuple[int, int]:
    rating, points = _whole(row, "rating"), _whole(row, "points")
    if points not in TIE_BAND:
        raise VoteFileError(f"{row.place}: there is no scale of {points} points, only of 2, 3, 5 and 8")
    if not 1 <= rating <= points:
        raise VoteFileError(f"{row.place}: the rating {rating} is outside the scale 1-{points}")
    return rating, points


def _whole(row: Row, column: str) -> int:
    text = _text(row, column, needed=True)
    if not _WHOLE.fullmatch(text):
        raise VoteFileError(f"{row.place}: the {column} {_shown(text)} is not a whole number")
    return int(text.partition(".")[0])


def _text(row: Row, column: str, *, needed: bool = False) -> str:
    """The value as text without surrounding white space; empty where there is none."""
    value = row.values.get(column)
    if value is None:
        value = ""
    elif isinstance(value, bool) or not isinstance(value, str | int | float):
        raise VoteFileError(f"{row.place}: the {column} must be a text or a number")
    text = str(value).strip()
    if needed and not text:
        raise VoteFileError(f"{row.place}: the {column} is missing")
    return text


def _column(texts: Iterable[str]) -> tuple[str, ...] | None:
    column = tuple(texts)
    return column if any(column) else None


def _shown(text: str) -> str:
    """The text quoted on one line, cut where it is long."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
