"""Arrays of a bundle as files and back."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from arena.files.writing import csv_lines, guarded
from leaderboard.files.bundle.archive import valid
from leaderboard.snapshots.canonical import canonical
from leaderboard.snapshots.reading import RETIRED, Choice, Opinions
from leaderboard.snapshots.rows import Rows
from leaderboard.snapshots.text_sizes import NO_AUTHOR, Texts
from leaderboard.stats.style import MEASURES

IDS: Final = ("pair", "rater", "prompt")
TEXT_IDS: Final = ("first_text", "second_text")
AT_ONCE: Final = 20_000
_LARGEST: Final = 2**31
AT_MOST: Final = 50_000_000

_MOST_COLUMNS: Final = 50
KIND: Final = re.compile(r"[<>|=]?([iu][1248]|f8|b1|\?|S[0-9]{1,3})")
_KINDS: Final = {"reason": "S", "score_difference": "f"}
"""NumPy's kinds of columns that are not integers."""

_APART: Final = ("rows", "raters", "uncounted", "apart")


@dataclass(frozen=True, eq=False)
class Numbered:
    """Opinions with ids from 0 in the order of the database's; ``ids`` holds these."""

    opinions: Opinions
    ids: Mapping[str, npt.NDArray[Any]]

    def numbers(self, name: str) -> dict[int, int]:
        """The new numbers by the database's ids."""
        return {pk: number for number, pk in enumerate(self.ids[name].tolist())}


def numbered(opinions: Opinions, texts: npt.NDArray[Any] | None = None) -> Numbered:
    """Renumber all ids; ``texts`` are further ids of texts."""
    rows, ids, numbers = opinions.rows, {}, {}
    for name in (*IDS, "id"):
        ids[name], numbers[name] = np.unique(rows[name], return_inverse=True)
    shown = [rows[name] for name in TEXT_IDS]
    ids["text"] = np.unique(np.concatenate([*shown, *([] if texts is None else [texts])]))
    for name in TEXT_IDS:
        numbers[name] = np.searchsorted(ids["text"], rows[name])
    place = {pk: number for number, pk in enumerate(ids["rater"].tolist())}
    raters = tuple(
        replace(choice, ids=frozenset(place[pk] for pk in choice.ids if pk in place))
        for choice in opinions.raters
    )
    return Numbered(replace(opinions, rows=rows.replaced(**numbers), raters=raters), ids)


def rows_csv(opinions: Opinions) -> Iterator[bytes]:
    names = _written_columns(opinions.rows.names)
    yield (",".join(names) + "\n").encode()
    for start in range(0, len(opinions.rows), AT_ONCE):
        part = opinions.rows[start : start + AT_ONCE]
        columns = [_cells(part[name]) for name in names]
        yield "".join(f"{','.join(row)}\n" for row in zip(*columns, strict=True)).encode()


def _written_columns(names: Iterable[str]) -> list[str]:
    """Not the database's id, nor ``current``, which is always true."""
    return [name for name in names if name not in ("id", "current")]


def _cells(column: npt.NDArray[Any]) -> list[str]:
    values = column.tolist()
    if column.dtype.kind == "S":
        return [value.decode() for value in values]
    if column.dtype.kind == "f":
        return ["" if math.isnan(value) else repr(value) for value in values]
    return [str(int(value)) for value in values]


def facts_json(opinions: Opinions) -> str:
    facts = {each.name: getattr(opinions, each.name) for each in fields(opinions) if each.name not in _APART}
    if not opinions.provisional:
        del facts["provisional"]  # earlier bundles have none
    raters = [{**vars(choice), "ids": sorted(choice.ids)} for choice in opinions.raters]
    columns = [[name, opinions.rows[name].dtype.str] for name in opinions.rows.names]
    return canonical({**facts, "raters": raters, "columns": columns})


def opinions_from(facts: bytes, rows: bytes) -> Opinions:
    """The opinions of a bundle. Raises BundleError for files that make none."""
    with valid("ratings"):
        given = json.loads(facts)
        columns = [(str(name), str(kind)) for name, kind in given.pop("columns")]
        raters = tuple(Choice(**{**one, "ids": frozenset(one["ids"])}) for one in given.pop("raters"))
        known: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
        }
        found = Opinions(rows=_rows_from(rows, columns), raters=raters, **known)
        _check(found)
        return found


def _rows_from(content: bytes, columns: list[tuple[str, str]]) -> Rows:
    if len(columns) > _MOST_COLUMNS or not all(KIND.fullmatch(kind) for _, kind in columns):
        raise ValueError("a column is of a type that comparisons do not have")
    types = {name: np.dtype(kind) for name, kind in columns}
    if not all(each.kind in _KINDS.get(name, "iub") for name, each in types.items()):
        raise ValueError("a column is of a type that it does not have")
    import pandas as pd  # by recompute alone: packing a bundle, which the web process does, needs none of it

    names = _written_columns(types)
    texts = [name for name in names if types[name].kind in "Sf"]
    read = pd.read_csv(
        io.BytesIO(content),
        dtype={name: str if name in texts else np.float64 for name in names},
        keep_default_na=False,
        na_values={name: [""] for name in names if name not in texts},
    )
    found = {"id": np.arange(len(read)), "current": np.ones(len(read), dtype=bool)}
    for name in names:
        values = read[name].to_numpy()
        if types[name].kind == "f":  # by Python, to the last bit
            values = np.array([float(cell) if cell else math.nan for cell in values])
        if types[name].kind in "iub" and not _are_whole(values):
            raise ValueError(f"the column {name} holds something that is no whole number")
        found[name] = values.astype(types[name])
    return Rows(len(read), {name: found[name] for name in types})


