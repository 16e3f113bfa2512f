"""A stranger proposes models, and an operator has them evaluated, in a real browser from end to end."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core import mail

from arena.data.uploads import jobs
from arena.models import Completion, Contestant, Study
from judging import tasks
from judging.models import JudgeRun, Submission, WritingCall
from judging.runs import queue
from judging.writing.services import door
from leaderboard.refreshing import services as snapshots
from tests import factories as make
from tests.browser import watching
from tests.browser.conftest import sign_in
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.working import work_off

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with ChatServer(lambda body: Answer("2")) as server:
        yield server


@pytest.fixture
def study(transactional_db: None, model: ChatServer, settings: Any) -> Study:
    settings.SENDS_MAIL = True
    found = make.make_small_study(prompts=12, contestants=2, slug="rivers", takes_models=True)
    Study.objects.update(visibility="public")
    make.make_price()
    make.make_run(study=found, judge=make.make_judge(base_url=model.url), state="finished")
    return found


@pytest.fixture
def operate(page: Any, live_server: Any) -> Callable[[], None]:
    """Go on as an operator, at the list of proposals."""

    def begin() -> None:
        sign_in(page, live_server.url, make.make_user(is_staff=True))
        page.goto(f"{live_server.url}/operate/rivers/publish/")
        page.goto(f"{live_server.url}/operate/rivers/contestants/")
        page.get_by_role("link", name="Proposed models").click()
        watching.check_accessible(page)

    return begin


def propose(page: Any, server: str, **given: str) -> None:
    """Fill in the page as somebody who is not signed in; the browser proves its work."""
    page.goto(f"{server}/studies/rivers/evaluate/")
    page.get_by_label("Name of the model").fill("Loop <b>")
    for label, value in given.items():
        page.get_by_label(label.replace("_", " "), exact=True).fill(value)
    page.get_by_label("Licence").fill("MIT")
    page.get_by_label("Email address").fill("me@example.org")
    page.get_by_label("I may have this model evaluated").check()
    page.get_by_role("button", name="Propose").click()


def judge(page: Any, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second click, what workers then do, and the leaderboard."""
    started: list[int] = []
    monkeypatch.setattr(queue, "nudge_plan", started.append)
    watching.check_accessible(page)
    page.get_by_label("Budget of each run").fill("1")
    page.get_by_role("button", name="Have them rate").click()
    page.get_by_text("queued").wait_for()
    tasks.plan_run(started[0])
    work_off()
    run = JudgeRun.objects.get(contestant__name="Loop <b>")
    assert (run.state, run.run_assignments.count()) == ("finished", Completion.objects.filter(
        contestant=run.contestant
    ).count() * 2)  # fmt: skip
    snapshots.refresh(study)


def test_from_an_address_to_the_leaderboard(
    page: Any,
    live_server: Any,
    study: Study,
    model: ChatServer,
    operate: Callable[[], None],
    problems: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page.goto(live_server.url + study.get_absolute_url())
    page.goto(f"{live_server.url}/studies/rivers/evaluate/")
    watching.check_accessible(page)
    propose(page, live_server.url, Address=f"{model.url}?key=1", Model_at_this_address="loopback")
    page.get_by_text("Leave out everything from ? or # on").wait_for()
    watching.check_accessible(page)
    propose(page, live_server.url, Address=model.url, Model_at_this_address="loopback")
    page.get_by_text("The operators know it as proposal").wait_for()
    assert model.requests == []

    operate()
    page.get_by_role("link", name="Loop <b>").click()
    page.get_by_label("Input price").wait_for()
    watching.check_accessible(page)
    page.get_by_role("button", name="Accept").click()
    page.get_by_role("button", name="Have it write").wait_for()
    watching.check_accessible(page)
    page.get_by_role("button", name="Have it write").click()
    page.get_by_role("progressbar").wait_for()
    work_off(door)
    assert WritingCall.objects.filter(state="replied").count() == 12
    page.get_by_role("button", name="Have them rate").wait_for()  # the page has noticed by itself
    judge(page, study, monkeypatch)
    page.goto(live_server.url + study.get_absolute_url())
    assert "waits for an operator to confirm it" in page.inner_text("#standings-table")
    page.goto(live_server.url + Submission.objects.get().get_absolute_url())
    page.get_by_role("button", name="Confirm").click()
    page.get_by_text("is confirmed").wait_for()
    assert not Contestant.objects.get(name="Loop <b>").provisional
    assert [sent.to for sent in mail.outbox] == [["me@example.org"]]
    assert [each for each in problems if "422" not in each] == []


def test_from_a_file_to_the_leaderboard(
    page: Any,
    live_server: Any,
    study: Study,
    operate: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    file = tmp_path / "answers.csv"
    rows = [f"{name},Loop <b>,Ours {name}" for name in study.prompts.values_list("external_id", flat=True)]
    file.write_text("\n".join(["prompt,contestant,text", *rows]))
    page.goto(f"{live_server.url}/studies/rivers/evaluate/")
    page.get_by_label("Or files of answers").set_input_files(file)
    monkeypatch.setattr(jobs, "nudge", lambda job, state: None)
    page.get_by_label("Name of the model").fill("Loop <b>")
    page.get_by_label("Licence").fill("MIT")
    page.get_by_label("Email address").fill("me@example.org")
    page.get_by_label("I may have this model evaluated").check()
    page.get_by_role("button", name="Propose").click()
    page.get_by_text("The operators know it as proposal").wait_for()
    held = Submission.objects.get().job
    assert held is not None

    operate()
    page.get_by_role("link", name="Loop <b>").click()
    page.get_by_role("button", name="Accept").click()
    page.locator("#import-progress").wait_for()
    jobs.check(held.pk)
    page.get_by_role("button", name="Import", exact=True).wait_for()
    watching.check_accessible(page)
    assert not Completion.objects.filter(contestant__name="Loop <b>").exists()
    page.get_by_role("button", name="Import", exact=True).click()
    page.locator("#import-progress").wait_for()
    jobs.apply(held.pk)
    page.get_by_role("button", name="Have them rate").wait_for()
    judge(page, study, monkeypatch)


def test_without_scripts_the_page_asks_to_sign_in(plain_page: Any, live_server: Any, study: Study) -> None:
    propose(plain_page, live_server.url, Address="http://127.0.0.1:9/v1", Model_at_this_address="m")
    plain_page.get_by_text("Sign in, or let this page run its script").wait_for()
    assert not Submission.objects.exists()
    sign_in(plain_page, live_server.url, make.make_user())
    propose(plain_page, live_server.url, Address="http://127.0.0.1:9/v1", Model_at_this_address="m")
    plain_page.get_by_text("The operators know it as proposal").wait_for()
    assert Submission.objects.get().account is not None
