"""Battles that loopback models answer: streamed, released together, drawn again, void, killed."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.utils import timezone

from judging.battles import door as door_module
from judging.battles import starting
from judging.battles.door import door
from judging.battles.holding import HELD_BACK
from judging.endpoints import streaming
from judging.judges import asked as asked_module
from judging.models import Author, Battle, BattleCall, BattleRules, Endpoint, Purse, RateLimit
from judging.models.endpoints import SIMULATED_ADDRESS
from judging.spending.budgets import set_battles_budget
from tests import factories as make
from tests.judging.endpoints.server import Answer, ChatServer, Script, Streamed
from tests.judging.working import work_off

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

OOPS = Answer(status=500, raw=b'{"error": {"message": "oops"}}')


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door_module, "EVERY", 0.03)
    monkeypatch.setattr(streaming, "AT_ONCE", 0.01)


Arena = Callable[..., BattleRules]


@pytest.fixture
def between(db: None) -> Iterator[Arena]:
    """The rules of a study whose models answer by these scripts, or with these answers."""
    make.make_price()
    with ExitStack() as servers:

        def rules(*models: Script | Answer, **of_rules: Any) -> BattleRules:
            study = make.make_study(visibility="public")
            authors = []
            for number, model in enumerate(models):
                script: Any = model if callable(model) else (lambda body, model=model: model)
                url = servers.enter_context(ChatServer(script)).url
                contestant = make.make_contestant(study=study, name=f"Loop {number}", organisation="Loopcorp")
                authors.append(make.make_author(contestant=contestant, base_url=url, timeout=20.0))
            return make.make_battle_rules(study=study, authors=authors, max_tokens=100, **of_rules)

        yield rules


def begun(rules: BattleRules) -> Battle:
    """A battle between the first two models of the rules, the first as A."""
    first, second = rules.authors.order_by("pk")[:2]
    battle = starting.begin(rules, make.make_visitor(), "a", "Why?")
    for side, author in enumerate((first, second)):
        battle.calls.filter(side=side).update(author=author)
    battle.first, battle.second = first.contestant, second.contestant
    battle.save()
    return battle


def answered(rules: BattleRules) -> Battle:
    battle = begun(rules)
    work_off(door, slots=8)
    battle.refresh_from_db()
    return battle


def texts(battle: Battle) -> list[str]:
    rows = battle.calls.filter(is_current=True, turn=battle.turn).order_by("side")
    return list(rows.values_list("shown", flat=True))


def test_both_models_answer_and_their_answers_are_released(between: Arena) -> None:
    rules = between(Streamed(pieces=["One. ", "Two."], pause=0.1), Streamed(pieces=["Three."]))
    battle = answered(rules)
    assert (battle.state, texts(battle)) == ("ready", ["One. Two.", "Three."])
    assert battle.begun_at
    assert battle.pace
    for call in battle.calls.all():
        assert (call.state, call.attempt, call.text, call.finish_reason) == ("replied", 1, call.shown, "stop")
        assert (call.prompt_tokens, call.completion_tokens, call.reserved) == (100, 10, 0)
        assert call.cost == Purse.objects.get(battles=rules.study).spent / 2


def test_pieces_are_stored_while_the_model_writes(between: Arena) -> None:
    seen: list[tuple[str, int, list[str]]] = []

    def slow(body: dict[str, Any]) -> Answer:
        return Streamed(pieces=["Sentence one is here. "] * 12, pause=0.05)

    rules = between(slow, slow)
    battle = begun(rules)
    flush = door.flush

    def watched() -> bool:
        goes_on = flush()
        battle.refresh_from_db()
        seen.append((battle.state, battle.released, texts(battle)))
        return goes_on

    door._flusher._flush = watched
    try:
        work_off(door, slots=8)
    finally:
        door._flusher._flush = flush
    shown = [each for _, _, each in seen]
    assert len({each[0] for each in shown}) > 3
    assert all(later[0].startswith(now[0]) for now, later in pairwise(shown))
    released = [each for _, each, _ in seen]
    assert released == sorted(released)
    assert "answering" in {state for state, _, _ in seen}


@pytest.mark.parametrize(
    "bad",
    [
        OOPS,
        Streamed(pieces=["One", " two"], cut=True),
        Answer(""),
        Answer("No.", refusal="I cannot."),
        Answer(status=400, raw=b'{"error": {"code": "content_filter", "message": "no"}}'),
        Answer("", finish_reason="length"),
    ],
    ids=["500", "cut", "empty", "refused", "filtered", "truncated"],
)
def test_a_side_of_which_nothing_was_seen_is_drawn_again_once(between: Arena, bad: Answer) -> None:
    rules = between(bad, Answer("Good."), Answer("Better."))
    battle = answered(rules)
    third = rules.authors.order_by("pk")[2].contestant
    assert (battle.state, battle.is_redrawn, battle.first) == ("ready", True, third)
    assert texts(battle) == ["Better.", "Good."]
    assert battle.calls.filter(is_current=False).count() == 1
    other = between(bad, Answer("Good."), bad)
    battle = answered(other)
    assert (battle.state, battle.void) == ("void", "failed")
    assert battle.void_by == other.authors.order_by("pk")[2].contestant


def test_a_model_that_hangs_is_drawn_again(between: Arena, settings: Any) -> None:
    settings.BATTLE_HUNG_SECONDS = 0.5
    hangs = Streamed(pieces=["One. ", "Two. "], end="", usage=False, done=False, hang=15.0)
    battle = answered(between(hangs, lambda body: Answer("Good.", delay=0.3), Answer("Better.")))
    assert battle.state in ("ready", "void")
    silent = Streamed(pieces=[], end="", usage=False, done=False, hang=15.0)
    battle = answered(between(silent, Answer("Good."), Answer("Better.")))
    assert (battle.state, texts(battle)) == ("ready", ["Better.", "Good."])
    battle = answered(between(silent, Answer("Good.")))
    assert (battle.state, battle.void, battle.void_by) == ("void", "hung", battle.first)


@pytest.mark.parametrize(("ending", "void"), [("cut", "cut"), ("hang", "hung")])
def test_a_side_that_was_seen_ends_told_as_cut_off(
    between: Arena, settings: Any, ending: str, void: str
) -> None:
    settings.BATTLE_HUNG_SECONDS = 1.0
    how: dict[str, Any] = {"cut": True} if ending == "cut" else {"hang": 15.0}
    breaks = Streamed(pieces=["One is said. "] * 20, pause=0.04, end="", usage=False, done=False, **how)
    battle = answered(between(breaks, Streamed(pieces=["Two is. "] * 20, pause=0.04), Answer("Better.")))
    assert (battle.state, battle.void, battle.void_by) == ("void", void, battle.first)
    assert battle.released > 0
    assert all(text.startswith(("One is", "Two is")) for text in texts(battle))


def test_a_sentence_that_tells_who_wrote_it_is_held_back_or_ends_the_battle(between: Arena) -> None:
    named = Streamed(pieces=["Hello. ", "I am Loop 0 by Loopcorp. ", "Bye."], pause=0.05)
    battle = answered(between(named, Answer("Good.")))
    assert (battle.state, texts(battle)[0]) == ("ready", f"Hello. {HELD_BACK} Bye.")
    battle = answered(between(named, Answer("Good."), Answer("Better."), naming="void"))
    assert (battle.state, battle.void, battle.void_by) == ("void", "named", battle.first)
    assert "Loop" not in "".join(texts(battle))


def test_blocked_words_stop_prompts_before_anybody_is_asked_and_answers_before_they_are_seen(
    between: Arena,
) -> None:
    asked: list[Any] = []

    def counts(body: dict[str, Any]) -> Answer:
        asked.append(body)
        return Streamed(pieces=["All is well. ", "Here is the frobnicator. ", "Bye."], pause=0.05)

    battle = answered(between(counts, Answer("Good."), Answer("Better."), blocked_words="frobnicator"))
    assert (battle.state, battle.void, battle.void_by) == ("void", "flagged", battle.first)
    assert "frobnicator" not in "".join(texts(battle))
    asked.clear()
    rules = between(counts, counts, blocked_words="why")
    battle = answered(rules)
    assert (battle.state, battle.void, battle.void_by, asked) == ("void", "prompt", None, [])
    purse = Purse.objects.get(battles=rules.study)
    assert (purse.spent, purse.reserved) == (0, 0)


def test_a_slow_look_at_a_text_is_asked_for_once(between: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    """Although it takes longer than the answer may, and who sweeps looks for what nobody asks any more."""
    looked: list[str] = []

    def looks(body: dict[str, Any]) -> Answer:
        looked.append(body["input"])
        return Answer(raw=b'{"results": [{"flagged": false}]}', delay=2.5)

    for module in (asked_module, door_module):
        monkeypatch.setattr(module, "GRACE", timedelta(seconds=1.0))
    claim = door.claim

    def sweeps(free: int) -> Any:
        door.flush()  # right before, so that a busy machine makes nothing late
        door.sweep()
        return claim(free)

    monkeypatch.setattr(door, "claim", sweeps)
    monkeypatch.setattr(door._flusher, "start", lambda: None)
    rules = between(Answer("One."), Answer("Two."))
    Endpoint.objects.update(timeout=0.4)
    with ChatServer(looks) as moderator:
        rules.moderation_endpoint = make.make_author(base_url=moderator.url, timeout=5.0).endpoint
        rules.save()
        battle = answered(rules)
    assert (battle.state, texts(battle)) == ("ready", ["One.", "Two."])
    assert sorted(looked) == ["One.", "Two.", "Why?"]
    assert set(battle.calls.values_list("attempt", "abandoned")) == {(1, 0)}


def test_thinking_is_not_shown(between: Arena) -> None:
    thinks = Streamed(pieces=["<think>Let me see. ", "Well. ", "</think>\n", "Yes. ", "It is."], pause=0.05)
    assert texts(answered(between(thinks, Answer("Good."))))[0] == "Yes. It is."


def test_who_asks_to_wait_is_asked_again(between: Arena, settings: Any) -> None:
    settings.JUDGE_RETRY_SECONDS = 0.01
    answers = iter([Answer(status=429, headers={"Retry-After": "0"}, raw=b"{}"), Answer("Good.")])
    rules = between(lambda body: next(answers), Answer("Better."))
    battle = begun(rules)
    work_off(door, slots=8)
    BattleCall.objects.update(due_at=timezone.now())
    RateLimit.objects.update(failures=0, pause=0.0, closed_until=0.0)
    work_off(door, slots=8)
    battle.refresh_from_db()
    assert (battle.state, battle.is_redrawn, texts(battle)) == ("ready", False, ["Good.", "Better."])


def test_an_endpoint_that_is_down_is_not_waited_for(between: Arena) -> None:
    rules = between(Answer("One."), Answer("Two."), Answer("Three."))
    battle = begun(rules)
    endpoint = Author.objects.get(contestant=battle.first).endpoint
    soon = timezone.now().timestamp() + 200
    RateLimit.objects.create(base_url=endpoint.base_url, model=endpoint.model, open_since=1, probe_at=soon)
    work_off(door, slots=8)
    battle.refresh_from_db()
    assert (battle.state, battle.is_redrawn, texts(battle)) == ("ready", True, ["Three.", "Two."])


def test_an_empty_purse_ends_a_battle_that_is_drawn_again(between: Arena) -> None:
    rules = between(OOPS, Answer("Good."), Answer("Better."))
    make.make_price(model="dear", prompt=1000, completion=1000)
    author = rules.authors.order_by("pk")[2]
    author.endpoint.model = "dear"
    author.endpoint.save()
    rules.authors.remove(author)
    battle = begun(rules)
    rules.authors.add(author)
    purse = Purse.objects.get(battles=rules.study)
    set_battles_budget(rules.study, purse.reserved, "USD", by=make.make_user(is_staff=True))
    work_off(door, slots=8)
    battle.refresh_from_db()
    assert (battle.state, battle.void, battle.void_by) == ("void", "budget", None)
    purse.refresh_from_db()
    assert purse.reserved == 0
    assert purse.spent <= purse.budget


def _stop_at(battle: Battle, released: int) -> Callable[[], bool]:
    """Flushes, and has the visitor stop the battle once so much was seen."""
    flush = door.flush

    def stopping() -> bool:
        goes_on = flush()
        battle.refresh_from_db()
        if battle.released >= released:
            starting.stop(battle)
        return goes_on

    return stopping


def test_what_is_stopped_ends_where_it_was_seen(between: Arena) -> None:
    long = Streamed(pieces=["A sentence of many. "] * 400, pause=0.03)
    fast = Answer("Another one of many. " * 400)
    battle = begun(between(long, fast))
    door._flusher._flush = _stop_at(battle, 30)
    try:
        work_off(door, slots=8)
    finally:
        door._flusher._flush = door.flush
    battle.refresh_from_db()
    assert battle.state == "ready"
    assert 30 <= battle.released < 2000
    first, second = texts(battle)
    # The fast one, which had replied by then, ends where the slow one does: else it would tell who was fast.
    assert max(len(first), len(second)) <= battle.released
    slow = battle.calls.get(side=0)
    assert (slow.ends_early, slow.text) == (True, first)


def test_what_is_stopped_before_it_began_is_left(between: Arena) -> None:
    battle = begun(between(Answer("One.", delay=0.5), Answer("Two.", delay=0.5)))
    battle.calls.update(ends_early=True)
    work_off(door, slots=8)
    battle.refresh_from_db()
    assert (battle.state, battle.void) == ("void", "left")


def killed(battle: Battle, side: int, shown: str, *, both_begun: bool) -> None:
    """Leave a battle as a process does that died while it was answered."""
    past = timezone.now() - timedelta(seconds=1)
    calls = battle.calls.filter(is_current=True)
    calls.update(state="in_flight", attempt=1, deadline=past, worker="dead")
    calls.filter(side=side).update(text=shown, shown=shown)
    if both_begun:
        calls.update(text=shown, shown=shown)
        battle.begun_at = battle.released_at = past
        battle.released = len(shown)
    battle.state = "answering"
    battle.save()


def test_what_nobody_saw_is_asked_again_after_a_kill(between: Arena) -> None:
    battle = begun(between(Answer("One."), Answer("Two.")))
    killed(battle, 0, "Lost words. ", both_begun=False)
    assert door.sweep() == 2
    battle.refresh_from_db()
    assert (battle.state, battle.begun_at) == ("waiting", None)
    work_off(door, slots=8)
    battle.refresh_from_db()
    assert (battle.state, texts(battle)) == ("ready", ["One.", "Two."])
    assert set(battle.calls.values_list("attempt", "abandoned")) == {(2, 1)}
    purse = Purse.objects.get(battles=battle.study)
    assert purse.reserved == 0
    assert purse.spent == sum(call.cost for call in battle.calls.all())


def test_what_was_seen_ends_told_as_cut_off_after_a_kill(between: Arena) -> None:
    battle = begun(between(Answer("One."), Answer("Two.")))
    killed(battle, 0, "Seen words. ", both_begun=True)
    door.abandon_orphans()
    battle.refresh_from_db()
    assert (battle.state, battle.void) == ("void", "cut")
    assert texts(battle) == ["Seen words. "] * 2
    assert work_off(door, slots=8) == 0
    assert Purse.objects.get(battles=battle.study).reserved == 0


def test_a_reply_whose_battle_was_not_brought_up_to_it_is_found_by_the_sweep(between: Arena) -> None:
    battle = begun(between(Answer("One."), Answer("Two.")))
    battle.calls.update(state="replied", text="Yes.", shown="Yes.", attempt=1)
    door.sweep()
    battle.refresh_from_db()
    assert battle.state == "ready"


def test_simulated_models_answer_in_simulated_studies_alone(between: Arena) -> None:
    rules = between(Answer("One."), Answer("Two."))
    for author in rules.authors.all():
        author.endpoint.base_url, author.endpoint.model = SIMULATED_ADDRESS, f"simulated-{author.pk}"
        author.endpoint.save()
        author.options = {"strength": 300, "length": 100, "speed": 4000}
        author.save()
    assert answered(rules).void == "failed"
    rules.study.simulated = True
    rules.study.save()
    battle = answered(rules)
    assert battle.state == "ready"
    assert all("simulated answer" in text for text in texts(battle))
    assert not any(battle.first.name in text or battle.second.name in text for text in texts(battle))