def _are_whole(values: npt.NDArray[Any]) -> bool:
    return bool(
        (np.isfinite(values) & (np.abs(values) < _LARGEST)).all() and (values == np.floor(values)).all()
    )


def _check(opinions: Opinions) -> None:
    rows, players = opinions.rows, len(opinions.names)
    lists = (opinions.names, opinions.kinds, opinions.categories)
    said = [text for texts in lists for text in texts]
    said += [text for choice in opinions.raters for text in (choice.selector, choice.label)]
    if not all(isinstance(text, str) for text in said) or any(isinstance(texts, str) for texts in lists):
        raise ValueError("a name is no text")
    if len(opinions.kinds) != players:
        raise ValueError("models are missing, or have no kind")
    for name in ("first", "second"):
        if not ((rows[name] >= RETIRED) & (rows[name] < players)).all():
            raise ValueError(f"the column {name} names models that do not exist")
    if not ((rows["category"] >= 0) & (rows["category"] < len(opinions.categories))).all():
        raise ValueError("the column category names categories that do not exist")
    if not np.isin(rows["points"], (2, 3, 5, 8)).all():
        raise ValueError("the column points names a scale that does not exist")
    if not ((rows["rating"] >= 0) & (rows["rating"] <= rows["points"])).all():
        raise ValueError("the column rating leaves its scale")
    for name in (*IDS, *TEXT_IDS):
        if (rows[name] < 0).any():
            raise ValueError(f"the column {name} holds a negative number")


def lines_csv(rows: Iterable[Iterable[Any]]) -> bytes:
    """Lines of CSV; nothing in them runs in a spreadsheet."""
    cells = ([guarded(str(cell)) for cell in row] for row in rows)
    return csv_lines(cells, "\n").encode("utf-8", "surrogatepass")


_OF_COMPLETIONS: Final = ("completions", "prompt", "contestant", "current", "empty")
_KINDS_OF_SIZES: Final = {
    **dict.fromkeys(("prompts", "completions", "references"), "f"),
    **dict.fromkeys(("completion", "prompt", "contestant", "reference_prompt", "spaced", "asked_of"), "iu"),
    **dict.fromkeys(("current", "empty"), "b"),
}
"""NumPy's kinds of arrays."""


def sizes_json(texts: Texts, ids: npt.NDArray[Any]) -> str:
    """The sizes, with completions numbered as in ``ids``."""
    given = replace(texts, completion=np.searchsorted(ids, texts.completion))
    return canonical({each.name: _written(getattr(given, each.name)) for each in fields(given)})


def sizes_from(content: bytes) -> Texts:
    """The sizes in a bundle. Raises BundleError for a file that holds none."""
    with valid("sizes of texts"):
        found = Texts(**{name: _read(value) for name, value in json.loads(content).items()})
        _check_kinds(found)
        prompts, answers = len(found.prompts), len(found.completion)
        for name in ("prompt", "reference_prompt", "asked_of"):
            _check_numbers(name, getattr(found, name), 0, prompts)
        _check_numbers("contestant", found.contestant, NO_AUTHOR, len(found.contestants))
        if (
            len(found.category) != prompts
            or len(found.subset) != prompts
            or len(found.spaced) != prompts
            or len(found.kinds) != len(found.asked_of)
            or {len(getattr(found, name)) for name in _OF_COMPLETIONS} != {answers}
            or len(found.references) != len(found.reference_prompt)
        ):
            raise ValueError("columns differ in length")
        if answers and (np.diff(found.completion) <= 0).any():
            raise ValueError("completions are not in the order of their numbers")
        return found


def _check_kinds(found: Texts) -> None:
    for name, kinds in _KINDS_OF_SIZES.items():
        given = getattr(found, name)
        shape = (given.shape[0], len(MEASURES)) if kinds == "f" else given.shape[:1]
        if not isinstance(given, np.ndarray) or given.dtype.kind not in kinds or given.shape != shape:
            raise ValueError(f"{name} is not of its type")
    labels = (label for each in found.kinds for label in each)
    names = (name for name, _, _ in found.contestants)
    texts = (found.tokenizer, *found.category, *found.subset, *names, *labels)
    if not all(isinstance(text, str) for text in texts) or not isinstance(found.pairs, int):
        raise ValueError("a name is no text, or a number is none")


def _check_numbers(name: str, numbers: npt.NDArray[Any], first: int, last: int) -> None:
    if not ((numbers >= first) & (numbers < last)).all():
        raise ValueError(f"{name} points at something that is not there")


def _written(value: Any) -> Any:
    if not hasattr(value, "tolist"):
        return value
    flat = value.reshape(-1).tolist()
    values = [None if each != each else each for each in flat]
    return {"dtype": value.dtype.str, "shape": list(value.shape), "values": values}


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_read(each) for each in value)
    if not isinstance(value, dict):
        return value
    if not KIND.fullmatch(str(value["dtype"])) or len(value["values"]) > AT_MOST:
        raise ValueError("an array is of a type that sizes do not have")
    plain = [float("nan") if each is None else each for each in value["values"]]
    return np.array(plain, dtype=value["dtype"]).reshape([int(length) for length in value["shape"]])
