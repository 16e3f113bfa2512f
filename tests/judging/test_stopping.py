"""What is stopped is never asked again, whatever becomes of the calls in flight; their replies are kept."""

import json
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from judging.endpoints.client import NoReplyError, Reply
from judging.models import Purse
from judging.models.requests import LIVE
from judging.proposing import services as proposing
from judging.requests.services import Requests
from judging.spending.budgets import set_budget
from judging.worker.worker import Ended, Task
from judging.writing import services as writing
from judging.writing.wanted import Wanted
from tests import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

Stopped = tuple[Requests[Any], list[Task]]
TEXT = json.dumps([{"question": "Is it true?", "labels": ["Content"], "required": True}])


def written() -> Stopped:
    """Two answers are being written and one waits; then the run is cancelled."""
    study = make.make_small_study(prompts=3, contestants=1)
    author = make.make_author(contestant=make.make_contestant(study=study), max_tokens=50)
    run = Wanted(budget=Decimal(1)).start(author)
    tasks = writing.door.claim(2)
    writing.cancel(run)
    return writing.door, tasks


def proposed() -> Stopped:
    """Two prompts are being asked about and one waits; then that is stopped."""
    study = make.make_small_study(prompts=3, contestants=1)
    set_budget(study, Decimal(1), "USD")
    proposing.start(make.make_judge(max_tokens=50), list(study.prompts.all()), uuid4(), None)
    tasks = proposing.door.claim(2)
    assert proposing.stop(study) == 1
    return proposing.door, tasks


@pytest.mark.parametrize("kind", [written, proposed])
@pytest.mark.parametrize("end", ["http_500", "rate_limited", "timeout", "death"])
def test_no_call_that_fails_after_a_stop_is_made_again(kind: Callable[[], Stopped], end: str) -> None:
    make.make_price()
    door, tasks = kind()
    if end == "death":
        assert door.abandon_orphans() == 2
    else:
        door.replied([Ended(task.call, NoReplyError(end, "no"), 1.0) for task in tasks])
    rows = door.rows._default_manager
    assert list(rows.values_list("state", flat=True)) == ["failed"] * 2
    assert not rows.filter(LIVE).exists()
    rows.update(due_at=timezone.now() - timedelta(hours=1))
    assert door.claim(3) == []
    assert Purse.objects.get().reserved == 0


@pytest.mark.parametrize("kind", [written, proposed])
@pytest.mark.parametrize("is_late", [False, True])
def test_replies_that_come_after_a_stop_are_kept_and_paid_once(
    kind: Callable[[], Stopped], is_late: bool
) -> None:
    make.make_price()
    door, tasks = kind()
    if is_late:
        door.abandon_orphans()
    before = Purse.objects.get().spent
    for _ in range(2):
        door.replied([Ended(task.call, Reply(TEXT, "stop", "m", "", 100, 10), 1.0) for task in tasks])
    rows = door.rows._default_manager.all()
    assert [(row.state, row.raw_reply, row.error) for row in rows] == [("replied", TEXT, "")] * 2
    purse = Purse.objects.get()
    assert (purse.spent, purse.reserved) == (sum(row.cost for row in rows), 0)
    assert (purse.spent == before) == is_late
