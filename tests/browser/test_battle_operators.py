"""The operators' pages of battles before a real browser: costs as they are typed, keys, both screens."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from arena.models import Prompt
from judging.battles import categories
from judging.battles.voting import vote
from judging.models import BattleRules, HandLabel, LabelCall
from tests import factories as make
from tests.browser.conftest import sign_in
from tests.browser.watching import check_accessible

pytestmark = pytest.mark.browser

TYPED = (
    "Why is the sky blue?",
    "Write to ada@example.org that the card 4111 1111 1111 1111 is lost.",
    "Explain recursion to a child.",
)


@pytest.fixture
def ada(transactional_db: None) -> User:
    return make.make_user(username="ada", is_staff=True)


@pytest.fixture
def rules(ada: User) -> BattleRules:
    make.make_price()
    study = make.make_study(visibility="public", slug="sky", name="Open questions")
    names = ("Zebra-7B", "Quokka-Pro", "Heron-3B")
    authors = [make.make_author(contestant=make.make_contestant(study=study, name=name)) for name in names]
    rules = make.make_battle_rules(study=study, authors=authors, consent="Your texts are stored.")
    answers = ("Air scatters light. It is so.", "Short waves scatter more. Call +44 20 7946 0958.")
    for typed in TYPED * 4:
        vote(make.make_battle(*answers, rules=rules, turns=[typed]), 1, False)
    make.make_battle(rules=rules, turns=["<b>Bad</b> words"], state="void", void="prompt")
    labelling = categories.define(study, ["Coding", "Writing", "Facts"], make.make_judge(), ada)
    for prompt in Prompt.objects.filter(subset="live")[:5]:
        LabelCall.objects.create(
            labelling=labelling, prompt=prompt, model="m", state="replied", category="Facts"
        )
    return rules


def test_the_pages_are_accessible_on_both_screens(
    rules: BattleRules, ada: User, page: Any, live_server: Any, problems: list[str]
) -> None:
    sign_in(page, live_server.url, ada)
    for part in ("", "watch/", "prompts/", "prompts/?show=public", "categories/"):
        page.goto(f"{live_server.url}/operate/sky/battles/{part}")
        check_accessible(page)
    assert problems == []


def test_the_cost_follows_what_is_typed(
    rules: BattleRules, ada: User, page: Any, live_server: Any, problems: list[str]
) -> None:
    sign_in(page, live_server.url, ada)
    page.goto(f"{live_server.url}/operate/sky/battles/")
    before = page.inner_text("#cost")
    page.fill("#id_max_tokens", "9")
    page.press("#id_max_tokens", "Tab")
    page.wait_for_function("before => document.getElementById('cost').innerText !== before", arg=before)
    rules.refresh_from_db()
    assert rules.max_tokens != 9
    assert problems == []


def test_a_digit_checks_a_category_and_brings_the_next(
    rules: BattleRules, ada: User, page: Any, live_server: Any
) -> None:
    sign_in(page, live_server.url, ada)
    page.goto(f"{live_server.url}/operate/sky/battles/categories/")
    for key, count in (("3", 1), ("1", 2)):
        with page.expect_navigation():
            page.keyboard.press(key)
        assert HandLabel.objects.count() == count
    assert sorted(HandLabel.objects.values_list("category", flat=True)) == ["Coding", "Facts"]
