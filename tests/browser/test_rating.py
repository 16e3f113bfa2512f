"""Rating in a real browser: by keyboard, on a phone, in the dark, after a lost session."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.sessions.models import Session
from django.utils import timezone

from arena.models import Assignment, Comparison, Completion, Flag, Prompt, Study
from tests import factories as make
from tests.browser.conftest import Visitor, wait_until
from tests.browser.watching import check_accessible, violations

pytestmark = pytest.mark.browser
LONG = (
    "# Title\n\n| a | b |\n|---|---:|\n| 1 | 2 |\n\n```python\n"
    + "x = 'a long line' * 40  # " * 9
    + "\n```\n\nText. " * 60
)


TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Waits until what a script has scrolled was told to all who listen."""


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
    visitor.settle()
    comparison = Comparison.objects.get()
    assert (comparison.rating, comparison.assignment.public_id) == (7, first)
    assert comparison.seconds is not None
    assert visitor.page.evaluate("document.activeElement.id") == "prompt-title"
    assert "1 done, " in visitor.page.inner_text(".task-status")

    visitor.press_for_next("s")
    visitor.settle()
    assert Assignment.objects.filter(state="skipped").count() == 1
    visitor.press_for_next("u")
    visitor.press_for_next("Control+z")
    assert visitor.assignment == first
    assert "You chose 7" in visitor.page.inner_text("#task")
    visitor.page.keyboard.press("1")
    visitor.press_for_next("Enter")
    visitor.settle()
    assert Comparison.objects.current().get().rating == 1
    assert visitor.complaints == []


def test_all_pairs_to_the_end_without_a_reload(visitor: Visitor) -> None:
    visitor.rate()
    visitor.page.evaluate("window.stayed = true")
    for number in range(12):
        visitor.page.keyboard.press(str(number % 8 + 1))
        visitor.press_for_next("Enter")
    visitor.expect("You are done, thank you")
    visitor.settle()
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
    assert not Assignment.objects.exclude(state="claimed").exists()
    visitor.page.click(".answer-submit")
    visitor.page.wait_for_selector(".task-status:has-text('1 done')")
    visitor.settle()
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
    visitor.settle()
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
    visitor.settle()
    assert Comparison.objects.get().rating == 6


def test_the_reference_opens_by_key_beside_the_responses(visitor: Visitor) -> None:
    Study.objects.update(show_references="demand")
    for prompt in Prompt.objects.all():
        prompt.references.create(author="x", turns=["A **reference**. " * 300])
    visitor.rate()
    text, response = visitor.page.locator(".reference-text"), visitor.page.locator(".response-b")
    assert not text.is_visible()
    visitor.page.keyboard.press("o")
    text.wait_for(state="visible")
    visitor.page.keyboard.press("r")
    assert text.inner_text().startswith("A **reference**.")
    beside, below = text.bounding_box(), response.bounding_box()
    assert beside["x"] >= below["x"] + below["width"]
    assert beside["y"] + beside["height"] <= below["y"] + below["height"] + 1
    check_accessible(visitor.page)
    visitor.shown_at(390, 844)
    assert text.bounding_box()["y"] >= response.bounding_box()["y"] + response.bounding_box()["height"]
    visitor.page.keyboard.press("o")
    text.wait_for(state="hidden")
    assert visitor.complaints == []


def test_digits_walk_through_the_criteria(visitor: Visitor) -> None:
    Study.objects.update(criteria=["helpfulness", "truth"])
    visitor.rate()
    for key in "842":
        visitor.page.keyboard.press(key)
    visitor.press_for_next("Enter")
    visitor.settle()
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


