"""The training in a real browser: by keyboard alone up to the first pair, and how it looks."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page

from arena.models import Comparison, Invitation, Membership, Pair, Role, Study, TrainingAnswer
from tests import factories as make
from tests.browser.conftest import Visitor
from tests.browser.watching import check_accessible

pytestmark = pytest.mark.browser

TEXTS = [
    ("Which of 17 and 21 is prime?", "**17** is prime: nothing but 1 and 17 divides it.", "21 is prime."),
    ("Write a line about rain.", "Rain taps on the roof.", "It rains, says the drum of the roof."),
    (
        "Sum it up in one sentence.",
        "The text says that\n\n- it is late\n- nobody came\n\n" + "It goes on and on. " * 40,
        "Nobody came, and it grew late.",
    ),
]


@pytest.fixture
def trained(study: Study) -> Study:
    pairs = make.make_training_pairs(study, len(TEXTS))
    for pair, (prompt, first, second) in zip(pairs, TEXTS, strict=True):
        Pair.objects.filter(pk=pair.pk).update(explanation="One keeps to what was asked, the other does not.")
        pair.prompt.turns, pair.first.turns, pair.second.turns = [prompt], [first], [second]
        for row in (pair.prompt, pair.first, pair.second):
            row.save()
    Pair.objects.filter(pk=pairs[1].pk).update(gold="tie", explanation="Both are one line about rain.")
    return study


def press(visitor: Visitor, key: str, wanted: str) -> None:
    """Press a key and wait for what it brings."""
    visitor.page.keyboard.press(key)
    visitor.page.wait_for_selector(wanted)
    visitor.page.wait_for_load_state()


def test_all_of_it_by_keyboard(visitor: Visitor, trained: Study) -> None:
    visitor.visit("rate-study", trained.slug)
    assert "Practise on 3 pairs" in visitor.page.inner_text("main")
    press(visitor, "Enter", "#answer [name=rating]")
    for number in range(1, 4):
        assert f"Pair {number} of 3" in visitor.page.inner_text(".task-status")
        assert "One keeps" not in visitor.page.content()
        visitor.page.keyboard.press("2")
        visitor.page.keyboard.press("4")
        chosen = visitor.page.evaluate("document.querySelector('[name=rating]:checked').value")
        assert chosen == "4"
        press(visitor, "Enter", ".verdict")
        assert visitor.page.evaluate("document.activeElement.id") == "verdict"
        if number == 2:
            assert "Right" in visitor.page.inner_text(".verdict")
            visitor.page.reload()
            assert "Both are one line about rain." in visitor.page.inner_text(".verdict")
        press(visitor, "Enter", "#answer [name=rating]" if number < 3 else ".outcome")
    assert "You can start rating" in visitor.page.inner_text("main")
    press(visitor, "Enter", "#task[data-assignment]")
    assert [given.rating for given in TrainingAnswer.objects.order_by("pk")] == [4, 4, 4]
    assert not Comparison.objects.exists()
    visitor.page.wait_for_selector(".needs-script:not([hidden])", state="attached")
    visitor.page.keyboard.press("g")
    visitor.page.click("#guidelines .example summary")
    assert visitor.page.is_visible("#guidelines .example-why")
    check_accessible(visitor.page)
    assert visitor.complaints == []


def test_enter_without_a_choice_stays(visitor: Visitor, trained: Study) -> None:
    visitor.visit("training-pair", trained.slug, "1", "1")
    visitor.page.keyboard.press("Enter")
    visitor.page.keyboard.press("9")
    visitor.page.keyboard.press("3")
    press(visitor, "Enter", ".verdict")
    assert TrainingAnswer.objects.get().rating == 3


def test_it_works_without_a_script(visitor: Visitor, plain_page: Page, trained: Study) -> None:
    plain_page.goto(visitor.server + reverse("training-pair", args=[trained.slug, 1, 1]))
    plain_page.check("[name=rating][value='6']", force=True)
    plain_page.click(".answer-submit")
    plain_page.wait_for_selector(".verdict")
    plain_page.click(".verdict-next")
    plain_page.wait_for_selector(".task-status:has-text('Pair 2 of 3')")


def test_a_try_of_a_closed_study_by_keyboard(visitor: Visitor) -> None:
    pair = make.make_pair()
    Study.objects.filter(pk=pair.prompt.study_id).update(visibility="public", closed_at="2030-01-01T00:00Z")
    Pair.objects.filter(pk=pair.pk).update(people_ratings=1)
    visitor.visit("try")
    check_accessible(visitor.page)
    visitor.page.keyboard.press("6")
    press(visitor, "Enter", ".verdict")
    check_accessible(visitor.page)
    press(visitor, "Enter", "#answer [name=rating]")
    assert visitor.complaints == []


def test_every_page_is_accessible_and_fits(visitor: Visitor, trained: Study) -> None:
    Study.objects.update(training_threshold=1.0)

    visitor.visit("training", trained.slug)
    check_accessible(visitor.page)
    visitor.visit("rate")
    check_accessible(visitor.page)
    for number in ("1", "2", "3"):
        visitor.visit("training-pair", trained.slug, "1", number)
        if number != "2":
            check_accessible(visitor.page)
        visitor.page.keyboard.press("8")
        press(visitor, "Enter", ".verdict")
        check_accessible(visitor.page)
    visitor.visit("training", trained.slug)
    check_accessible(visitor.page)
    Membership.objects.update(trained_at="2030-01-01T00:00Z")
    visitor.visit("training", trained.slug)
    check_accessible(visitor.page)
    visitor.visit("guidelines", trained.slug)
    visitor.page.click(".example summary")
    check_accessible(visitor.page)
    invitation = Invitation.objects.create(study=trained, role=Role.OPERATOR)
    visitor.visit("join", invitation.token)
    check_accessible(visitor.page)
    visitor.visit("rate")
    check_accessible(visitor.page)
    assert visitor.complaints == []
