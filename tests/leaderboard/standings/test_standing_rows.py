"""The rows of the standings as HTML: what they say, and that no name can write in them."""

from leaderboard.standings.rows import About, Entry, StandingsView, TableQuery
from leaderboard.standings.table import standing_rows as tables_standing_rows
from leaderboard.templatetags.standings import standing_rows
from tests.leaderboard.pages.test_tables import standing, standings

HOSTILE = '"><script>alert(1)</script>'


def rows(*found, asked=TableQuery(), about=About(), intervals=True):  # noqa: B008 - both are frozen
    """The HTML of each row of a board of these standings."""
    entries = [Entry(row, about) for row in tables_standing_rows(standings(*found), None)]
    view = StandingsView(entries, asked, "", other_ties="", other_method="Elo", intervals=intervals)
    return standing_rows(view).split("\n")


def test_a_row_has_every_cell_in_the_order_of_the_headings():
    (row,) = rows(
        standing("alpha", 1012.4, rank=1, rank_ub=1, low=1000.0, high=1020.0), about=About(address="/a/")
    )
    assert row.startswith(
        '<tr><td class="num nowrap">1 (1)</td>'
        '<th scope="row" class="name"><a href="/a/"><bdi>alpha</bdi></a></th>'
        '<td class="num">1012</td>'
        '<td class="num"><span class="visually-hidden">from 1000 to 1020</span>'
        '<span aria-hidden="true">+8 / −12</span></td>'
        '<td class="dots-cell"><svg class="dots"'
    )
    assert row.endswith('<td class="num">–</td></tr>')


def test_without_intervals_there_is_a_dash_and_no_drawing():
    (row,) = rows(standing("alpha", 1000.0), intervals=False)
    assert '<td class="num">1000</td><td class="num">–</td><td class="mono">' in row
    assert "<svg" not in row


def test_what_is_special_stands_beside_the_name():
    people, few = rows(
        standing("Ada", 1000.0, kind="people"), standing("b", 900.0, games=1, wins=0, losses=1)
    )
    assert '<bdi>Ada</bdi> <span class="badge badge-info">People</span></th>' in people
    assert few.startswith('<tr class="provisional">')
    assert (
        '<span class="badge badge-warn">Provisional</span> '
        '<span class="provisional-reason">fewer than 30 games</span></th>'
    ) in few


def test_rows_a_search_leaves_out_are_hidden():
    found, left_out = rows(standing("alpha", 1000.0), standing("beta", 900.0), asked=TableQuery(search="ALP"))
    assert found.startswith("<tr><td")
    assert left_out.startswith("<tr hidden><td")


def test_no_text_can_write_in_a_row():
    about = About(HOSTILE, HOSTILE, f"/{HOSTILE}/", {})
    (row,) = rows(standing(HOSTILE, 1000.0), about=about)
    assert "<script" not in row
    assert '"&gt;' not in row
    assert row.count("&lt;script&gt;") == 4  # name, address, organisation, licence