def test_a_draft_outlasts_a_pair_that_was_brought_back_in_between(visitor: Visitor) -> None:
    visitor.rate()
    visitor.page.keyboard.press("2")
    visitor.press_for_next("Enter")
    second = visitor.assignment
    visitor.page.keyboard.press("5")
    visitor.page.fill("#rationale", "draft")
    visitor.page.focus("#prompt-title")
    visitor.press_for_next("u")
    visitor.page.reload()
    visitor.page.wait_for_selector(".needs-script:not([hidden])", state="attached")
    visitor.expect("You chose 2")
    visitor.page.keyboard.press("3")
    visitor.press_for_next("Enter")
    assert visitor.assignment == second
    assert (chosen(visitor), visitor.page.input_value("#rationale")) == ("5", "draft")
    visitor.settle()
    assert [each.rating for each in Comparison.objects.all()] == [2, 3]


def test_a_lost_session_does_not_lose_the_answer(visitor: Visitor) -> None:
    get_user_model().objects.update(username="ada", password=make_password("a phrase"))
    visitor.rater.user.refresh_from_db()
    visitor.sign_in()
    visitor.rate()
    visitor.settle()
    first = visitor.assignment
    visitor.page.keyboard.press("5")
    visitor.page.fill("#rationale", "kept")
    Session.objects.all().delete()
    visitor.press_for_next("Control+Enter")
    visitor.page.wait_for_selector("#outbox a:visible")
    visitor.page.wait_for_selector("#outbox:has-text('You are signed out. 1 rating is waiting to be sent')")
    second = visitor.assignment
    visitor.page.keyboard.press("7")
    visitor.press_for_next("Enter")
    visitor.page.wait_for_selector("#outbox:has-text('2 ratings are waiting')")
    assert visitor.page.inner_text("#task h2") == "You are signed out"
    with visitor.page.context.expect_page() as opened:
        visitor.page.click("#outbox a")
    tab = opened.value
    tab.fill("[name=username]", "ada")
    tab.fill("[name=password]", "a phrase")
    tab.click("main button")
    tab.wait_for_selector("#answer")
    visitor.page.bring_to_front()
    visitor.settle()
    assert visitor.page.is_hidden("#outbox")
    found = {each.assignment.public_id: each for each in Comparison.objects.select_related("assignment")}
    assert {name: each.rating for name, each in found.items()} == {first: 5, second: 7}
    assert found[first].rationale == "kept"
    # The page goes on with the new session.
    visitor.page.keyboard.press("1")
    visitor.press_for_next("Enter")
    visitor.settle()
    assert Comparison.objects.count() == 3


def test_answers_of_another_account_wait_for_it(visitor: Visitor) -> None:
    visitor.rate()
    visitor.settle()
    other = make.make_member(visitor.study)
    visitor.study.memberships.update(guidelines_read_at=timezone.now())
    mine, visitor.rater = visitor.rater, other
    visitor.sign_in()
    visitor.page.keyboard.press("5")
    visitor.press_for_next("Enter")
    visitor.page.wait_for_selector("#outbox a:visible")
    assert not Comparison.objects.exists()
    visitor.rater = mine
    visitor.sign_in()
    visitor.page.wait_for_selector("#outbox", state="hidden")
    visitor.settle()
    assert Comparison.objects.get().rater == mine


def test_a_lost_connection_keeps_the_answers(visitor: Visitor) -> None:
    visitor.rate()
    visitor.settle()
    visitor.page.context.set_offline(True)
    for number in (5, 2):
        visitor.page.keyboard.press(str(number))
        visitor.press_for_next("Enter")
    visitor.expect("You are offline")
    visitor.page.wait_for_selector("#outbox:visible:has-text('2 ratings are waiting to be sent')")
    assert not Comparison.objects.exists()
    visitor.page.context.set_offline(False)
    visitor.page.wait_for_selector("#answer")
    visitor.settle()
    assert [each.rating for each in Comparison.objects.all()] == [5, 2]
    assert visitor.page.is_hidden("#outbox")
    visitor.expect("2 done")


