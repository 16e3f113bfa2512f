"""The pages about raters in a real browser: contents, figures, switches, keyboard, phones, accessibility."""

import re

import pytest

from leaderboard.refreshing import computing, services
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


def test_the_row_of_a_judge_has_the_numbers_counted_by_hand(page, live_server, made):
    page.goto(f"{live_server.url}/studies/board/raters/")
    row = page.locator(".kinds tbody tr", has_text="STRICT").first
    cells = [" ".join(text.split()) for text in row.locator("td").all_inner_texts()]
    # 2 prompts x 3 pairs x 2 orders, all of them for the first, and one reply that is no rating.
    assert cells[0] == "12 1 of 13 not rated"
    assert cells[2].startswith("100.0%")
    assert cells[3].startswith("100.0%")
    assert "6 pairs" in cells[3]
    people = page.locator(".kinds tbody tr", has_text="People").first.locator("td").all_inner_texts()
    # 1, 2, 4 and 7: three of four for the first.
    assert people[2].startswith("75.0%")


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


def test_the_heat_map_of_two_kinds_has_the_counts_of_both_orientations(page, live_server, made):
    page.goto(f"{live_server.url}/studies/board/agreement/two/")
    page.select_option("#two-raters", "judge:strict")
    page.locator("#two-button").click()
    page.wait_for_url(re.compile("raters=judge%3Astrict"))
    while computing.compute_next(made.study.pk):
        pass
    page.locator("#confusion").wait_for()
    page.locator("#confusion summary").click()
    table = page.locator("#confusion tbody tr").all_inner_texts()
    counts = [[int(cell) for cell in row.split("\t")[1:]] for row in table]
    assert len(counts) == 8
    assert sum(map(sum, counts)) == 2 * 6 * 2 * 8, (
        "two orientations, six pairs, two ratings of the judge, eight of people"
    )
    assert [row[::-1] for row in counts[::-1]] == counts


def test_without_javascript_the_tables_and_links_are_there(plain_page, live_server, made):
    plain_page.goto(f"{live_server.url}/studies/board/raters/")
    plain_page.locator('input[name="with"][value="people"]').uncheck()
    with plain_page.expect_navigation():
        plain_page.locator("#compare-button").click()
    assert "with=judge%3Astrict" in plain_page.url
    plain_page.locator("#ratings-8 summary").click()
    assert "STRICT" in plain_page.locator("#ratings-8 thead").inner_text()
    assert "People" not in plain_page.locator("#ratings-8 thead").inner_text()
    plain_page.get_by_text("More settings").click()
    with plain_page.expect_navigation():
        plain_page.get_by_role("link", name="Bradley-Terry").click()
    assert "method=bradley-terry" in plain_page.url
    assert "with=judge%3Astrict" in plain_page.url
    with plain_page.expect_navigation():
        plain_page.get_by_role("link", name="STRICT").first.click()
    assert "12 of 12 ratings take a side: 100.0%" in plain_page.locator("main").inner_text()
