"""The most that a battle can cost, for who decides about it. Reservations rest on the texts themselves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from judging.battles.moderation import ASKED, of_endpoint
from judging.battles.starting import asked
from judging.endpoints import costs
from judging.endpoints.costs import TOKENS_AROUND_MESSAGE, TOKENS_AROUND_REQUEST
from judging.judges.asked import AskedModel, asked_by
from judging.models import Author, BattleRules
from judging.spending.reservations import ZERO, prices_of

BYTES: Final = 4
"""Of a character, and of a token of an answer: each byte counts as a token of what is sent."""


@dataclass(frozen=True)
class Most:
    """The most that a battle of one turn, and one of all turns, can cost between the two dearest models."""

    names: tuple[str, str]
    turn: Decimal
    battle: Decimal
    currency: str


def most(rules: BattleRules, authors: Sequence[Author]) -> Most | None:
    """The most that a battle by these rules can cost; None where that is not known."""
    sides = [(author.contestant.name, _of_side(rules, asked(rules, author))) for author in authors]
    looking = [_of_looking(rules, model) for model in _looking(rules)]
    currencies = {cost.currency for _, cost in sides if cost} | {cost.currency for cost in looking if cost}
    if len(sides) < 2 or len(currencies) != 1 or None in [cost for _, cost in sides] + looking:
        return None
    known = sorted(((cost.whole, cost.turn, name) for name, cost in sides if cost), reverse=True)[:2]
    of_looking = sum((cost.turn for cost in looking if cost), ZERO)
    return Most(
        names=(known[0][2], known[1][2]),
        turn=sum((turn for _, turn, _ in known), of_looking),
        battle=sum((whole for whole, *_ in known), of_looking * rules.most_turns),
        currency=currencies.pop(),
    )


@dataclass(frozen=True)
class _Cost:
    turn: Decimal
    whole: Decimal
    currency: str


def _of_side(rules: BattleRules, model: AskedModel) -> _Cost | None:
    """The most that one side costs in its first turn, and in all of them."""
    limit = model.reply_limit
    if limit is None:
        return None
    options = costs.most_option_tokens(model.options)
    before = costs.most_bytes(rules.system) + TOKENS_AROUND_REQUEST + TOKENS_AROUND_MESSAGE + options
    one = BYTES * rules.most_characters + TOKENS_AROUND_MESSAGE
    more = one + BYTES * limit + TOKENS_AROUND_MESSAGE
    return _priced(model, [before + one + turn * more for turn in range(rules.most_turns)], limit)


def _of_looking(rules: BattleRules, model: AskedModel) -> _Cost | None:
    """The most that looking at a prompt and both answers costs."""
    if model.reply_limit is None:
        return None
    around = costs.size(ASKED.template) + TOKENS_AROUND_REQUEST + TOKENS_AROUND_MESSAGE
    texts = BYTES * (rules.most_characters + 2 * rules.max_tokens)
    return _priced(model, [3 * around + texts], 3 * model.reply_limit)


def _priced(model: AskedModel, sent: Sequence[int], reply: int) -> _Cost | None:
    [price] = prices_of([model])
    if price is None:
        return None
    turns = [price.of(tokens, reply) for tokens in sent]
    return _Cost(turns[0], sum(turns, ZERO), price.currency)


def _looking(rules: BattleRules) -> Iterator[AskedModel]:
    """The models that look at texts, those without a price left out where they may cost nothing."""
    if judge := rules.moderation_judge:
        yield asked_by(judge)
    if endpoint := rules.moderation_endpoint:
        model = of_endpoint(endpoint)
        if prices_of([model])[0] is not None:
            yield model