def test_answers_that_waited_are_sent_by_the_next_page(visitor: Visitor) -> None:
    """The browser was closed without a connection: what was said is there when it comes back."""
    visitor.rate()
    visitor.settle()
    first = visitor.assignment
    visitor.page.route("**/rate/**", lambda route: route.abort())
    visitor.page.keyboard.press("5")
    visitor.press_for_next("Enter")
    visitor.page.once("dialog", lambda dialog: dialog.accept())
    visitor.page.unroute("**/rate/**")
    visitor.page.reload()
    visitor.page.wait_for_selector(".needs-script:not([hidden])", state="attached")
    visitor.settle()
    comparison = Comparison.objects.get()
    assert (comparison.rating, comparison.assignment.public_id) == (5, first)
    assert visitor.assignment != first


def test_a_reply_that_is_lost_stores_one_comparison(visitor: Visitor) -> None:
    visitor.rate()
    visitor.settle()
    lost: list[str] = []

    def lose(route: Any) -> None:
        if route.request.method == "POST" and not lost:
            lost.append(route.fetch().text())  # the server has stored it; the page never hears so
            route.abort()
        else:
            route.continue_()

    visitor.page.route(visitor.page.url, lose)
    visitor.page.keyboard.press("6")
    visitor.press_for_next("Enter")
    visitor.settle()
    assert '"stored"' in lost[0]
    assert Comparison.objects.get().rating == 6


def test_a_pair_answered_in_another_tab_says_so(visitor: Visitor) -> None:
    visitor.rate()
    visitor.settle()
    other = visitor.page.context.new_page()
    other.goto(visitor.page.url)
    other.click("label:has([name=rating][value='2'])")
    other.click(".answer-submit")
    other.wait_for_selector(".task-status:has-text('1 done')")
    before = visitor.assignment
    visitor.page.bring_to_front()
    visitor.page.keyboard.press("8")
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_selector("#refusals > div")
    told = visitor.page.inner_text("#refusals")
    assert "You have already given this pair a 2" in told
    assert "What you sent: B is much better" in told
    visitor.page.click("[data-reopen]")
    visitor.expect("You chose 2")
    assert visitor.assignment == before
    assert visitor.page.is_hidden("#refusals")
    assert Comparison.objects.get().rating == 2


def test_a_refused_answer_is_kept_until_it_is_discarded(visitor: Visitor) -> None:
    visitor.rate()
    visitor.settle()
    Study.objects.update(closed_at=timezone.now())
    visitor.page.keyboard.press("3")
    visitor.page.fill("#rationale", "long thought about")
    visitor.press_for_next("Control+Enter")
    visitor.page.wait_for_selector("#refusals > div")
    told = visitor.page.inner_text("#refusals")
    assert "closed before your rating arrived" in told
    assert "long thought about" in told
    Study.objects.update(closed_at=None)
    visitor.page.reload()
    visitor.page.wait_for_selector("#refusals > div")
    visitor.page.click("[data-again]")
    visitor.page.wait_for_selector("#refusals", state="hidden")
    visitor.settle()
    assert Comparison.objects.get().rationale == "long thought about"


def test_a_flag_by_keyboard(visitor: Visitor) -> None:
    visitor.rate()
    flagged = visitor.assignment
    visitor.page.keyboard.press("f")
    assert visitor.page.is_visible("#flag")
    visitor.page.keyboard.press("Escape")
    visitor.page.keyboard.press("f")
    visitor.page.keyboard.press("3")
    visitor.press_for_next("Enter")
    visitor.settle()
    flag = Flag.objects.get()
    assert (flag.assignment.public_id, flag.reason) == (flagged, "names")
    assert visitor.page.is_hidden("#flag")
    visitor.press_for_next("u")
    assert visitor.assignment == flagged
    assert not Flag.objects.exists()
    assert chosen(visitor) is None


