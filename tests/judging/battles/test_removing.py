"""A removed battle: no text and no vote of it is left, and it is counted."""

from typing import Any

import pytest
from django.apps import apps
from django.db import models
from django.utils import timezone

from arena.models import Comparison, Prompt, StudyEvent
from arena.people.anonymising import anonymise
from arena.texts.rendering_cache import rendered
from judging.battles import showing
from judging.battles.door import door
from judging.battles.removing import remove
from judging.battles.voting import say_why, tell, vote
from judging.endpoints.client import NoReplyError, Reply
from judging.models import Battle, BattleCall
from judging.worker.worker import Ended
from tests.factories import make_battle, make_battle_call, make_battle_rules, make_comparison, make_rater

pytestmark = pytest.mark.django_db

SECRET = "a-secret-of-mine"
A, B = f"Of {SECRET} I know. It is so.", f"Never of {SECRET}. It is not."


def places(text: str) -> list[str]:
    """Every table and column with a row that holds a text."""
    found = []
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.CharField | models.TextField | models.JSONField):
                held = model._default_manager.values_list(field.name, flat=True)
                if any(text in str(value) for value in held):
                    found.append(f"{model.__name__}.{field.name}")
    return found


def make_voted(**of_rules: Any) -> Battle:
    rules = make_battle_rules(**of_rules)
    rules.study.reasons = ["Wrong"]
    rules.study.save()
    battle = make_battle(A, B, rules=rules, turns=[f"What of {SECRET}?"])
    asked = [{"role": "user", "content": SECRET}]
    BattleCall.objects.update(messages=asked, raw_reply=SECRET, error=f"http_500: {SECRET}")
    vote(battle, 2, False)
    say_why(battle, ["Wrong"], [], f"About {SECRET}.")
    battle.refresh_from_db()
    return battle


def test_nothing_of_it_is_left() -> None:
    battle = make_voted()
    pair = Comparison.objects.get().pair
    judged = make_comparison(
        pair=pair, rater=make_rater(kind="judge"), rationale=SECRET, raw_reply=SECRET, extra={"a": SECRET}
    )
    rendered([A, f"What of {SECRET}?"])
    assert {"Prompt.turns", "Completion.turns", "Rendering.html", "BattleCall.error"} <= {*places(SECRET)}
    assert remove(battle)
    assert places(SECRET) == []
    judged.refresh_from_db()
    assert not judged.is_current
    assert not Comparison.objects.counted(battle.study).exists()
    pair.refresh_from_db()
    assert (pair.people_ratings, pair.judge_ratings) == (0, 0)
    battle.refresh_from_db()
    assert (battle.state, battle.void, battle.turns) == ("void", "removed", [""])
    assert (battle.prompt, battle.comparison, battle.first_reasons) == (None, None, [])
    assert [turn.said for turn in showing.turns(battle)] == [""]


def test_it_is_in_the_log_without_its_text_and_only_once() -> None:
    battle = make_voted()
    assert remove(battle)
    assert not remove(battle)
    event = StudyEvent.objects.filter(kind="anonymised").get()
    assert event.note == f"Battle {battle.pk} removed: its texts and its rating."
    assert event.who == "the person"


def test_every_turn_of_a_conversation_is_gone() -> None:
    rules = make_battle_rules(thread="better")
    battle = make_battle(A, B, rules=rules, turns=[f"What of {SECRET}?"])
    vote(battle, 2, False)
    battle.refresh_from_db()
    battle.turns, battle.state = [*battle.turns, f"And {SECRET}?"], "ready"
    battle.voted_at, battle.comparison, battle.prompt = None, None, None
    battle.save()
    for side, text in enumerate((A, B)):
        make_battle_call(battle=battle, side=side, text=text, state="replied")
    vote(battle, 7, False)
    tell(battle)
    assert Prompt.objects.exclude(turns=[]).count() == 2
    remove(battle)
    assert places(SECRET) == []
    assert not Comparison.objects.current().exists()


def test_one_that_is_answered_ends_and_keeps_no_late_reply() -> None:
    battle = make_battle(turns=[f"What of {SECRET}?"], state="answering")
    call = make_battle_call(battle=battle, text=SECRET, state="waiting")
    BattleCall.objects.update(state="in_flight", deadline=battle.created_at)
    remove(battle)
    call.refresh_from_db()
    assert call.ends_early
    call.raw_reply = SECRET
    door.keep(call, Reply(SECRET, "stop", "loopback"))
    call.save()
    assert places(SECRET) == []
    failed = NoReplyError("http_400", f"cannot read {SECRET}", retryable=False)
    door.replied([Ended((call, door.asked(call), timezone.now()), failed, 1.0)])
    call.refresh_from_db()
    assert (call.state, call.error_kind, call.error) == ("failed", "http_400", "")
    assert places(SECRET) == []


def test_removing_details_removes_the_battles() -> None:
    battle, other = make_voted(), make_battle(A, B)
    anonymise(battle.rater, None)
    battle.refresh_from_db()
    other.refresh_from_db()
    assert (battle.void, other.void) == ("removed", "")
