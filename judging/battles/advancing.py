"""What becomes of a battle by what has come of its calls: released, drawn again, void, or ready for a vote.

All of it follows from rows, so that whoever finds a battle brings it up to them, also after a kill.
"""

import random
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Final

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Substr
from django.utils import timezone

from judging.battles.drawing import OPEN, redraw
from judging.battles.locking import locked_battles, locked_calls
from judging.battles.release import Release, Side, released_at
from judging.models import Author, Battle, BattleCall
from judging.models.requests import LIVE
from judging.requests.services import BUDGET

State = Battle.State
Void = Battle.Void
Asked = BattleCall.State

GOING: Final = (State.WAITING, State.ANSWERING)
TIMEOUT: Final = "timeout"
PROMPT: Final = "prompt"
FLAGGED: Final = "flagged"
NAMED: Final = "named"
"""Kinds of failures of a call, beside those of any call."""

BY_ITSELF: Final = {FLAGGED: Void.FLAGGED, NAMED: Void.NAMED, PROMPT: Void.PROMPT, BUDGET: Void.BUDGET}
"""Kinds that another model would not mend, or that are to be told."""

OF_NO_MODEL: Final = (Void.PROMPT, Void.BUDGET, Void.LEFT)


@transaction.atomic
def advance(battles: Collection[int]) -> None:
    """Bring battles up to what has come of their calls. Harmless when repeated."""
    calls = locked_calls(battles)
    for battle in locked_battles(battles):
        bring_up(battle, calls[battle.pk], timezone.now())


def unsettled() -> list[int]:
    """The battles whose calls somebody may have to look at."""
    return sorted(_going().values_list("pk", flat=True))


def failed() -> list[int]:
    """Those of them with a call that failed, for which another model may be drawn."""
    calls = BattleCall.objects.filter(battle__in=_going(), state=Asked.FAILED, is_current=True)
    return sorted(set(calls.order_by().values_list("battle", flat=True)))


def _going() -> QuerySet[Battle]:
    # Looked for several times a second: by the index of open battles, of which it is the condition.
    return Battle.objects.filter(state__in=OPEN).filter(state__in=GOING).order_by()


def bring_up(battle: Battle, calls: Sequence[BattleCall], now: datetime) -> None:
    """Bring a battle up to what has come of its locked calls."""
    both = sorted((call for call in calls if call.turn == battle.turn), key=lambda call: call.side)
    if not battle.is_open or len(both) != len(BattleCall.Side):
        return
    before = _columns(battle)
    release(battle, both, now)
    failed = next(((call, why) for call in both if (why := _failure(battle, call))), None)
    if failed:
        _replace_or_void(battle, *failed)
    elif not battle.released and any(call.ends_early for call in both):
        void(battle, Void.LEFT)
    else:
        battle.state = _state(both)
    if _columns(battle) != before:
        battle.save(update_fields=_COLUMNS)


_COLUMNS: Final = (
    *("state", "void", "void_by_id", "first_id", "second_id", "is_redrawn"),
    *("begun_at", "released", "released_at", "pace"),
)
_columns: Final = attrgetter(*_COLUMNS)


def _state(calls: Sequence[BattleCall]) -> State:
    if all(map(is_complete, calls)):
        return State.READY
    return State.WAITING if any(call.state == Asked.WAITING for call in calls) else State.ANSWERING


def is_complete(call: BattleCall) -> bool:
    """Tell whether nothing more of an answer will come."""
    return call.state == Asked.REPLIED or (call.ends_early and call.state == Asked.FAILED)


def release(battle: Battle, calls: Sequence[BattleCall], now: datetime) -> None:
    """Note how much of both answers may be seen now; one that was stopped ends there."""
    first, second = (side_of(call, _length(call)) for call in calls)
    found = released_at(now.timestamp(), release_of(battle), (first, second))
    if found is None:
        return
    battle.begun_at, battle.released_at = _moment(found.begun), _moment(found.moment)
    battle.released, battle.pace = found.released, found.pace
    for call in calls:
        if call.ends_early and _length(call) > found.released:
            seen = Substr(F("shown"), 1, found.released)
            BattleCall.objects.filter(pk=call.pk).update(shown=seen, text=seen)


def release_of(battle: Battle) -> Release | None:
    """How much of both answers could be seen when it was last looked at; None before both had begun."""
    if battle.begun_at is None or battle.released_at is None:
        return None
    begun, moment = battle.begun_at.timestamp(), battle.released_at.timestamp()
    return Release(begun, moment, battle.released, battle.pace)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def side_of(call: BattleCall, length: int) -> Side:
    """Return a side of a battle from its call, of which so many characters may be shown."""
    # What a process left that died before anybody saw it is asked for again.
    there = 0 if call.state == Asked.WAITING else length
    return Side(there, is_complete(call), call.begun_at.timestamp() if call.begun_at else None)


def _length(call: BattleCall) -> int:
    length: int = call.length  # type: ignore[attr-defined]
    return length


def _failure(battle: Battle, call: BattleCall) -> Void | None:
    """Why a call has no answer to be voted on; None if it has one, or may still have."""
    if why := BY_ITSELF.get(call.error_kind):
        return why
    is_seen = battle.begun_at is not None
    has_failed = call.state == Asked.FAILED or (call.state == Asked.REPLIED and call.error_kind)
    if call.ends_early or not has_failed:
        return None
    if call.error_kind == TIMEOUT:
        return Void.HUNG
    return Void.CUT if is_seen else Void.FAILED


def _replace_or_void(battle: Battle, call: BattleCall, why: Void) -> None:
    author = _another(battle, call, why)
    if author is None:
        void(battle, why, call)
        return
    BattleCall.objects.filter(pk=call.pk).update(is_current=False)
    BattleCall.objects.create(
        battle=battle, author=author, side=call.side, turn=call.turn, model=author.endpoint.model
    )
    setattr(battle, ("first", "second")[call.side], author.contestant)
    battle.is_redrawn = True


def _another(battle: Battle, call: BattleCall, why: Void) -> Author | None:
    """Another model for a side of which nothing was seen, once; None where there is none."""
    before = battle.calls.filter(turn=battle.turn, side=call.side, is_current=False)
    if why not in (Void.FAILED, Void.HUNG) or battle.begun_at or before.exists():
        return None
    return redraw(battle, call.side, random.SystemRandom())


def void(battle: Battle, why: Void, call: BattleCall | None = None) -> None:
    """End a battle without a vote; what is still being asked ends, too."""
    battle.state, battle.void = State.VOID, why
    battle.void_by = call.author.contestant if call and why not in OF_NO_MODEL else None
    BattleCall.objects.filter(LIVE, battle=battle.pk).update(ends_early=True)
