"""Rating in a real browser: by keyboard, on a phone, in the dark, after a lost session."""

import re
from collections.abc import Callable

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.sessions.models import Session

from arena.models import Assignment, Comparison, Completion, Prompt, Study
from tests.browser.conftest import Visitor

pytestmark = pytest.mark.browser
LONG = (
    "# Title\n\n| a | b |\n|---|---:|\n| 1 | 2 |\n\n```python\n"
    + "x = 'a long line' * 40  # " * 9
    + "\n```\n\nText. " * 60
)


def chosen(visitor: Visitor) -> str | None:
    return visitor.page.evaluate("document.querySelector('[name=rating]:checked')?.value ?? null")


def test_a_whole_pair_is_rated_by_keyboard_alone(visitor: Visitor) -> None:
    visitor.rate()
    assert chosen(visitor) is None
    first = visitor.assignment
    visitor.page.keyboard.press("2")
    visitor.page.keyboard.press("7")
    assert chosen(visitor) == "7"
    visitor.press_for_next("Enter")
    comparison = Comparison.objects.get()
    assert (comparison.rating, comparison.assignment.public_id) == (7, first)
    assert comparison.seconds is not None
    assert visitor.page.evaluate("document.activeElement.id") == "prompt-title"
    assert "1 rated, 0 skipped" in visitor.page.inner_text(".task-status")

    visitor.press_for_next("s")
    assert Assignment.objects.filter(state="skipped").count() == 1
    visitor.press_for_next("u")
    visitor.press_for_next("Control+z")
    assert visitor.assignment == first
    assert "You answered this pair with 7" in visitor.page.inner_text("#task")
    visitor.page.keyboard.press("1")
    visitor.press_for_next("Enter")
    assert Comparison.objects.current().get().rating == 1
    assert visitor.complaints == []


def test_all_pairs_to_the_end_without_a_reload(visitor: Visitor) -> None:
    visitor.rate()
    visitor.page.evaluate("window.stayed = true")
    for number in range(12):
        visitor.page.keyboard.press(str(number % 8 + 1))
        visitor.press_for_next("Enter")
    assert "nothing is left to rate" in visitor.page.inner_text("#task")
    assert visitor.page.evaluate("window.stayed")
    assert Comparison.objects.count() == 12
    visitor.press_for_next("u")
    assert visitor.assignment
    assert visitor.complaints == []


def test_keys_are_letters_while_a_comment_is_typed(visitor: Visitor) -> None:
    visitor.rate()
    visitor.page.keyboard.press("3")
    visitor.page.focus("#rationale")
    visitor.page.keyboard.type("su?g 5")
    assert chosen(visitor) == "3"
    assert visitor.page.input_value("#rationale") == "su?g 5"
    assert Assignment.objects.get().state == "claimed"
    visitor.page.click(".answer-submit")
    visitor.page.wait_for_selector(".task-status:has-text('1 rated')")
    assert Comparison.objects.get().rationale == "su?g 5"


def test_a_comment_is_begun_left_and_sent_by_keyboard(visitor: Visitor) -> None:
    visitor.rate()
    visitor.page.keyboard.press("c")
    assert visitor.page.evaluate("document.activeElement.id") != "rationale"
    visitor.page.keyboard.press("3")
    visitor.page.keyboard.press("c")
    visitor.page.keyboard.type("short")
    visitor.page.keyboard.press("Escape")
    visitor.page.keyboard.press("4")
    assert (chosen(visitor), visitor.page.input_value("#rationale")) == ("4", "short")
    visitor.page.keyboard.press("c")
    visitor.press_for_next("Control+Enter")
    comparison = Comparison.objects.get()
    assert (comparison.rating, comparison.rationale) == (4, "short")
    assert visitor.complaints == []


def test_the_comment_appears_after_the_choice(visitor: Visitor) -> None:
    visitor.rate()
    assert not visitor.page.is_visible("#rationale")
    visitor.page.keyboard.press("3")
    assert visitor.page.is_visible("#rationale")


