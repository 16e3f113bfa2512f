"""What can be wrong with a file as such, each with its line and reason."""

import gzip
import json
import os
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from arena.data.formats import files
from arena.data.formats.catalogue import gather
from tests.arena.data.formats.reading import problems, read, workbook, write_lines

PROMPT = b'{"id": "p1", "instruction": "Say hello."}\n'


def prompts_file(folder: Path, content: bytes, name: str = "prompts.jsonl") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "line"),
    [
        pytest.param(b"\xef\xbb\xbf" + PROMPT, 1, id="byte order mark"),
        pytest.param(PROMPT.replace(b"\n", b"\r\n"), 1, id="CRLF"),
        pytest.param(b"\n  \n" + PROMPT + b"\n\n", 3, id="blank lines"),
        pytest.param(PROMPT.strip(), 1, id="no final line break"),
        pytest.param(gzip.compress(PROMPT), 1, id="gzip"),
        pytest.param(b"[\r" + PROMPT.replace(b"\n", b"\r") + b"]\r", 1, id="a list with any blanks"),
    ],
)
def test_harmless_variations_are_read(tmp_path: Path, content: bytes, line: int) -> None:
    (record,) = read(prompts_file(tmp_path, content))
    assert (record.id, record.turns, record.place.line) == ("p1", ("Say hello.",), line)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"id": "caf\xe9", "instruction": "x"}', "not UTF-8 (byte 0xe9 at position 12)"),
        (b'{"id": "p2", "instruction": }', "not valid JSON: Expecting value at column 29"),
        (b'{"id": "p2", "instruction": "x', "not valid JSON: Unterminated string"),
        (b'{"id": "p2", "score": NaN}', "NaN is not a number that can be stored"),
        (b'{"id": "p2", "score": -Infinity}', "-Infinity is not a number that can be stored"),
        (b'{"id": "p2", "id": "p3", "instruction": "x"}', 'the key "id" appears twice in one object'),
        (b'["p2", "x"]', "expected a JSON object, found a list"),
        (b"null", "expected a JSON object, found null"),
        (b"7", "expected a JSON object, found a number"),
        (b'{"a":' * 100_000, "the JSON is nested too deeply"),
        (b'{"id": ' + b"9" * 5000 + b"}", "a number has too many digits"),
    ],
)
def test_a_broken_line_is_named_and_the_rest_still_checked(tmp_path: Path, line: bytes, reason: str) -> None:
    path = prompts_file(tmp_path, PROMPT + line + b'\n{"id": "p9", "instruction": 1.5}\n')
    found = problems(path)
    assert [(number, field) for number, field, _ in found] == [(2, ""), (3, "instruction")]
    assert reason in found[0][2]


@pytest.mark.parametrize(
    ("line", "field", "reason"),
    [
        (b'{"id": "p2", "instruction": "a\\u0000b"}', "instruction", "holds a NUL character"),
        (b'{"id": "p2", "instruction": "a\0b"}', "", "not valid JSON: Invalid control character"),
        (b'{"id": "p2", "instruction": "\\ud800"}', "instruction", "half of a surrogate pair"),
        (b'{"id": "p2", "instruction": "x", "more": {"deep": ["\\u0000"]}}', "more", "NUL character"),
        (b'{"id": "p2", "instruction": "x", "more": 1e999}', "more", "inf is not a number"),
        (b'{"id": "p2", "instruction": "x", "more": ' + b"[" * 40 + b"]" * 40 + b"}", "more", "32 deep"),
    ],
)
def test_what_no_database_stores_is_named(tmp_path: Path, line: bytes, field: str, reason: str) -> None:
    ((number, name, said),) = problems(prompts_file(tmp_path, PROMPT + line + b"\n"))
    assert (number, name) == (2, field)
    assert reason in said


TABLE = "id,instruction\np1,Say hello.\n"


