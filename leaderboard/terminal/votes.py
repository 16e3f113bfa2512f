"""Reads a vote file of any form that imports read into arrays.

Columns: two models, under the names in _SIDES, and ``winner``, or ``rating`` and ``points``. A winner is a
word or a model's name, as in imports, and becomes a rating on three points; an unknown one is an error, never
a tie. A prompt and a rater, under the names in _PROMPT and _RATER, are optional, and so are ``NAME_a`` and
``NAME_b`` to adjust for NAME. A file with other columns is read as an import reads it.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from arena.data.formats import table, verdicts
from arena.data.formats.catalogue import Sources, files_at, gather
from arena.data.formats.columns import suggest
from arena.data.formats.files import BrokenFileError, InputFile
from arena.data.formats.reading import Kind
from arena.data.formats.records import ComparisonRecord, Place, Problem
from arena.rules.scales import POINTS
from leaderboard.stats.checks import FloatArray, IntArray, ParameterError
from leaderboard.stats.choices import RATER_EFFECTS
from leaderboard.stats.ranking import Standings, rank_ratings
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import Ratings, make_ratings
from leaderboard.terminal.prompt_labels import labelled_number

_WINNER_POINTS: Final = 3
_SHOWN: Final = 60
_LARGEST_AMOUNT: Final = 1e300
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,9}(\.0+)?")


# The last of each are Chatbot Arena's.
_PROMPT: Final = ("prompt", "question_id")
_RATER: Final = ("rater", "worker", "judge")


_SIDES: Final = (("model_a", "model_b"), ("left", "right"), ("first", "second"))
_RATED: Final = ("rating", "points")
_NOTHING: Final = "the file has no ratings"


class VoteFileError(ValueError):
    """Tells what is wrong with a vote file, and in which line or row."""


class Row(NamedTuple):
    """A record; ``place`` is such as "row 7"."""

    place: str
    values: Mapping[str, Any]


class Layout(NamedTuple):
    first: str
    second: str
    verdict: tuple[str, ...]


class Vote(NamedTuple):
    """One checked vote; ``more`` is how much more of each covariate the first has."""

    place: str
    first: str
    second: str
    rating: int
    points: int
    prompt: str
    rater: str
    more: tuple[float, ...]
    rater_kind: str = ""


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes in file order.

    ``names`` are sorted; ``first`` and ``second`` index them in presentation order, ``rating`` runs from 1
    (first much better) to ``points``. ``graded``: ratings on a scale, not winners. ``prompt`` and ``rater``
    are None where the file has no such column. ``covariates`` holds normalised differences by name.
    """

    names: tuple[str, ...]
    first: IntArray
    second: IntArray
    rating: IntArray
    points: IntArray
    graded: bool
    prompt: tuple[str, ...] | None
    rater: tuple[str, ...] | None
    covariates: Mapping[str, FloatArray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """How the file was read, where there was a choice."""

    judges: frozenset[str] = frozenset()
    """Raters whom the file calls judges."""

    def __len__(self) -> int:
        return len(self.rating)

    def ratings(self) -> Ratings:
        """The votes for the statistics; an empty prompt or rater is one of its own."""
        return make_ratings(
            self.first,
            self.second,
            self.rating,
            self.points,
            len(self.names),
            prompt=_numbers(self.prompt),
            rater=_numbers(self.rater),
            covariates=self.covariates,
        )


def rank_votes(votes: Votes, method: Method) -> Standings:
    if method.tie_band is not None and not votes.graded:
        raise ParameterError(
            f"tie-band is {method.tie_band}, but the file has winners instead of ratings on a scale"
        )
    return rank_ratings(votes.ratings(), votes.names, method)


def read_votes(
    path: str | Path | InputFile, *, adjust: Sequence[str] = (), sheet: str = "", header: str = ""
) -> Votes:
    """Read a vote file. Raises VoteFileError naming file and line or row.

    ``adjust`` names the covariates to read; "raters" among them needs no columns. ``sheet`` and ``header``
    choose the sheet of a workbook and the rows that name columns.
    """
    covariates = tuple(name for name in adjust if name != RATER_EFFECTS)
    name = path.name if isinstance(path, InputFile) else path
    found = Sources()  # which keeps what is unpacked of an archive
    try:
        files = files_at(path if isinstance(path, InputFile) else Path(path), found)
        for problem in found.problems:
            raise VoteFileError(problem.reason)
        for file in files:
            file.sheet, file.header = sheet, header
        return _parse(files, covariates)
    except OSError as error:
        raise VoteFileError(f"{name}: cannot be read ({error.strerror or error})") from error
    except BrokenFileError as error:
        raise VoteFileError(f"{name}: {_wrong(error.problem)}") from error
    except VoteFileError as error:
        raise VoteFileError(f"{name}: {error}") from error


def _parse(files: list[InputFile], covariates: tuple[str, ...]) -> Votes:
    file = files[0]
    if len(files) == 1 and not file.columns():
        raise VoteFileError(next((_wrong(row) for row in file.rows() if isinstance(row, Problem)), _NOTHING))
    layout = _layout(file.columns(), covariates) if len(files) == 1 else None
    votes = list(_votes(file, layout, covariates) if layout else _compared(files))
    if not votes:
        raise VoteFileError(_NOTHING)
    names = _names(votes)
    number = {name: index for index, name in enumerate(names)}
    return Votes(
        names,
        np.array([number[vote.first] for vote in votes], dtype=np.int64),
        np.array([number[vote.second] for vote in votes], dtype=np.int64),
        np.array([vote.rating for vote in votes], dtype=np.int64),
        np.array([vote.points for vote in votes], dtype=np.int64),
        layout.verdict == _RATED if layout else any(vote.points != _WINNER_POINTS for vote in votes),
        _column(vote.prompt for vote in votes),
        _column(vote.rater for vote in votes),
        {
            name: np.array([vote.more[place] for vote in votes], dtype=np.float64)
            for place, name in enumerate(covariates)
        },
        tuple(note.text for file in files for note in file.notes()),
        frozenset(vote.rater for vote in votes if vote.rater_kind == "judge"),
    )


def _votes(file: InputFile, layout: Layout, covariates: tuple[str, ...]) -> Iterator[Vote]:
    for row in file.rows():
        if isinstance(row, Problem):
            raise VoteFileError(_wrong(row))
        line, values = row
        yield _vote(Row(f"{file.unit} {line}", values), layout, covariates)


def _compared(files: list[InputFile]) -> Iterator[Vote]:
    """The ratings of files in any format of imports, without those that give a reason instead."""
    file = files[0]
    sources = gather(files, sheet=file.sheet, header=file.header)
    if sources.problems and (mapping := suggest(file.columns(), file.samples(), Kind.COMPARISONS)):
        sources = gather(files[:1], table.NAME, mapping=mapping, sheet=file.sheet, header=file.header)
    if not any(source.kind is Kind.COMPARISONS for source in sources.sources):
        found = ", ".join(quoted(name) for name in file.columns()[:12]) or "none"
        raise VoteFileError(
            "the columns must be model_a, model_b, winner, or left, right, winner, or model_a, model_b, "
            f"rating, points, or those of a format of ratings; the file has {found}"
        )
    for item in sources.items():
        if isinstance(item, Problem):
            raise VoteFileError(_wrong(item))
        if isinstance(item, ComparisonRecord) and item.rating:
            sides = item.first or item.first_id, item.second or item.second_id
            at = f"{item.place.unit} {item.place.line}"
            yield Vote(at, *sides, item.rating, item.points, item.prompt, item.rater, (), item.rater_kind)


def _wrong(problem: Problem) -> str:
    """The problem without its file."""
    unnamed = Problem(Place("", *problem.place[1:]), problem.field, problem.reason)
    return str(unnamed).removeprefix(", ").removeprefix(": ")


def _names(votes: Sequence[Vote]) -> tuple[str, ...]:
    names = tuple(sorted({vote.first for vote in votes} | {vote.second for vote in votes}))
    if len(names) == 1:
        raise VoteFileError(f"{quoted(names[0])} is the only model; a ranking needs at least two")
    for vote in votes:
        if vote.first == vote.second:
            raise VoteFileError(f"{vote.place}: {quoted(vote.first)} is compared with itself")
    return names


def _layout(columns: Sequence[str], covariates: tuple[str, ...]) -> Layout | None:
    found = ", ".join(quoted(name) for name in columns[:12]) or "none"
    for name in covariates:
        if not {f"{name}_a", f"{name}_b"} <= set(columns):
            wanted = f"{quoted(name + '_a')} and {quoted(name + '_b')}"
            raise VoteFileError(f"to adjust for {name}, the file needs the columns {wanted}; it has {found}")
    layouts = (Layout(*sides, verdict) for sides in _SIDES for verdict in (_RATED, ("winner",)))
    return next((one for one in layouts if {one.first, one.second, *one.verdict} <= set(columns)), None)


def _vote(row: Row, layout: Layout, covariates: tuple[str, ...]) -> Vote:
    first, second = text_of(row, layout.first, needed=True), text_of(row, layout.second, needed=True)
    rating, points = _rated(row) if layout.verdict == _RATED else _won(row, first, second)
    more = tuple(_difference(row, name) for name in covariates)
    prompt, rater = (_first(row, names) for names in (_PROMPT, _RATER))
    return Vote(
        row.place, first, second, rating, points, prompt, rater, more, text_of(row, "rater_kind").casefold()
    )


def _first(row: Row, names: Sequence[str]) -> str:
    return next(filter(None, (text_of(row, name) for name in names)), "")


def _won(row: Row, first: str, second: str) -> tuple[int, int]:
    winner = text_of(row, "winner", needed=True)
    better = verdicts.side(winner, [first], [second])
    if better is None:
        raise VoteFileError(f"{row.place}: the winner {verdicts.unknown(winner[:_SHOWN])}")
    return verdicts.RATINGS[_WINNER_POINTS][better], _WINNER_POINTS


def _rated(row: Row) -> tuple[int, int]:
    rating, points = _whole(row, "rating"), _whole(row, "points")
    if points not in POINTS:
        raise VoteFileError(f"{row.place}: {points} points are not a scale; use 2, 3, 5 or 8")
    if not 1 <= rating <= points:
        raise VoteFileError(f"{row.place}: the rating {rating} is outside the scale 1-{points}")
    return rating, points


def _whole(row: Row, column: str) -> int:
    text = text_of(row, column, needed=True)
    if not _WHOLE.fullmatch(text):
        raise VoteFileError(f"{row.place}: the {column} {quoted(text)} is not a whole number")
    return int(text.partition(".")[0])


def _difference(row: Row, name: str) -> float:
    """How much more the first has, from -1 to 1; 0 where both have nothing."""
    one, other = _amount(row, f"{name}_a"), _amount(row, f"{name}_b")
    return (one - other) / (one + other) if one or other else 0.0


def _amount(row: Row, column: str) -> float:
    text = text_of(row, column, needed=True)
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not 0 <= amount <= _LARGEST_AMOUNT:
        raise VoteFileError(f"{row.place}: the {column} {quoted(text)} is not a number of 0 or more")
    return amount


def _column(texts: Iterable[str]) -> tuple[str, ...] | None:
    column = tuple(texts)
    return column if any(column) else None


def _numbers(texts: tuple[str, ...] | None) -> IntArray | None:
    """Texts numbered as they appear, each empty one anew; labels by their own numbers."""
    if texts is None:
        return None
    labelled = [labelled_number(text) for text in texts]
    if None not in labelled:
        return np.array(labelled, dtype=np.int64)
    number: dict[str | int, int] = {}
    numbered = [number.setdefault(text or index, len(number)) for index, text in enumerate(texts)]
    return np.array(numbered, dtype=np.int64)


def text_of(row: Row, column: str, *, needed: bool = False) -> str:
    value = row.values.get(column)
    if value is None:
        value = ""
    elif isinstance(value, bool) or not isinstance(value, str | int | float):
        raise VoteFileError(f"{row.place}: the {column} must be a text or a number")
    text = str(value).strip()
    if needed and not text:
        raise VoteFileError(f"{row.place}: the {column} is missing")
    return text


def quoted(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
