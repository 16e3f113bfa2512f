"""One of many categories is picked by keyboard, on a phone, and without scripts; axe finds nothing."""

import pytest

from leaderboard.refreshing import services
from tests.browser.watching import SIZES, check_accessible, settled
from tests.leaderboard.rows import HandMade, few_rounds

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CATEGORIES = [f"Natural sciences: field {number}" for number in range(40)]


@pytest.fixture(scope="module")
def made(lasting_rows):
    made = HandMade("Heron", "Ibis", slug="many", categories=CATEGORIES)
    for prompt in range(len(CATEGORIES)):
        for rating in (1, 7)[: 1 + prompt % 2]:
            made.rate("Heron", "Ibis", rating, prompt=prompt)
    with few_rounds(20):
        services.refresh(made.study)
    return made


def test_a_category_is_picked_by_keyboard(page, live_server, made, problems):
    page.goto(f"{live_server.url}/studies/many/categories/")
    assert page.locator("#category-table thead a").count() == 13
    page.locator("#switch-sort").focus()
    page.keyboard.press("End")
    settled(page)
    page.wait_for_url("**sort=*")
    assert page.locator("th[aria-sort=descending]").inner_text().startswith(CATEGORIES[9])
    assert problems == []


def test_an_unknown_category_can_be_replaced_on_a_phone_without_scripts(browser, live_server, made):
    width, height = SIZES["phone"]
    context = browser.new_context(java_script_enabled=False, viewport={"width": width, "height": height})
    page = context.new_page()
    page.goto(f"{live_server.url}/studies/many/?category=nothing")
    assert page.locator("main a[href*=category]").count() == 0
    page.get_by_label("Category").select_option(CATEGORIES[7])
    page.get_by_label("Category").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**category=*field*7")
    context.close()


def test_the_page_of_an_unknown_category_is_accessible(page, live_server, made):
    page.goto(f"{live_server.url}/studies/many/?category=nothing")
    check_accessible(page)
    page.get_by_label("Category").select_option(CATEGORIES[7])
    page.wait_for_url("**category=*field*7")
