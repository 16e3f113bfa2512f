"""Programs with a token, as judges and operators elsewhere run them, and the runs they are asked for."""

import json
from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from arena.api.auth import issue_token, operator_token
from arena.models import Assignment, Rater
from judging.models import Judge, JudgeCall, JudgeRun
from judging.runs.lifecycle import plan_run, start_run
from judging.runs.recovery import sweep
from tests.factories import make_small_study


def request(
    client: Client, whose: Rater | str | None, path: str, body: object = None, method: str = "POST"
) -> Any:
    """The reply to a request below /api/v1 with a token: a rater's, this one, or for None an operator's."""
    token = whose if isinstance(whose, str) else issue_token(whose) if whose else operator_token()
    sent = {"content_type": "application/json", "headers": {"Authorization": f"Bearer {token}"}}
    return client.generic(method, f"/api/v1{path}", json.dumps({} if body is None else body), **sent)


def planned(judge: Judge, study: Any = None, **options: Any) -> JudgeRun:
    """A running run, by default over six pairs; its messages are still to be acted upon."""
    run = start_run(study or make_small_study(prompts=2), judge, **options)
    plan_run(run.pk)
    run.refresh_from_db()
    return run


def lose_leases() -> int:
    """As if the lease of every call in flight had run out; how many the sweep then abandons."""
    past = timezone.now() - timedelta(seconds=1)
    Assignment.objects.filter(state="claimed").update(leased_until=past)
    JudgeCall.objects.filter(state="in_flight").update(deadline=past)
    return sweep()["abandoned"]
