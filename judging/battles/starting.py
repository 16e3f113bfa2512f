"""Battles begin, go on, are stopped and left: within every limit, and paid for both sides or not at all.

A transaction locks the calls of a battle first, then the battle, then the rules of its study, then purses.
"""

import random
from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from arena.models import Rater
from arena.texts.dialogue import Message, dialogue
from arena.texts.marks import without_thinking
from judging.battles import drawing
from judging.battles.advancing import advance
from judging.battles.drawing import OPEN, Drawn
from judging.battles.errors import BattleError
from judging.battles.locking import locked
from judging.battles.showing import goes_on_from, may_go_on, votes
from judging.judges.asked import AskedModel
from judging.models import Author, Battle, BattleCall, BattleRules, Purse
from judging.requests.services import refuse
from judging.spending.reservations import Granted, battles_purse, prices_of, reserve

State = Battle.State
Asked = BattleCall.State
Scope = Purse.Scope

TOMORROW: Final = "You can go on tomorrow, after midnight (UTC)."
CLOSED: Final = "This study has no battles now."
EMPTY: Final = "Type a prompt."
OPEN_ALREADY: Final = "You have a battle that is open. Rate it or leave it, then begin another."
TOO_FEW: Final = "Fewer than two models can be asked now. Try again in a few minutes."
FULL: Final = "Too many battles wait for their models. Try again in a few minutes."
LEFT: Final = "The visitor left."
NO_PRICE: Final = (
    "No battle can begin, because a price of a model or its longest answer is not known. Tell the operators."
)
SPENT_TODAY: Final = f"What battles may cost today is used up. {TOMORROW}"
SPENT: Final = "What this study may cost is used up. Operators can raise it."
IN_USE: Final = "Battles that are going on hold what is left of the budget. Try again in a minute."
NOT_READY: Final = "You can go on once both models have answered."
VOTE_FIRST: Final = "Rate first. Then both models go on from the better answer."
ENDED: Final = "This battle has ended. Begin a new one."
NOT_CHOOSING: Final = "Choose two different models of this study's battles, signed in."

LONGEST_WAIT: Final = timedelta(minutes=15)  # of a battle for its models

LIMITING: Final = frozenset(
    {
        *("top_p", "top_k", "min_p", "typical_p", "seed", "stop", "logit_bias"),
        *("frequency_penalty", "presence_penalty", "repetition_penalty"),
    }
)
"""Options of sampling, in which the sides of a battle do not differ."""


def begin(
    rules: BattleRules, rater: Rater, address: str, prompt: str, *, chosen: Sequence[Author] = ()
) -> Battle:
    """Begin a battle about a prompt; between ``chosen`` models, if any. Raises BattleError."""
    prompt = checked(rules, prompt)
    rng = random.SystemRandom()
    drawn = _chosen(rules, rater, chosen, rng) if chosen else drawing.draw(rules, rng)
    with transaction.atomic():
        rules = _locked_rules(rules)
        _check_visitor(rules, rater, address)
        _check_queue(rules)
        if drawn is None:
            raise BattleError(TOO_FEW)
        battle = Battle.objects.create(
            study=rules.study,
            rater=rater,
            first=drawn.first.contestant,
            second=drawn.second.contestant,
            turns=[prompt],
            is_chosen=bool(chosen),
            is_random=drawn.is_random,
            address=address,
        )
        _ask(rules, battle, (drawn.first, drawn.second))
    return battle


def go_on(battle: Battle, prompt: str) -> Battle:
    """Ask both models the next turn. Raises BattleError."""
    prompt = checked(battle.study.battle_rules, prompt)
    with transaction.atomic():
        battle = locked(battle)
        rules = _locked_rules(battle.study.battle_rules)
        _check_turn(rules, battle)
        _check_alone(rules, battle.rater, battle)
        _check_queue(rules)
        last = battle.calls.filter(is_current=True, turn=battle.turn).select_related("author__endpoint")
        authors = {call.side: call.author for call in last}
        battle.turns = [*battle.turns, prompt]
        _reset(battle)
        _ask(rules, battle, (authors[0], authors[1]))
    return battle