def test_keys_do_nothing_in_dialogs_or_when_held_down(visitor: Visitor) -> None:
    visitor.rate()
    visitor.page.keyboard.press("?")
    assert visitor.page.is_visible("#help")
    visitor.page.keyboard.press("4")
    assert chosen(visitor) is None
    visitor.page.keyboard.press("Escape")
    visitor.page.keyboard.press("g")
    assert "Look for facts." in visitor.page.inner_text("#guidelines")
    visitor.page.keyboard.press("Escape")
    visitor.page.evaluate(
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '4', repeat: true, bubbles: true}))"
    )
    assert chosen(visitor) is None
    visitor.page.keyboard.press("Backspace")
    assert visitor.assignment


def test_enter_without_a_choice_sends_nothing(visitor: Visitor) -> None:
    visitor.rate()
    visitor.page.keyboard.press("Enter")
    visitor.page.keyboard.press("6")
    visitor.press_for_next("Enter")
    assert Comparison.objects.get().rating == 6


def test_digits_walk_through_the_criteria(visitor: Visitor) -> None:
    Study.objects.update(criteria=["helpfulness", "truth"])
    visitor.rate()
    for key in "842":
        visitor.page.keyboard.press(key)
    visitor.press_for_next("Enter")
    comparison = Comparison.objects.get()
    ratings = dict(comparison.criterion_ratings.values_list("criterion", "rating"))
    assert (comparison.rating, ratings) == (8, {"helpfulness": 4, "truth": 2})


def test_a_choice_survives_a_reload(visitor: Visitor) -> None:
    visitor.rate()
    visitor.page.keyboard.press("5")
    visitor.page.fill("#rationale", "draft")
    visitor.page.reload()
    visitor.page.wait_for_selector(".needs-script:not([hidden])", state="attached")
    assert (chosen(visitor), visitor.page.input_value("#rationale")) == ("5", "draft")


def test_a_lost_session_does_not_lose_the_answer(visitor: Visitor) -> None:
    get_user_model().objects.update(username="ada", password=make_password("a phrase"))
    visitor.rater.user.refresh_from_db()
    visitor.sign_in()
    visitor.rate()
    before = visitor.assignment
    visitor.page.keyboard.press("5")
    visitor.page.fill("#rationale", "kept")
    Session.objects.all().delete()
    visitor.page.click(".answer-submit")
    visitor.page.wait_for_selector("[name=password]")
    visitor.page.fill("[name=username]", "ada")
    visitor.page.fill("[name=password]", "a phrase")
    visitor.page.click("main button")
    visitor.page.wait_for_selector("#answer")
    assert visitor.assignment == before
    assert (chosen(visitor), visitor.page.input_value("#rationale")) == ("5", "kept")
    visitor.page.focus("#prompt-title")
    visitor.press_for_next("Enter")
    assert Comparison.objects.get().rationale == "kept"


def test_a_lost_connection_keeps_the_answer(visitor: Visitor) -> None:
    visitor.rate()
    visitor.page.keyboard.press("5")
    visitor.page.context.set_offline(True)
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_selector("#trouble:not([hidden])")
    assert "could not be reached" in visitor.page.inner_text("#trouble")
    visitor.page.context.set_offline(False)
    visitor.press_for_next("Enter")
    assert Comparison.objects.get().rating == 5
    assert not visitor.page.is_visible("#trouble")


def test_a_pair_answered_in_another_tab_says_so(visitor: Visitor) -> None:
    visitor.rate()
    other = visitor.page.context.new_page()
    other.goto(visitor.page.url)
    other.click("label:has([name=rating][value='2'])")
    other.click(".answer-submit")
    other.wait_for_selector(".task-status:has-text('1 rated')")
    before = visitor.assignment
    visitor.page.keyboard.press("8")
    visitor.press_for_next("Enter")
    assert "You answered it with 2" in visitor.page.inner_text("#task")
    visitor.press_for_next("u")
    assert visitor.assignment == before
    assert Comparison.objects.get().rating == 2


