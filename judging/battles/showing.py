"""What of a battle its visitor can see at a moment: the released text of both sides, and nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from arena.models import Comparison
from arena.rules import scales
from arena.rules.subsets import LIVE_SUBSET
from judging.battles.advancing import is_complete, release_of, side_of
from judging.battles.holding import END
from judging.battles.release import released_at
from judging.models import Battle, BattleCall, BattleRules

State = Battle.State


@dataclass(frozen=True)
class Side:
    """What can be seen of an answer to one turn; it is complete once all of it can."""

    text: str = ""
    is_complete: bool = False

    @property
    def has_sentence(self) -> bool:
        return self.is_complete or bool(END.search(self.text))


@dataclass(frozen=True)
class Turn:
    """What the visitor said, and what can be seen of both answers, A first."""

    number: int
    said: str
    sides: tuple[Side, Side]

    @property
    def can_be_voted_on(self) -> bool:
        return all(side.has_sentence for side in self.sides)

    @property
    def is_complete(self) -> bool:
        return all(side.is_complete for side in self.sides)


def turns(battle: Battle, moment: datetime | None = None) -> list[Turn]:
    """Return the conversation as it can be seen, turn by turn."""
    voted, calls = votes(battle), _calls(battle)
    position = _position(battle, calls.get(battle.turn, ()), moment or timezone.now())
    found = []
    for number, said in enumerate(battle.turns, start=1):
        if vote := voted.get(number):
            first, second = (Side(one.turns[-1], True) for one in vote.pair.shown(vote.swapped))
        else:
            end = position if number == battle.turn and battle.state != State.VOTED else None
            first, second = (_side(calls.get(number, ()), side, end) for side in BattleCall.Side)
        found.append(Turn(number, said, (first, second)))
    return found


def _calls(battle: Battle) -> Mapping[int, Sequence[BattleCall]]:
    """Return the current calls by turn."""
    found: dict[int, list[BattleCall]] = {}
    for call in battle.calls.filter(is_current=True).defer("messages", "raw_reply", "text"):
        found.setdefault(call.turn, []).append(call)
    return found


def _side(calls: Sequence[BattleCall], side: int, end: int | None) -> Side:
    call = next((each for each in calls if each.side == side), None)
    if call is None:
        return Side()
    seen = len(call.shown) if end is None else end
    return Side(call.shown[:seen], is_complete(call) and seen >= len(call.shown))


def _position(battle: Battle, calls: Sequence[BattleCall], moment: datetime) -> int:
    """Return how many characters of both answers can be seen: what was released, and has been since."""
    if not battle.is_open or len(calls) != len(BattleCall.Side):
        return battle.released
    in_order = sorted(calls, key=lambda each: each.side)
    first, second = (side_of(call, len(call.shown)) for call in in_order)
    found = released_at(moment.timestamp(), release_of(battle), (first, second))
    return found.released if found else 0


def name_of(battle: Battle, turn: int) -> str:
    """Return the id of the prompt that a vote on this turn makes."""
    return battle.public_id if turn == 1 else f"{battle.public_id}.{turn}"


def votes(battle: Battle) -> dict[int, Comparison]:
    """Return the votes on a battle by turn: of a conversation that goes on from better answers, several."""
    is_own = battle.study.battle_rules.thread == BattleRules.Thread.OWN
    if battle.state != State.VOTED and (is_own or battle.turn == 1):
        return {}
    numbers = {name_of(battle, turn): turn for turn in range(1, battle.turn + 1)}
    if is_own:  # one, of all turns together
        numbers = {name_of(battle, 1): battle.turn}
    found = Comparison.objects.current().filter(
        rater=battle.rater_id,
        study=battle.study_id,
        pair__prompt__subset=LIVE_SUBSET,
        pair__prompt__external_id__in=list(numbers),
    )
    rows = found.select_related("pair__prompt", "pair__first", "pair__second")
    return {numbers[row.pair.prompt.external_id]: row for row in rows}


def goes_on_from(vote: Comparison | None, side: int) -> int:
    """Return from which side's answer a side goes on: the better one where there is one, else its own."""
    if vote is None or vote.rating is None:
        return side
    better = scales.verdict(vote.rating, vote.points)
    return side if better == 0 else int(better > 0)


def may_go_on(battle: Battle, rules: BattleRules) -> bool:
    """Return True if a further turn may be asked: before the vote, or after that of a turn."""
    if battle.turn >= rules.most_turns:
        return False
    if rules.thread == BattleRules.Thread.BETTER:
        return battle.state == State.VOTED and battle.told_at is None
    return battle.state == State.READY
