"""The witnesses of the drill of battles: what counts as told too early, as gone, and as paid wrongly."""

import random
from decimal import Decimal
from pathlib import Path

import pytest

from arena.process.proof import is_proven
from tests.faults.battling import Asked, Call, Sum
from tests.faults.visiting import Browser, Diary, Seen, Sitting, Turn, Watched, proof

WATCHED = Watched(
    "http://127.0.0.1:1", Path("over"), ["Wobble & Finch", "127.0.0.1:8137"], "snark", "grumble"
)
PAGE = (
    '<div data-battle="b" data-state="{state}" data-turn="1">'
    '<div class="battle-answer" dir="auto"><div class="block"><p>{first}</p></div></div></section>'
    '<div class="battle-answer" dir="auto"><div class="block"><p>{second}</p></div></div></section></div>'
)


@pytest.mark.parametrize(
    "told", ["By wobble & finch.", "<p>By Wobble &amp; <b>Finch</b>.</p>", "asked at 127.0.0.1:8137/v1"]
)
def test_what_is_told_before_the_vote_is_noticed(told: str) -> None:
    diary = Diary()
    browser = Browser(WATCHED, 1, diary)
    browser.watch("/battle/live/", "Server: x", told)
    browser.is_blind = False
    browser.watch("/battle/live/", "Server: x", told)
    assert len(diary.leaks) == 1


def test_a_word_that_is_not_let_through_is_noticed_at_any_time() -> None:
    diary = Diary()
    browser = Browser(WATCHED, 1, diary)
    browser.is_blind = False
    browser.watch("/battle/live/", "", "<p>A Sna<i>rk</i>.</p>")
    assert diary.flagged == ["/battle/live/"]


@pytest.mark.parametrize(("later", "gone"), [("One. Two.", 0), ("One.", 0), ("On", 1), ("Other.", 1)])
def test_a_text_that_becomes_shorter_is_noticed(later: str, gone: int) -> None:
    diary, seen = Diary(), Seen("b", [Turn("Why?")])
    sitting = Sitting(Browser(WATCHED, 1, diary), seen, diary, random.Random(1), str)
    for first in ("One.", later):
        sitting.load(PAGE.format(state="answering", first=first, second="Same."))
    assert len(diary.shortened) == gone
    assert [look.lengths for look in seen.turns[0].looks] == [(4, 5), (len(later), 5)]


def test_the_work_is_what_the_arena_asks_for() -> None:
    assert is_proven("token", proof("token", 12), 12)


@pytest.mark.parametrize(
    ("call", "asked", "is_wrong"),
    [
        (Call("m", "t", 1, 0, False, Decimal(2), Decimal(9)), [Asked("t", Decimal(2))], False),
        (Call("m", "t", 1, 0, False, Decimal(3), Decimal(9)), [Asked("t", Decimal(2))], True),
        # Cut off by its server, it costs the most that it can.
        (Call("m", "t", 1, 0, False, Decimal(9), Decimal(9)), [Asked("t")], False),
        (Call("m", "t", 1, 0, False, Decimal(0), Decimal(9)), [Asked("t")], True),
        # Lost at a kill, though the server had sent all of it.
        (Call("m", "t", 2, 1, False, Decimal(11), Decimal(9)), [Asked("t", Decimal(2))] * 2, False),
        (Call("m", "t", 2, 1, False, Decimal(19), Decimal(9)), [Asked("t", Decimal(2))] * 2, True),
        (Call("m", "t", 2, 1, False, Decimal(3), Decimal(9)), [Asked("t", Decimal(2))] * 2, True),
    ],
)
def test_costs_that_the_server_does_not_count(call: Call, asked: list[Asked], *, is_wrong: bool) -> None:
    assert Sum.of([call], asked).is_wrong is is_wrong
