"""What a run's progress counts."""

from collections import deque
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from judging.models import JudgeCall, JudgeRun
from judging.models.calls import RECENTLY
from judging.runs.lifecycle import cancel_run
from tests import factories as make
from tests.factories import make_judge
from tests.judging.elsewhere import planned

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(messages: deque[Any]) -> JudgeRun:
    """A running run over six pairs."""
    return planned(make_judge())


def make_call(run: JudgeRun, number: int = 0, **overrides: Any) -> JudgeCall:
    """A reply that was submitted as a rating, about an assignment of the run by its place in it."""
    now = timezone.now()
    defaults: dict[str, Any] = {"state": "replied", "deadline": now, "finished_at": now}
    if overrides.get("state", "replied") == "replied":
        defaults |= {"model_returned": "m-1", "status": "scored", "submitted_at": now}
        defaults |= {"prompt_tokens": 10, "completion_tokens": 5}
    return make.make_call(run, number, **{**defaults, **overrides})


def test_every_outcome_is_counted_once(run: JudgeRun) -> None:
    asked = make_call(run, 0, reasoning_tokens=3)
    make_call(run, 1, state="failed", error_kind="timeout")
    make_call(run, 1, attempt=2, status="unscored", reason="refused", model_returned="m-2")
    make_call(run, 2, state="failed", error_kind="http_400", given_up=True)
    make_call(run, 3, state="in_flight", finished_at=None)
    make_call(run, 4, cached_from=asked, prompt_tokens=10)
    make_call(run, 5, state="abandoned")
    progress = JudgeCall.objects.progress(run)
    assert (progress.assigned, progress.scored, progress.unscored) == (6, 2, {"refused": 1})
    assert (progress.failed, progress.identical, progress.done, progress.waiting) == (1, 0, 3, 2)
    assert (progress.in_flight, progress.cached, progress.retried, progress.calls) == (1, 1, 1, 6)
    assert (progress.attempts_failed, progress.abandoned) == (2, 1)
    assert (progress.prompt_tokens, progress.completion_tokens, progress.reasoning_tokens) == (20, 10, 3)
    assert progress.models == {"m-1": 2, "m-2": 1}


def test_identical_pairs_count_whether_they_were_asked_or_not(run: JudgeRun) -> None:
    run.identical = 3
    make_call(run, 0, status="identical")
    progress = JudgeCall.objects.progress(run)
    assert (progress.assigned, progress.identical, progress.done, progress.waiting) == (9, 4, 4, 5)


def test_cost_is_known_where_a_price_is(run: JudgeRun) -> None:
    assert JudgeCall.objects.progress(run).cost is None
    purse = run.purse
    purse.currency, purse.spent, purse.reserved, purse.budget = "EUR", Decimal(3), Decimal(1), Decimal(5)
    progress = JudgeCall.objects.progress(run)
    assert (progress.cost, progress.reserved, progress.budget) == (3, 1, 5)
    assert progress.currency == "EUR"


def test_rate_and_time_left_are_those_of_the_last_minutes(run: JudgeRun) -> None:
    assert JudgeCall.objects.progress(run).per_minute is None
    assert JudgeCall.objects.progress(run).seconds_left is None
    now = timezone.now()
    run.started_at = now - timedelta(hours=1)
    make_call(run, 0, finished_at=now - RECENTLY - timedelta(seconds=5))
    for number in (1, 2, 3):
        make_call(run, number, finished_at=now - timedelta(seconds=number))
    minutes = RECENTLY.total_seconds() / 60
    progress = JudgeCall.objects.progress(run)
    assert progress.per_minute == pytest.approx(3 / minutes)
    assert progress.seconds_left == pytest.approx(60 * 2 * minutes / 3)
    run.state = JudgeRun.State.PAUSED
    assert JudgeCall.objects.progress(run).per_minute is None


def test_the_counts_of_many_runs_are_those_of_each_alone(run: JudgeRun) -> None:
    make_call(run, 0)
    cancel_run(run)
    run.refresh_from_db()
    other = planned(run.judge, run.study)
    make_call(other, 1, key="other", status="unscored", reason="empty")
    together = JudgeCall.objects.progress_of([run, other])
    assert together == {each.pk: JudgeCall.objects.progress(each) for each in (run, other)}
    assert (together[run.pk].scored, together[other.pk].unscored) == (1, {"empty": 1})


def test_no_call_is_read_for_its_progress(run: JudgeRun) -> None:
    if connection.vendor != "sqlite":
        connection.cursor().execute("SET LOCAL enable_seqscan = off")
    make_call(run, 0)
    tallied = JudgeCall.objects.filter(run__in=[run.pk]).tallied(timezone.now())
    plan = tallied.explain()
    assert "judge_call_progress" in plan
    if connection.vendor == "sqlite":
        assert "COVERING INDEX" in plan
    run = JudgeRun.objects.select_related("purse").get(pk=run.pk)
    with CaptureQueriesContext(connection) as queries:
        JudgeCall.objects.progress(run)
    assert len(queries) == 4
