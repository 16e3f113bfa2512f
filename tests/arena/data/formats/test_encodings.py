"""Every common encoding of a table gives the same rows; what is in none is told."""

import codecs
from pathlib import Path

import pytest

from arena.data.formats.files import InputFile
from arena.data.formats.records import Problem
from tests.arena.data.formats.reading import problems, read

TEXT = "id,instruction\r\np1,Nenne die Höhe des größten Bergs – „bitte“ in m²\r\np2,Qui a créé l’œuvre ?\r\n"
ROWS = [
    {"id": "p1", "instruction": "Nenne die Höhe des größten Bergs – „bitte“ in m²"},
    {"id": "p2", "instruction": "Qui a créé l’œuvre ?"},
]


def table(folder: Path, content: bytes, name: str = "t.csv") -> InputFile:
    (folder / name).write_bytes(content)
    return InputFile(folder / name)


def rows(file: InputFile) -> list[dict[str, str]]:
    return [row[1] for row in file.rows() if not isinstance(row, Problem)]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
@pytest.mark.parametrize("long", [False, True])
def test_a_table_is_the_same_in_every_encoding(tmp_path: Path, encoding: str, long: bool) -> None:
    file = table(tmp_path, (TEXT + "p3,x\r\n" * 20_000 * long).encode(encoding))
    assert file.columns() == ("id", "instruction")
    assert rows(file)[:2] == ROWS
    notes = [note.text for note in file.notes()]
    assert notes == ["the file is not UTF-8; it is read as Windows-1252 (Western Europe)"] * (
        encoding == "cp1252"
    )


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_json_lines_may_be_utf_16(tmp_path: Path, mark: bytes) -> None:
    content = '{"id": "p1", "instruction": "Wie spät?"}\r\n{"id": "p2", "instruction": 3.5}'
    encoding = "utf-16-le" if mark == codecs.BOM_UTF16_LE else "utf-16-be"
    file = table(tmp_path, mark + content.encode(encoding), "p.jsonl")
    first, problem = read(file.path)
    assert (first.turns, problem.place.line) == (("Wie spät?",), 2)


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        pytest.param(
            "id,instruction\np1,é ü\n".encode() + b"p2,caf\xe9\n", 3, "not UTF-8 (byte 0xe9", id="damaged"
        ),
        pytest.param("id,instruction\np1,Привет, как дела\n".encode("cp1251"), 2, "not UTF-8", id="Cyrillic"),
        pytest.param("id,instruction\np1,日本の川\n".encode("shift-jis"), 2, "not UTF-8", id="Japanese"),
        pytest.param("id,instruction\np1,中国最长的河\n".encode("gbk"), 2, "not UTF-8", id="Chinese"),
        pytest.param("id,instruction\n".encode("utf-16-le")[:-1], 1, "not UTF-16-LE", id="cut off"),
        pytest.param(b"\xff\xfei\x00\x00\xd8x\x00", 1, "not UTF-16", id="half a pair"),
    ],
)
def test_what_is_in_no_known_encoding_is_refused(
    tmp_path: Path, content: bytes, line: int, reason: str
) -> None:
    ((number, _, said), *_) = problems(table(tmp_path, content).path)
    assert number == line
    assert said.startswith(reason)
    assert said.endswith("save the file as UTF-8")


@pytest.mark.parametrize(
    ("content", "cells"),
    [
        ("a;b\n1,5;2,5\n", {"a": "1,5", "b": "2,5"}),
        ("a, or so;b\nx;y\n", {"a, or so": "x", "b": "y"}),
        ("a\tb, or so\nx\ty\n", {"a": "x", "b, or so": "y"}),
        ("a,b;c\nx,y;z\n", {"a": "x", "b;c": "y;z"}),
        ("a|b\nx, y|z\n", {"a": "x, y", "b": "z"}),
        ('a;b\n"x;y\nz,";w\n', {"a": "x;y\nz,", "b": "w"}),
        ("a\nx; y\nz; w\n", {"a": "x; y"}),
        ("Our results, 2024\na;b;c\nx;y;z\nu;v;w\ns;t;u\n", {"a": "x", "b": "y", "c": "z"}),
    ],
)
def test_the_separator_is_the_one_that_makes_a_table(
    tmp_path: Path, content: str, cells: dict[str, str]
) -> None:
    assert rows(table(tmp_path, content.encode()))[0] == cells
