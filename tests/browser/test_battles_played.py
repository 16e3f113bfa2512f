"""Ten battles in a real browser, by keyboard alone, while models stream, hang and are stopped."""

import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.db.models import Count

from arena.models import Comparison
from judging.battles import door as door_module
from judging.battles.door import door
from judging.models import Battle, BattleRules
from judging.worker.worker import Worker
from tests import factories as make
from tests.browser.conftest import sign_in
from tests.browser.watching import BY_SIZE_OR_COLOUR, violations
from tests.judging.endpoints.server import ChatServer, Streamed

pytestmark = pytest.mark.browser

SENTENCES = [f"This is sentence {number} of an answer. " for number in range(1, 60)]
HANGING: dict[str, Any] = {"end": "", "done": False, "usage": False, "hang": 8.0}


class Models:
    """Models of which the prompt says how they answer; ``hung``: how often one has hung, by prompt."""

    def __init__(self) -> None:
        self.hung: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Streamed:
        said = str(body["messages"][-1]["content"])
        with self._lock:
            is_first = said not in self.hung
            self.hung[said] += is_first and "hang" in said
        if "slowly" in said:
            return Streamed(pieces=SENTENCES, pause=0.2)
        if "hang unseen" in said and is_first:
            return Streamed(pieces=[], **HANGING)
        if "hang" in said and "unseen" not in said and is_first:
            return Streamed(pieces=SENTENCES[:2], **HANGING)
        return Streamed(pieces=SENTENCES[:3])


