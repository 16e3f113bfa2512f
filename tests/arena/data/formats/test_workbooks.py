"""Excel workbooks: read as CSV would hold them, and refused where they are no good."""

import zipfile
from datetime import date, datetime, time, timedelta
from pathlib import Path

import openpyxl
import pytest

from arena.data.formats import workbooks
from arena.data.formats.catalogue import gather
from arena.data.formats.files import InputFile
from arena.data.formats.reading import Kind
from arena.data.formats.records import ComparisonRecord
from arena.data.formats.table import ColumnMapping
from tests.arena.data.formats.reading import problems, read, workbook

SHEET = "xl/worksheets/sheet1.xml"
START = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
TEXT = '<row r="1"><c r="A1" t="inlineStr"><is><t>{}</t></is></c></row></sheetData></worksheet>'


def with_part(path: Path, part: str, content: str) -> Path:
    """The workbook with other content of one part."""
    with zipfile.ZipFile(path) as archive:
        parts = {entry: archive.read(entry) for entry in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, old in parts.items():
            archive.writestr(entry, content if entry == part else old)
    return path


def reason(path: Path) -> str:
    ((_, _, said),) = problems(path)
    return said


@pytest.mark.parametrize("name", ["prompts.xlsx", "prompts"])
def test_a_workbook_is_told_by_its_content(tmp_path: Path, name: str) -> None:
    path = workbook(
        tmp_path, [], ["id", "instruction", "n"], [1.0, "Say hello."], [None], [2, "'=x", "a"], name=name
    )
    first, second = read(path)
    assert (first.id, first.turns, first.extra) == ("1", ("Say hello.",), {})
    assert (second.id, second.turns, second.extra) == ("2", ("=x",), {"n": "a"})
    assert str(second.place) == f"{path}, row 5"


def test_a_text_is_no_workbook(tmp_path: Path) -> None:
    (tmp_path / "data.xlsx").write_text("not a zip")
    assert reason(tmp_path / "data.xlsx").startswith("the file is no Excel workbook")


def test_cells_are_texts_as_in_csv(tmp_path: Path) -> None:
    values = {
        "whole": (1.0, "1"),
        "number": (0.25, "0.25"),
        "flag": (True, "true"),
        "day": (date(2024, 1, 2), "2024-01-02"),
        "moment": (datetime(2024, 1, 2, 3, 4, 5), "2024-01-02T03:04:05"),
        "hour": (time(3, 4), "03:04:00"),
        "span": (timedelta(hours=1), "3600"),
        "escaped": ("a_x000D_\nb", "a\r\nb"),
        "empty": (None, ""),
        "last": ("x", "x"),
    }
    path = workbook(tmp_path, list(values), [value for value, _ in values.values()])
    ((number, row),) = InputFile(path).rows()
    assert (number, row) == (2, {name: text for name, (_, text) in values.items()})


def test_a_formula_is_the_value_that_was_saved_with_it(tmp_path: Path) -> None:
    path = workbook(tmp_path, ["id", "instruction"])
    header, end = TEXT.format("x").split("</sheetData>")
    formula = '<row r="2"><c r="A2"><f>1+1</f><v>2</v></c></row>'
    with_part(path, SHEET, f"{START}{header}{formula}</sheetData>{end}")
    assert list(InputFile(path).rows()) == [(2, {"x": "2"})]


def test_votes_come_from_the_first_sheet(tmp_path: Path) -> None:
    path = workbook(
        tmp_path, ["left", "right", "who"], ["A", "B", 1], ["B", "A", 2], more=("Old votes", "Notes")
    )
    mapping = ColumnMapping(
        Kind.COMPARISONS, {"first": "left", "second": "right", "winner": "who"}, {"rater": "crowd"}
    )
    items = list(gather([tmp_path], "table", mapping=mapping).items())
    assert [item.rating for item in items if isinstance(item, ComparisonRecord)] == [1, 3]
    assert str(items[-1]) == f'{path}: the sheet "Sheet" is read, not "Old votes", "Notes"'


def test_another_sheet_can_be_chosen(tmp_path: Path) -> None:
    path = workbook(tmp_path, ["About these data"], more=("Prompts",))
    book = openpyxl.load_workbook(path)
    for row in (["id", "instruction"], ["1", "Say hello."]):
        book["Prompts"].append(row)
    book.save(path)
    prompt, note = gather([path], sheet="Prompts").items()
    assert (prompt.id, note.text) == ("1", 'the sheet "Prompts" is read, not "Sheet"')
    (problem,) = gather([path], sheet="Prompt").items()
    assert problem.reason == 'the workbook has no sheet "Prompt"; its sheets are Sheet, Prompts'


def test_rows_that_do_not_fit_the_header(tmp_path: Path) -> None:
    path = workbook(tmp_path, ["id", "instruction"], ["p1", "One", None, "more"])
    ((line, _, said),) = problems(path)
    assert (line, said.partition(";")[0]) == (2, "the row has 4 cells, the header has 2")
    assert reason(workbook(tmp_path, ["id", "id"])) == "the column id appears twice in the header; rename one"
    assert reason(workbook(tmp_path)) == "the file is empty"


@pytest.mark.parametrize(
    ("part", "content", "said"),
    [
        (SHEET, f"<!DOCTYPE x [<!ENTITY a 'aaaa'>]>{START}{TEXT.format('&a;')}", "EntitiesForbidden"),
        (SHEET, f"{START}<row>", "ExpatError"),
        ("xl/workbook.xml", "<workbook/>", "the workbook "),
        (
            SHEET,
            START + TEXT.format("a" * 60 * 2**20),
            "the workbook unpacks to 60 MiB, which is too much; save",
        ),
        ("xl/theme/theme1.xml", "a" * 51 * 2**20, "the workbook unpacks to 51 MiB, 51 MiB of it outside"),
        ("xl/styles.xml", "a" * 6 * 2**20, "the workbook unpacks to 6 MiB, 6 MiB of it outside"),
        (SHEET, START + TEXT.format("a" * 17 * 2**20), "the row is longer than 16 MiB"),
        (
            SHEET,
            f'{START}<row r="99999999999999"/></sheetData></worksheet>',
            "the sheet has more than 1,000 rows",
        ),
    ],
    ids=lambda value: value[:30],
)
def test_hostile_and_broken_workbooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, content: str, said: str
) -> None:
    monkeypatch.setattr(workbooks, "MAX_ROWS", 1000)
    path = workbook(tmp_path, ["id", "instruction"], ["p1", "One"])
    assert said in reason(with_part(path, part, content))


def test_a_workbook_that_was_cut_off(tmp_path: Path) -> None:
    path = workbook(tmp_path, ["id", "instruction"])
    path.write_bytes(path.read_bytes()[:-100])
    assert reason(path) == "the workbook is damaged or incomplete (BadZipFile); save it again"
    assert reason(path.rename(tmp_path / "data.csv")).startswith(
        "the file is a zip archive or an office document"
    )
