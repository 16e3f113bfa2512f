"""From nothing to a published study with a link for people and one judge, in few clicks."""

from collections.abc import Callable
from typing import Any

import pytest

from arena.data.uploads import jobs
from arena.models import Study
from tests.browser import take_walk
from tests.factories import make_user
from tests.judging.endpoints.server import ChatServer

pytestmark = pytest.mark.browser


def test_the_walk_takes_few_clicks(
    arena: Any,
    page: Any,
    model: ChatServer,
    drain: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work = {"checking": jobs.check, "applying": jobs.apply}
    monkeypatch.setattr(jobs, "nudge", lambda job, state: work[state](job))
    operator = make_user(is_staff=True)
    operator.set_password("seven-rivers-9")
    operator.save()
    page.set_default_timeout(30_000)
    walk = take_walk.Walk(page, arena.url)
    take_walk.sign_in(walk, operator.get_username(), "seven-rivers-9")
    take_walk.make_study(walk)
    take_walk.import_answers(walk)
    take_walk.invite(walk)
    take_walk.judge(walk, model.url)
    drain()
    take_walk.after_the_run(walk)
    take_walk.publish(walk)
    study = Study.objects.get()
    assert (study.is_draft, study.is_public, study.comparisons.count()) == (False, True, 22)
    assert len(walk.clicks) <= take_walk.MOST, walk.report()