@pytest.fixture
def rules(transactional_db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[BattleRules]:
    """An arena whose worker asks four models."""
    settings.BATTLE_HUNG_SECONDS = 1.5
    monkeypatch.setattr(door_module, "EVERY", 0.1)
    make.make_price()
    study = make.make_study(visibility="public", slug="sky", name="Open questions", reasons=["Clearer"])
    worker = Worker(door, slots=16, name="browser")
    with ChatServer(Models()) as server:
        authors = [
            make.make_author(
                contestant=make.make_contestant(study=study, name=name, organisation="Zoo Labs"),
                base_url=server.url.replace("/v1", f"/{name.lower()}/v1"),
                timeout=20.0,
            )
            for name in ("Zebra", "Quokka", "Heron", "Otter")
        ]
        rules = make.make_battle_rules(study=study, authors=authors, most_turns=2)
        worker.start()
        yield rules
        worker.stop(timeout=20)


class Visitor:
    """Somebody with a keyboard alone."""

    def __init__(self, page: Any) -> None:
        self.page, self.press, self.type = page, page.keyboard.press, page.keyboard.type

    def expect(self, text: str) -> None:
        self.page.wait_for_function("text => document.body.innerText.includes(text)", arg=text)

    def ask(self, prompt: str) -> None:
        """Begin a battle on the page that a battle begins on, whose box has the focus."""
        self.page.wait_for_selector("#begin #prompt:focus")
        self.type(prompt)
        if self.page.locator("#consent").count():
            self.press("Tab")
            self.press("Space")
            self.press("Shift+Tab")
        self.press("Control+Enter")
        self.page.wait_for_selector("#vote")

    def tab_to(self, selector: str) -> None:
        for _ in range(40):
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
            self.press("Tab")
        raise AssertionError(f"{selector} cannot be reached by Tab")

    def read_to_the_end(self) -> None:
        self.expect("Which is better?")

    def vote(self, *keys: str) -> Battle:
        """Rate, and return the battle; the names are told."""
        for key in keys:
            self.press(key)
        self.page.wait_for_selector("#new-battle")
        self.expect("You rated: ")
        self.expect("Zoo Labs")
        return Battle.objects.latest("pk")

    def next(self) -> None:
        self.press("b")
        self.page.wait_for_selector("#begin #prompt:focus")


def rated(battle: Battle) -> tuple[int | None, bool]:
    comparison = Comparison.objects.get(battle=battle)
    return comparison.rating, comparison.neither


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_ten_battles(
    rules: BattleRules, live_server: Any, page: Any, problems: list[str], width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    sign_in(page, live_server.url, make.make_user())
    page.goto(f"{live_server.url}/battle/sky/")
    you = Visitor(page)
    for number, play in enumerate(PLAYS):
        page.emulate_media(color_scheme=("light", "dark")[number % 2])
        battle = play(you)
        assert battle.state == "voted", play
        assert page.evaluate("document.documentElement.scrollWidth") <= width, play
        assert violations(page, rules=BY_SIZE_OR_COLOUR) == [], play
        you.next()
    assert [each for each in problems if "ERR_INTERNET_DISCONNECTED" not in each] == []
    assert dict(Battle.objects.values_list("void").annotate(n=Count("pk"))) == {"": len(PLAYS), "hung": 1}


def after_a_reload(you: Visitor) -> Battle:
    you.ask("Answer slowly.")
    you.expect("You can rate now")
    before = you.page.inner_text("#answer-a .battle-answer")
    you.page.reload()
    assert you.page.inner_text("#answer-a .battle-answer").startswith(before.rstrip())
    return you.vote("7")


def with_a_lost_connection(you: Visitor) -> Battle:
    you.ask("Answer slowly, please.")
    you.expect("You can rate now")
    you.page.context.set_offline(True)
    you.expect("The connection is lost")
    assert "This is sentence 1" in you.page.inner_text("#answer-a .battle-answer")
    you.press("6")
    you.expect("Your rating is kept on this page")
    you.page.context.set_offline(False)
    return you.vote()


def with_a_hung_side(you: Visitor) -> Battle:
    """It is told as cut off, and its prompt is there to be sent again."""
    you.ask("One may hang.")
    you.expect("An answer stopped coming")
    assert you.page.input_value("#prompt") == "One may hang."
    you.ask("")
    you.read_to_the_end()
    return you.vote("2")


def with_a_side_that_hangs_unseen(you: Visitor) -> Battle:
    """Another model takes its place, and nobody sees it."""
    you.ask("One may hang unseen.")
    you.read_to_the_end()
    battle = you.vote("3")
    assert battle.is_redrawn
    return battle


def stopped(you: Visitor) -> Battle:
    you.ask("Answer very slowly.")
    you.expect("You can rate now")
    you.tab_to(".battle-stop button")
    you.press("Enter")
    you.read_to_the_end()
    return you.vote("5")


def where_neither_is_acceptable(you: Visitor) -> Battle:
    you.ask("Say something.")
    you.read_to_the_end()
    you.press("n")
    assert you.page.is_checked("[name=neither]")
    battle = you.vote("Enter")
    assert rated(battle) == (None, True)
    return battle


def where_one_of_two_bad_ones_is_less_bad(you: Visitor) -> Battle:
    you.ask("Say something else.")
    you.read_to_the_end()
    you.tab_to("[name=neither]")
    you.press("Space")
    battle = you.vote("4")
    assert rated(battle) == (4, True)
    return battle


def with_a_second_turn(you: Visitor) -> Battle:
    you.ask("Say it once.")
    you.read_to_the_end()
    you.press("f")
    you.type("And once more?")
    you.press("Control+Enter")
    you.page.wait_for_selector("#task[data-turn='2']")
    you.read_to_the_end()
    assert "Question 1 and the answer to it" in you.page.inner_text(".response-a")
    battle = you.vote("1")
    assert battle.turns == ["Say it once.", "And once more?"]
    return battle


def rated_early(you: Visitor) -> Battle:
    you.ask("Answer slowly again.")
    you.press("8")  # too early: nothing is there
    you.expect("You can rate now")
    battle = you.vote("8")
    assert battle.is_early
    return battle


def with_reasons_and_a_comment(you: Visitor) -> Battle:
    you.ask("Say something to talk about.")
    you.read_to_the_end()
    battle = you.vote("2")
    you.tab_to("[name=first_reasons]")
    you.press("Space")
    you.press("c")
    you.type("B says too little.")
    you.expect("Saved.")
    you.press("Escape")
    battle.refresh_from_db()
    assert (battle.first_reasons, battle.second_reasons) == (["Clearer"], [])
    assert battle.comment == "B says too little."
    return battle


PLAYS = (
    after_a_reload,
    with_a_lost_connection,
    with_a_hung_side,
    with_a_side_that_hangs_unseen,
    stopped,
    where_neither_is_acceptable,
    where_one_of_two_bad_ones_is_less_bad,
    with_a_second_turn,
    rated_early,
    with_reasons_and_a_comment,
)
