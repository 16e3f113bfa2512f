"""Our own fields in Parquet: typed cells, row numbers, and files that are no good."""

import gzip
import sys
import tracemalloc
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from arena.data.formats import files
from arena.data.formats.catalogue import gather
from tests.arena.data.formats.reading import problems, read

PROMPTS = {"id": ["p1", "p2"], "instruction": ["Say hello.", "Say goodbye."]}


def table_file(folder: Path, columns: dict[str, Any], name: str = "data.parquet", **options: Any) -> Path:
    path = folder / name
    parquet.write_table(pa.table(columns), path, **options)
    return path


@pytest.mark.parametrize("name", ["prompts.parquet", "prompts.csv", "prompts"])
def test_parquet_is_told_by_its_content(tmp_path: Path, name: str) -> None:
    table_file(tmp_path, PROMPTS, name)
    first, second = read(tmp_path / name)
    assert (first.id, first.turns, second.turns) == ("p1", ("Say hello.",), ("Say goodbye.",))
    assert str(second.place) == f"{tmp_path / name}, row 2"


def test_cells_become_json_values(tmp_path: Path) -> None:
    columns = {
        "id": [7],
        "turns": [["One.", "Two."]],
        "references": [[{"author": "ann", "text": "Hello."}]],
        "category": [None],
        "price": [Decimal("1.50")],
        "count": [Decimal("3")],
        "at": [datetime(2026, 1, 2, 3, 4, tzinfo=UTC)],
        "day": [date(2026, 1, 2)],
        "spent": [timedelta(seconds=1.5)],
        "labels": pa.array([[("a", 1), ("b", None)]], pa.map_(pa.string(), pa.int64())),
        "bytes": [b"caf\xc3\xa9"],
        "kind": pa.array(["x"]).dictionary_encode(),
    }
    (record,) = read(table_file(tmp_path, columns))
    assert (record.id, record.turns, record.category) == ("7", ("One.", "Two."), None)
    assert record.references[0].author == "ann"
    assert record.extra == {
        "price": 1.5,
        "count": 3,
        "at": "2026-01-02T03:04:00+00:00",
        "day": "2026-01-02",
        "spent": 1.5,
        "labels": {"a": 1, "b": None},
        "bytes": "café",
        "kind": "x",
    }


def test_comparisons_with_scores_and_missing_numbers(tmp_path: Path) -> None:
    columns = {
        "prompt": ["p1", "p1"],
        "first": ["A", "B"],
        "second": ["B", "A"],
        "rater": ["judge", "judge"],
        "points": [3, 3],
        "rating": pa.array([3.0, None]),
        "reason": [None, "unparsable"],
        "first_score": pa.array([Decimal("7.5"), None]),
        "second_score": pa.array([8.0, None]),
    }
    scored, unscored = read(table_file(tmp_path, columns))
    assert (scored.rating, scored.scores) == (3, (Decimal("7.5"), Decimal("8.0")))
    assert (unscored.rating, unscored.reason, unscored.scores) == (None, "unparsable", None)


@pytest.mark.parametrize(
    ("columns", "row", "field", "reason"),
    [
        ({"id": ["p1"], "instruction": [1.5]}, 1, "instruction", "expected a text, found a number"),
        ({"id": ["p1"], "instruction": [None]}, 1, "instruction", "expected a text, found null"),
        ({"id": ["p1"], "instruction": ["x"], "n": [float("nan")]}, 1, "n", "nan is not a number that"),
        ({"id": ["p1"], "instruction": [b"\xff"]}, 1, "instruction", "holds half of a surrogate pair"),
    ],
)
def test_wrong_types_by_row(
    tmp_path: Path, columns: dict[str, Any], row: int, field: str, reason: str
) -> None:
    ((number, name, said),) = problems(table_file(tmp_path, columns))
    assert (number, name) == (row, field)
    assert said.startswith(reason)


