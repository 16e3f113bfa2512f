import re

from hypothesis import given
from hypothesis import strategies as st

from leaderboard.pages.table import Arranged, DataTable
from leaderboard.pages.table_html import table_rows

KAPPA = DataTable(
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
    assert [(name, [row[1] for row in rows]) for name, rows in shown.rows] == [
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
        shown = Arranged(DataTable("", ("First", "Second", "Third"), rows))
        assert shown.name == "First"
        assert shown.rows == [("", list(rows))]


def test_neighbours_share_the_heading_before_the_last_colon_and_names_are_escaped():
    columns = ("Contestant", "A: b: rank", "A: b: rating", "C: rank", "Organisation")
    assert headings(DataTable("", columns, (("Heron", 1, 1000.0, 2, "Nest"),))) == [
        ("A: b", ["Rank", "Score"]),
        ("", ["C: rank"]),
        ("", ["Organisation"]),
    ]
    rows = (("<b>", "<i>", "<u>"), ("<b>", "<s>", None))
    text = table_rows(Arranged(DataTable("", ("Raters", "Category", "Note"), rows)))
    assert set(re.findall(r"<(\w+)", text)) == {"tbody", "tr", "th", "span", "td"}
    assert "&lt;b&gt;" in text


cells = st.one_of(st.none(), st.sampled_from(["", "a", "b"]), st.integers(-3, 3))
rows = st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8).map(tuple)


@given(rows)
def test_no_row_and_no_number_is_lost(rows):
    shown = Arranged(DataTable("", ("First", "x: 1", "x: 2"), rows))
    assert [row for _, run in shown.rows for row in run] == list(rows)
    places = {column.place for _, run in shown.columns for column in run}
    hidden = {0, 1, 2} - places - {0, shown.name_place}
    assert all(row[place] in (None, "") for row in rows for place in hidden)
    if shown.name_place:
        assert all(name == row[0] for name, run in shown.rows for row in run)
