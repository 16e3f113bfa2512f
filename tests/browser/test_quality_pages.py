"""The pages about how people rate in a real browser: every size, by keyboard, without a finding by axe."""

import pytest
from django.urls import reverse

from arena.models import Comparison, Membership, Pair, Role, Study
from tests import factories as make
from tests.browser.watching import check_accessible
from tests.leaderboard.quality.rated import rate, rated_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def operator(visitor):
    """The visitor operates a study in which people differ, and has rated in it."""
    study = rated_study(prompts=6, slug="quality", name="Rated study")
    visitor.study = study
    Membership.objects.create(study=study, rater=visitor.rater, role=Role.OPERATOR)
    first = Pair.objects.filter(prompt__study=study).first()
    rate(first, visitor.rater, 2)
    make.make_score(rater=visitor.rater, completion=first.first, seconds=1)
    make.make_answer(rater=visitor.rater, completion=first.first, value="unknown", seconds=1)
    rate(first, make.make_rater(kind="judge", name="Judge"), 8, rationale="Said by the judge")
    visitor.sign_in()
    return visitor


def addresses(operator):
    """Those that test_every_page does not come to."""
    queue = reverse("operate-disagreements", args=[operator.study.slug])
    own = reverse("rater-report", args=[operator.study.slug])
    return [own, f"{queue}?show=judges", f"{queue}?show=settled"]


def wait_for_keys(page):
    """Until the pair to settle is there with its script, which runs before the page has loaded."""
    page.wait_for_selector(".answer-submit")
    page.wait_for_load_state()


def test_further_pages_are_accessible_and_fit(operator):
    for address in addresses(operator):
        operator.page.goto(operator.server + address)
        check_accessible(operator.page)
    assert operator.complaints == []


def test_a_pair_is_settled_by_keyboard(operator):
    page = operator.page
    operator.visit("operate-disagreements", operator.study.slug)
    page.locator("form button", has_text="Settle").first.focus()
    page.keyboard.press("Enter")
    wait_for_keys(page)
    check_accessible(page)
    page.keyboard.press("7")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=All ratings")
    check_accessible(page)
    decided = Comparison.objects.get(purpose="adjudication")
    assert (decided.rating, decided.rater) == (7, operator.rater)
    assert operator.complaints == []


def test_digits_walk_through_the_criteria_of_a_pair_to_settle(operator):
    page = operator.page
    Study.objects.filter(pk=operator.study.pk).update(criteria=["helpfulness", "truth"])
    operator.visit("operate-disagreements", operator.study.slug)
    page.locator("form button", has_text="Settle").first.click()
    wait_for_keys(page)
    for key in ("7", "2", "3", "4", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("text=All ratings")
    decided = Comparison.objects.get(purpose="adjudication")
    criteria = dict(decided.criterion_ratings.values_list("criterion", "rating"))
    assert (decided.rating, criteria) == (7, {"helpfulness": 2, "truth": 4})


def test_somebody_is_left_out_and_taken_back_in(operator):
    rater = Comparison.objects.filter(study=operator.study, rater__kind="person").first().rater
    page = operator.page
    operator.visit("operate-rater", operator.study.slug, rater.pk)
    page.fill("#note", "Clicks without reading")
    page.click("text=Leave out of the scores")
    page.wait_for_selector("text=not counted since")
    assert Membership.objects.get(rater=rater, study=operator.study).left_out_at
    page.click("text=Count again")
    page.wait_for_selector("text=counted again")
    assert Membership.objects.get(rater=rater, study=operator.study).left_out_at is None
    assert operator.complaints == []
