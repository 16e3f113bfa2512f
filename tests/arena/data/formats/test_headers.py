"""Which rows name the columns of a sheet: titles are skipped, two rows joined, data never taken for names."""

from pathlib import Path

import pytest

from arena.data.formats.files import InputFile
from arena.data.formats.headers import find
from arena.data.formats.records import Problem
from arena.data.formats.values import UnreadableError
from tests.arena.data.formats.reading import workbook

DATA = ["Name a river in Norway.", "The Glomma runs there.", "The Danube, of course."]
NUMBERS = ["Name a river in Norway.", "The Glomma.", "4", "The Danube.", "2"]
ONE = ["Question", "Alder", "Birch"]


def numbered(*rows: list[str]) -> list[tuple[int, list[str]]]:
    return list(enumerate(rows, start=1))


@pytest.mark.parametrize(
    ("rows", "names", "last", "above"),
    [
        pytest.param([ONE, DATA], ONE, 1, 0, id="plain"),
        pytest.param([["Our evaluation"], ONE, DATA, DATA], ONE, 2, 1, id="title"),
        pytest.param([["Our evaluation", "", ""], ONE, DATA], ONE, 2, 1, id="padded title"),
        pytest.param([["", "Our evaluation", ""], ONE, DATA], ONE, 2, 1, id="centred title"),
        pytest.param(
            [["Our evaluation"], ["By us"], [""], ONE, DATA, DATA, DATA], ONE, 4, 2, id="two titles"
        ),
        pytest.param([["Our evaluation"], ["Date", "2024-05-01"], ONE, DATA, DATA], ONE, 3, 2, id="date"),
        pytest.param([["", "Answers"], ONE, DATA, DATA], ONE, 2, 1, id="a title over some"),
        pytest.param(
            [["Name", "Ours"], ["By", "Us"], [*ONE, "Cedar"], *[[*DATA, "x"]] * 3],
            [*ONE, "Cedar"],
            *(3, 2),
            id="facts above",
        ),
        pytest.param([["id", "q", "", ""], ["1", "x", "y", "z"]], ["id", "q", "", ""], 1, 0, id="few names"),
        pytest.param([["prompt"], ["What is it, exactly?"], ["Why?"]], ["prompt"], 1, 0, id="one column"),
        pytest.param([["prompt"], ["What is it", " exactly?"], ["Why?"]], ["prompt"], 1, 0, id="ragged"),
        pytest.param([["", "text"], ["0", "So."], ["1", "No."]], ["", "text"], 1, 0, id="index"),
        pytest.param([["prompt"], ["Why", " so?"], ["Say", " I"]], ["prompt"], 1, 0, id="a comma in each"),
        pytest.param([["a", "a"], ["x", "y"]], ["a", "a"], 1, 0, id="doubled"),
        pytest.param([ONE], ONE, 1, 0, id="no data"),
        pytest.param([["1", "2"], ["x", "y"]], ["1", "2"], 1, 0, id="numbers"),
    ],
)
def test_the_first_row_that_looks_like_a_header(
    rows: list[list[str]], names: list[str], last: int, above: int
) -> None:
    found = find(numbered(*rows))
    assert (found.names, found.last, found.above) == (names, last, above)
    assert bool(found.note) == bool(above)


GROUPS = ["Question", "Alder", "", "Birch", ""]
JOINED = ["Question", "Alder answer", "Alder score", "Birch answer", "Birch score"]