def test_reasons_come_after_the_choice_and_have_their_letters(visitor: Visitor) -> None:
    Study.objects.update(reasons=["Clearer", "Safer"])
    visitor.rate()
    assert not visitor.page.is_visible(".reasons")
    visitor.page.keyboard.press("w")
    visitor.page.keyboard.press("3")
    assert visitor.page.is_visible(".reasons")
    for key in "qww":
        visitor.page.keyboard.press(key)
    visitor.press_for_next("Enter")
    visitor.settle()
    assert Comparison.objects.get().reasons == ["Clearer"]


def test_equal_texts_are_a_tie_by_one_key(visitor: Visitor) -> None:
    visitor.rate()
    visitor.page.keyboard.press("t")
    assert chosen(visitor) is None
    Completion.objects.update(digest="0" * 64)
    visitor.rate()
    visitor.expect("Both answers are identical.")
    visitor.press_for_next("t")
    visitor.settle()
    assert Comparison.objects.get().rating in (4, 5)


def test_names_are_told_after_the_vote_until_the_next_key(visitor: Visitor) -> None:
    Study.objects.update(reveal_names=True)
    visitor.rate()
    visitor.settle()
    names = [each.name for each in visitor.study.contestants.all()]
    assert not [name for name in names if name in visitor.page.content()]
    visitor.page.keyboard.press("8")
    visitor.press_for_next("Enter")
    visitor.page.wait_for_selector("#reveal:visible")
    told = visitor.page.inner_text("#reveal")
    assert "you chose B over A" in told
    assert sum(name in told for name in names) == 2
    visitor.page.keyboard.press("1")
    assert visitor.page.is_hidden("#reveal")
    assert visitor.page.is_disabled("button[name=undo]")


def choosing_submits(visitor: Visitor) -> None:
    visitor.rate()
    visitor.settle()
    visitor.page.keyboard.press("?")
    visitor.page.check("#choosing-submits")
    visitor.page.keyboard.press("Escape")


def test_choosing_submits_where_it_is_wanted(visitor: Visitor) -> None:
    choosing_submits(visitor)
    visitor.press_for_next("4")
    visitor.settle()
    visitor.page.reload()
    visitor.page.wait_for_selector(".needs-script:not([hidden])", state="attached")
    visitor.press_for_next("5")
    visitor.settle()
    assert [each.rating for each in Comparison.objects.all()] == [4, 5]


def test_a_choice_that_submits_can_be_taken_back(visitor: Visitor) -> None:
    choosing_submits(visitor)
    visitor.page.clock.install()
    # From here on time passes when it is told to, however long a key takes.
    visitor.page.clock.pause_at(visitor.page.evaluate("Date.now() + 60000"))
    before = visitor.assignment
    visitor.page.keyboard.press("4")
    assert visitor.page.locator(".is-counting").count() == 1
    visitor.page.keyboard.press("Escape")
    assert visitor.page.locator(".is-counting").count() == 0
    visitor.page.clock.run_for(2000)
    assert (visitor.assignment, chosen(visitor)) == (before, "4")
    visitor.page.keyboard.press("2")
    visitor.page.clock.run_for(300)
    visitor.page.keyboard.press("7")
    visitor.page.clock.run_for(300)
    assert visitor.assignment == before
    visitor.page.clock.run_for(100)
    visitor.page.clock.resume()
    visitor.settle()
    assert Comparison.objects.get().rating == 7


def test_texts_as_written_and_scrolled_together(visitor: Visitor) -> None:
    Completion.objects.update(turns=[LONG])
    visitor.shown_at(1280, 800)
    visitor.rate()
    assert not visitor.page.is_visible(".raw >> nth=0")
    visitor.page.keyboard.press("r")
    assert visitor.page.is_visible(".raw >> nth=0")
    assert "# Title" in visitor.page.inner_text(".response-a")
    visitor.page.keyboard.press("r")
    place = "document.querySelector('.response-b .response-text').scrollTop"
    visitor.page.evaluate("document.querySelector('.response-a .response-text').scrollTop = 200")
    visitor.page.evaluate(TWO_FRAMES)
    assert visitor.page.evaluate(place) == 0
    visitor.page.keyboard.press("y")
    visitor.page.evaluate("document.querySelector('.response-a .response-text').scrollTop = 300")
    visitor.page.wait_for_function(f"() => {place} > 250")
    visitor.page.reload()
    assert visitor.page.get_attribute(".toggle-sync", "aria-pressed") == "true"


