import pytest

from leaderboard.pages.columns import BLANK, Column, bare
from leaderboard.pages.table import Arranged, DataTable, decimals
from leaderboard.pages.table_html import cell, table_rows
from leaderboard.pages.units import COEFFICIENT, FRACTION, SHARE, P, percent_cell


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "–"),
        (0.5, "0.50"),
        (-0.0751, "−0.08"),
        (43.68, "43.7"),
        (1038.8, "1039"),
        (1435, "1,435"),
        (-3, "−3"),
        ("a-b", "a-b"),
    ],
)
def test_numbers_are_written_in_one_way(value, written):
    assert cell(value) == written


def test_a_share_is_rounded_once():
    assert cell(percent_cell(0.854475)) == "85.4"
    assert percent_cell(2 / 3) == 66.6667


@pytest.mark.parametrize(
    ("column", "needed"),
    [
        ((0.0, 1.81, 1.39), 2),
        ((7.1, 43.9, 24.0), 1),
        ((0.5, 0.875, None), 2),
        ((0.3333333, 1.0), 2),
        ((0.0, 0.0), 1),
        (("a", 3, None), 1),
    ],
)
def test_a_column_has_as_many_decimals_as_it_needs(column, needed):
    assert decimals(column) == needed


def test_a_column_lines_up_and_names_are_escaped():
    table = DataTable.plain("Shares", ("Raters", "Share"), (("<b>", 0.0), ("Judge", 1.81)))
    assert table_rows(Arranged(table)) == (
        '<tbody>\n<tr><th scope="row">&lt;b&gt;</th><td class="num">0.00</td></tr>\n'
        '<tr><th scope="row">Judge</th><td class="num">1.81</td></tr>\n</tbody>'
    )


ITEMS = (
    {"label": "People", "kappa": 0.487, "kappa_low": 0.4199, "kappa_high": 0.551, "p": 0.0004}
    | {"board": {"rating": 1168.4, "low": 1120.0, "high": 1223.0}},
    {"label": "Judge", "kappa": 0.1, "kappa_low": -0.2, "kappa_high": 0.4, "p": None}
    | {"board": {"rating": 900.0, "low": None, "high": None}},
)
COLUMNS = (
    Column("Raters", "label"),
    Column("Kappa", "kappa", COEFFICIENT, ends=BLANK),
    Column("p (mirrored)", "p", P),
    Column("A: rating", bare("board.rating"), over="A", ends=("A: low", "A: high")),
)


def test_an_interval_is_in_the_cell_of_its_number():
    table = DataTable.of("", COLUMNS, ITEMS)
    shown = Arranged(table)
    labels = [(heading, [each.label for each in run]) for heading, run in shown.columns]
    assert labels == [("", ["Kappa"]), ("", ["p (mirrored)"]), ("", ["A"])]
    text = table_rows(shown)
    assert ">0.49 (0.42–0.55)<" in text
    assert ">0.10 (−0.20 to 0.40)<" in text
    assert ">&lt; 0.001<" in text
    assert ">1168 (1120–1223)<" in text
    assert ">900<" in text
    assert table.has_intervals


def test_files_keep_the_ends_in_columns_of_their_own():
    assert DataTable.of("", COLUMNS, ITEMS).csv().splitlines() == [
        "Raters,Kappa,Kappa low,Kappa high,p (mirrored),A: rating,A: low,A: high",
        "People,0.487,0.4199,0.551,0.0004,1168.4,1120.0,1223.0",
        "Judge,0.1,-0.2,0.4,,900.0,,",
    ]


def test_pages_write_columns_under_their_labels_and_shares_in_percent():
    columns = (
        Column("Opponent", "name"),
        Column("Win rate", bare("rate"), FRACTION, label="Win share", ends=("Low", "High")),
        Column("Alpha", "alpha", COEFFICIENT, label="Alpha of scores"),
        Column("Tie %", "ties", SHARE, label="Tie share"),
    )
    table = DataTable.of(
        "", columns, [{"name": "B", "rate": 0.625, "low": 0.3, "high": 0.9, "alpha": 0.5, "ties": 1 / 8}]
    )
    shown = Arranged(table)
    labels = [each.label for _, run in shown.columns for each in run]
    assert labels == ["Win share (%)", "Alpha of scores", "Tie share (%)"]
    assert ">62.5 (30.0–90.0)<" in table_rows(shown)
    assert ">12.5<" in table_rows(shown)
    assert table.csv().splitlines() == ["Opponent,Win rate,Low,High,Alpha,Tie %", "B,0.625,0.3,0.9,0.5,12.5"]
