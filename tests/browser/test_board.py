"""The public board in a real browser: figures, switches, colour schemes, phones, keyboard, accessibility."""

from itertools import pairwise
from pathlib import Path

import pytest

from leaderboard.models import SnapshotSlice
from leaderboard.refreshing import services
from leaderboard.standings.page import Board
from tests import factories
from tests.browser.watching import SIZES, check_accessible, drawn, settled
from tests.leaderboard.rows import HandMade, few_rounds

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = '<a href="https://example.com">link</a><b>bold</b>'


@pytest.fixture(scope="module")
def made(lasting_rows):
    """People and a judge, ties, an unscored reply, human demonstrations and a name full of tags."""
    names = ("Heron 70B", "Human demonstrations", HOSTILE, "--text")
    made = HandMade(*names, slug="board", name="Board study", categories=("coding", "poems"))
    made.contestants["Human demonstrations"].kind = "people"
    made.contestants["Human demonstrations"].save()
    judge = made.judge("strict")
    judge.groups.add(factories.make_group(slug="panel", name="Panel"))
    for prompt in (0, 1):
        for place, one in enumerate(names):
            for other in names[place + 1 :]:
                for rating in (1, 2, 4, 7, 1)[: 4 + prompt]:
                    made.rate(one, other, rating, prompt=prompt)
                made.rate(other, one, 6, prompt=prompt, rater=judge)
    made.rate(names[0], names[1], None, rater=judge, reason="out_of_range")
    with few_rounds(50):
        services.refresh(made.study)
    return made


def test_a_phone_shows_scores_with_their_intervals(page, live_server, made):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{live_server.url}/studies/board/")
    interval = page.locator("#standings-table tbody tr").first.locator(".dots").bounding_box()
    frame = page.locator(".table-scroll:has(#standings-table)").bounding_box()
    assert interval["x"] + interval["width"] <= frame["x"] + frame["width"]


def test_figures_keep_their_place_and_show_names_as_text(page, live_server, made, problems):
    page.goto(f"{live_server.url}/studies/board/")
    page.locator("#details > summary").click()
    before = page.evaluate("document.documentElement.scrollHeight")
    drawn(page)
    assert page.evaluate("document.documentElement.scrollHeight") == before
    assert page.locator(".plot .main-svg").count() >= 2
    labels = page.locator("#figure-standings .ytick text").all_text_contents()
    assert len(labels) == 4
    assert "--text" in labels
    assert any(label.startswith('<a href="https://exa') for label in labels)
    assert page.locator(".plot svg a").count() == 0
    assert page.locator("#figure-standings .legendtext").all_text_contents() == ["People", "STRICT"]
    assert problems == []


def test_the_category_matrix_is_sorted_and_switched_in_place(page, live_server, made, problems):
    page.goto(f"{live_server.url}/studies/board/categories/")
    page.evaluate("document.body.dataset.here = 'still'")
    page.get_by_role("link", name="poems", exact=True).click()
    page.wait_for_url("**sort=poems")
    page.wait_for_selector("th[aria-sort=descending]:has-text('poems')")
    settled(page)
    stored = SnapshotSlice.objects.get(
        kind="standings", raters="people", ties="on", category="poems", method="elo"
    ).content["standings"]
    shown = page.locator("#category-table tbody bdi").all_inner_texts()
    assert shown == [row["contestant"] for row in stored]
    page.get_by_role("link", name="STRICT").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**raters=judge%3Astrict**")
    page.wait_for_function("document.getElementById('board-status').textContent.includes('STRICT')")
    assert page.evaluate("document.body.dataset.here") == "still"
    assert problems == []


def caption(page):
    return page.locator("#standings-table caption").inner_text()


def names(page):
    """The contestants of the standings that are shown, from top to bottom."""
    return page.locator("#standings-table tbody tr:visible .name bdi").all_inner_texts()