@transaction.atomic
def stop(battle: Battle) -> None:
    """End both answers where they are seen; a battle of which nothing is yet is left."""
    battle = locked(battle)
    calls = battle.calls.filter(is_current=True, turn=battle.turn)
    if battle.state == State.WAITING and not calls.filter(state=Asked.IN_FLIGHT).exists():
        _leave(battle)
    elif battle.is_open:
        # Complete or not, both end there: else what stopping does would tell how far each has been written,
        # and so who is fast.
        calls.update(ends_early=True)
        advance([battle.pk])


@transaction.atomic
def leave(battle: Battle) -> None:
    """End an open battle without a vote: what waits is not asked, and what comes is ended."""
    battle = locked(battle)
    if battle.is_open:
        _leave(battle)


def expire(now: datetime | None = None) -> int:
    """Void battles whose models could not be asked for long, so that they hold no money; how many."""
    before = (now or timezone.now()) - LONGEST_WAIT
    waiting = Battle.objects.filter(state__in=OPEN, created_at__lte=before).filter(state=State.WAITING)
    return sum(_expire(battle, before) for battle in waiting.order_by())


@transaction.atomic
def _expire(battle: Battle, before: datetime) -> bool:
    battle = locked(battle)
    late = battle.calls.filter(is_current=True, state=Asked.WAITING, created_at__lte=before)
    if battle.state != State.WAITING or not late.exists():
        return False
    _leave(battle, Battle.Void.FAILED)
    return True


def _leave(battle: Battle, void: Battle.Void = Battle.Void.LEFT) -> None:
    battle.state, battle.void = State.VOID, void
    battle.save(update_fields=["state", "void"])
    for call in battle.calls.filter(is_current=True, state=Asked.WAITING).order_by("pk"):
        refuse(call, LEFT)
    battle.calls.filter(state=Asked.IN_FLIGHT).update(ends_early=True)


def position(battle: Battle) -> int:
    """Return 0 for a battle that is answered, else its place among the study's that wait for their models.

    Whose models are busy is not told.
    """
    waiting = BattleCall.objects.filter(battle=OuterRef("pk"), is_current=True, state=Asked.WAITING)
    is_open = Battle.objects.filter(study=battle.study_id, state__in=OPEN)
    queue = is_open.filter(Exists(waiting), state=State.WAITING)
    return queue.filter(pk__lte=battle.pk).count() if queue.filter(pk=battle.pk).exists() else 0


def asked(rules: BattleRules, author: Author) -> AskedModel:
    """A model as battles ask it: sampled like every other, whatever its own options."""
    options = {name: value for name, value in author.options.items() if name not in LIMITING}
    max_tokens: int | None = rules.max_tokens
    if "max_completion_tokens" in options:  # the newer name of the same limit
        options["max_completion_tokens"], max_tokens = max_tokens, None
    return AskedModel(author.endpoint, author.endpoint.model, max_tokens, rules.temperature, options)


def messages_of(battle: Battle, side: int) -> list[Message]:
    """What a side is sent: the conversation as it goes on from there, to the newest turn."""
    system = battle.study.battle_rules.system.strip()
    before = [{"role": "system", "content": system}] if system else []
    return [*before, *dialogue(battle.turns, "", _answers(battle, side))]


def _answers(battle: Battle, side: int) -> list[str]:
    """The answers to earlier turns that a side goes on from: the better ones of those that were voted on."""
    voted = votes(battle)
    calls = battle.calls.filter(is_current=True, turn__lt=battle.turn)
    texts = {(turn, own): text for turn, own, text in calls.values_list("turn", "side", "text")}
    sides = ((turn, goes_on_from(voted.get(turn), side)) for turn in range(1, battle.turn))
    return [without_thinking(texts.get(each, ""))[0] for each in sides]


def _ask(rules: BattleRules, battle: Battle, authors: Sequence[Author]) -> None:
    """Have both sides asked, and reserve what both can cost, or neither."""
    battles_purse(battle.study)
    asking = [(_call(battle, side, author), asked(rules, author)) for side, author in enumerate(authors)]
    prices = prices_of(model for _, model in asking)
    granted = reserve(asking, prices, together=True)["battles", battle.study_id]
    if not granted.count:
        raise BattleError(_why_no_money(granted))
    for (call, model), price in zip(asking, prices, strict=True):
        call.model, call.currency = model.model, price.currency if price else ""
    BattleCall.objects.bulk_create(call for call, _ in asking)


