"""Calls of judges and the limits they keep to (judging.limits)."""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from django.conf import settings
from django.utils import timezone

from judging.endpoints import costs
from judging.endpoints.client import NoReplyError, Reply, retry_after_seconds
from judging.endpoints.limits import MANY, Entry, Exit, Limits, Outage, entrances
from judging.models import Judge, JudgeCall
from judging.runs.asking import Addressed
from judging.runs.combining import Combiner

USUAL_REPLY: Final = 500
"""Tokens that a reply is expected to have where the request sets no limit."""


def enter(calls: Sequence[tuple[JudgeCall, Addressed]]) -> list[float]:
    """For each call, in order, the seconds until the next try; 0 for what may be made now."""
    asking = [_entry(call, asked) for call, asked in calls if not call.run.judge.is_simulated]
    if not asking:
        return [0.0] * len(calls)
    waits = dict(zip((entry.name for entry in asking), entrances().enter(asking, _taken()), strict=True))
    return [waits.get(_name(call), 0.0) for call, _ in calls]


def withdraw(calls: Sequence[tuple[JudgeCall, Addressed]]) -> None:
    """Calls that were let in are not made after all."""
    entrances().withdraw([_entry(call, asked) for call, asked in calls if not call.run.judge.is_simulated])


def leave(call: JudgeCall, asked: Addressed, result: Reply | NoReplyError) -> Outage | None:
    """A call has ended; the outage of its endpoint that it failed in, if it did.

    One that ended well is noted when the next one enters, at the latest by ``note_ended``: to write to Redis
    for each would take a tenth of all processor time.
    """
    if call.run.judge.is_simulated:
        return None
    entry = _entry(call, asked)
    if isinstance(result, Reply):
        known = result.prompt_tokens is not None and result.completion_tokens is not None
        taken = (result.prompt_tokens or 0) + (result.completion_tokens or 0)
        _ended.append(Exit(entry, tokens=taken if known else None))
        return None
    asked_to_wait = retry_after_seconds(result.retry_after, timezone.now())
    wait = min(asked_to_wait, settings.JUDGE_RETRY_MAX_SECONDS)
    return _leaving.do(Exit(entry, result.kind, wait))


_ended: deque[Exit] = deque()
"""Calls of this process that ended well and are not noted yet."""


def note_ended() -> None:
    """Note the calls of this process that have ended."""
    if ended := _taken():
        entrances().leave(ended)


def _taken() -> list[Exit]:
    """What is to be noted, taken over from all other threads."""
    taken = []
    with suppress(IndexError):
        while True:
            taken.append(_ended.popleft())
    return taken


def _leave(failed: Sequence[Exit]) -> Sequence[Outage | None]:
    ended = _taken()
    return entrances().leave([*ended, *failed])[len(ended) :]


_leaving = Combiner[Exit, Outage | None](_leave, most=64)
"""Calls of this process that fail at the same moment are noted at once."""


def room(judge: Judge) -> tuple[float, int]:
    """Seconds until it is worth to ask the judge, and how many calls may then be made at once."""
    return (
        (0.0, MANY) if judge.is_simulated else entrances().room(str(judge.pk), judge.base_url, _limits(judge))
    )


def _limits(judge: Judge) -> Limits:
    return Limits(judge.concurrency, judge.requests_per_minute, judge.tokens_per_minute)


def outage_of(judge: Judge) -> Outage | None:
    """Since when the endpoint of a judge does not answer, if it does not."""
    return None if judge.is_simulated else entrances().outage(judge.base_url)


def _entry(call: JudgeCall, asked: Addressed) -> Entry:
    judge = call.run.judge
    tokens = 0
    if judge.tokens_per_minute:
        # The bound counts a token for every byte, where texts have three to four.
        tokens = costs.most_prompt_tokens(asked.request.messages) // 3
        tokens += asked.endpoint.reply_limit or USUAL_REPLY
    lease = asked.lease.total_seconds()
    return Entry(str(judge.pk), asked.endpoint.base_url, _name(call), _limits(judge), tokens, lease)


def _name(call: JudgeCall) -> str:
    return f"{call.assignment_id}/{call.key}/{call.round}/{call.attempt}"
