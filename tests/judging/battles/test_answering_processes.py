"""Battles in an arena of real processes whose worker is killed while models answer."""

from decimal import Decimal
from pathlib import Path

import pytest

from tests.faults.battling import battled
from tests.faults.places import Embedded
from tests.judging.endpoints.server import ChatServer, Streamed
from tests.processes import Arena
from tests.waiting import eventually

pytestmark = pytest.mark.processes

SEED = """
from tests import factories as make
make.make_price()
study = make.make_study(slug="live", visibility="public")
names = ("One", "Two")
of_study = [make.make_contestant(study=study, name=name) for name in names]
authors = [make.make_author(contestant=c, base_url="{url}", timeout=20.0, model="loopback") for c in of_study]
make.make_battle_rules(study=study, authors=authors, max_tokens=100)
"""
BEGIN = """
from judging.battles import starting
from judging.models import BattleRules
from tests import factories as make
starting.begin(BattleRules.objects.get(), make.make_rater(slug="{who}", is_visitor=True), "", "{prompt}")
"""
BATTLES = "SELECT b.state, b.void, b.released, b.turns FROM judging_battle b ORDER BY b.id"
CALLS = """
SELECT c.side, c.state, c.attempt, c.abandoned, c.cost, c.shown FROM judging_battlecall c
JOIN judging_battle b ON b.id = c.battle_id ORDER BY b.id, c.side
"""
MONEY = "SELECT spent, reserved FROM judging_purse WHERE scope = 'battles'"
COST = Decimal("0.00028")
SLOW = [f"Sentence {number} of a slow answer. " for number in range(200)]


def test_what_was_seen_stays_and_nothing_is_paid_twice(tmp_path: Path) -> None:
    """One battle is seen as the arena is killed, of the other nothing is yet."""

    def script(body: dict[str, object]) -> Streamed:
        if "silent" in str(body["messages"]) and len(model.requests) <= 4:
            return Streamed(pieces=["It comes late."], delay=60.0)
        return Streamed(pieces=SLOW[:200] if "seen" in str(body["messages"]) else ["Fine."], pause=0.1)

    arena = Arena(tmp_path, SWEEP_SECONDS="1")
    with ChatServer(script) as model:
        arena.run(SEED.format(url=model.url))
        arena.run(BEGIN.format(who="first", prompt="seen"))
        arena.run(BEGIN.format(who="second", prompt="silent"))
        arena.start()
        try:
            eventually(lambda: arena.query(BATTLES)[0][2] > 60 and len(model.requests) == 4, 60)
            arena.kill()
            seen = [(row[5], arena.query(BATTLES)[0][2]) for row in arena.query(CALLS)[:2]]
            arena.start()
            eventually(lambda: {row[0] for row in arena.query(BATTLES)} <= {"void", "ready"}, 60)
            battles, calls = arena.query(BATTLES), arena.query(CALLS)
            [(spent, reserved)] = arena.query(MONEY)
        finally:
            arena.kill()
    assert [tuple(row[:2]) for row in battles] == [("void", "cut"), ("ready", "")]
    assert battles[0][2] >= seen[0][1] > 60
    assert [row[5].startswith(text) for row, (text, _) in zip(calls, seen, strict=False)] == [True, True]
    assert [tuple(row[1:4]) for row in calls] == [("failed", 1, 1)] * 2 + [("replied", 2, 1)] * 2
    assert len(model.requests) == 6  # four that were cut off, and the two of which nothing was seen again
    assert Decimal(str(reserved)) == 0
    assert Decimal(str(spent)) == sum(Decimal(str(row[4])) for row in calls)
    # What was cut off counts at the most it can have cost, once.
    most = [Decimal(str(row[4])) - (COST if row[1] == "replied" else 0) for row in calls]
    assert all(0 < each < Decimal("0.003") for each in most)


def test_nothing_is_told_or_lost_whatever_is_killed() -> None:
    """The drill of `python -m tests.faults battling` on a small scale."""
    report = battled(Embedded.name, lambda said: None, visitors=6, kills=2, votes=6)
    assert [(line.what, line.value) for line in report if line.holds is False] == []
    found = {line.what: line.value for line in report}
    assert found["workers killed"] == "2"
    assert int(found["votes accepted"]) >= 6
