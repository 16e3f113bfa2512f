"""Keeping to the limits of models at endpoints: rows that are locked by the claims and commits of calls.

For transactions: rows of models are locked after assignments and calls and before purses, in the order of
their ids, and those of addresses after them.
"""

import random
import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from arena.models.querysets import word
from arena.texts.dialogue import Message
from judging.endpoints import costs
from judging.endpoints.client import NoReplyError, Reply, RetryPolicy, retry_after_seconds
from judging.judges.asked import AskedModel
from judging.models import (
    Endpoint,
    Judge,
    JudgeCall,
    JudgeRun,
    Outage,
    PaidCall,
    RateLimit,
)
from judging.models.requests import standing
from judging.runs.summary import duration, one_line

USUAL_REPLY: Final = 500  # tokens expected of a reply where the request sets no limit
NOT_ASKED: Final = frozenset({"configuration", "internal", "prompt"})
"""Kinds of failures in which the endpoint was not asked."""

UNREACHABLE: Final = "unreachable"
"""The kind of a failure that is about the address, whatever the model."""

ended: Final[set[int]] = set()
"""Calls of this process that have ended, and are not committed yet: they take no places."""

Key = tuple[str, str, str]


class Limits:
    """The rate limits of models, locked until the transaction ends."""

    def __init__(self, models: Collection[AskedModel]) -> None:
        self._now = time.time()
        self._rows = _locked({_key(model) for model in models})
        self._addresses = _locked_addresses({model.base_url for model in models})
        _count_in_flight(self._rows.values(), self._now)

    def start(self, call: PaidCall, model: AskedModel, lease: timedelta) -> float:
        """Seconds until the next try; 0 if the call may be made, which is noted in it."""
        row, address = self._rows[_key(model)], self._addresses.get(model.base_url)
        wait = address.wait(NO_LIMITS, self._now) if address else 0.0
        tokens = _expected_tokens(model, call.messages)
        wait = wait or row.start(model.endpoint, self._now, tokens=tokens, lease=lease.total_seconds())
        if not wait:
            call.rate_limit = row
            if address:
                address.await_probe(self._now, lease.total_seconds())
        return wait

    def cancel(self, model: AskedModel) -> None:
        """Note that a call which has started is not made."""
        self._rows[_key(model)].cancel(self._now)
        if address := self._addresses.get(model.base_url):
            address.free_probe(self._now)

    def save(self) -> None:
        """Write what has changed."""
        for row in (*self._rows.values(), *self._addresses.values()):
            _save(row)


@dataclass(frozen=True)
class EndedCall:
    """A call with its result."""

    call: PaidCall
    model: AskedModel
    started_at: datetime
    result: Reply | NoReplyError


def end(calls: Sequence[EndedCall]) -> list[Outage | None]:
    """Note that calls have ended; for each, in order, the outage in which it failed, if any.

    For the transaction that commits them.
    """
    now = time.time()
    keys = {_key(one.model) for one in calls}
    addresses = {one.model.base_url for one in calls}
    # Usually there is nothing to note, and nobody has to wait for a lock.
    known = {row.key: row for row in RateLimit.objects.filter(_named(keys))} if keys else {}
    if not any(_is_worth_noting(one, known.get(_key(one.model))) for one in calls):
        rows: dict[Key, RateLimit] = {}
    else:
        rows = _locked(keys)
    unreachable = {one.model.base_url for one in calls if _kind(one) == UNREACHABLE}
    at = _locked_addresses(addresses, unreachable)
    outages = [_end(one, rows.get(_key(one.model)), at.get(one.model.base_url), now) for one in calls]
    for row in (*rows.values(), *at.values()):
        _save(row)
    return outages


def _is_worth_noting(one: EndedCall, row: RateLimit | None) -> bool:
    failed, counts = isinstance(one.result, NoReplyError), one.model.endpoint.tokens_per_minute
    return bool(failed or counts or (row and row.is_troubled))