@pytest.mark.parametrize("content", [PROMPT * 2, TABLE.encode(), TABLE.encode("utf-16")])
def test_lines_that_end_in_cr_alone(tmp_path: Path, content: bytes) -> None:
    path = prompts_file(tmp_path, content.replace(b"\n", b"\r"), "prompts.txt")
    reason = "the lines end in CR; save the file with LF or CRLF"
    assert problems(path) == [(1, "", reason)]


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (
            b'{\n  "id": "p1"\n}\n',
            1,
            "the file is one JSON object over several lines; write one object per line, or a list of objects",
        ),
        (b"[\n]\n", 0, "the file is empty"),
        (b"", 0, "the file is empty"),
    ],
)
def test_a_file_that_holds_no_rows(tmp_path: Path, content: bytes, line: int, reason: str) -> None:
    assert problems(prompts_file(tmp_path, content)) == [(line, "", reason)]


def test_damaged_gzip(tmp_path: Path) -> None:
    content = gzip.compress(b"".join(PROMPT.replace(b"p1", b"p%d" % n) for n in range(5000)))
    found = problems(prompts_file(tmp_path, content[:-20], "prompts.jsonl.gz"))
    assert [reason for _, _, reason in found] == ["the gzip file ends too early; it was cut off"]
    damaged = bytearray(gzip.compress(PROMPT * 50))
    damaged[20] ^= 0xFF
    ((_, _, reason),) = problems(prompts_file(tmp_path, bytes(damaged)))
    assert reason.startswith("the gzip file is damaged")


def test_a_line_and_a_file_have_a_greatest_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE", 1024 * 1024)
    long = b'{"id": "p2", "instruction": "' + b"x" * 2 * 1024 * 1024 + b'"}\n'
    assert problems(prompts_file(tmp_path, PROMPT + long)) == [(2, "", "the line is longer than 1 MiB")]
    monkeypatch.setattr(files, "MAX_FILE", 1000)
    path = prompts_file(tmp_path, gzip.compress(PROMPT + b"\n" * 2000))
    assert [reason for _, _, reason in problems(path)] == ["the file is longer than 2 GiB"]


LISTS = [
    pytest.param(b'[\n  {\n    "id": "p1",\n    "instruction": "x"\n  }\n]\n', 2, "line", id="indented"),
    pytest.param(b'[{"id": "p1", "instruction": "x"},\n {"id": 1.5}]', 1, "line", id="a line each"),
    pytest.param(b'\xef\xbb\xbf\n\r\n [{"id": "p1", "instruction": "x"}]', 3, "line", id="after blank lines"),
]


@pytest.mark.parametrize("name", ["prompts.json", "prompts.jsonl", "prompts.txt"])
@pytest.mark.parametrize(("content", "line", "unit"), LISTS)
def test_a_json_list_is_read(tmp_path: Path, content: bytes, line: int, unit: str, name: str) -> None:
    for packed in (content, gzip.compress(content)):
        record = read(prompts_file(tmp_path, packed, name))[0]
        assert (record.id, record.turns) == ("p1", ("x",))
        assert (record.place.line, record.place.unit) == (line, unit)


def test_objects_of_a_list_in_one_line_are_counted(tmp_path: Path) -> None:
    content = b'[{"id": "p1", "instruction": "x"}, {"id": 1.5, "instruction": "x"}, 7]'
    found = [str(item) for item in read(prompts_file(tmp_path, content))[1:]]
    path = tmp_path / "prompts.jsonl"
    assert found == [
        f"{path}, object 2: id: expected a text, found a number",
        f"{path}, object 3: expected a JSON object, found a number",
    ]


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b'[{"id": "p1", "instruction": "x"},\n{"id": "\xe9"}]', 2, "not UTF-8 (byte 0xe9); save"),
        (b'[{"id": "p1", "instruction": "x"}]\n{}', 2, "text follows the end of the list"),
        (b'[{"id": "p1", "instruction": "x"}, {"id": Infinity}]', 2, "Infinity is not a number that can be"),
    ],
)
def test_what_is_wrong_with_a_list(tmp_path: Path, content: bytes, line: int, reason: str) -> None:
    ((number, field, said),) = problems(prompts_file(tmp_path, content))
    assert (number, field) == (line, "")
    assert said.startswith(reason)


