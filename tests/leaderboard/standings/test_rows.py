import pytest

from leaderboard.pages.columns import TableQuery
from leaderboard.pages.standings.rows import USUAL, About, Entry, StandingsView, moved_text
from leaderboard.pages.standings.table import standing_rows
from leaderboard.templatetags.standings import standing_rows as html_rows
from tests.leaderboard.rows import standing, standings


def view(*names, asked=TableQuery(), intervals=True, **more):  # noqa: B008 - Asked is frozen
    """A board of contestants 100 points apart, the first named the best."""
    rows = [standing(name, 1100.0 - 100 * place, rank=place + 1, **more) for place, name in enumerate(names)]
    entries = [Entry(row, About()) for row in standing_rows(standings(*rows), None)]
    return StandingsView(entries, asked, "?raters=people", other="", other_method="Elo", intervals=intervals)


def shown(table):
    return [line.entry.row.contestant for line in table.lines]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("", ["b", "A", "c"]),
        ("rank", ["b", "A", "c"]),
        ("-rank", ["c", "A", "b"]),
        ("contestant", ["A", "b", "c"]),
        ("-contestant", ["c", "b", "A"]),
        ("rating", ["b", "A", "c"]),
        ("-rating", ["c", "A", "b"]),
        ("nothing", ["b", "A", "c"]),
        ("-nothing", ["b", "A", "c"]),
    ],
)
def test_rows_come_in_the_order_that_was_asked_for(sort, order):
    assert shown(view("b", "A", "c", asked=TableQuery(sort))) == order


def test_a_heading_turns_its_own_order_around():
    table = view("a", "b", asked=TableQuery("contestant"))
    rank, name, rating = table.first_headings
    assert (name.sorted, name.address) == ("ascending", "?raters=people&sort=-contestant")
    assert (rating.sorted, rating.address) == ("", "?raters=people&sort=rating")
    assert (rank.sorted, rank.address) == ("", "?raters=people")
    *_, rating = view("a", "b", asked=TableQuery("-rating", "a")).first_headings
    assert (rating.sorted, rating.address) == ("ascending", "?raters=people&sort=rating&search=a")
    assert view("a").first_headings[0].sorted == "ascending"


def test_those_without_a_value_come_last_in_both_directions():
    row = standing_rows(standings(standing("x", 1000.0)), None)[0]
    entries = [
        Entry(row, About("one", benchmarks={"MMLU": 1.0})),
        Entry(row, About("none")),
        Entry(row, About("two", benchmarks={"MMLU": 2.0})),
    ]
    for sort, order in (
        ("benchmark-MMLU", ["two", "one", "none"]),
        ("-benchmark-MMLU", ["one", "two", "none"]),
    ):
        asked = TableQuery.of({"sort": sort}, USUAL)
        assert asked.columns == "all", "what is sorted by is shown"
        table = StandingsView(entries, asked, "", other="", other_method="Elo", intervals=True)
        assert [line.entry.about.organisation for line in table.lines] == order


def test_columns_of_benchmarks_words_changes_and_the_other_tie_rule():
    row = standing_rows(standings(standing("x", 1000.0)), None)[0]
    about = About("Heron Labs", "MIT", benchmarks={"MMLU": 70.25, "GSM8K": 50.0})
    entry = Entry(row, about, moved=-2, other_rank=3, other_rating=900.4, other_moved=1)
    every = TableQuery(columns="all")
    table = StandingsView([entry], every, "", other="Ties off", other_method="Elo", intervals=True)
    cells = dict(
        zip([head.column.heading for head in table.table.headings], table.lines[0].cells, strict=True)
    )
    assert cells["Against all"] == ("num down", "↓−2")
    assert cells["Ties off: rank"] == ("num nowrap up", "3 ↑+1")
    assert cells["Ties off: score"] == ("num", "900")
    assert (cells["MMLU"][1], cells["GSM8K"][1]) == ("70.25", "50")
    assert cells["Licence"][1] == "MIT"
    labels = [head.column.heading for head in view("a", asked=every).table.headings]
    assert labels == ["Win share", "Tie share", "Ratings"], "a column of dashes is left out"
    assert [head.column.heading for head in view("a").table.headings] == ["Win share", "Ratings"]


def test_the_switch_of_columns_keeps_search_and_order_unless_the_column_goes():
    assert view("a", asked=TableQuery("-wins", "x")).table.columns_query == (
        "?raters=people&sort=-wins&search=x&columns=all"
    )
    assert view("a", asked=TableQuery("wins", "", "all")).table.columns_query == "?raters=people&sort=wins"
    assert view("a", asked=TableQuery("ties", "", "all")).table.columns_query == "?raters=people"