def test_it_works_without_javascript(visitor: Visitor) -> None:
    context = visitor.page.context.browser.new_context(java_script_enabled=False)
    context.add_cookies(visitor.page.context.cookies())
    page = context.new_page()
    page.goto(f"{visitor.server}/rate/{visitor.study.slug}/")
    page.click("label:has([name=rating][value='4'])")
    page.click(".answer-submit")
    assert "1 rated" in page.inner_text(".task-status")
    page.click("button[name=skip]")
    assert "1 rated, 1 skipped" in page.inner_text(".task-status")
    page.click("button[name=undo]")
    assert "You skipped this pair before." in page.inner_text("#task")
    context.close()
    assert Comparison.objects.get().rating == 4


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844), (640, 400)])
def test_long_texts_fit_the_window_and_axe_is_content(
    visitor: Visitor, serious_findings: Callable[[], list[str]], width: int, height: int, scheme: str
) -> None:
    Completion.objects.update(turns=[LONG, ""])
    Prompt.objects.update(turns=["A long prompt.\n" * 40, "Second turn"], input="Input " * 50)
    Study.objects.update(criteria=["helpfulness"])
    visitor.shown_at(width, height, scheme)
    visitor.rate()
    visitor.page.keyboard.press("3")
    assert serious_findings() == []
    wide = visitor.page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert wide == 0
    bar = visitor.page.locator("#answer").bounding_box()
    stays = bar["y"] + bar["height"] <= height + 1
    assert stays == (height > 480)
    assert visitor.complaints == []


def test_columns_are_equal_on_desktops_and_stacked_on_phones(visitor: Visitor) -> None:
    visitor.shown_at(1280, 800, "light")
    visitor.rate()
    a, b = (visitor.page.locator(f".response-{letter}").bounding_box() for letter in "ab")
    assert (a["y"], a["height"]) == (b["y"], b["height"])
    assert abs(a["width"] - b["width"]) < 1
    visitor.shown_at(390, 844, "light")
    a, b = (visitor.page.locator(f".response-{letter}").bounding_box() for letter in "ab")
    assert b["y"] >= a["y"] + a["height"]
    sizes = [label.bounding_box() for label in visitor.page.locator(".point").all()]
    assert all(size["width"] >= 40 and size["height"] >= 44 for size in sizes)


def test_the_numbers_stay_under_the_finger_on_a_phone(visitor: Visitor) -> None:
    visitor.shown_at(390, 844, "light")
    visitor.rate()
    last = visitor.page.locator(".point").last
    before = last.bounding_box()
    last.click()
    assert visitor.page.is_visible("#rationale")
    assert last.bounding_box() == before


def test_nothing_is_loaded_from_elsewhere(visitor: Visitor) -> None:
    Completion.objects.update(
        turns=[
            "![x](https://evil.example/a.png) <img src='https://evil.example/b.png'> [l](https://evil.example)"
        ]
    )
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    visitor.rate()
    assert asked
    assert [url for url in asked if not url.startswith(visitor.server)] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_pages_around_it_are_accessible(
    visitor: Visitor, serious_findings: Callable[[], list[str]], width: int, scheme: str
) -> None:
    visitor.shown_at(width, 844, scheme)
    for name, arguments in (
        ("rate", ()),
        ("guidelines", (visitor.study.slug,)),
        ("password_change", ()),
        ("password_change_done", ()),
    ):
        visitor.visit(name, *arguments)
        assert serious_findings() == [], name
    visitor.page.context.clear_cookies()
    Study.objects.update(sign_up_open=True)
    for name, arguments in (("login", ()), ("sign-up", (visitor.study.slug,))):
        visitor.visit(name, *arguments)
        assert serious_findings() == [], name
    assert not [line for line in visitor.complaints if re.search("Content.Security|refused", line, re.I)]
