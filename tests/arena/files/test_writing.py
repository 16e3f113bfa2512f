"""Writing tables: what is written reads back as what it was, and spreadsheets run nothing."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.data.formats.catalogue import gather
from arena.data.formats.records import TABLES, CompletionRecord
from arena.files import output
from arena.files.writing import WRITERS, Row, Table, Type

TYPED = Table(
    "typed",
    {
        "text": Type.TEXT,
        "integer": Type.INTEGER,
        "number": Type.NUMBER,
        "flag": Type.FLAG,
        "moment": Type.MOMENT,
        "texts": Type.TEXTS,
        "json": Type.JSON,
    },
)
ROW: Row = {
    "text": "Größer ☂",
    "integer": -3,
    "number": Decimal("-0.125"),
    "flag": False,
    "moment": datetime(2025, 3, 1, 12, 30, 0, 250_000, tzinfo=UTC),
    "texts": ["a", ""],
    "json": {"t": 0.5, "list": [None, True]},
}
HOSTILE = ["=1+1", "+49", "-cmd", "@SUM(A1)", "\tx", "\rx", "'", "'=1", "''=1", "'quoted'"]
HOSTILE += [" =1", "' =1", "\n=1", "\uff1d1"]
HOSTILE += ['"both", and\r\nlines\nand\rreturns', " leading and trailing ", "\u202eesrever", "\ufeffmark"]
HOSTILE += ["", "NULL", "007", "[]", "a;b\tc|d", "\u2028"]


def written(table: Table, form: str, rows: Iterable[Row]) -> bytes:
    return b"".join(WRITERS[form](table, rows))


def test_json_lines_leave_out_what_is_not_said_and_refuse_what_they_cannot_hold() -> None:
    lines = written(TYPED, "jsonl", [ROW, {"integer": 0}]).decode().splitlines()
    assert json.loads(lines[0]) == {**ROW, "number": -0.125, "moment": "2025-03-01T12:30:00.250000+00:00"}
    assert lines[1] == '{"integer": 0}'
    value: Any = object()
    with pytest.raises(TypeError, match="object has no place in JSON"):
        written(TYPED, "jsonl", [{"json": value}])


def test_csv_is_as_spreadsheets_like_it() -> None:
    text = written(TYPED, "csv", [ROW, {}])
    assert text.startswith(b"\xef\xbb\xbftext,integer,number,flag,moment,texts,json\r\n")
    rows = list(csv.DictReader(io.StringIO(text.decode("utf-8-sig"), newline="")))
    assert rows[0] == {
        "text": "Größer ☂",
        "integer": "-3",
        "number": "-0.125",
        "flag": "false",
        "moment": "2025-03-01T12:30:00.250000+00:00",
        "texts": '["a", ""]',
        "json": '{"t": 0.5, "list": [null, true]}',
    }
    assert set(rows[1].values()) == {""}


def test_an_independent_reader_sees_the_same_cells() -> None:
    table = TABLES["completions"]
    rows = [{"prompt": str(number), "text": text} for number, text in enumerate(HOSTILE)]
    read = pandas.read_csv(
        io.BytesIO(written(table, "csv", rows)), dtype=str, keep_default_na=False, lineterminator=None
    )
    assert list(read.columns) == list(table.columns)
    assert len(read) == len(HOSTILE)
    for text, cell in zip(HOSTILE, read["text"], strict=True):
        assert cell in (text, f"'{text}")
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize("rows", [[], [ROW]])
def test_parquet_has_the_same_types_however_many_rows(rows: list[Row], tmp_path: Path) -> None:
    from pyarrow import parquet

    path = tmp_path / "typed.parquet"
    output.save(path, WRITERS["parquet"](TYPED, rows))
    types = {field.name: str(field.type) for field in parquet.read_schema(path)}
    assert types == {
        "text": "string",
        "integer": "int64",
        "number": "double",
        "flag": "bool",
        "moment": "timestamp[us, tz=UTC]",
        "texts": "list<element: string>",
        "json": "string",
    }
    read = parquet.read_table(path).to_pylist()
    assert read == [{**row, "number": -0.125, "json": json.dumps(row["json"])} for row in rows]


def test_parquet_comes_in_row_groups_and_nothing_is_held_back() -> None:
    from pyarrow import parquet

    taken = 0

    def many() -> Iterator[Row]:
        nonlocal taken
        for taken in range(1, 12_001):
            yield {"integer": taken}

    pieces = WRITERS["parquet"](TYPED, many())
    first = next(pieces)
    assert taken == 5000
    file = parquet.ParquetFile(io.BytesIO(first + b"".join(pieces)))
    assert [file.metadata.row_group(number).num_rows for number in range(3)] == [5000, 5000, 2000]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_text_comes_while_rows_come(form: str) -> None:
    def endless() -> Iterator[Row]:
        while True:
            yield ROW

    pieces = WRITERS[form](TYPED, endless())
    assert [bool(next(pieces)) for _ in range(5)] == [True] * 5


def read_back(folder: Path, form: str, texts: list[str]) -> list[str]:
    """Texts after a way through a file of completions."""
    path = folder / f"completions.{form}"
    rows = [{"prompt": "p", "contestant": f"c{place}", "text": text} for place, text in enumerate(texts)]
    output.save(path, WRITERS[form](TABLES["completions"], rows))
    records = list(gather([path]).items())
    assert all(isinstance(record, CompletionRecord) for record in records), records
    return [record.turns[0] for record in records if isinstance(record, CompletionRecord)]


@pytest.mark.parametrize("form", WRITERS)
def test_hostile_texts_come_back(form: str, tmp_path: Path) -> None:
    assert read_back(tmp_path, form, HOSTILE) == HOSTILE


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@pytest.mark.parametrize("form", WRITERS)
@given(
    texts=st.lists(
        TEXT | st.from_regex(r"\A'* *[=+\-@\t\r\n]?.?\Z").map(lambda t: t.replace("\0", "")), min_size=1
    )
)
def test_any_text_comes_back(form: str, texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    assert read_back(tmp_path_factory.mktemp("any"), form, texts) == texts
