"""About the data in a real browser: numbers, switches, keyboard, accessibility."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from arena.data.importing.texts import digest_of
from arena.models import Reference
from leaderboard.refreshing import services
from tests import factories
from tests.browser.watching import drawn
from tests.leaderboard.rows import HandMade, few_rounds

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOSTILE = '<a href="https://example.com">link</a><b>bold</b>'


@pytest.fixture(scope="module")
def made(lasting_rows):
    """Completions of 2, 4 and 6 words, demonstrations by people, a category full of tags, a judge."""
    made = HandMade("Heron 70B", HOSTILE, slug="small", name="Small", categories=("coding", HOSTILE))
    for number, prompt in enumerate(made.prompts):
        for place, contestant in enumerate(made.contestants.values()):
            turns = [" ".join(["word"] * (2 + 2 * place + 2 * number))]
            factories.make_completion(
                prompt=prompt, contestant=contestant, turns=turns, digest=digest_of(turns)
            )
        Reference.objects.create(prompt=prompt, author="Ada", turns=["by hand"])
    judge = made.judge("strict")
    for prompt in (0, 1):
        made.rate("Heron 70B", HOSTILE, 2, prompt=prompt)
        made.rate(HOSTILE, "Heron 70B", 7, prompt=prompt)
        made.rate("Heron 70B", HOSTILE, None, prompt=prompt, rater=judge, reason="refused")
    made.study.closed_at = timezone.now()
    made.study.save()
    with few_rounds(10):
        services.refresh(made.study)
    return made


def row(page: Page, panel: str, *cells: str) -> list[str]:
    """The first row of a table whose cells begin with these; the first may stand above several rows."""
    page.evaluate("panel => document.querySelector(`#${panel} details`)?.setAttribute('open', '')", panel)
    rows = [
        [
            cell.inner_text()
            for cell in (*body.query_selector_all("th[scope=rowgroup]"), *each.query_selector_all("th, td"))
        ]
        for body in page.query_selector_all(f"#{panel} tbody")
        for each in body.query_selector_all("tr:has(th[scope=row])")
    ]
    return next(found for found in rows if found[: len(cells)] == list(cells))


def test_lengths_are_drawn_by_kind_and_part(page: Page, live_server, made, problems):
    page.goto(f"{live_server.url}/studies/small/data/")
    drawn(page)
    assert len(page.query_selector_all("#lengths .boxlayer .box")) == 9  # three kinds of texts, three parts
    assert problems == []


def test_numbers_are_those_of_the_texts(page: Page, live_server, made, problems):
    page.goto(f"{live_server.url}/studies/small/data/")
    # 2, 4, 4 and 6 words; the shown name is text, not markup.
    completions = row(page, "lengths", "All prompts", "Answers")
    assert completions[2:] == ["4", "0", "4", "1.6", "2", "3.5", "4", "4.5", "6"]
    assert row(page, "lengths", HOSTILE, "Answers")[4] == "5"
    assert row(page, "contestants", "Heron 70B")[2:6] == ["2", "0", "0", "3.0"]
    assert row(page, "coverage", "People")[1:] == ["4", "0", "0", "2"]
    assert row(page, "unscored", "STRICT")[1:] == ["2", "2", "100", "2", "0"]
    assert problems == []


def test_the_measure_is_switched_by_keyboard_in_place(page: Page, live_server, made, problems):
    page.goto(f"{live_server.url}/studies/small/data/")
    link = page.get_by_role("link", name="Characters", exact=True)
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/data/?measure=characters")
    page.get_by_role("heading", name="Length in characters").wait_for()
    assert row(page, "lengths", "coding", "Prompts")[0] == "coding"
    assert page.evaluate("document.activeElement.textContent") == "Characters"
    page.go_back()
    page.get_by_role("heading", name="Length in words").wait_for()
    assert problems == []


def test_the_numbers_remain_without_scripts(plain_page, live_server, made):
    plain_page.goto(f"{live_server.url}/studies/small/data/")
    plain_page.get_by_role("link", name="Tokens", exact=True).click()
    plain_page.wait_for_url("**/data/?measure=tokens")
    assert "Length in tokens of o200k_base" in plain_page.content()