def test_the_prompt_stays_as_its_reader_folds_it(visitor: Visitor) -> None:
    Prompt.objects.update(input="Material " * 100)
    visitor.rate()
    visitor.settle()
    assert visitor.page.is_visible(".prompt-text")
    visitor.page.keyboard.press("p")
    assert not visitor.page.is_visible(".prompt-text")
    visitor.settle()
    visitor.page.keyboard.press("4")
    visitor.page.keyboard.press("Enter")
    visitor.expect("1 done")
    assert not visitor.page.is_visible(".prompt-text")
    visitor.page.reload()
    visitor.page.wait_for_selector(".needs-script:not([hidden])", state="attached")
    assert not visitor.page.is_visible(".prompt-text")
    visitor.page.keyboard.press("p")
    assert visitor.page.is_visible(".prompt-text")


def test_one_response_at_a_time_on_a_phone(visitor: Visitor) -> None:
    visitor.shown_at(390, 844)
    visitor.rate()
    visitor.page.click(".view-menu")
    visitor.page.click(".toggle-tabs")
    assert visitor.page.is_visible(".response-a")
    assert not visitor.page.is_visible(".response-b")
    visitor.page.click(".response-tabs [data-side=b]")
    assert visitor.page.is_visible(".response-b")
    assert not visitor.page.is_visible(".response-a")
    assert violations(visitor.page) == []
    visitor.page.reload()
    visitor.page.wait_for_selector(".needs-script:not([hidden])", state="attached")
    assert not visitor.page.is_visible(".response-b")


def test_it_works_without_javascript(visitor: Visitor, plain_page: Any) -> None:
    plain_page.goto(f"{visitor.server}/rate/{visitor.study.slug}/")
    plain_page.click("label:has([name=rating][value='4'])")
    plain_page.click(".answer-submit")
    plain_page.wait_for_selector(".task-status:has-text('1 done')")
    plain_page.click("button[name=skip]")
    plain_page.wait_for_selector(".task-status:has-text('1 skipped')")
    plain_page.click("button[name=undo]")
    plain_page.wait_for_selector("#task:has-text('You skipped this pair.')")
    plain_page.click("a:has-text('Flag')")
    plain_page.check("[name=reason][value=harm]")
    plain_page.click("main form button")
    plain_page.wait_for_selector(".task-status:has-text('1 skipped')")
    plain_page.click("label:has([name=rating][value='6'])")
    plain_page.focus("[name=rating][value='6']")
    plain_page.keyboard.press("Enter")
    plain_page.wait_for_selector(".task-status:has-text('2 done')")
    assert [each.rating for each in Comparison.objects.all()] == [4, 6]
    assert Flag.objects.get().reason == "harm"


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844), (640, 400)])
def test_long_texts_fit_the_window_and_axe_is_content(visitor: Visitor, width: int, height: int) -> None:
    Completion.objects.update(turns=[LONG, ""])
    Prompt.objects.update(turns=["A long prompt.\n" * 40, "Second turn"], input="Input " * 50)
    Study.objects.update(criteria=["helpfulness"])
    visitor.shown_at(width, height)
    visitor.rate()
    visitor.page.keyboard.press("3")
    assert violations(visitor.page) == []
    wide = visitor.page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert wide == 0
    bar = visitor.page.locator("#answer").bounding_box()
    stays = bar["y"] + bar["height"] <= height + 1
    assert stays == (height > 480)
    assert visitor.complaints == []