def test_a_damaged_file_and_a_time_that_is_too_far_away(tmp_path: Path) -> None:
    whole = table_file(tmp_path, PROMPTS).read_bytes()
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(whole[:-20])
    (problem,) = gather([cut]).problems
    assert str(problem).startswith(f"{cut}: the Parquet file is damaged or was cut off (Parquet magic bytes")
    columns = {**PROMPTS, "at": pa.array([1, 10**14], pa.timestamp("s"))}
    ((row, _, reason),) = problems(table_file(tmp_path, columns))
    assert row == 1
    assert reason.startswith("holds a value that cannot be read (")


def test_a_file_damaged_in_the_middle_is_read_up_to_there(tmp_path: Path) -> None:
    columns = {"id": [f"p{n}" for n in range(1000)], "instruction": ["Say hello."] * 1000}
    path = table_file(tmp_path, columns, row_group_size=100, compression="snappy", write_page_checksum=True)
    content = bytearray(path.read_bytes())
    middle = parquet.ParquetFile(path).metadata.row_group(5).column(0).data_page_offset
    content[middle + 40 : middle + 60] = bytes(20)
    path.write_bytes(content)
    items = read(path)
    assert str(items[-1]).startswith(f"{path}, row {len(items)}: the Parquet file is damaged or was cut off")
    assert 400 <= len(items) <= 501


def test_a_column_that_stands_twice_no_rows_and_a_gzipped_file(tmp_path: Path) -> None:
    path = tmp_path / "twice.parquet"
    parquet.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["id", "id"]), path)
    assert problems(path) == [(0, "", "the column id appears twice in the file; rename one")]
    schema = pa.schema([("id", pa.string()), ("instruction", pa.string())])
    parquet.write_table(schema.empty_table(), tmp_path / "empty.parquet")
    (note,) = read(tmp_path / "empty.parquet")
    assert note.text == "the file has no rows below its header"
    packed = tmp_path / "data.parquet.gz"
    packed.write_bytes(gzip.compress(table_file(tmp_path, PROMPTS).read_bytes()))
    assert problems(packed) == [(0, "", "a Parquet file cannot be read gzipped; unpack it")]


def test_a_small_file_that_unpacks_without_end_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeated = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), pa.array(["x" * 20_000]))
    path = table_file(tmp_path, {"id": [str(n) for n in range(1000)], "instruction": repeated})
    monkeypatch.setattr(files, "MAX_FILE", 1_000_000)
    assert problems(path) == [(50, "", "the rows are longer than 0 GiB together; split the file")]
    monkeypatch.setattr(files, "MAX_LINE", 10_000)
    assert problems(path) == [(1, "", "the row is longer than 0 MiB")]
    packed = {"id": ["p"], "instruction": ["x" * 60_000_000]}
    path = table_file(tmp_path, packed, compression="zstd", use_dictionary=False)
    assert problems(path) == [(1, "", "the Parquet file unpacks to 57 MiB, which is too much")]


def test_without_pyarrow_a_sentence_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = table_file(tmp_path, PROMPTS)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    reason = "Parquet needs pyarrow: make parquet, or pip install likert-arena[parquet]"
    assert problems(path) == [(0, "", reason)]


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """64 MB of texts in row groups of 8 MB; what is read is let go."""
    texts = [str(n) * 1000 for n in range(1000, 1250)]
    path = tmp_path / "long.parquet"
    schema = pa.schema([("id", pa.string()), ("instruction", pa.string())])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for group in range(64):
            ids = [f"{group}-{n}" for n in range(len(texts))]
            writer.write_table(pa.table({"id": ids, "instruction": texts}, schema=schema))
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    most = count = 0
    for _ in files.parquet_rows(path):
        count += 1
        most = max(most, pa.total_allocated_bytes() - before)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 64 * len(texts)
    assert path.stat().st_size > 60_000_000
    assert most + peak < 16_000_000
