"""What the tests of the public pages look at: sizes of screens, drawn figures, accessibility."""

from typing import Any, Final

from axe_playwright_python.sync_playwright import Axe

SIZES: Final = {"desktop": (1280, 900), "phone": (390, 844)}
SCHEMES: Final = ("light", "dark")


def drawn(page: Any) -> None:
    """Wait until every figure is drawn, and go back to the top."""
    for place in page.query_selector_all(".plot"):
        place.scroll_into_view_if_needed()
        page.wait_for_function("place => place.dataset.drawn === 'true'", arg=place)
    page.evaluate("window.scrollTo(0, 0)")


def check_accessible(page: Any) -> None:
    """axe finds nothing on the page, in light and in dark colours."""
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page)
        assert found.violations_count == 0, f"{scheme}: {found.generate_report()}"