def test_a_switch_by_keyboard_keeps_focus_and_place_and_is_announced(page, live_server, made, problems):
    page.goto(f"{live_server.url}/studies/board/")
    page.evaluate("document.body.dataset.here = 'still'")
    page.locator(".more-settings > summary").click()
    off = page.get_by_role("link", name="Off", exact=True)
    off.focus()
    place = page.evaluate("scrollY")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?raters=people&ties=off")
    page.wait_for_selector("nav a[aria-current=true]:has-text('Off')")
    assert "ties off" in caption(page)
    assert page.evaluate("document.activeElement.textContent.trim()") == "Off"
    assert page.evaluate("scrollY") == place
    assert page.evaluate("document.body.dataset.here") == "still", "the rest of the page stays"
    page.wait_for_function("document.getElementById('board-status').textContent.includes('ties off')")
    page.locator("#figure-win-rates").scroll_into_view_if_needed()
    page.wait_for_selector("#figure-win-rates[data-drawn]")
    assert page.locator("#tie-counts").count() == 0
    assert problems == []


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_a_switch_from_the_middle_stays_there(page, live_server, made, size):
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{live_server.url}/studies/board/")
    # Chromium with a window throws the page to its bottom without this rule; a headless shell never does.
    assert page.locator("#board").evaluate("board => getComputedStyle(board).overflowAnchor") == "none"
    table = page.locator("#standings-table")
    for address in ("ties=off", "category=coding"):
        link = page.locator(f"#board .segmented a[href*='{address}']").first
        page.evaluate(
            "scrollTo(0, document.querySelector('#standings-table').getBoundingClientRect().top + scrollY)"
        )
        place, before = page.evaluate("scrollY"), table.locator("caption").inner_text()
        link.dispatch_event("click")
        page.wait_for_url(f"**{address}**")
        page.wait_for_function("t => document.querySelector('caption').innerText !== t", arg=before)
        settled(page)
        assert abs(page.evaluate("scrollY") - place) < 60


def test_a_switch_by_mouse_and_the_way_back(page, live_server, made):
    page.goto(f"{live_server.url}/studies/board/")
    page.get_by_role("link", name="coding").first.click()
    page.wait_for_url("**category=coding**")
    page.wait_for_function("document.querySelector('caption').textContent.includes('coding')")
    page.locator(".more-settings > summary").click()
    page.get_by_label("Method", exact=True).select_option("bradley-terry")
    page.wait_for_url("**method=bradley-terry**")
    assert "category=coding" in page.url
    page.go_back()
    page.wait_for_url("**category=coding")
    page.wait_for_function("document.querySelector('caption').textContent.includes('coding, Elo')")
    page.go_back()
    page.wait_for_function("!document.querySelector('caption').textContent.includes('coding')")
    page.locator("#figure-standings").scroll_into_view_if_needed()
    page.wait_for_selector("#figure-standings[data-drawn]")


def test_sorting_by_click_and_by_address(page, live_server, made, problems):
    rows = Board.newest(made.study, {}).rows
    by_ties = [row.contestant for row in sorted(rows, key=lambda row: (-row.tie_percent, row.rank))]
    page.goto(f"{live_server.url}/studies/board/")
    assert names(page) == [row.contestant for row in rows]
    page.get_by_role("link", name="Model", exact=True).click()
    page.wait_for_selector("th.name[aria-sort=ascending]")
    settled(page)
    assert names(page) == sorted((row.contestant for row in rows), key=str.casefold)
    page.get_by_role("link", name="Model", exact=True).press("Enter")
    page.wait_for_selector("th.name[aria-sort=descending]")
    assert names(page) == sorted((row.contestant for row in rows), key=str.casefold, reverse=True)
    assert page.locator("#standings-table [aria-sort]").count() == 1
    page.goto(f"{live_server.url}/studies/board/?sort=ties")
    assert names(page) == by_ties
    page.locator(".more-settings > summary").click()
    page.get_by_role("link", name="Off", exact=True).click()
    page.wait_for_url("**ties=off&sort=ties&columns=all")
    settled(page)
    page.get_by_role("link", name="Fewer columns").click()
    page.wait_for_function("() => document.querySelectorAll('#standings-table thead th').length === 6")
    assert page.url.endswith("?raters=people&ties=off")
    assert problems == []


