"""Long and wide pages: folds, cards on phones, names that stay in sight, and the page of the API."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from leaderboard.refreshing import services
from tests import factories
from tests.browser.watching import check_accessible, drawn
from tests.leaderboard.rows import HandMade

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CONTESTANTS = 40
SHOWN = 25


@pytest.fixture
def phone(page: Page) -> Page:
    page.set_viewport_size({"width": 390, "height": 844})
    return page


@pytest.fixture
def long_board(monkeypatch) -> HandMade:
    """A chain of contestants, each of which won against the next."""
    monkeypatch.setattr(services, "ROUNDS", 20)
    names = [f"Heron {place:02}B" for place in range(CONTESTANTS)]
    made = HandMade(*names, slug="board", name="Board study")
    for better, worse in pairwise(names):
        made.rate(better, worse, 1)
    services.refresh(made.study)
    return made


@pytest.fixture
def raters(monkeypatch) -> HandMade:
    """Two people and two judges over two categories."""
    monkeypatch.setattr(services, "ROUNDS", 20)
    made = HandMade(
        "Heron", "Stork", "Crane", slug="board", name="Board study", categories=("coding", "poems")
    )
    everybody = [made.person, factories.make_rater(name="Grace"), made.judge("strict"), made.judge("mild")]
    for place, rater in enumerate(everybody):
        for prompt in (0, 1):
            for one, other in (("Heron", "Stork"), ("Stork", "Crane"), ("Heron", "Crane")):
                made.rate(one, other, 2 + place, prompt=prompt, rater=rater)
    services.refresh(made.study)
    return made


def shown_rows(page: Page, table: str) -> int:
    return sum(row.is_visible() for row in page.locator(f"{table} tbody tr").all())


def test_a_long_table_unfolds_by_keyboard_and_stays_unfolded_when_sorted(
    page: Page, live_server, long_board
) -> None:
    table = "#standings-table"
    page.goto(f"{live_server.url}/studies/board/")
    assert shown_rows(page, table) == SHOWN
    check_accessible(page)
    page.get_by_label(f"Show all {CONTESTANTS}").focus()
    page.keyboard.press("Space")
    assert shown_rows(page, table) == CONTESTANTS
    page.locator(f"{table} thead a").last.click()
    page.wait_for_url(re.compile("sort="))
    expect(page.get_by_label("Show fewer")).to_be_checked()
    assert shown_rows(page, table) == CONTESTANTS


def test_who_looks_for_a_name_finds_it_below_the_fold(page: Page, live_server, long_board) -> None:
    page.goto(f"{live_server.url}/studies/board/")
    last = page.locator("#standings-table tbody tr").last
    name = last.locator(".name").inner_text()
    expect(last).to_be_hidden()
    page.locator("#standings-search").fill(name)
    expect(last).to_be_visible()
    assert shown_rows(page, "#standings-table") == 1
    box = page.get_by_label(f"Show all {CONTESTANTS}")
    expect(box).to_be_hidden()  # it would unfold nothing now
    page.locator("#standings-search").fill("")
    expect(box).to_be_visible()


def test_a_long_figure_unfolds(page: Page, live_server, long_board) -> None:
    page.goto(f"{live_server.url}/studies/board/")
    frame = page.locator("#win-rates .plot-frame")
    whole = page.locator("#figure-win-rates").bounding_box()["height"]
    assert frame.bounding_box()["height"] < whole
    drawn(page)
    page.locator("#win-rates").get_by_role("button", name=f"Show all {CONTESTANTS} rows").click()
    assert frame.bounding_box()["height"] >= whole
    page.locator("#win-rates").get_by_role("button", name="Show fewer rows").click()
    assert frame.bounding_box()["height"] < whole


def test_without_scripts_long_tables_unfold_as_well(plain_page, live_server, long_board) -> None:
    plain_page.goto(f"{live_server.url}/studies/board/")
    plain_page.get_by_label(f"Show all {CONTESTANTS} models").check()
    assert shown_rows(plain_page, "#standings-table") == CONTESTANTS
    expect(plain_page.locator("#win-rates")).to_be_visible()
    expect(plain_page.locator("#unfold-win-rates")).to_be_hidden()  # none is drawn


def test_on_a_phone_each_kind_of_raters_is_a_card_with_the_names_of_its_numbers(
    phone, live_server, raters
) -> None:
    phone.goto(f"{live_server.url}/studies/board/raters/")
    table = phone.locator(".kinds")
    region = phone.get_by_role("region", name="Raters: table")
    assert region.evaluate("region => region.scrollWidth <= region.clientWidth")
    names = (
        table.locator("tbody tr")
        .first.locator("td")
        .evaluate_all("cells => cells.map(cell => getComputedStyle(cell, '::before').content)")
    )
    headings = table.locator("thead th").all_text_contents()
    assert [name.strip('"') for name in names] == headings[1:]
    row = phone.get_by_role("row").filter(has=phone.get_by_role("rowheader", name="STRICT"))
    assert row.get_by_role("cell").count() == len(names), "to a screen reader it is still a table"


def test_on_a_phone_the_names_of_rows_stay_while_a_table_is_scrolled(phone, live_server, raters) -> None:
    phone.goto(f"{live_server.url}/studies/board/agreement/")
    phone.locator("#coefficients > summary").click()
    region = phone.locator("#kappa .table-scroll")
    name = region.get_by_role("rowheader", name="coding").first
    region.evaluate("region => { region.scrollLeft = 200 }")
    assert region.evaluate("region => region.scrollLeft") > 0
    assert abs(name.bounding_box()["x"] - region.bounding_box()["x"]) <= 2
    assert region.locator("th[scope=rowgroup]").all_text_contents() == ["MILD", "STRICT"]


def test_the_reference_of_the_api_opens_its_operations(page: Page, live_server, problems) -> None:
    """Without the network, and within the policy for scripts."""
    page.goto(f"{live_server.url}/api/v1/docs")
    page.get_by_text("Read standings").click()
    expect(page.get_by_text("No such study").or_(page.get_by_text("Parameters")).first).to_be_visible()
    assert problems == []


def test_without_a_public_study_the_first_page_says_so(page: Page, live_server, problems) -> None:
    page.goto(live_server.url)
    assert page.get_by_text("No public study yet").is_visible()
    check_accessible(page)
    assert problems == []