def states(visitor: Visitor) -> Iterator[str]:
    """Every state of the rating page, one after the other, by name."""
    page = visitor.page
    Study.objects.update(criteria=["helpfulness"])
    visitor.rate()
    visitor.settle()
    yield "fresh"
    page.keyboard.press("3")
    page.keyboard.press("5")
    page.keyboard.press("q")
    yield "chosen"
    for key in "fg?":
        page.keyboard.press(key)
        yield f"dialog {key}"
        page.keyboard.press("Escape")
    page.keyboard.press("r")
    page.keyboard.press("p")
    yield "as written, prompt folded"
    page.keyboard.press("r")
    visitor.press_for_next("Enter")
    visitor.settle()
    page.context.set_offline(True)
    for key in "44":
        page.keyboard.press(key)
    visitor.press_for_next("Enter")
    page.wait_for_selector("#outbox:visible")
    yield "an answer waits"
    for key in "44":
        page.keyboard.press(key)
    visitor.press_for_next("Enter")
    visitor.expect("You are offline")
    yield "waiting"
    page.context.set_offline(False)
    page.wait_for_selector("#answer")
    visitor.settle()
    visitor.press_for_next("u")
    yield "brought back"
    Study.objects.update(closed_at=timezone.now())
    for key in "88":
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.wait_for_selector("#refusals > div")
    yield "refused"
    page.reload()
    visitor.expect("Rating has ended")
    assert visitor.page.is_visible("text=See how you rated")
    yield "closed"
    Study.objects.update(closed_at=None)
    visitor.visit("flag", visitor.study.slug)
    yield "flag without a script"


def test_axe_finds_nothing_in_any_state(visitor: Visitor) -> None:
    seen = []
    for state in states(visitor):
        visitor.page.keyboard.press("Shift")  # takes the strip of the last answer away
        check_accessible(visitor.page)
        seen.append(state)
    assert len(seen) == 12


def test_two_tabs_at_once_store_each_pair_once(visitor: Visitor) -> None:
    visitor.rate()
    visitor.settle()
    other = visitor.page.context.new_page()
    other.goto(visitor.page.url)
    other.wait_for_selector(".needs-script:not([hidden])", state="attached")
    answered: list[list[str]] = [[], []]
    for _ in range(5):
        for number, tab in enumerate((visitor.page, other)):
            # A pair that is still being fetched takes no answer.
            wait_until(tab, "!screen.isBusy() && document.getElementById('answer')")
            answered[number].append(tab.get_attribute("#task", "data-assignment"))
            tab.keyboard.press("6")
            tab.keyboard.press("Enter")
    for tab in (visitor.page, other):
        wait_until(tab, "outbox.waiting().length === 0")
    current = Comparison.objects.current()
    stored = list(current.values_list("assignment__public_id", flat=True))
    assert sorted(stored) == sorted({*answered[0], *answered[1]})
    assert all(len(set(each)) == 5 for each in answered)
    assert Comparison.objects.count() == len(stored)
    assert set(current.values_list("rating", flat=True)) == {6}
    assert visitor.page.is_hidden("#refusals")
    assert other.is_hidden("#refusals")


def test_columns_are_equal_on_desktops_and_stacked_on_phones(visitor: Visitor) -> None:
    visitor.shown_at(1280, 800)
    visitor.rate()
    a, b = (visitor.page.locator(f".response-{letter}").bounding_box() for letter in "ab")
    assert (a["y"], a["height"]) == (b["y"], b["height"])
    assert abs(a["width"] - b["width"]) < 1
    visitor.shown_at(390, 844)
    a, b = (visitor.page.locator(f".response-{letter}").bounding_box() for letter in "ab")
    assert b["y"] >= a["y"] + a["height"]
    sizes = [label.bounding_box() for label in visitor.page.locator(".point").all()]
    assert all(size["width"] >= 40 and size["height"] >= 44 for size in sizes)


