"""Every page as a browser shows it to staff: its figures are drawn, it fits, and axe finds nothing."""

from typing import Any

import pytest
from django.urls import resolve

from leaderboard.refreshing import computing
from tests.browser.conftest import sign_in
from tests.browser.watching import check_accessible, drawn, settled
from tests.crawl.arena import STARTS, Arena, make_arena
from tests.crawl.walk import Facet, walk

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PARTS = ("/studies/closed/", "/operate/closed/", "/operate/", "/")
"""A test looks at each view of one part once; an address belongs to the first part that it begins with."""

OTHER_STUDIES = ("/studies/open/", "/operate/open/", "/operate/trained/")
"""Their pages have the views of the closed study's, so only the first of each is looked at again,"""
UNLIKE = ("/studies/open/sign-up/", "/operate/trained/pairs/")
"""and what the closed study has not."""

LEFT_OUT = ("/admin/", "/api/v1/docs", "/methodology/")
"""The admin's pages are Django's, and the API's reference is Swagger's; over the methodology, a page of
text and tables, axe takes a minute."""

LINKS = "a[href]:not([href*='/file/'])"
OWN_PAGE = ("/", "docs")
"""How an address ends that is neither a file nor data."""


@pytest.fixture(scope="module")
def arena(lasting_rows: None) -> Arena:
    return make_arena()


@pytest.mark.parametrize("part", PARTS)
def test_every_page_is_drawn_accessible_and_fits(
    part: str, page: Any, live_server: Any, arena: Arena, problems: list[str]
) -> None:
    sign_in(page, live_server.url, arena.users["staff"])

    def look(address: str) -> list[str]:
        page.goto(live_server.url + address)
        if page.locator("#computing").count():
            while computing.compute_next(arena.closed.pk):
                page.goto(live_server.url + address)
        drawn(page)
        settled(page)
        check_accessible(page)
        assert problems == [], address
        found = page.eval_on_selector_all(LINKS, "all => all.map(a => a.getAttribute('href'))")
        return [link for link in found if belongs(link.partition("?")[0].partition("#")[0])]

    def belongs(path: str) -> bool:
        """Whether an address is a page of this part that is to be looked at."""
        first = next((each for each in PARTS if path.startswith(each)), None)
        again = path.startswith(OTHER_STUDIES) and path not in OTHER_STUDIES and not path.startswith(UNLIKE)
        return first == part and path.endswith(OWN_PAGE) and not again and not path.startswith(LEFT_OUT)

    def view(address: str) -> set[Facet]:
        found = resolve(address.partition("?")[0])
        return {(found.view_name or found.route,)}

    seen = walk([part, *(start for start in (*STARTS, *UNLIKE) if belongs(start))], look, view)
    assert len(seen) >= 10
