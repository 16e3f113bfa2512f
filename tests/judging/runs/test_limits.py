"""Rates, places and circuits: the rules of a row, and rows that processes share."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from judging.endpoints.client import NoReplyError, Reply
from judging.judges.asked import AskedModel, asked_by
from judging.models import Endpoint, JudgeCall, JudgeRun, RateLimit
from judging.models.limits import FULL, LONGEST_DEBT, LONGEST_PAUSE, OPENS_AFTER
from judging.runs import limiting
from judging.runs.limiting import EndedCall, Limits, answers
from tests.factories import make_call, make_judge
from tests.judging.elsewhere import planned

NOW = 1_000_000.0
LEASE = timedelta(seconds=60)


def make_endpoint(**overrides: Any) -> Endpoint:
    return Endpoint(**{"concurrency": 1000, **overrides})


@pytest.mark.parametrize(("per_minute", "seconds", "most"), [(60, 30, 31), (600, 30, 310), (6, 60, 7)])
def test_no_more_than_the_rate(per_minute: int, seconds: int, most: int) -> None:
    endpoint, row, made = make_endpoint(requests_per_minute=per_minute), RateLimit(), 0
    for quarter in range(seconds * 4):
        row.in_flight = 0
        made += sum(not row.start(endpoint, NOW + quarter / 4) for _ in range(50))
    assert most - 3 <= made <= most


def test_whoever_waits_as_told_is_let_in() -> None:
    endpoint, row = make_endpoint(requests_per_minute=20), RateLimit()
    assert row.start(endpoint, NOW) == 0
    wait = row.start(endpoint, NOW)
    assert wait == pytest.approx(3.0)
    assert row.start(endpoint, NOW + wait) == 0


def test_tokens_are_counted_as_expected_and_then_as_they_were() -> None:
    endpoint, row = make_endpoint(tokens_per_minute=6000), RateLimit()  # a hundred in a second
    assert row.start(endpoint, NOW, tokens=1000) == 0
    assert row.start(endpoint, NOW, tokens=1) == pytest.approx(9.01, abs=0.02)
    row.count_tokens(endpoint, 1000, 200, NOW)
    assert row.start(endpoint, NOW, tokens=1) == pytest.approx(1.01, abs=0.02)
    # No number of tokens keeps others waiting for long.
    assert row.start(endpoint, NOW + 2, tokens=1) == 0
    row.count_tokens(endpoint, 1, 2**31 - 1, NOW + 2)
    assert row.start(endpoint, NOW + 2 + LONGEST_DEBT + 1) == 0


def test_no_more_at_a_time_than_may_be() -> None:
    endpoint, row = make_endpoint(concurrency=3), RateLimit()
    assert [row.start(endpoint, NOW) for _ in range(5)] == [0, 0, 0, FULL, FULL]
    row.cancel(NOW)
    assert [row.start(endpoint, NOW) for _ in range(2)] == [0, FULL]


def test_an_endpoint_that_asks_to_wait_is_asked_ever_more_seldom_until_a_reply() -> None:
    endpoint, row = make_endpoint(), RateLimit()
    row.close(NOW, NOW, 20, 2, "slow down")
    assert row.start(endpoint, NOW) == 20
    assert (row.outage.next_try, row.outage.said, row.outage.is_limit) == (NOW + 20, "slow down", True)
    row.close(NOW, NOW + 1, 0, 2, "slow down")  # of a call from before: no reason to wait longer
    assert row.start(endpoint, NOW + 1) == 19
    waits, now = [], NOW + 20
    for _ in range(10):
        row.close(now, now, 0, 2, "slow down")
        waits.append(row.wait(endpoint, now))
        now = row.closed_until
    assert waits == [4, 8, 16, 32, 64, 128, 256, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]
    row.replied()
    assert row.outage is None
    assert row.start(endpoint, now) == 0


def test_one_probe_at_a_time_ever_more_seldom_until_one_is_answered() -> None:
    endpoint, row, now = make_endpoint(), RateLimit(), NOW
    for _ in range(OPENS_AFTER - 1):
        row.failed(now, now, "503")
    assert row.outage is None
    row.failed(now, now, "503")
    pauses = []
    for _ in range(9):
        pauses.append(row.wait(endpoint, now))
        now = row.outage.next_try
        assert row.start(endpoint, now, lease=60) == 0
        assert row.start(endpoint, now) == 60
        row.failed(now, now, "503")
    assert pauses == [5, 10, 20, 40, 80, 160, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]
    assert row.outage.since == NOW
    row.replied()
    assert all(row.start(endpoint, now) == 0 for _ in range(10))


def test_calls_from_before_the_outage_do_not_make_pauses_longer() -> None:
    endpoint, row = make_endpoint(), RateLimit()
    for _ in range(64):
        row.failed(NOW - 1, NOW, "502")
    assert row.outage.next_try == NOW + 5
    # A probe that is not made leaves it to another.
    assert row.start(endpoint, NOW + 5, lease=60) == 0
    row.cancel(NOW + 5)
    assert row.start(endpoint, NOW + 5) == 0


def test_which_failures_say_that_nobody_is_there() -> None:
    for kind in ("", "malformed", "http_429", "http_404", "rate_limited"):
        assert answers(kind)
    for kind in ("connection", "unreachable", "timeout", "http_500", "http_503"):
        assert not answers(kind)


def model_of(**overrides: Any) -> AskedModel:
    return asked_by(make_judge(**overrides))


@transaction.atomic
def fail(model: AskedModel, kind: str, times: int = OPENS_AFTER) -> list[Any]:
    """Outages of as many failures of this kind."""
    call = JudgeCall(messages=[])
    error = NoReplyError(kind, "no") if kind else Reply("5", "stop", "m")
    return limiting.end([EndedCall(call, model, timezone.now(), error)] * times)


@transaction.atomic
def wait(model: AskedModel) -> float:
    limits = Limits([model])
    seconds = limits.start(JudgeCall(messages=[]), model, LEASE)
    limits.save()
    return seconds


ASKED = {"base_url": "http://127.0.0.1:9/v1", "model": "m", "api_key_env": "A_API_KEY"}
OTHERS = [{"model": "another"}, {"api_key_env": "B_API_KEY"}, {"base_url": "http://127.0.0.1:8/v1"}]


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["connection", "timeout", "http_500", "http_503", "rate_limited"])
def test_an_outage_is_of_one_model_with_one_key(kind: str) -> None:
    broken = model_of(**ASKED)
    assert fail(broken, kind)[-1] is not None
    assert wait(broken) > 0
    assert [wait(model_of(**{**ASKED, **other})) for other in OTHERS] == [0, 0, 0]
    fail(broken, "")
    RateLimit.objects.update(closed_until=0)
    assert wait(broken) == 0


@pytest.mark.django_db
def test_refused_connections_are_of_the_address() -> None:
    refused = model_of(**ASKED)
    assert fail(refused, "unreachable", OPENS_AFTER - 1)[-1] is None
    assert fail(refused, "unreachable", 1)[-1] is not None
    waits = [wait(model_of(**{**ASKED, **other})) > 0 for other in OTHERS]
    assert waits == [True, True, False]
    RateLimit.objects.update(probe_at=0)
    other = model_of(**{**ASKED, "model": "another"})
    assert wait(other) == 0, "one probe for all of its models"
    assert wait(refused) > 0
    fail(other, "http_400", 1)  # who answers anything can be reached
    assert wait(refused) == 0


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["rate_limited", "http_503", "http_408"])
def test_nobody_asks_before_the_time_that_an_endpoint_names(kind: str) -> None:
    model = model_of()
    error = NoReplyError(kind, "later", retry_after="20")
    with transaction.atomic():
        limiting.end([EndedCall(JudgeCall(messages=[]), model, timezone.now(), error)])
    assert wait(model) == pytest.approx(20, abs=1)


@pytest.mark.parametrize("kind", ["", "rate_limited", "http_400", "malformed"])
@pytest.mark.django_db
def test_answers_between_failures_keep_a_circuit_closed(kind: str) -> None:
    model = model_of()
    for _ in range(3):
        assert set(fail(model, "http_500", OPENS_AFTER - 1)) == {None}
        fail(model, kind, 1)
    assert RateLimit.objects.get(model=model.model).open_since == 0


@pytest.fixture
def run(db: None, messages: Any) -> JudgeRun:
    return planned(make_judge(concurrency=3))


def test_calls_in_flight_take_places_until_they_end(run: JudgeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    model = asked_by(run.judge)
    wait(model)
    row = RateLimit.objects.get()
    calls = [make_call(run, number, rate_limit=row) for number in range(3)]
    assert (wait(model), limiting.room(run.judge)) == (FULL, (0.0, 0))
    JudgeCall.objects.filter(pk=calls[1].pk).update(deadline=timezone.now())
    assert limiting.room(run.judge) == (0.0, 1)
    JudgeCall.objects.filter(pk=calls[2].pk).update(state="abandoned", finished_at=timezone.now())
    assert limiting.room(run.judge) == (0.0, 2)


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_many_at_once_let_no_more_in_than_one() -> None:
    model = model_of(requests_per_minute=600)

    def start_some(_: int) -> int:
        try:
            return sum(not wait(model) for _ in range(5))
        finally:
            connection.close()

    began = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        started = sum(pool.map(start_some, range(8)))
    # A second's worth at once, then ten a second.
    assert 10 <= started <= 11 + 10 * (time.monotonic() - began)