@pytest.mark.parametrize(
    ("upper", "lower", "data", "names"),
    [
        (GROUPS, ["", "answer", "score", "answer", "score"], NUMBERS, JOINED),
        (["Question", "Alder", "", "Birch"], ["", "answer", "score", "answer", "score"], NUMBERS, JOINED),
        (
            ["Question", "Alder", "Alder", "Birch", "Birch"],
            ["", "answer", "score", "answer", "score"],
            NUMBERS,
            JOINED,
        ),
        (
            ["", "Alder", "Alder", "Birch", "Birch"],
            ["", "answer", "score", "answer", "score"],
            NUMBERS,
            ["", *JOINED[1:]],
        ),
        (GROUPS, ["text", "answer", "score", "answer", "score"], NUMBERS, ["Question text", *JOINED[1:]]),
        (["Question", "Answers", ""], ["", "Alder", "Birch"], DATA, ONE),
        (["", "Answers", ""], ONE, DATA, ONE),
        (["Item", "Answers", ""], ONE, DATA, ONE),
    ],
)
@pytest.mark.parametrize("title", [False, True])
def test_two_header_rows_are_joined(
    upper: list[str], lower: list[str], data: list[str], names: list[str], title: bool
) -> None:
    rows = [*[["Our evaluation"]] * title, upper, lower, data, data]
    found = find(numbered(*rows))
    assert (found.names, found.last) == (names, 2 + title)
    assert found.note


@pytest.mark.parametrize(
    ("choice", "names", "first", "last"),
    [("1", ["a", "b"], 1, 1), ("2", ["c", "d"], 2, 2), ("1-2", ["c", "d"], 1, 2), ("0", ["", ""], 0, 0)],
)
def test_a_header_can_be_chosen(choice: str, names: list[str], first: int, last: int) -> None:
    found = find(numbered(["a", "b"], ["c", "d"], ["e", "f"]), choice)
    assert (found.names, found.first, found.last) == (names, first, last)


QUALTRICS = [
    ["StartDate", "model_left", "Q7"],
    ["Start Date", "model_left", "Which of\nthe two is better?"],
    *([f'{{"ImportId":"{name}"}}' for name in ("startDate", "model_left", "QID7")],),
    ["2026-03-01 09:12:00", "heron", "Left"],
    ["2026-03-01 09:14:00", "stork", "Same"],
]


@pytest.mark.parametrize(("choice", "last"), [("", 1), ("1", 1), ("2", 2)])
@pytest.mark.parametrize("title", [False, True])
def test_rows_that_describe_the_columns_are_no_data(choice: str, last: int, title: bool) -> None:
    chosen = str(int(choice) + title) if choice else ""
    found = find(numbered(*[["Our survey"]] * title, *QUALTRICS), chosen)
    assert (found.names, found.last, found.end) == (QUALTRICS[last - 1], last + title, 3 + title)
    assert f"down to row {3 + title}" in found.note


@pytest.mark.parametrize("cell", ['{"a": 1}', "", "ImportId"])
def test_other_rows_below_a_header_are_data(cell: str) -> None:
    found = find(numbered(ONE, DATA, [*DATA[:2], cell], DATA))
    assert (found.last, found.end, found.note) == (1, 1, "")


@pytest.mark.parametrize("choice", ["9", "x", "2-1", "1-3", "-1", "1-"])
def test_what_cannot_be_chosen_is_said(choice: str) -> None:
    with pytest.raises(UnreadableError):
        find(numbered(["a", "b"], ["c", "d"], ["e", "f"]), choice)


@pytest.mark.parametrize("name", ["t.csv", "t.xlsx"])
def test_rows_keep_the_numbers_of_the_spreadsheet(tmp_path: Path, name: str) -> None:
    rows = [["Our evaluation"], [], ["id", "instruction"], ["p1", "two\nlines"], ["p2", "x"]]
    path = tmp_path / name
    if name == "t.csv":
        cells = [",".join(f'"{cell}"' for cell in row) for row in rows]
        path.write_text("\n".join(cells))
    else:
        workbook(tmp_path, *rows, name=name)
    file = InputFile(path)
    found = [row for row in file.rows() if not isinstance(row, Problem)]
    assert [(line, row["id"]) for line, row in found] == [(4, "p1"), (5, "p2")]
    assert file.unit == "row"
    assert [note.text for note in file.notes()] == [
        "row 3 read as the header; 1 row above the header skipped"
    ]


def test_without_a_header_columns_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("p1,Why?\np2,How?\n")
    file = InputFile(path, header="0")
    assert [row[1] for row in file.rows()] == [
        {"column 1": "p1", "column 2": "Why?"},
        {"column 1": "p2", "column 2": "How?"},
    ]