@pytest.mark.parametrize(
    "start", [b'{"id": "p1", "instruction": "', b'[{"id": "p1", "instruction": "', b"id,"]
)
def test_a_line_of_a_gigabyte_is_not_read_to_its_end(tmp_path: Path, start: bytes) -> None:
    path = tmp_path / "prompts.csv.gz"
    # A file of many gzip members is one: sixteen packed megabytes, 64 times.
    path.write_bytes(gzip.compress(start) + gzip.compress(b"x" * 16 * 1024 * 1024, 1) * 64)
    tracemalloc.start()
    found = problems(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [reason.split(" ", 2)[2] for _, _, reason in found] == ["is longer than 16 MiB"]
    assert peak < 130 * 1024 * 1024


def test_missing_path_empty_folder_and_a_pipe_that_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    data = prompts_file(tmp_path, PROMPT)
    found = list(gather([data, tmp_path / "nowhere.jsonl", tmp_path / "empty"]).items())
    assert [problem.reason for problem in found] == [
        "no such file or folder",
        "the folder has no file ending in .jsonl, .json, .csv, .tsv, .xlsx, .parquet",
    ]
    os.mkfifo(tmp_path / "pipe.jsonl")
    (problem,) = gather([tmp_path / "pipe.jsonl"]).problems
    assert problem.reason == "a pipe or device cannot be read; give a file"


def test_a_folder_is_read_with_its_subfolders_and_what_is_left_out_is_named(tmp_path: Path) -> None:
    records = [
        prompts_file(tmp_path / name, PROMPT) for name in ("deep/er", "Deep", "for-the-record", ".git")
    ]
    assert [source.file.path for source in gather([tmp_path]).sources] == [records[1], records[0]]
    (note,) = gather([tmp_path]).notes
    assert str(note) == f"{tmp_path}: not read: for-the-record/prompts.jsonl"
    assert [source.file.path for source in gather([records[2].parent]).sources] == [records[2]]
    (tmp_path / "deep" / "back").symlink_to(tmp_path)
    for name in ("LICENSE", "README.md", "deep/a.txt", "deep/b.txt", "deep/er/c.txt"):
        (tmp_path / name).write_text("About these data.")
    write_lines(tmp_path, "result.json", "[]")
    write_lines(tmp_path, "statistics.json", "{", "}")
    (note,) = gather([tmp_path]).notes
    assert note.text == "not read: LICENSE, README.md, deep/a.txt, deep/b.txt, deep/er/c.txt and 2 more"


def test_links_that_lead_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    inside = prompts_file(tmp_path / "data" / "deep", PROMPT)
    secret = prompts_file(tmp_path / "secret", PROMPT, "secret.jsonl")
    folder = tmp_path / "data"
    (folder / "a.jsonl").symlink_to(secret)
    (folder / "deep" / "all").symlink_to(secret.parent)
    (folder / "deep" / "up.jsonl").symlink_to("../../secret/secret.jsonl")
    (folder / "again.jsonl").symlink_to(inside)
    found = gather([folder])
    assert [source.file.path for source in found.sources] == [folder / "again.jsonl"]
    (note,) = found.notes
    assert note.text == ("not read, because it leads out of the folder: a.jsonl, deep/all, deep/up.jsonl")
    (tmp_path / "link").symlink_to(folder)
    assert [source.file.path.name for source in gather([tmp_path / "link"]).sources] == ["again.jsonl"]


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl", "t.json", "t.parquet", "t.xlsx"])
@pytest.mark.parametrize("bound", ["MAX_ROWS", "MAX_CELLS"])
def test_rows_and_cells_have_a_bound_in_every_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, bound: str
) -> None:
    monkeypatch.setattr(files, bound, 20)
    rows = [{"id": f"p{number}", "instruction": "x"} for number in range(30)]
    path = tmp_path / name
    if name == "t.parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    elif name == "t.xlsx":
        workbook(tmp_path, list(rows[0]), *(list(row.values()) for row in rows), name=name)
    else:
        lines = ["id,instruction", *(",".join(row.values()) for row in rows)]
        content = (
            json.dumps(rows)
            if name == "t.json"
            else "\n".join(lines if "csv" in name else map(json.dumps, rows))
        )
        path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    *_, (_, _, reason) = problems(path)
    assert ("20 can be read" if (name, bound) == ("t.parquet", "MAX_ROWS") else "more than 20 ") in reason