def _end(one: EndedCall, row: RateLimit | None, address: RateLimit | None, now: float) -> Outage | None:
    kind, started = _kind(one), one.started_at.timestamp()
    if kind in NOT_ASKED:
        for each in filter(None, (row, address)):
            each.free_probe(now)
        return None
    if kind == UNREACHABLE and address:
        address.failed(started, now, str(one.result))
        return address.outage
    if address:
        address.replied()
    if row is None:
        return None
    if isinstance(one.result, Reply):
        row.replied()
        if one.result.prompt_tokens is not None and one.result.completion_tokens is not None:
            taken = one.result.prompt_tokens + one.result.completion_tokens
            expected = _expected_tokens(one.model, one.call.messages)
            row.count_tokens(one.model.endpoint, expected, taken, now)
        return None
    longest = settings.JUDGE_RETRY_MAX_SECONDS
    asked = min(retry_after_seconds(one.result.retry_after, timezone.now()), longest)
    if kind == "rate_limited":
        row.close(started, now, asked, settings.JUDGE_RETRY_SECONDS, str(one.result))
        return row.outage
    row.closed_until = max(row.closed_until, now + asked if asked else 0.0)
    if answers(kind):
        row.answered()
        return None
    row.failed(started, now, f"{kind.replace('http_', '')}: {one.result}")
    return row.outage if row.open_since else None


def answers(kind: str) -> bool:
    """Tell whether a failure of this kind says that somebody is there."""
    return not (kind in ("connection", UNREACHABLE, "timeout") or kind.startswith("http_5"))


def _kind(one: EndedCall) -> str:
    return one.result.kind if isinstance(one.result, NoReplyError) else ""


NO_LIMITS: Final = Endpoint(concurrency=32767)
"""Stands for an endpoint where only an address is looked at."""


def room(judge: Judge) -> tuple[float, int]:
    """Seconds until the judge may be asked again, and how many calls may then be made at once."""
    endpoint, now = judge.endpoint, time.time()
    if endpoint is None:
        return 0.0, NO_LIMITS.concurrency
    row, address = _rows_of(endpoint)
    _count_in_flight([row] if row.pk else [], now)
    return max(address.wait(NO_LIMITS, now), row.wait(endpoint, now)), row.free(endpoint)


def down(endpoints: Collection[Endpoint]) -> set[int]:
    """The ids of those that do not answer, or ask to wait, and whose next try is not due yet."""
    keys = {each.pk: (each.base_url, each.api_key_env, each.model) for each in endpoints}
    wanted = {*keys.values(), *((url, "", "") for url, *_ in keys.values())}
    rows = RateLimit.objects.filter(_named(wanted)) if wanted else ()
    now = time.time()
    out = {row.key for row in rows if row.outage and row.outage.next_try > now}
    return {pk for pk, key in keys.items() if out & {key, (key[0], "", "")}}


def outage_of_run(run: JudgeRun) -> Outage | None:
    """None while its endpoint answers, and where this arena asks nothing for it now."""
    endpoint = run.judge.endpoint
    if endpoint is None or run.remote or run.state != JudgeRun.State.RUNNING:
        return None
    row, address = _rows_of(endpoint)
    return address.outage or row.outage


def told(outage: Outage) -> str:
    """An outage in words for the page of a run."""
    now = time.time()
    next_try = f"The next try is in {duration(max(outage.next_try - now, 0.0))}. Nothing is lost."
    said = f" Its last words: {one_line(outage.said).rstrip('.')}." if outage.said else ""
    if outage.is_limit:
        return f"The endpoint asks to wait (429).{said} {next_try}"
    return f"No reply has come from the endpoint for {duration(now - outage.since)}.{said} {next_try}"


def _rows_of(endpoint: Endpoint) -> tuple[RateLimit, RateLimit]:
    """The rows of a model and of its address, as they are."""
    key = endpoint.base_url, endpoint.api_key_env, endpoint.model
    keys = [key, (endpoint.base_url, "", "")]
    found = {row.key: row for row in RateLimit.objects.filter(_named(keys))}
    row, address = (found.get(each) or _new(each) for each in keys)
    return row, address


