"""The operators' pages before a real browser: by keyboard, on both screens, in both colours."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import expect

from arena.models import Flag, Invitation, Membership, Role, Study, StudyEvent
from arena.rating import assignments, recording
from arena.rating.opinions import Rating
from arena.studies.forms import UNNAMED, free_address
from tests import factories as make
from tests.browser.conftest import Visitor
from tests.browser.watching import check_accessible

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def operator(visitor: Visitor) -> Visitor:
    """An operator of a study in which people have rated, flagged and been invited."""
    Membership.objects.filter(rater=visitor.rater).update(role=Role.OPERATOR)
    other = make.make_member(visitor.study, name="Ann Example")
    for number in range(3):
        assignment = assignments.claim(visitor.study, other)
        assert assignment is not None
        if number == 2:
            assignments.flag(other, assignment.public_id, Flag.Reason.DISPLAY, "The table is cut off")
        else:
            answer = Rating(points=8, rating=3)
            recording.record(other, assignment.public_id, answer)
    Invitation.objects.create(study=visitor.study, note="The course", max_uses=30)
    Invitation.objects.create(study=visitor.study, revoked_at=timezone.now())
    StudyEvent.objects.create(study=visitor.study, kind="paused", by=visitor.rater.user, note="Lunch")
    return visitor


def test_an_address_is_proposed_as_the_name_is_typed(operator: Visitor) -> None:
    User.objects.update(is_staff=True)
    page = operator.page
    operator.visit("operate-new")
    name, address = page.get_by_label("Name"), page.get_by_label("Address")
    for text in ("Flüsse & Seen,  2. Teil ", "--_a_--", "河流", "x-" * 90):
        name.fill("")
        name.press_sequentially(text)
        assert (address.input_value() or UNNAMED) == free_address(text)
    address.fill("mine")
    name.fill("Rivers")
    assert address.input_value() == "mine"
    address.fill("")
    name.fill("Great Rivers")
    page.get_by_role("button", name="Create study").click()
    page.wait_for_url("**/operate/great-rivers/guidelines/")
    assert operator.complaints == []


def test_a_study_is_set_up_by_keyboard(operator: Visitor) -> None:
    page = operator.page
    operator.visit("operate-study", operator.study.slug)
    Study.objects.update(is_draft=True)
    page.get_by_role("link", name="Rating", exact=True).focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.get_by_text("Advanced").click()
    assert not page.get_by_label("Random share (%)").is_visible()
    page.get_by_label("Pairing").select_option("adaptive")
    assert page.get_by_label("Random share (%)").is_visible()
    page.get_by_label("Criteria beside the overall rating").focus()
    page.keyboard.type("helpfulness")
    page.keyboard.press("Enter")
    page.keyboard.type("truthfulness")
    page.get_by_role("button", name="Save and continue").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/import/")
    assert Study.objects.get().criteria == ["helpfulness", "truthfulness"]
    assert operator.complaints == []


def test_what_was_typed_is_not_lost_by_leaving(operator: Visitor) -> None:
    page = operator.page
    asked: list[str] = []

    def stay(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    operator.visit("operate-guidelines", operator.study.slug)
    page.get_by_label("Guidelines", exact=True).fill("Prefer the truth.")
    expect(page.locator("#preview")).to_contain_text("Prefer the truth.")
    page.get_by_role("link", name="Progress").click()
    expect(page.get_by_label("Guidelines", exact=True)).to_have_value("Prefer the truth.")
    assert asked == ["beforeunload"]
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()
    assert Study.objects.get(pk=operator.study.pk).guidelines == "Prefer the truth."


def test_a_link_is_made_and_copied(operator: Visitor) -> None:
    page = operator.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    operator.visit("operate-people", operator.study.slug)
    page.get_by_text("New link").click()
    page.get_by_label("Number of people").fill("7")
    with page.expect_navigation():
        page.get_by_role("button", name="Create link").click()
    page.get_by_role("button", name="Copy").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    link = Invitation.objects.order_by("-pk")[0]
    assert link.max_uses == 7
    assert page.evaluate("navigator.clipboard.readText()").endswith(f"/join/{link.token}/")


def test_closing_takes_a_tick_and_reopening_warns(operator: Visitor) -> None:
    page = operator.page
    operator.visit("operate-state", operator.study.slug)
    close = page.get_by_role("button", name="Close the study")
    close.click()
    assert Study.objects.get().closed_at is None  # the browser asks for the tick
    page.get_by_label("Yes, close the study.").check()
    close.click()
    page.get_by_role("button", name="Reopen the study").wait_for()
    assert "may not be blind" in page.inner_text("main")
    assert Study.objects.get().closed_at is not None


def test_the_figures_move_while_somebody_looks(operator: Visitor) -> None:
    page = operator.page
    operator.visit("operate-progress", operator.study.slug)
    field = page.get_by_text("Left", exact=True).locator("xpath=following-sibling::dd")
    before = int(field.inner_text())
    other = make.make_member(operator.study)
    assignment = assignments.claim(operator.study, other)
    assert assignment is not None
    recording.record(other, assignment.public_id, Rating(points=8, rating=6))
    page.evaluate("htmx.trigger(document.getElementById('figures'), 'due')")
    expect(field).to_have_text(str(before - 1))
    assert operator.complaints == []


def test_an_import_goes_its_way_in_the_frame_of_the_study(operator: Visitor, problems: list[str]) -> None:
    page: Any = operator.page
    operator.visit("operate-import", operator.study.slug)
    page.get_by_label("Or paste text").fill('{"id": "rain", "instruction": "Write a line about rain."}')
    page.get_by_role("button", name="Check the files").click()
    page.wait_for_url("**/import/*/")
    assert "/operate/" in page.url
    check_accessible(page)
    assert problems == []
