"""What earlier replies of a model tell about the next ones."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from judging import costs
from judging.models import Judge, JudgeCall, JudgeRun

RECENT: Final = 200
"""So many replies are looked at, the latest."""

RECENT_RUNS: Final = 20


@dataclass(frozen=True)
class Habits:
    """How long a model's tokens and replies are, and how long it takes for one, on average.

    Tokens and seconds are None where no reply tells; replies is how many were looked at.
    """

    bytes_per_token: Decimal = costs.BYTES_PER_TOKEN
    reply_tokens: Decimal | None = None
    seconds: Decimal | None = None
    replies: int = 0


def habits_of(judge: Judge) -> Habits:
    """How the judge's model has replied of late, to any judge; how long its replies are, to its protocol."""
    alike = JudgeRun.objects.filter(judge__model=judge.model, judge__base_url=judge.base_url)
    runs = list(alike.order_by("-pk").values_list("pk", flat=True)[:RECENT_RUNS])
    calls = JudgeCall.objects.filter(
        run__in=runs,
        state=JudgeCall.State.REPLIED,
        cached_from=None,
        model=judge.model,
        prompt_tokens__gt=0,
        completion_tokens__isnull=False,
    )
    recent = list(calls.select_related("run__judge").order_by("-pk")[:RECENT])
    if not recent:
        return Habits()
    size = sum(costs.size(message["content"]) for call in recent for message in call.messages)
    own = [
        costs.reply_tokens(call.completion_tokens, call.reasoning_tokens)
        for call in recent
        if call.completion_tokens is not None and call.run.judge.protocol == judge.protocol
    ]
    waited = [call.latency for call in recent if call.latency]
    return Habits(
        bytes_per_token=Decimal(size) / sum(call.prompt_tokens or 0 for call in recent),
        reply_tokens=Decimal(sum(own)) / len(own) if own else None,
        seconds=Decimal(sum(waited) / len(waited)) if waited else None,
        replies=len(recent),
    )
