"""The comparison browser and the page of a contestant before a real browser."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page

from leaderboard.refreshing import services
from tests.browser.conftest import Visitor
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.browser
LIST = "/studies/small/comparisons/"


@pytest.fixture
def made(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> HandMade:
    """A closed study: coding is flipped by the judge, the poem is a tie, the third prompt unscored."""
    monkeypatch.setattr(services, "ROUNDS", 10)
    made = HandMade(
        "alpha",
        "beta",
        "gamma",
        slug="small",
        categories=("coding", "poems", "chat"),
        closed_at=timezone.now(),
    )
    strict = made.judge("strict")
    made.rate("alpha", "beta", 1, rationale="Shorter.")
    made.rate("alpha", "beta", 1, rater=strict, raw_reply="Rating: 1")
    made.rate("beta", "alpha", 1, rater=strict)
    made.rate("alpha", "gamma", 4, prompt=1)
    made.rate("beta", "gamma", None, reason="refused", rater=strict, prompt=2)
    services.refresh(made.study)
    return made


@pytest.fixture
def open_page(visitor: Visitor, made: HandMade) -> Callable[[str], Any]:
    """Go to a path of the site and return the page."""

    def go(path: str) -> Any:
        visitor.page.goto(visitor.server + path)
        return visitor.page

    return go


def listed(page: Any) -> list[str]:
    """The prompts in the list, in their order."""
    return [str(text).strip() for text in page.locator(".pair-prompt").all_inner_texts()]


def test_a_filter_changes_the_list_the_count_and_the_address(
    open_page: Callable[[str], Any], made: HandMade, visitor: Visitor
) -> None:
    coding, poems, chat = (prompt.instruction for prompt in made.prompts)
    page = open_page(LIST)
    assert listed(page) == [chat, poems, coding]
    page.focus("#filter-only")
    page.select_option("#filter-only", "flipped")
    page.wait_for_function("() => document.querySelectorAll('.pair').length === 1")
    assert listed(page) == [coding]
    assert page.inner_text("#count").startswith("1 of 3 pairs")
    assert "only=flipped" in page.url
    assert page.evaluate("document.activeElement.id") == "filter-only"
    page.select_option("#filter-category", "poems")
    page.wait_for_selector("text=No pair matches")
    page.go_back()
    page.wait_for_function("() => document.querySelectorAll('.pair').length === 1")
    assert visitor.complaints == []


def test_without_scripts_the_form_has_a_button(plain_page: Page, live_server: Any, made: HandMade) -> None:
    plain_page.goto(live_server.url + LIST)
    plain_page.click("summary:has-text('More filters')")
    plain_page.select_option("#filter-answer", "unscored")
    with plain_page.expect_navigation():
        plain_page.click(".pair-filters button")
    assert listed(plain_page) == [made.prompts[2].instruction]
    assert plain_page.input_value("#filter-answer") == "unscored"


def test_from_the_list_to_a_pair_and_to_the_next(
    open_page: Callable[[str], Any], made: HandMade, visitor: Visitor
) -> None:
    page = open_page(f"{LIST}?contestant={made.contestants['alpha'].slug}")
    page.click(".pair-prompt a >> nth=0")
    page.wait_for_selector("#answers")
    assert page.inner_text(".prompt-text >> nth=0").strip() == made.prompts[1].instruction
    with page.expect_navigation():
        page.click("text=Next pair")
    page.wait_for_selector("text=Changed with the order")
    assert page.locator(".pair-answer").count() == 3
    assert "alpha is much better" in page.inner_text("#answers ~ ul")
    assert page.locator("text=Shorter.").is_visible()
    assert page.locator("text=Rating: 1").is_visible()
    assert page.locator("text=Next pair").count() == 0
    with page.expect_navigation():
        page.click("text=All pairs found")
    assert page.input_value("#filter-contestant") == made.contestants["alpha"].slug
    assert visitor.complaints == []


def test_on_a_phone_the_scale_of_an_answer_stands_below_the_rater_and_inside_the_answer(
    visitor: Visitor, open_page: Callable[[str], Any], made: HandMade
) -> None:
    visitor.shown_at(390, 844)
    answer = open_page(f"{LIST}{made.pair('alpha', 'beta').pk}/").locator(".pair-answer").first
    around, rater, scale = (
        answer.bounding_box(),
        answer.locator(".pair-rater").bounding_box(),
        answer.locator(".pair-scale").bounding_box(),
    )
    assert scale["y"] >= rater["y"] + rater["height"]
    assert scale["x"] + scale["width"] <= around["x"] + around["width"]


def test_the_keyboard_reaches_filters_and_pairs(open_page: Callable[[str], Any], made: HandMade) -> None:
    page = open_page(LIST)
    page.focus("#filter-search")
    page.keyboard.type(made.prompts[0].instruction)
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.pair').length === 1")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('.pair-prompt') !== null"):
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#answers")
