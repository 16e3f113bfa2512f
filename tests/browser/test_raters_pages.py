"""The pages about raters in a real browser: contents, figures, switches, keyboard, phones, accessibility."""

import re

import pytest

from leaderboard.refreshing import services
from tests import factories
from tests.browser.watching import drawn
from tests.leaderboard.rows import HandMade, few_rounds

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = '<a href="https://example.com">link</a><b>bold</b>'
PEOPLE = (1, 2, 4, 7)


@pytest.fixture(scope="module")
def made(lasting_rows):
    """Two people, a judge that favours what is shown first, one with two orders, and a name full of tags."""
    names = ("Heron 70B", "Stork 7B", HOSTILE)
    made = HandMade(*names, slug="board", name="Board study", categories=("coding", "poems"))
    other = factories.make_rater(name="Grace")
    strict, tags = made.judge("strict"), factories.make_rater(kind="judge", slug="tags", name=HOSTILE)
    strict.groups.add(factories.make_group(slug="panel", name="Panel"))
    for prompt in (0, 1):
        for place, one in enumerate(names):
            for another in names[place + 1 :]:
                for rater in (made.person, other):
                    for rating in PEOPLE:
                        made.rate(one, another, rating, prompt=prompt, rater=rater)
                made.rate(one, another, 2, prompt=prompt, rater=strict)
                made.rate(another, one, 3, prompt=prompt, rater=strict)
                made.rate(another, one, 6, prompt=prompt, rater=tags)
    made.rate(names[0], names[1], None, rater=strict, reason="out_of_range")
    with few_rounds(50):
        services.refresh(made.study)
    return made


def show(page, live_server, path):
    """Open a page of the study and wait until every figure is drawn."""
    page.goto(f"{live_server.url}/studies/board/{path}")
    drawn(page)


def test_boxes_choose_what_stands_side_by_side_by_keyboard_alone(page, live_server, made, problems):
    show(page, live_server, "raters/")
    before = page.locator("#figure-ratings-8 .legendtext").all_text_contents()
    assert len(before) == 3
    assert any("<a href" in text for text in before)
    assert page.locator(".plot svg a").count() == 0
    box = page.locator('input[name="with"][value="people"]')
    box.focus()
    page.keyboard.press("Space")
    page.locator("#compare-button").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("with=judge"))
    page.wait_for_function('document.querySelector(\'input[name="with"][value="people"]\').checked === false')
    drawn(page)
    names = page.locator("#figure-ratings-8 .legendtext").all_text_contents()
    assert len(names) == 2
    assert "STRICT" in names
    assert problems == []


def test_a_switch_keeps_focus_and_scroll_and_the_back_button_works(page, live_server, made):
    show(page, live_server, "agreement/")
    page.locator("#correlation summary").click()
    page.get_by_text("More settings").click()
    link = page.get_by_role("link", name="Kendall tau")
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("coefficient=kendall"))
    page.wait_for_function("document.activeElement.textContent.trim() === 'Kendall tau'")
    assert link.get_attribute("aria-current") == "true"
    assert page.locator("#correlation details").get_attribute("open") is not None
    said = page.locator("body > p[role=status]")
    assert "Kendall tau" in said.text_content()
    drawn(page)
    assert "Agrees with people (tau)" in page.locator("#figure-correlation .xtitle").text_content()
    page.go_back()
    page.wait_for_function("!location.search.includes('kendall')")
    first = page.locator("#coefficient-1")
    first.wait_for(state="attached")
    assert first.get_attribute("aria-current") == "true"