def _call(battle: Battle, side: int, author: Author) -> BattleCall:
    about: dict[str, Any] = {"battle": battle, "author": author, "side": side, "turn": battle.turn}
    return BattleCall(**about, messages=messages_of(battle, side))


def _why_no_money(granted: Granted) -> str:
    """Amounts are the operators' business."""
    if granted.empty is None:
        return IN_USE
    if granted.bound is None:
        return NO_PRICE
    return SPENT if granted.empty.scope == Scope.STUDY else SPENT_TODAY


def _reset(battle: Battle) -> None:
    """Begin a turn of which nothing is seen yet."""
    battle.state, battle.released = State.WAITING, 0
    battle.begun_at = battle.released_at = battle.pace = battle.voted_at = None
    battle.is_early = battle.is_fast = False
    battle.save()


def _chosen(rules: BattleRules, rater: Rater, chosen: Sequence[Author], rng: random.Random) -> Drawn:
    able = {author.pk: author for author in drawing.able(rules)}
    wanted = list(dict.fromkeys(author.pk for author in chosen))
    if not rules.lets_choose or rater.user_id is None or len(wanted) != 2:
        raise BattleError(NOT_CHOOSING, "chosen")
    if missing := set(wanted) - able.keys():
        names = [author.contestant.name for author in chosen if author.pk in missing]
        raise BattleError(f"{names[0]} cannot be asked now. Choose another model.", "chosen")
    first, second = rng.sample(wanted, 2)
    return Drawn(able[first], able[second])


def _locked_rules(rules: BattleRules) -> BattleRules:
    """The rules as they are; locked, so that every limit of the study is looked at by one at a time."""
    rows = BattleRules.objects.select_related("study").select_for_update(of=("self",), no_key=True)
    found = rows.get(pk=rules.pk)
    if not found.is_open:
        raise BattleError(CLOSED)
    return found


def checked(rules: BattleRules, prompt: str) -> str:
    """The prompt as it is asked. Raises BattleError for none, and for one that is too long."""
    said = prompt.replace("\0", "").strip()
    if not said:
        raise BattleError(EMPTY, "prompt")
    if len(said) > rules.most_characters:
        raise BattleError(
            f"Your prompt has {len(said):,} characters. It can have at most {rules.most_characters:,}.",
            "prompt",
        )
    return said


def _check_visitor(rules: BattleRules, rater: Rater, address: str) -> None:
    _check_alone(rules, rater)
    today = begun_today(rules)
    if today.filter(rater=rater).count() >= rules.visitor_daily:
        raise BattleError(
            f"You have had {rules.visitor_daily:,} battles today, the most there can be. {TOMORROW}"
        )
    if address and today.filter(address=address).count() >= rules.address_daily:
        begun_there = f"{rules.address_daily:,} battles were begun from your address today"
        raise BattleError(f"{begun_there}, the most there can be. {TOMORROW}")


def _check_alone(rules: BattleRules, rater: Rater, beside: Battle | None = None) -> None:
    """Raise BattleError for somebody with an open battle in the study, other than the one they go on with."""
    is_open = Battle.objects.filter(study=rules.study_id, rater=rater, state__in=OPEN)
    if is_open.exclude(pk=beside.pk if beside else 0).exists():
        raise BattleError(OPEN_ALREADY)


def _check_queue(rules: BattleRules) -> None:
    is_open = Battle.objects.filter(study=rules.study_id, state__in=OPEN)
    if is_open.filter(state=State.WAITING).count() >= rules.most_waiting:
        raise BattleError(FULL)


def _check_turn(rules: BattleRules, battle: Battle) -> None:
    if battle.turn >= rules.most_turns:
        raise BattleError(f"A battle has at most {rules.most_turns} turns. Rate, then begin another.")
    if may_go_on(battle, rules):
        return
    if battle.state == State.READY:
        raise BattleError(VOTE_FIRST)
    raise BattleError(NOT_READY if battle.is_open else ENDED)


def begun_today(rules: BattleRules) -> QuerySet[Battle]:
    """The battles of a study since midnight."""
    midnight = timezone.make_aware(datetime.combine(timezone.localdate(), time()))
    return Battle.objects.filter(study=rules.study_id, created_at__gte=midnight)
