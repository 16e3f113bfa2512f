"""A run at an endpoint that does whatever endpoints were seen to do; the long one is in tests/faults."""

from collections.abc import Callable
from typing import Any

from judging.models import JudgeCall, JudgeRun
from judging.runs.lifecycle import resume_run, start_run
from tests.factories import make_judge, make_small_study
from tests.judging.endpoints.changing import BEHAVIOURS, Changing
from tests.judging.endpoints.server import ChatServer

AT_ONCE = 1  # calls until the endpoint changes


def test_every_pair_is_rated_or_says_why_not_and_no_reply_is_asked_for_twice(
    arena: Any, model: ChatServer, drain: Callable[..., None]
) -> None:
    model.script = changing = Changing(AT_ONCE)
    study = make_small_study(prompts=40, contestants=2)
    start_run(study, make_judge(base_url=model.url, timeout=1.5))
    reasons = set()
    for _ in range(20):
        drain(sweeps=200)
        run = JudgeRun.objects.get()
        if run.state != "paused":
            break
        reasons.add(run.error)
        resume_run(run)
    progress = JudgeCall.objects.progress(run)
    assert (run.state, progress.assigned, progress.waiting) == ("finished", 40, 0)
    failed = JudgeCall.objects.filter(given_up=True).values_list("error", flat=True)
    assert set(failed) <= {"Invalid model name"}
    assert len(failed) == progress.failed == AT_ONCE
    assert changing.again == 0
    assert sum("credit" in why for why in reasons) >= 1
    assert all(reasons)
    wasted = sum(not each.completes for each in BEHAVIOURS) * AT_ONCE
    assert progress.calls <= 40 + wasted