def test_a_search_needs_every_word_in_name_or_organisation_and_is_kept_in_the_query():
    row = standing_rows(standings(standing("Heron 70B", 1000.0)), None)[0]
    for search, found in (("heron", 1), ("70b HERON", 1), ("labs", 1), ("heron egret", 0), ("", 1)):
        entries = [Entry(row, About("Bird Labs"))]
        asked = TableQuery("", search)
        table = StandingsView(entries, asked, "", other="", other_method="", intervals=True)
        assert table.found == found, search
    assert TableQuery("games", "a & b").query("?raters=people") == "?raters=people&sort=games&search=a+%26+b"
    assert TableQuery().query("?raters=people") == "?raters=people"
    assert TableQuery("games").query("") == "?sort=games"


def test_the_axis_holds_the_rows_that_can_be_relied_on():
    relied, provisional = standing("a", 1000.0), standing("b", 5000.0, games=1, wins=1, losses=0, ties=0)
    entries = [Entry(row) for row in standing_rows(standings(relied, provisional), None)]
    table = StandingsView(entries, TableQuery(), "", other="", other_method="", intervals=True)
    assert table.axis.low < 990.0
    assert 1020.0 < table.axis.high < 1100.0
    table = view("a", "b", intervals=False)
    assert table.axis is None
    assert [(line.arms, line.low, line.dots) for line in table.lines] == [("", "", "")] * 2


def test_moves_in_words():
    assert [moved_text(places) for places in (2, -1, 0, None)] == ["↑+2", "↓−1", "=", "–"]


HOSTILE = '"><script>alert(1)</script>'


def rows(*found, asked=TableQuery(), about=About(), intervals=True):  # noqa: B008 - both are frozen
    entries = [Entry(row, about) for row in standing_rows(standings(*found), None)]
    view = StandingsView(entries, asked, "", other="", other_method="Elo", intervals=intervals)
    return html_rows(view).split("\n")


def test_a_row_has_every_cell_in_the_order_of_the_headings():
    (row,) = rows(standing("alpha", 1012.4, low=1000.0, high=1020.0), about=About("Labs", address="/a/"))
    assert row.startswith(
        '<tr role="row"><td role="cell" class="num nowrap"><span class="place">1</span></td>'
        '<th scope="row" role="rowheader" class="name"><a href="/a/"><bdi>alpha</bdi></a>'
        '<span class="organisation">Labs</span></th>'
        '<td role="cell" class="num score">1012<span class="share">win share 62%</span></td>'
        '<td role="cell" class="dots-cell"><span class="visually-hidden">1000 to 1020</span><svg class="dots"'
    )
    assert row.endswith('<td role="cell" class="num on-wide">40</td></tr>')
    (row,) = rows(standing("alpha", 1012.4, low=1000.0, high=1020.0), asked=TableQuery(columns="all"))
    assert '<td role="cell" class="num">+8 / −12</td><td role="cell" class="num on-wide">62%</td>' in row


def test_what_is_special_stands_beside_the_name_and_without_intervals_there_is_a_dash():
    people, few = rows(
        standing("Ada", 1000.0, kind="people"), standing("b", 900.0, games=1, wins=0, losses=1)
    )
    assert (
        '<bdi>Ada</bdi><span class="organisation"><span class="badge badge-info" title="Written by people">'
        "People</span></span></th>" in people
    )
    assert few.startswith('<tr role="row" class="provisional">')
    assert (
        '<span class="badge badge-warn">Provisional</span> '
        '<span class="provisional-reason">fewer than 30 ratings</span></th>'
    ) in few
    (row,) = rows(standing("alpha", 1000.0), intervals=False)
    assert '</span></td><td role="cell" class="num on-wide">62%</td>' in row
    assert "<svg" not in row


def test_rows_a_search_leaves_out_are_hidden():
    found, left_out = rows(standing("alpha", 1000.0), standing("beta", 900.0), asked=TableQuery(search="ALP"))
    assert found.startswith('<tr role="row"><td')
    assert left_out.startswith('<tr role="row" hidden><td')


def test_no_text_can_write_in_a_row():
    about = About(HOSTILE, HOSTILE, f"/{HOSTILE}/", {})
    (row,) = rows(standing(HOSTILE, 1000.0), about=about, asked=TableQuery(columns="all"))
    assert "<script" not in row
    assert '"&gt;' not in row
    assert row.count("&lt;script&gt;") == 4  # name, address, organisation, licence
