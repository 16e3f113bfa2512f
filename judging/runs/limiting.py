from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.utils import timezone

from arena.texts.dialogue import Message
from judging.endpoints import costs
from judging.endpoints.client import NoReplyError, Reply, retry_after_seconds
from judging.endpoints.limits import MANY, EndedCall, Limits, Outage, StartingCall, limiter
from judging.judges.asked import AskedModel
from judging.models import Endpoint, Judge, JudgeCall, JudgeRun
from judging.runs.asking import PreparedCall
from judging.runs.batching import Combiner

USUAL_REPLY: Final = 500  # tokens expected of a reply where the request sets no limit


def start(calls: Sequence[tuple[JudgeCall, PreparedCall]]) -> list[float]:
    """For each call the seconds until the next try; 0 if it may be made now."""
    asking = [_starting(call, asked) for call, asked in calls if not call.run.judge.is_simulated]
    if not asking:
        return [0.0] * len(calls)
    waits = dict(zip((call.name for call in asking), limiter().start(asking, _taken()), strict=True))
    return [waits.get(_name(call), 0.0) for call, _ in calls]


def cancel(calls: Sequence[tuple[JudgeCall, PreparedCall]]) -> None:
    limiter().cancel([_starting(call, asked) for call, asked in calls if not call.run.judge.is_simulated])


def end(call: JudgeCall, asked: PreparedCall, result: Reply | NoReplyError) -> Outage | None:
    """Note that a call has ended; returns the outage of its endpoint in which it failed, if any."""
    if call.run.judge.is_simulated:
        return None
    ended = ended_call(_starting(call, asked), result)
    if isinstance(result, Reply):
        # Noted when the next call starts: a write to Redis for each would take a tenth of all processor time.
        _ended.append(ended)
        return None
    return _ending.do(ended)


def ended_call(call: StartingCall, result: Reply | NoReplyError) -> EndedCall:
    if isinstance(result, Reply):
        known = result.prompt_tokens is not None and result.completion_tokens is not None
        taken = (result.prompt_tokens or 0) + (result.completion_tokens or 0)
        return EndedCall(call, tokens=taken if known else None)
    asked_to_wait = retry_after_seconds(result.retry_after, timezone.now())
    return EndedCall(call, result.kind, min(asked_to_wait, settings.JUDGE_RETRY_MAX_SECONDS))


def start_one(call: StartingCall) -> float:
    """Seconds until a call of no run may be made; 0 for now."""
    return limiter().start([call])[0]


def cancel_one(call: StartingCall) -> None:
    limiter().cancel([call])


_ended: deque[EndedCall] = deque()  # calls of this process that got replies and are not noted yet


def note_ended(failed: Sequence[EndedCall] = ()) -> list[Outage | None]:
    """Note ``failed`` and calls that ended before; returns the outages of ``failed``."""
    ended = _taken()
    return limiter().end([*ended, *failed])[len(ended) :]


def _taken() -> list[EndedCall]:
    taken = []
    with suppress(IndexError):
        while True:
            taken.append(_ended.popleft())
    return taken


_ending = Combiner[EndedCall, Outage | None](note_ended, most=64)


def room(judge: Judge) -> tuple[float, int]:
    """Seconds until the judge may be asked again, and how many calls may then be made at once."""
    endpoint = judge.endpoint
    if endpoint is None:
        return 0.0, MANY
    return limiter().room(str(endpoint.pk), endpoint.base_url, limits_of(endpoint))


def limits_of(endpoint: Endpoint) -> Limits:
    return Limits(endpoint.concurrency, endpoint.requests_per_minute, endpoint.tokens_per_minute)


def outage_of(judge: Judge) -> Outage | None:
    return limiter().outage(judge.endpoint.base_url) if judge.endpoint else None


def outage_of_run(run: JudgeRun) -> Outage | None:
    """None while its endpoint answers, and where this arena asks nothing for it now."""
    asked_here = run.state == JudgeRun.State.RUNNING and not run.remote
    return outage_of(run.judge) if asked_here else None


TRIALS: Final = Limits(concurrency=1, requests_per_minute=10)
"""Of one operator, who tests judges before saving them."""


def start_trial(who: str) -> tuple[StartingCall, float]:
    """A test of a judge, and the seconds until it may be made; 0 for now."""
    trial = StartingCall(f"trial by {who}", "trials", "trial", TRIALS, tokens=0, lease=60.0)
    return trial, start_one(trial)


def end_trial(trial: StartingCall) -> None:
    limiter().end([EndedCall(trial)])


def _starting(call: JudgeCall, asked: PreparedCall) -> StartingCall:
    return starting(asked.model, _name(call), asked.request.messages, asked.lease)


def starting(model: AskedModel, name: str, messages: Sequence[Message], lease: timedelta) -> StartingCall:
    """A call as the limits of its endpoint count it; ``name`` is its own among all calls."""
    endpoint, tokens = model.endpoint, 0
    if endpoint.tokens_per_minute:
        # The bound counts a token for every byte, where texts have three to four.
        tokens = costs.most_prompt_tokens(messages) // 3 + (model.reply_limit or USUAL_REPLY)
    limits = limits_of(endpoint)
    return StartingCall(str(endpoint.pk), endpoint.base_url, name, limits, tokens, lease.total_seconds())


def _name(call: JudgeCall) -> str:
    return f"{call.assignment_id}/{call.key}/{call.round}/{call.attempt}"