def test_finding_a_model_and_choosing_raters_from_a_list(page, live_server, lasting_rows, problems):
    found = [f"model {number}" for number in range(13)]
    made = HandMade(*found, slug="many", categories=("coding",))
    for one, other in pairwise(found):
        made.rate(one, other, 1)
    for number in range(3):
        made.rate("model 0", "model 1", 8, rater=made.judge(f"a judge with a rather long name {number}"))
    services.refresh(made.study)
    page.goto(f"{live_server.url}/studies/many/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#leaderboard", "the first stop skips to the table"
    page.get_by_role("searchbox").fill("MODEL 12")
    assert names(page) == ["model 12"]
    assert page.locator("#standings-found").inner_text() == "1 of 13 shown"
    page.keyboard.press("Enter")
    page.wait_for_url("**search=MODEL*12")
    settled(page)
    assert names(page) == ["model 12"]
    page.get_by_label("Raters", exact=True).select_option(index=1)
    page.wait_for_url("**raters=judge*")
    page.wait_for_function("document.querySelector('#standings-table').rows.length === 3")
    assert problems == []


def test_figures_follow_the_colour_scheme(page, live_server, made):
    page.emulate_media(color_scheme="light")
    page.goto(f"{live_server.url}/studies/board/")
    page.locator("#figure-win-rates").scroll_into_view_if_needed()
    page.wait_for_selector("#figure-win-rates[data-drawn]")
    background = "getComputedStyle(document.querySelector('#figure-win-rates .main-svg')).backgroundColor"
    light = page.evaluate(background)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"() => {background} !== '{light}'")


@pytest.mark.parametrize(("size", "kind"), [("desktop", "SVG"), ("phone", "PNG")])
def test_an_image_can_be_taken_away(page, live_server, made, size, kind):
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{live_server.url}/studies/board/")
    with page.expect_download() as download:
        page.get_by_role("button", name=f"{kind} of Win share against each other").click()
    assert download.value.suggested_filename == f"board-win-rates.{kind.lower()}"
    start = Path(download.value.path()).read_bytes()[:8]
    assert start == (b"\x89PNG\r\n\x1a\n" if kind == "PNG" else b"<svg cla")


def test_figures_and_plotly_are_fetched_when_they_come_near(page, live_server, made):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{live_server.url}/studies/board/", wait_until="networkidle")
    assert not [url for url in asked if "figures/" in url or "plotly" in url]
    page.emulate_media(media="print")
    assert page.locator("#win-rates .plot-frame").is_hidden()
    assert page.locator("#win-rates table").is_visible()
    page.emulate_media(media="screen")
    page.locator("#figure-win-rates").scroll_into_view_if_needed()
    page.wait_for_selector("#figure-win-rates[data-drawn]")
    assert len([url for url in asked if "figures/win-rates.json" in url]) == 1
    assert len([url for url in asked if "plotly" in url]) == 1


def test_a_figure_that_fails_says_so_and_can_be_tried_again(page, live_server, made):
    page.route("**/figures/standings.json*", lambda route: route.abort())
    page.goto(f"{live_server.url}/studies/board/")
    failed = page.locator("#figure-standings").get_by_role("alert")
    page.locator("#figure-standings").scroll_into_view_if_needed()
    failed.wait_for()
    check_accessible(page)
    page.unroute("**/figures/standings.json*")
    page.locator("#figure-standings").get_by_role("button", name="Try again").click()
    page.wait_for_selector("#figure-standings[data-drawn]")
    assert failed.count() == 0


def test_the_numbers_remain_without_scripts(plain_page, live_server, made):
    plain_page.goto(f"{live_server.url}/studies/board/")
    assert not plain_page.locator(".plot").first.is_visible()
    assert plain_page.locator("#win-rates table").is_visible()
    assert not plain_page.get_by_role("button", name="PNG of Win share against each other").is_visible()
    assert plain_page.get_by_role("link", name="CSV of Win share against each other").is_visible()
    plain_page.locator(".more-settings > summary").click()
    with plain_page.expect_navigation():
        plain_page.get_by_role("link", name="Off", exact=True).click()
    assert "ties off" in caption(plain_page)
    with plain_page.expect_navigation():
        plain_page.get_by_role("link", name="Ratings", exact=True).click()
    assert plain_page.url.endswith("?raters=people&ties=off&sort=games")
    with plain_page.expect_navigation():
        plain_page.get_by_role("link", name="All columns").click()
    assert plain_page.locator("#standings-table #sort-group").is_visible()
    plain_page.locator(".more-settings summary").click()
    plain_page.get_by_role("link", name="80%").click()
    plain_page.wait_for_url("**level=80**")


def test_a_waiting_page_shows_the_board_when_it_is_ready(page, live_server, problems):
    made = HandMade("alpha", "beta", slug="late")
    made.rate("alpha", "beta", 1)
    page.goto(f"{live_server.url}/studies/late/")
    assert page.get_by_text("being computed").is_visible()
    check_accessible(page)
    services.refresh(made.study)
    page.wait_for_selector("#standings-table")
    assert problems == []
