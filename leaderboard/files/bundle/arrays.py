"""What the statistics take, as files of a bundle and back: comparisons as CSV, the rest as JSON.

Ids of the database are renumbered from 0 in their own order, which changes no number.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.writing import guarded
from leaderboard.files.bundle.archive import BundleError, canonical
from leaderboard.snapshots.opinions import Choice, Opinions

IDS: Final = ("pair", "rater", "prompt")
TEXT_IDS: Final = ("first_text", "second_text")
AT_ONCE: Final = 20_000
_LARGEST: Final = 2**31
AT_MOST: Final = 50_000_000
"""Numbers in one array."""

_MOST_COLUMNS: Final = 50
KIND: Final = re.compile(r"[<>|=]?([iu][1248]|f8|b1|\?|S[0-9]{1,3})")
_KINDS: Final = {"reason": "S", "score_difference": "f"}
"""NumPy's letters for the types of columns that are no whole numbers."""

_APART: Final = ("rows", "raters", "uncounted")


@dataclass(frozen=True, eq=False)
class Numbered:
    """Opinions with ids from 0, and the ids of the database in the order of their new numbers."""

    opinions: Opinions
    ids: Mapping[str, npt.NDArray[Any]]


def numbered(opinions: Opinions, texts: npt.NDArray[Any] | None = None) -> Numbered:
    """Renumber comparisons, pairs, raters, prompts and texts; ``texts`` are further ids of texts."""
    rows, ids = opinions.rows.copy(), {}
    for name in (*IDS, "id"):
        ids[name], rows[name] = np.unique(rows[name], return_inverse=True)
    shown = [opinions.rows[name] for name in TEXT_IDS]
    ids["text"] = np.unique(np.concatenate([*shown, *([] if texts is None else [texts])]))
    for name in TEXT_IDS:
        rows[name] = np.searchsorted(ids["text"], rows[name])
    place = {pk: number for number, pk in enumerate(ids["rater"].tolist())}
    raters = tuple(
        replace(choice, ids=frozenset(place[pk] for pk in choice.ids if pk in place))
        for choice in opinions.raters
    )
    return Numbered(replace(opinions, rows=rows, raters=raters), ids)


def rows_csv(opinions: Opinions) -> Iterator[bytes]:
    """The comparisons, one line each, in their order; an empty cell where there is none."""
    names = _columns(opinions.rows)
    yield (",".join(names) + "\n").encode()
    for start in range(0, len(opinions.rows), AT_ONCE):
        part = opinions.rows[start : start + AT_ONCE]
        columns = [_cells(part[name]) for name in names]
        yield "".join(f"{','.join(row)}\n" for row in zip(*columns, strict=True)).encode()


def _columns(rows: npt.NDArray[Any]) -> list[str]:
    """What is written: not the id in the database, and not whether a row counts, as all of them do."""
    return [name for name in rows.dtype.names or () if name not in ("id", "current")]


def _cells(column: npt.NDArray[Any]) -> list[str]:
    values = column.tolist()
    if column.dtype.kind == "S":
        return [value.decode() for value in values]
    if column.dtype.kind == "f":
        return ["" if math.isnan(value) else repr(value) for value in values]
    return [str(int(value)) for value in values]


def facts_json(opinions: Opinions) -> str:
    """Everything about the opinions but their rows, and the types of the columns of these."""
    facts = {each.name: getattr(opinions, each.name) for each in fields(opinions) if each.name not in _APART}
    raters = [{**vars(choice), "ids": sorted(choice.ids)} for choice in opinions.raters]
    types = opinions.rows.dtype
    columns = [[name, types[name].str] for name in types.names or ()]
    return canonical({**facts, "raters": raters, "columns": columns})


def opinions_from(facts: bytes, rows: bytes) -> Opinions:
    """The opinions of a bundle. Raises BundleError where the files make none."""
    try:
        given = json.loads(facts)
        columns = [(str(name), str(kind)) for name, kind in given.pop("columns")]
        raters = tuple(Choice(**{**one, "ids": frozenset(one["ids"])}) for one in given.pop("raters"))
        known: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
        }
        found = Opinions(rows=_rows_from(rows, columns), raters=raters, **known)
        _check(found)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise BundleError(f"The comparisons in the bundle make no sense: {str(error)[:200]}.") from error
    return found


def _rows_from(content: bytes, columns: list[tuple[str, str]]) -> npt.NDArray[Any]:
    if len(columns) > _MOST_COLUMNS or not all(KIND.fullmatch(kind) for _, kind in columns):
        raise ValueError("a column is of a type that comparisons do not have")
    rows = np.zeros(0, dtype=columns)
    if not all(rows.dtype[name].kind in _KINDS.get(name, "iub") for name, _ in columns):
        raise ValueError("a column is of a type that it does not have")
    names = _columns(rows)
    texts = [name for name in names if rows.dtype[name].kind in "Sf"]
    read = pd.read_csv(
        io.BytesIO(content),
        dtype={name: str if name in texts else np.float64 for name in names},
        keep_default_na=False,
        na_values={name: [""] for name in names if name not in texts},
    )
    rows = np.zeros(len(read), dtype=columns)
    for name in names:
        values = read[name].to_numpy()
        if rows.dtype[name].kind == "f":  # by Python, to the last bit
            values = np.array([float(cell) if cell else math.nan for cell in values])
        if rows.dtype[name].kind in "iub" and not _are_whole(values):
            raise ValueError(f"the column {name} holds something that is no whole number")
        rows[name] = values.astype(rows.dtype[name])
    rows["id"], rows["current"] = np.arange(len(rows)), True
    return rows


def _are_whole(values: npt.NDArray[Any]) -> bool:
    return bool(
        (np.isfinite(values) & (np.abs(values) < _LARGEST)).all() and (values == np.floor(values)).all()
    )


def _check(opinions: Opinions) -> None:
    """Raise ValueError for numbers that point nowhere."""
    rows, players = opinions.rows, len(opinions.names)
    lists = (opinions.names, opinions.kinds, opinions.categories)
    said = [text for texts in lists for text in texts]
    said += [text for choice in opinions.raters for text in (choice.selector, choice.label)]
    if not all(isinstance(text, str) for text in said) or any(isinstance(texts, str) for texts in lists):
        raise ValueError("a name is no text")
    if not len(rows) or len(opinions.kinds) != players:
        raise ValueError("there are none, or contestants without a kind")
    for name in ("first", "second"):
        if not ((rows[name] >= -1) & (rows[name] < players)).all():
            raise ValueError(f"the column {name} names contestants that are not there")
    if not ((rows["category"] >= 0) & (rows["category"] < len(opinions.categories))).all():
        raise ValueError("the column category names categories that are not there")
    if not np.isin(rows["points"], (2, 3, 5, 8)).all():
        raise ValueError("the column points names a scale that does not exist")
    if not ((rows["rating"] >= 0) & (rows["rating"] <= rows["points"])).all():
        raise ValueError("the column rating leaves its scale")
    for name in (*IDS, *TEXT_IDS):
        if (rows[name] < 0).any():
            raise ValueError(f"the column {name} holds a negative number")


def table_csv(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> bytes:
    """A small table for people to read beside the numbers."""
    return lines_csv([header]) + lines_csv(rows)


def lines_csv(rows: Iterable[Iterable[Any]]) -> bytes:
    """Lines of such a table; nothing in it runs in a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([guarded(str(cell)) for cell in row] for row in rows)
    return out.getvalue().encode("utf-8", "surrogatepass")
