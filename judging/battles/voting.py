"""Votes on battles. A vote is a rating like any other: of a pair, through the one recording function."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from django.db import transaction
from django.utils import timezone

from arena.data.importing.texts import text_of
from arena.models import Assignment, Comparison, Completion, Contestant, Pair, Prompt, Purpose, Study
from arena.rating.assignments import lock_to_rate
from arena.rating.offering import lease_time
from arena.rating.opinions import Rating, RatingError
from arena.rating.pace import least_seconds
from arena.rating.recording import record
from arena.rating.screen import LONGEST_COMMENT
from arena.rules import scales
from arena.rules.subsets import LIVE_SUBSET
from arena.texts.marks import split_thinking
from arena.texts.self_naming import telling_words
from judging.battles.errors import BattleError
from judging.battles.locking import locked
from judging.battles.showing import Turn, goes_on_from, name_of, turns, votes
from judging.models import Battle, BattleCall, BattleRules
from judging.models.requests import LIVE

State = Battle.State


class Vote(Rating):
    """What a visitor says of both sides of a battle."""

    SOURCE = Comparison.Source.BATTLE


TOO_SOON: Final = "You can rate once both answers have a full sentence."
OTHER_VOTE: Final = "You have rated this already, perhaps in another tab. That rating is kept."
ENDED: Final = "This battle has ended without a rating. You can begin a new one."
GONE_ON: Final = "The conversation has gone on since. Rate its newest answers."
NOTHING_SAID: Final = "Choose a rating, or say that neither is acceptable."


def vote(battle: Battle, rating: int | None, neither: bool, turn: int | None = None) -> Comparison:
    """Store a vote as a comparison; the same vote twice is stored once. Raises BattleError.

    A vote before both answers are complete is about what could be seen of them, and ends them there.
    ``turn``: the one that the page showed.
    """
    try:
        with transaction.atomic():
            study = lock_to_rate(battle.study, battle.rater)
            held = locked(battle)
            if turn not in (None, held.turn):
                raise BattleError(GONE_ON)
            if held.state != State.VOTED:
                return _vote(study, held, rating, neither)
            stored = held.comparison
            if stored is None or (stored.rating, stored.neither) != (rating, neither):
                raise BattleError(OTHER_VOTE)
            return stored
    except Study.DoesNotExist:
        raise BattleError("This study takes no ratings any more.") from None
    except RatingError as error:
        raise BattleError(str(error)) from error


def _vote(study: Study, battle: Battle, rating: int | None, neither: bool) -> Comparison:
    now = timezone.now()
    seen = turns(battle, now)
    _refuse(battle, seen[-1], rating, neither)
    rules = battle.study.battle_rules
    by_turn = rules.thread == BattleRules.Thread.BETTER
    pair, swapped = _pair(battle, seen, by_turn)
    seconds = max(0.0, (now - (battle.begun_at or now)).total_seconds())
    assignment = Assignment.objects.create(
        study=study,
        rater=battle.rater,
        pair=pair,
        swapped=swapped,
        turn=battle.turn if by_turn and battle.turn > 1 else 0,
        purpose=Purpose.CHOSEN if battle.is_chosen else Purpose.STUDY,
        is_random=battle.is_random,
        leased_until=now + lease_time(),
        shown_at=battle.begun_at,
    )
    said = Vote(
        assignment=assignment.public_id,
        rating=rating,
        points=cast("scales.Points", study.points),
        reason="neither" if rating is None else None,
        neither=neither,
        seconds=seconds,
    )
    comparison = record(battle.rater, assignment.public_id, said)
    characters = sum(len(side.text) for side in seen[-1].sides)
    battle.prompt, battle.comparison = pair.prompt, comparison
    battle.state, battle.voted_at = State.VOTED, now
    battle.is_early = not seen[-1].is_complete
    battle.is_fast = seconds < least_seconds(characters)
    if not (by_turn and battle.turn < rules.most_turns):
        battle.told_at = now
    battle.save()
    # What is still written ends: nobody will see more of it.
    battle.calls.filter(LIVE, is_current=True).update(ends_early=True)
    return comparison


def _refuse(battle: Battle, turn: Turn, rating: int | None, neither: bool) -> None:
    if battle.state == State.VOID:
        raise BattleError(ENDED)
    if battle.state == State.WAITING or not turn.can_be_voted_on:
        raise BattleError(TOO_SOON)
    if rating is None and not neither:
        raise BattleError(NOTHING_SAID, "rating")


def _pair(battle: Battle, seen: Sequence[Turn], by_turn: bool) -> tuple[Pair, bool]:
    """Store prompt, both answers and their pair; the second value tells if its second answer is A."""
    name = name_of(battle, battle.turn if by_turn else 1)
    prompt = Prompt.objects.create(
        study=battle.study, external_id=name, subset=LIVE_SUBSET, turns=battle.turns, is_private=True
    )
    voted = votes(battle) if by_turn else {}
    texts = [_texts(seen, voted, side) for side in BattleCall.Side]
    thinking = [_thinking(battle, side) for side in BattleCall.Side]
    both = (battle.first, battle.second)
    rows = [_answer(prompt, *each) for each in zip(both, texts, thinking, strict=True)]
    # In an order that tells nothing: which of them is A is kept by the assignment alone.
    for row in sorted(rows, key=lambda each: each.contestant_id or 0):
        row.save()
    first, second = sorted(rows, key=lambda each: each.pk)
    return Pair.objects.create(prompt=prompt, first=first, second=second), first is rows[1]


def _texts(seen: Sequence[Turn], voted: dict[int, Comparison], side: int) -> list[str]:
    """Return the answers of a side's conversation; earlier ones as it went on from them."""
    earlier = [each.sides[goes_on_from(voted.get(each.number), side)] for each in seen[:-1]]
    return [each.text for each in [*earlier, seen[-1].sides[side]]]