def _named(keys: Iterable[Key]) -> Q:
    return reduce(or_, (Q(base_url=url, api_key_env=env, model=model) for url, env, model in keys))


def _new(key: Key) -> RateLimit:
    base_url, api_key_env, model = key
    return RateLimit(base_url=base_url, api_key_env=api_key_env, model=model)


def _key(model: AskedModel) -> Key:
    return model.base_url, model.endpoint.api_key_env, model.model


def _locked(keys: Collection[Key]) -> dict[Key, RateLimit]:
    """The rows with these keys, made where there are none, and locked until the transaction ends."""
    if not keys:
        return {}
    rows = RateLimit.objects.filter(_named(sorted(keys))).select_for_update(no_key=True).order_by("pk")
    found = {row.key: row for row in rows}
    if missing := sorted(keys - found.keys()):
        RateLimit.objects.bulk_create(map(_new, missing), ignore_conflicts=True)
        found = {row.key: row for row in rows.all()}
    for row in found.values():
        row.before = _columns(row)
    return found


def _locked_addresses(addresses: Set[str], unreachable: Set[str] = frozenset()) -> dict[str, RateLimit]:
    """The rows of addresses that cannot be reached, locked; the others are nobody's concern."""
    troubled = RateLimit.objects.filter(base_url__in=addresses, model="", failures__gt=0)
    keys = {(url, "", "") for url in unreachable | set(troubled.values_list("base_url", flat=True))}
    return {key[0]: row for key, row in _locked(keys).items()}


def _save(row: RateLimit) -> None:
    if _columns(row) != row.before:
        row.save()


def _columns(row: RateLimit) -> tuple[object, ...]:
    return tuple(getattr(row, field.attname) for field in row._meta.concrete_fields)


def _count_in_flight(rows: Collection[RateLimit], now: float) -> None:
    """Count the calls that take places of these rows."""
    if not rows:
        return
    due = datetime.fromtimestamp(now, UTC)

    def live(calls: QuerySet[Any]) -> QuerySet[Any, int]:
        found = calls.filter(state=word("in_flight"), deadline__gt=due, rate_limit__in=rows)
        return found.order_by().values_list("rate_limit", flat=True)

    asked = live(JudgeCall.objects.exclude(pk__in=ended.copy()))
    others = [live(calls._default_manager.all()) for calls in standing()]
    count = Counter(asked.union(*others, all=True))
    for row in rows:
        row.in_flight = count[row.pk]


def next_try(error: NoReplyError, failures: int, outage: Outage | None) -> datetime | None:
    """When to ask again after so many failures that count; None to give up."""
    rng, now = random.Random(), timezone.now()  # noqa: S311 - jitter
    if outage:
        return max(datetime.fromtimestamp(outage.next_try, UTC), now) + timedelta(seconds=rng.uniform(0, 1))
    policy = RetryPolicy(
        settings.JUDGE_MAX_ATTEMPTS, settings.JUDGE_RETRY_SECONDS, settings.JUDGE_RETRY_MAX_SECONDS
    )
    return policy.next_try(error, failures, now, rng)


TRIALS: Final = Endpoint(concurrency=1, requests_per_minute=10)
"""Limits of what one operator may test before saving it."""

LONGEST_TRIAL: Final = 60.0


@transaction.atomic
def start_trial(who: str) -> float:
    """Seconds until the operator may test a judge; 0 for now."""
    now = time.time()
    [row] = _locked({(who, "", "")}).values()
    wait = row.start(TRIALS, now)
    if not wait:
        row.closed_until = now + LONGEST_TRIAL
    _save(row)
    return wait


def end_trial(who: str) -> None:
    """Let the operator test again, within the rate."""
    RateLimit.objects.filter(base_url=who).update(closed_until=0)


def _expected_tokens(model: AskedModel, messages: Sequence[Message]) -> int:
    if not model.endpoint.tokens_per_minute:
        return 0
    # The bound counts a token for every byte, where texts have three to four.
    return costs.most_prompt_tokens(messages) // 3 + (model.reply_limit or USUAL_REPLY)