def test_a_folder_leaves_no_data_alone(tmp_path: Path) -> None:
    prompts_file(tmp_path, PROMPT)
    write_lines(tmp_path, "more.jsonl", {"height": 3})
    ((line, _, reason),) = problems(tmp_path)
    assert line == 1
    assert reason.startswith("no format has these columns: height. Needed: for prompts id")


def test_progress_is_the_share_of_bytes_read_of_each_file_once(tmp_path: Path) -> None:
    path, more = prompts_file(tmp_path, PROMPT), prompts_file(tmp_path, PROMPT, "more.jsonl")
    sources = gather([path, more, tmp_path, tmp_path / "." / "prompts.jsonl"])
    items = sources.items()
    next(items)
    assert sources.progress == pytest.approx(0.5, abs=0.5)
    assert len(list(items)) == 1
    assert sources.progress == 1.0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"PK\x03\x04\x14\x00", "the file is a zip archive or an office document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "the file is an office document with a password, or an old one"),
        (b"\x89PNG\r\n\x1a\n", "the file is a picture"),
        (b"%PDF-1.7\n", "the file is a PDF document"),
        (b"SQLite format 3\x00", "the file is an SQLite database"),
        (b"\xfd7zXZ\x00", "the file is packed with xz"),
        (b"BZh91AY", "the file is packed with bzip2"),
        (b"\x28\xb5\x2f\xfd", "the file is packed with Zstandard"),
        (gzip.compress(gzip.compress(PROMPT, mtime=0), mtime=0), "the file was packed with gzip twice"),
        (b"\x00\x01\x02\x03", "the file holds no text"),
    ],
)
def test_what_is_no_text_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    ((line, field, said),) = problems(prompts_file(tmp_path, content, "prompts.csv"))
    assert (line, field) == (1, "")
    assert said.startswith(reason)


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "\ufeffsep=;"])
def test_a_first_line_can_name_the_separator(tmp_path: Path, first: str) -> None:
    content = f"{first}\r\nid;instruction, long;instruction\r\np1;;Say hello.\r\n".encode()
    (record,) = read(prompts_file(tmp_path, content, "prompts.csv"))
    assert (record.id, record.turns, record.place.line) == ("p1", ("Say hello.",), 2)


def test_columns_without_a_name_keep_what_they_hold_and_too_many_are_refused(tmp_path: Path) -> None:
    (record,) = read(prompts_file(tmp_path, b",id,instruction,,\n0,p1,Say hello.,,x\n", "prompts.csv"))
    assert {name: value for name, value in record.extra.items() if value} == {
        "column 1": "0",
        "column 5": "x",
    }
    content = ",".join(f"c{number}" for number in range(50_000)).encode()
    reason = "the header has 50,000 columns; at most 16,384 can be read"
    assert problems(prompts_file(tmp_path, content, "prompts.csv")) == [(1, "", reason)]


@pytest.mark.parametrize("name", ["prompts.csv.gz", "prompts.jsonl.gz"])
@pytest.mark.parametrize("above", [b"", b"id,instruction\n"])
def test_endless_blank_lines_are_refused(tmp_path: Path, name: str, above: bytes) -> None:
    above = above if "csv" in name else b'{"id": "p1", "instruction": "x"}\n' if above else b""
    path = prompts_file(tmp_path, gzip.compress(above + b"\n" * 100_000 + PROMPT), name)
    line = 10_001 + bool(above)
    assert problems(path) == [(line, "", "more than 10,000 blank lines in a row")]


@pytest.mark.parametrize(("content", "line"), [(b" , ,\n,,\n", 1), (b"\n \n", 2)])
def test_a_header_has_to_name_a_column(tmp_path: Path, content: bytes, line: int) -> None:
    assert problems(prompts_file(tmp_path, content, "prompts.csv")) == [
        (line, "", "the first row names no column; write the names there")
    ]