@pytest.mark.parametrize(("width", "height"), [(640, 400), (1280, 420)])
def test_the_numbers_stay_in_a_low_window(visitor: Visitor, width: int, height: int) -> None:
    Completion.objects.update(turns=[LONG])
    visitor.shown_at(width, height)
    visitor.rate()
    row = visitor.page.locator(".scale-points").bounding_box()
    assert row["y"] + row["height"] <= height


def test_who_rushes_is_told_once_and_choosing_submits_is_offered_once(visitor: Visitor) -> None:
    visitor.rate()
    offered = f"arena-offered:{visitor.rater.user_id}"
    visitor.page.evaluate("([name, many]) => localStorage.setItem(name, many)", [offered, "10"])
    for _ in range(9):
        visitor.page.keyboard.press("3")
        visitor.press_for_next("Enter")
        assert not visitor.page.is_visible("#hint")
    visitor.page.keyboard.press("3")
    visitor.press_for_next("Enter")
    assert "You are very fast" in visitor.page.inner_text("#hint")
    visitor.page.keyboard.press("3")
    visitor.press_for_next("Enter")
    assert "You are very fast" in visitor.page.inner_text("#hint"), "it stays long enough to be read"
    visitor.page.evaluate("([name, many]) => localStorage.setItem(name, many)", [offered, "19"])
    visitor.page.keyboard.press("3")
    visitor.press_for_next("Enter")
    visitor.page.click("#hint [data-yes]")
    assert not visitor.page.is_visible("#hint")
    assert visitor.page.is_checked("#choosing-submits")


def test_a_goal_for_a_sitting_is_counted_down(visitor: Visitor) -> None:
    visitor.rate()
    visitor.page.click("[data-dialog=sitting]")
    visitor.page.fill("#sitting-goal", "2")
    visitor.page.keyboard.press("Enter")
    for done in (1, 2):
        visitor.page.keyboard.press("3")
        visitor.press_for_next("Enter")
        visitor.expect(f"{done} of 2")
    assert "You have reached your goal" in visitor.page.inner_text("#hint")
    visitor.page.keyboard.press("3")
    visitor.press_for_next("Enter")
    visitor.expect("3 done")


@pytest.mark.parametrize("width", [390, 360])
def test_the_numbers_stay_under_the_finger_on_a_phone(visitor: Visitor, width: int) -> None:
    visitor.shown_at(width, 844)
    visitor.rate()
    visitor.page.keyboard.press("7")
    visitor.press_for_next("Enter")
    visitor.press_for_next("u")
    assert visitor.page.locator(".answer-tools").bounding_box()["height"] < 60, "tools stay on one line"
    last = visitor.page.locator(".point").last
    before = last.bounding_box()
    bar = visitor.page.locator("#answer").bounding_box()
    last.click()
    assert visitor.page.is_visible(".reasons")
    assert last.bounding_box() == before
    assert visitor.page.locator("#answer").bounding_box() == bar, "it does not grow over the texts"
    visitor.page.click("[data-comment]")
    assert visitor.page.is_visible("#rationale")


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


def test_the_pages_around_it_are_accessible(visitor: Visitor) -> None:
    for name, arguments in (
        ("rate", ()),
        ("own-details", ()),
        ("guidelines", (visitor.study.slug,)),
        ("account_change_password", ()),
        ("account", ()),
    ):
        visitor.visit(name, *arguments)
        check_accessible(visitor.page)
    visitor.page.context.clear_cookies()
    Study.objects.update(sign_up_open=True)
    for name, arguments in (("account_login", ()), ("sign-up", (visitor.study.slug,))):
        visitor.visit(name, *arguments)
        check_accessible(visitor.page)
    assert not [line for line in visitor.complaints if re.search("Content.Security|refused", line, re.I)]
