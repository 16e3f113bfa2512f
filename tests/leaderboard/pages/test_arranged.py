import re
from operator import itemgetter

from hypothesis import given
from hypothesis import strategies as st

from leaderboard.pages.columns import Column
from leaderboard.pages.table import Arranged, DataTable
from leaderboard.pages.table_html import table_rows

KAPPA = DataTable.plain(
    "Kappa",
    ("Raters", "Category", "Pairs", "Note"),
    (
        ("Judge", "All", 60, ""),
        ("Judge", "coding", 30, None),
        ("Strict", "All", 8, ""),
        ("Strict", "poems", 4, ""),
    ),
)


def headings(table):
    return [(heading, [each.label for each in run]) for heading, run in Arranged(table).columns]


def test_a_name_that_several_rows_share_stands_once_above_them():
    shown = Arranged(KAPPA)
    assert shown.name == "Category"
    assert [(name, [shown.names[at] for at in places]) for name, places in shown.rows] == [
        ("Judge", ["All", "coding"]),
        ("Strict", ["All", "poems"]),
    ]
    assert headings(KAPPA) == [("", ["Pairs"])], "nobody has a note"
    assert table_rows(shown).split("\n")[:3] == [
        "<tbody>",
        '<tr><th scope="rowgroup" colspan="2"><span>Judge</span></th></tr>',
        '<tr><th scope="row">All</th><td class="num">60</td></tr>',
    ]


def test_rows_with_names_of_their_own_stay_as_they_are():
    for rows in (
        (("Heron", "model", 1), ("Stork", "model", 2)),
        (("Heron", "a", 1), ("Stork", "a", 2), ("Heron", "b", 3), ("Stork", "b", 4)),  # apart from each other
        ((1, "a", 1), (1, "b", 2)),  # a number is no name
        (("Heron", 1, 1), ("Heron", 2, 2)),  # nothing else names the row
    ):
        shown = Arranged(DataTable.plain("", ("First", "Second", "Third"), rows))
        assert shown.name == "First"
        assert shown.rows == [("", list(range(len(rows))))]


def test_neighbours_share_their_heading_and_names_are_escaped():
    columns = [
        Column("Contestant", itemgetter(0), label="Model"),
        Column("A: b: rank", itemgetter(1), over="A: b"),
        Column("A: b: rating", itemgetter(2), over="A: b", label="score"),
        Column("C: rank", itemgetter(3), over="C"),
        Column("Organisation: nest", itemgetter(4)),
    ]
    assert headings(DataTable.of("", columns, [("Heron", 1, 1000.0, 2, "Nest")])) == [
        ("A: b", ["Rank", "Score"]),
        ("", ["C: rank"]),
        ("", ["Organisation: nest"]),
    ]
    rows = (("<b>", "<i>", "<u>"), ("<b>", "<s>", None))
    text = table_rows(Arranged(DataTable.plain("", ("Raters", "Category", "Note"), rows)))
    assert set(re.findall(r"<(\w+)", text)) == {"tbody", "tr", "th", "span", "td"}
    assert "&lt;b&gt;" in text


cells = st.one_of(st.none(), st.sampled_from(["", "a", "b"]), st.integers(-3, 3))
rows = st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8).map(tuple)


@given(rows)
def test_no_row_and_no_number_is_lost(rows):
    table = DataTable.plain("", ("First", "x", "y"), rows)
    shown = Arranged(table)
    assert [at for _, run in shown.rows for at in run] == list(range(len(rows)))
    found = {column.label: [cell for (cell,) in column.cells] for _, run in shown.columns for column in run}
    for name, cells in list(zip(table.columns, zip(*rows, strict=True), strict=True))[shown.name_place + 1 :]:
        assert found.get(name, list(cells)) == list(cells)
        assert name in found or set(cells) <= {None, ""}
    if shown.name_place:
        assert all(name == rows[at][0] for name, run in shown.rows for at in run)
