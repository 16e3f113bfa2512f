"""What the tests of pages look at: sizes of screens, drawn figures, accessibility."""

from collections.abc import Sequence
from typing import Any, Final

SIZES: Final = {"desktop": (1280, 900), "phone": (390, 844)}
BY_SIZE_OR_COLOUR: Final = ("color-contrast", "link-in-text-block", "scrollable-region-focusable")
"""The rules of axe whose findings depend on the size of the screen or on the colour scheme."""
LOOKS: Final = ((SIZES["desktop"], "light", ()), (SIZES["phone"], "dark", BY_SIZE_OR_COLOUR))
"""Every size and every colour scheme, each once, and the rules of axe that are asked there (none: all)."""

_AXE: Final = "/static/axe.min.js"
"""From the server (see tests/settings.py), as a browser keeps compiled what it fetched."""

# Only what is wrong leaves the page: all that axe looked at takes longer to hand over than to look at. Style
# sheets, which axe would fetch first, are read by no rule that it asks here.
_RUN: Final = """([inside, rules]) => axe.run(inside || document, {
        preload: false, resultTypes: ["violations"], ...(rules ? {runOnly: rules} : {})}).then(
    found => found.violations.map(each => `${each.id} (${each.impact}): ${each.help}: ${
        each.nodes.map(node => node.html.slice(0, 120)).join(", ")}`))"""


def drawn(page: Any) -> None:
    """Wait until every figure is drawn, also those folded away, and go back to the top."""
    page.evaluate("document.querySelectorAll('details:has(.plot)').forEach(each => { each.open = true; })")
    for place in page.query_selector_all(".plot"):
        place.scroll_into_view_if_needed()
        page.wait_for_function("place => place.dataset.drawn === 'true'", arg=place)
    page.evaluate("window.scrollTo(0, 0)")


def settled(page: Any) -> None:
    """Wait until what htmx put in place of something else works like what was there before."""
    page.wait_for_function("() => !document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')")


def violations(page: Any, inside: str | None = None, rules: Sequence[str] = ()) -> list[str]:
    """What axe finds wrong on the page, or in the part of it that a selector names, as sentences.

    ``rules``: ask these of axe alone.
    """
    page.wait_for_load_state()  # after a click the page is there before all of it and its scripts are
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(url=_AXE)
    found: list[str] = page.evaluate(_RUN, [inside, list(rules) or None])
    return found


def check_accessible(page: Any) -> None:
    """On a desktop in light and on a phone in dark colours axe finds nothing, and nothing is cut off."""
    before = page.viewport_size
    for (width, height), scheme, rules in LOOKS:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url
        assert violations(page, rules=rules) == [], (page.url, scheme)
    page.set_viewport_size(before)