def _thinking(battle: Battle, side: int) -> list[str]:
    """Return what the model of a side thought before each turn, which nobody rates."""
    calls = battle.calls.filter(is_current=True, side=side).order_by("turn")
    thoughts = [split_thinking(text)[0] for text in calls.values_list("text", flat=True)]
    return thoughts if any(thoughts) else []


def _answer(prompt: Prompt, contestant: Contestant, texts: list[str], thinking: list[str]) -> Completion:
    telling = telling_words(contestant, texts)
    return Completion(prompt=prompt, contestant=contestant, thinking=thinking, **text_of(texts, telling))


@transaction.atomic
def say_why(battle: Battle, first_reasons: list[str], second_reasons: list[str], comment: str) -> None:
    """Store what a visitor says of each answer after the vote; said again, it replaces what was said."""
    held = locked(battle)
    if held.state != State.VOTED:
        raise BattleError("Rate first; then you can say why.")
    offered = set(held.study.reasons)
    if strange := [each for each in (*first_reasons, *second_reasons) if each not in offered]:
        raise BattleError(f"This study does not offer the reason “{strange[0]}”.", "reasons")
    if len(comment) > LONGEST_COMMENT:
        raise BattleError(f"Please keep the comment under {LONGEST_COMMENT:,} characters.", "comment")
    held.first_reasons, held.second_reasons = (
        list(dict.fromkeys(r)) for r in (first_reasons, second_reasons)
    )
    held.comment = comment.replace("\0", "")
    held.save(update_fields=["first_reasons", "second_reasons", "comment"])


@transaction.atomic
def tell(battle: Battle) -> None:
    """End a conversation that could go on after its vote, so that its names can be told."""
    held = locked(battle)
    if held.state == State.VOTED and held.told_at is None:
        held.told_at = timezone.now()
        held.save(update_fields=["told_at"])


@dataclass(frozen=True)
class Told:
    """What is told of a model after the vote, and of its newest answer, as it was seen."""

    contestant: Contestant
    words: int
    tokens: int | None


def reveal(battle: Battle, seen: Turn) -> tuple[Told, Told]:
    """Return who wrote A and B. Raises BattleError before the vote, and while the conversation may go on.

    ``seen``: what could be seen of their newest answers.
    """
    if battle.state != State.VOTED or battle.told_at is None:
        raise BattleError("Names are told after the rating.")
    newest = battle.calls.filter(is_current=True, turn=battle.turn)
    tokens = dict(newest.values_list("side", "completion_tokens"))
    first, second = (
        Told(contestant, len(seen.sides[side].text.split()), tokens.get(side))
        for side, contestant in enumerate((battle.first, battle.second))
    )
    return first, second
