"""Numbers that no snapshot holds, in a real browser: the page waits, and shows them by itself."""

import pytest
from celery import current_app
from playwright.sync_api import expect

from leaderboard.models import ComputedView, Snapshot
from leaderboard.refreshing import computing, services
from leaderboard.snapshots.levels import at_level
from tests.browser.watching import check_accessible
from tests.leaderboard.rows import HandMade, few_rounds

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def rated(slug):
    """Two models and people as contestants, rated by a person."""
    made = HandMade("alpha", "beta", "writers", slug=slug, name="Board", categories=("coding", "poems"))
    made.contestants["writers"].kind = "people"
    made.contestants["writers"].save()
    for number in range(16):
        made.rate("alpha", "beta", 1 + number % 6, prompt=number % 2)
        made.rate("beta", "writers", 1 + number % 5, prompt=number % 2)
    return made


@pytest.fixture(scope="module")
def made(lasting_rows):
    made = rated("board")
    with few_rounds(50):
        services.refresh(made.study)
    return made


@pytest.fixture(autouse=True)
def _nothing_computed(monkeypatch):
    """The test is the worker, and nothing was computed before it."""
    monkeypatch.setattr(current_app, "send_task", lambda *args, **options: None)
    ComputedView.objects.all().delete()


def ratings(page):
    """Contestants with their ratings, as the table of the board shows them."""
    rows = page.locator("#standings-table tbody tr").all()
    return [row.inner_text().split() for row in rows]


def test_the_page_waits_and_shows_the_numbers_by_itself(page, live_server, made, problems):
    page.goto(f"{live_server.url}/studies/board/?raters=people&band=3-6")
    page.get_by_text("These numbers are waiting to be computed.").wait_for()
    assert page.locator("#standings-table").count() == 0
    assert computing.compute_next(made.study.pk)
    page.wait_for_selector("#standings-table")
    assert page.url.endswith("?raters=people&band=3-6")
    content = page.request.get(f"{live_server.url}/studies/board/standings.json?band=3-6").json()
    shown = ratings(page)
    for row, cells in zip(content["standings"], shown, strict=True):
        assert row["contestant"] in cells
        assert f"{row['rating']:.0f}" in cells
    assert problems == []


@pytest.mark.parametrize(
    ("place", "computations", "shown"),
    [
        ("categories/?raters=people&band=3-6", 1, "#category-table"),
        ("contestants/{alpha}/?raters=people&band=3-6", 2, "#opponents"),
    ],
)
def test_every_page_with_settings_does(page, live_server, made, problems, place, computations, shown):
    place = place.format(alpha=made.contestants["alpha"].slug)
    page.goto(f"{live_server.url}/studies/board/{place}")
    page.wait_for_selector("#computing")
    assert page.locator(shown).count() == 0
    for _ in range(computations):
        assert computing.compute_next(made.study.pk)
    page.wait_for_selector(shown)
    assert page.url.endswith(place)
    assert problems == []


def test_a_switch_leads_there_and_the_other_board_is_one_click_away(page, live_server, made, problems):
    page.goto(f"{live_server.url}/studies/board/?raters=people")
    page.locator(".more-settings > summary").click()
    page.get_by_role("link", name="Models only").click()
    page.wait_for_selector("#computing")
    page.wait_for_url("**/?raters=people&contestants=models")
    expect(page.locator("#board-status")).to_contain_text("waiting to be computed")
    assert computing.compute_next(made.study.pk)
    page.wait_for_selector("#standings-table")
    assert page.locator("#standings-table tbody tr").count() == 2
    page.get_by_role("heading", name="With and without people’s answers").wait_for()
    page.locator(".more-settings > summary").click()
    page.get_by_role("link", name="Everyone").click()
    page.wait_for_url("**/?raters=people")
    page.wait_for_function("document.querySelectorAll('#standings-table tbody tr').length === 3")
    assert problems == []


def test_the_waiting_page_is_accessible_and_fits(page, live_server, made, problems):
    page.goto(f"{live_server.url}/studies/board/?raters=people&level=97.5")
    page.wait_for_selector("#computing")
    check_accessible(page)
    assert problems == []


def test_without_scripts_a_link_looks_again(plain_page, live_server, made):
    plain_page.goto(f"{live_server.url}/studies/board/?raters=people&category=-coding&level=90")
    again = plain_page.get_by_role("link", name="Refresh")
    for _ in range(2):  # the tables at the usual level, and with so few rounds those at this one
        assert computing.compute_next(made.study.pk)
        with plain_page.expect_navigation():
            again.click()
    plain_page.wait_for_selector("#standings-table")


def test_a_level_is_picked_from_the_snapshot(page, live_server):
    made = rated("levels")
    services.refresh(made.study)
    page.goto(f"{live_server.url}/studies/levels/?raters=people&level=80")
    page.wait_for_selector("#standings-table")
    stored = Snapshot.objects.newest(made.study).slices.get(
        kind="standings", raters="people", ties="on", category="", method="elo"
    )
    first = at_level(stored.content, "80")["standings"][0]
    shown = page.locator("#standings-table tbody tr").first.inner_text()
    assert f"{first['low']:.0f} to {first['high']:.0f}" in shown
