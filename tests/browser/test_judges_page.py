"""Judges side by side in a real browser: figures, choice, phones, accessibility."""

import re

import pytest
from django.test import Client

from leaderboard.refreshing import computing, services
from tests import factories
from tests.browser.watching import check_accessible, drawn
from tests.leaderboard.judges.studies import make_field, make_judge_rater, rate
from tests.leaderboard.rows import few_rounds

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGE = "/studies/board/judges/"


@pytest.fixture(scope="module")
def made(lasting_rows):
    """A judge with a model and costs, one that leans, an imported one asked in one order, and a person."""
    study = make_field(slug="board", name="Board study")
    judge = factories.make_judge(slug="strict", name="Strict judge", model="acme/alpha-7b")
    rate(study, judge.rater, 30, repeats=2, seed=1)
    rate(study, make_judge_rater("leaning", simulated=True), 200, seed=2)
    rate(study, make_judge_rater("a-judge-with-a-rather-long-name"), -60, 300, orders=(False,), seed=4)
    rate(study, factories.make_rater(name="Ada"), 0, 100, orders=(False,), seed=3)
    run = factories.make_run(study=study, judge=judge, currency="USD", state="finished")
    for number, row in enumerate(study.comparisons.filter(rater=judge.rater, swapped=False, repeat=0)[:30]):
        asked = factories.make_assignment(pair=row.pair, rater=judge.rater)
        cost = {"cost": "0.002", "prompt_tokens": 400 + number, "completion_tokens": 20}
        ended = {"state": "replied", "finished_at": row.created_at, "latency": 1.0 + number % 3}
        factories.make_call(run, assignment=asked, **ended, **cost)
    with few_rounds(50):
        services.refresh(study)
        compute(study, PAGE)
    return study


def compute(study, address):
    """The numbers of an address, as a worker makes them."""
    Client().get(address)
    while computing.compute_next(study.pk):
        pass


def test_it_is_accessible_and_boxes_choose_who_stands_side_by_side(page, live_server, made, problems):
    query = "with=people&with=judge%3Astrict&with=judge%3Aleaning"
    with few_rounds(50):
        compute(made, f"{PAGE}?{query}")
    page.goto(f"{live_server.url}{PAGE}")
    drawn(page)
    assert page.locator(".plot .main-svg").count() >= 1
    check_accessible(page)
    assert page.locator(".kinds").first.locator("thead th").count() == 5
    page.locator("summary", has_text="Choose raters").click()
    box = page.locator('input[name="with"][value="judge:a-judge-with-a-rather-long-name"]')
    box.focus()
    page.keyboard.press("Space")
    page.locator("#compare-button").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("with=people"))
    page.wait_for_function("document.querySelectorAll('.kinds thead th').length === 4")
    assert "in one order only" not in page.locator("#main").inner_text()
    assert problems == []
