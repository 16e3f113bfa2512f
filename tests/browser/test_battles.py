"""Battles in a real browser: by keyboard from the prompt to the next one, with what goes wrong on the way."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from arena.models import Comparison, Study
from judging.models import Battle, BattleRules
from tests import factories as make
from tests.browser.watching import check_accessible

pytestmark = pytest.mark.browser

FIRST = (
    "The sky is blue because air scatters short waves more than long ones.\n\n"
    "1. Sunlight holds all colours.\n2. Air scatters blue about ten times as much as red.\n\n"
    "```python\nratio = (700 / 400) ** 4  # about 9.4\n```\n\nThat is Rayleigh scattering."
)
SECOND = "It reflects the sea. The sea is blue, and the sky is a mirror of it.\n\nAt night there is no light."


@pytest.fixture
def rules(transactional_db: None) -> BattleRules:
    make.make_price()
    study = make.make_study(visibility="public", slug="sky", name="Open questions")
    names = (("Zebra-7B", "Zoo Labs", "Apache-2.0"), ("Quokka-Pro", "Island AI", ""))
    authors = [
        make.make_author(
            contestant=make.make_contestant(study=study, name=name, organisation=by, licence=licence),
            base_url=f"http://127.0.0.1:{number}/v1",
        )
        for number, (name, by, licence) in enumerate(names, start=9)
    ]
    return make.make_battle_rules(study=study, authors=authors, examples=["Why is the sky blue?"])


def see(released: int, state: str = "answering") -> None:
    """Have this much of both answers come."""
    battle, now = Battle.objects.get(state__in=["waiting", "answering"]), timezone.now()
    for side, text in enumerate((FIRST, SECOND)):
        done = "replied" if state == "ready" else "in_flight"
        battle.calls.filter(side=side).update(text=text, shown=text, state=done, deadline=now)
    Battle.objects.filter(pk=battle.pk).update(
        state=state,
        released=released,
        begun_at=now - timedelta(seconds=20),
        released_at=now,
        pace=0.001,  # characters a second
    )


def expect(page: Any, text: str) -> None:
    page.wait_for_function("text => document.body.innerText.includes(text)", arg=text)


def open_page(page: Any, server: str) -> None:
    page.goto(f"{server}/battle/sky/")


def begin(page: Any, server: str) -> None:
    open_page(page, server)
    page.keyboard.type("Why is the sky blue?")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.locator("#prompt").focus()
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#task[data-battle]")


def test_a_battle_by_keyboard_with_a_reload_in_the_middle(
    live_server: Any, page: Any, rules: BattleRules, problems: list[str]
) -> None:
    begin(page, live_server.url)
    expect(page, "Two models are answering")
    page.keyboard.press("3")  # too early
    assert page.locator("[data-choices]:disabled").count()
    see(40)
    expect(page, "The sky is blue because air")
    assert page.locator("[data-choices]:disabled").count()
    see(100)
    expect(page, "You can rate now")
    before = page.inner_text(".responses")
    page.reload()
    assert page.inner_text(".responses") == before
    assert not page.locator("[data-choices]:disabled").count()
    see(1000, "ready")
    expect(page, "Rayleigh scattering")
    expect(page, "Which is better?")
    assert page.locator(".battle-answer pre").count() == 1
    page.keyboard.press("n")
    assert page.is_checked("[name=neither]")
    page.keyboard.press("2")
    page.wait_for_selector("#voted")
    expect(page, "You rated: A is better, and neither is acceptable.")
    expect(page, "Zebra-7B")
    comparison = Comparison.objects.get()
    assert (comparison.rating, comparison.neither) == (2, True)
    page.keyboard.press("c")
    page.keyboard.type("B is wrong.")
    expect(page, "Saved.")
    assert Battle.objects.get().comment == "B is wrong."
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    page.wait_for_selector("#begin")
    assert page.evaluate("document.activeElement.id") == "prompt"
    assert problems == []


def test_a_lost_connection_is_told_and_mended(live_server: Any, page: Any, rules: BattleRules) -> None:
    begin(page, live_server.url)
    see(100)
    expect(page, "You can rate now")
    page.context.set_offline(True)
    expect(page, "The connection is lost")
    assert "The sky is blue" in page.inner_text(".responses")
    see(1000, "ready")
    page.context.set_offline(False)
    expect(page, "Rayleigh scattering")
    page.wait_for_selector("#trouble", state="hidden")


def test_a_vote_without_a_connection_is_sent_later(live_server: Any, page: Any, rules: BattleRules) -> None:
    begin(page, live_server.url)
    see(1000, "ready")
    expect(page, "Which is better?")
    page.context.set_offline(True)
    page.keyboard.press("7")
    expect(page, "Your rating is kept on this page")
    assert not Comparison.objects.exists()
    page.context.set_offline(False)
    page.wait_for_selector("#voted")
    assert Comparison.objects.get().rating == 7


def test_pages_of_battles_are_accessible(live_server: Any, page: Any, rules: BattleRules) -> None:
    open_page(page, live_server.url)
    check_accessible(page)
    before = make.make_battle(rules=rules)
    make.make_battle_call(battle=before)
    begin(page, live_server.url)
    expect(page, "In the queue: place 2.")
    check_accessible(page)
    before.delete()
    see(100)
    expect(page, "You can rate now")
    check_accessible(page)
    see(1000, "ready")
    expect(page, "Which is better?")
    check_accessible(page)
    page.keyboard.press("1")
    page.wait_for_selector("#voted")
    check_accessible(page)
    Battle.objects.update(state="void", void="hung")
    open_page(page, live_server.url)
    expect(page, "An answer stopped coming")
    check_accessible(page)
    Study.objects.update(closed_at=timezone.now())
    page.goto(f"{live_server.url}/battle/sky/?new=1")
    expect(page, "This study has no battles now.")
    check_accessible(page)


def test_without_script_a_battle_is_plain_forms(live_server: Any, browser: Any, rules: BattleRules) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    open_page(page, live_server.url)
    page.check("#consent")
    page.click(".example")
    page.wait_for_selector("meta[http-equiv=refresh]", state="attached")
    see(1000, "ready")
    page.wait_for_selector("#vote .battle-choices:not([disabled])", timeout=20_000)
    page.check("[name=rating][value='7']", force=True)
    page.click("#vote button")
    page.wait_for_selector("#voted")
    assert Comparison.objects.get().rating == 7
    context.close()
