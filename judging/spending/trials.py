"""Calls that somebody waits for, such as tests of a judge, within budgets like any other."""

from collections.abc import Sequence

from django.db import transaction

from arena.models import Study
from arena.pages.permissions import Visitor
from arena.texts.dialogue import Message
from judging.endpoints.client import NoReplyError, Reply
from judging.endpoints.costs import Prices
from judging.endpoints.scoring import Read
from judging.judges.asked import AskedModel
from judging.judges.services import JudgeError
from judging.models import TrialCall
from judging.spending.budgets import HOW_TO_ASK_AGAIN, why_no_more
from judging.spending.reservations import battles_purse, prices_of, reserve, settle, settle_again


@transaction.atomic
def begin(
    model: AskedModel,
    messages: Sequence[Message],
    *,
    study: Study | None = None,
    of_battles: bool = False,
    prices: Prices | None = None,
    by: Visitor | None = None,
) -> TrialCall:
    """Count the most that a call can cost, before it is made. ``prices``: those that are not stored yet.

    ``of_battles``: the purse of the study's battles pays. Raises JudgeError if a budget has no room for it.
    """
    price = prices or prices_of([model])[0]
    about = {"study": study, "of_battles": of_battles}
    call = TrialCall(**about, model=model.model, messages=list(messages), created_by=by)
    if study and of_battles:
        battles_purse(study)
    granted = reserve([(call, model)], [price])[call.payer]
    if not granted.count:
        raise JudgeError(
            "A budget is set, so the call needs max tokens, and a price in the currency of the budget."
            if granted.bound is None
            else why_no_more(granted, HOW_TO_ASK_AGAIN)
            or "Calls in flight hold what is left of a budget. Try again in a moment."
        )
    call.currency = price.currency if price else ""
    settle([call])
    if of_battles:  # whose texts stand in their own rows alone, so that they can be removed
        call.messages = []
    call.save()
    return call


@transaction.atomic
def end(call: TrialCall, told: Reply | Read | NoReplyError) -> None:
    """Count what the call has cost."""
    if isinstance(told, NoReplyError):
        call.state, call.error_kind = TrialCall.State.FAILED, told.kind
    else:
        call.state = TrialCall.State.REPLIED
        call.prompt_tokens, call.completion_tokens = told.prompt_tokens, told.completion_tokens
    if isinstance(told, Reply):
        call.reasoning_tokens = told.reasoning_tokens
    settle_again(call, call.created_at)
    call.save()
