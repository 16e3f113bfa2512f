"""Nobody is asked about a pair that cannot be rated any more since the run was planned."""

from collections import Counter, deque
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from arena.models import Assignment, Comparison, Completion, Contestant, Rater, Study
from judging.judges.services import JudgeError
from judging.models import JudgeCall, JudgeRun
from judging.models.calls import Progress
from judging.remote import services as remote_services
from judging.runs.lifecycle import plan_run, start_run
from tests.factories import make_call, make_judge, make_rater, make_small_study
from tests.judging.elsewhere import lose_leases, planned, request
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.protocols.scripted import scripted
from tests.judging.runs.releasing import releasing
from tests.judging.working import judge_assignment

pytestmark = pytest.mark.both_databases

Drain = Callable[[], None]


def run_over(model: ChatServer, study: Study | None = None, **options: Any) -> JudgeRun:
    """A planned run over six pairs; every contestant is in four of them."""
    config = {name: options.pop(name) for name in ("protocol",) if name in options}
    judge = make_judge(base_url=model.url, **config)
    return planned(judge, study, **options)


def retire(study: Study) -> Contestant:
    """Take a contestant out."""
    contestant = Contestant.objects.filter(study=study).order_by("pk")[0]
    Contestant.objects.filter(pk=contestant.pk).update(retired_at=timezone.now())
    return contestant


def take_back(study: Study) -> None:
    Contestant.objects.filter(study=study).update(retired_at=None)


def states(run: JudgeRun) -> Counter[str]:
    return Counter(run.run_assignments.values_list("assignment__state", flat=True))


def progress(run: JudgeRun) -> Progress:
    return JudgeCall.objects.progress(run)


def test_a_contestant_retired_meanwhile_costs_nothing(arena: Any, model: ChatServer, drain: Drain) -> None:
    run = run_over(model)
    gone = retire(run.study)
    drain()
    run.refresh_from_db()
    found = progress(run)
    assert (run.state, len(model.requests), JudgeCall.objects.count()) == ("finished", 2, 2)
    assert (found.assigned, found.scored, found.put_aside, found.failed, found.waiting) == (6, 2, 4, 0, 0)
    assert states(run) == {"submitted": 2, "failed": 4}
    assert not Comparison.objects.filter(pair__first__contestant=gone).exists()


def test_what_names_its_author_is_asked_until_excluded(arena: Any, model: ChatServer, drain: Drain) -> None:
    run = run_over(model)
    Completion.objects.filter(pk=Completion.objects.order_by("pk")[0].pk).update(telling=["GPT-4"])
    judge_assignment(run.run_assignments.order_by("pk")[0].assignment_id)
    assert len(model.requests) == 1
    Study.objects.update(naming="exclude")
    drain()
    found = progress(run)
    assert found.scored + found.put_aside == 6
    assert found.put_aside in (1, 2)  # of two pairs with this text, the one asked first may be one
    assert len(model.requests) == found.scored


def test_a_newer_version_of_a_text_is_another_text(arena: Any, model: ChatServer, drain: Drain) -> None:
    run = run_over(model)
    Completion.objects.filter(pk=Completion.objects.order_by("pk")[0].pk).update(is_current=False)
    drain()
    assert (progress(run).scored, progress(run).put_aside, len(model.requests)) == (4, 2, 4)


@pytest.mark.parametrize("kind", ["all", "failures"])
def test_what_was_put_aside_is_asked_later(arena: Any, model: ChatServer, drain: Drain, kind: str) -> None:
    run = run_over(model)
    retire(run.study)
    drain()
    with pytest.raises(JudgeError):  # as long as it cannot, there is nothing to ask
        start_run(run.study, run.judge, kind=kind)
    take_back(run.study)
    again = start_run(run.study, run.judge, kind=kind)
    drain()
    assert (progress(again).assigned, progress(again).scored, progress(again).put_aside) == (4, 4, 0)
    assert (progress(run).scored, progress(run).put_aside) == (2, 4)  # what became of the first stays told
    assert Comparison.objects.count() == 6 == len(model.requests)


def test_a_pair_of_several_questions_is_asked_no_further(
    arena: Any, model: ChatServer, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, study = scripted(), make_small_study(prompts=1, contestants=2)

    def excluding(body: dict[str, Any]) -> Answer:
        retire(study)
        return answer(body)

    model.script = releasing(excluding)
    run = run_over(model, study, protocol="reference")
    drain()
    assert len(model.requests) == 1  # the reference; the verdict, in the same task, is not asked for
    assert (progress(run).put_aside, progress(run).waiting, progress(run).replied) == (1, 0, 1)
    take_back(study)
    model.script = answer
    again = start_run(study, run.judge)
    drain()
    assert (progress(again).scored, len(model.requests)) == (1, 2)


def test_a_reply_that_is_there_is_submitted(arena: Any, model: ChatServer, drain: Drain) -> None:
    run = run_over(model, make_small_study(prompts=1, contestants=2))
    now = timezone.now()
    make_call(run, state="replied", raw_reply="7\nB", worker="dead", deadline=now, finished_at=now)
    retire(run.study)
    drain()
    assert (progress(run).scored, progress(run).put_aside, len(model.requests)) == (1, 0, 0)


def test_an_answer_that_was_to_be_asked_anew_stands(arena: Any, model: ChatServer, drain: Drain) -> None:
    model.script = lambda body: Answer("I cannot say.")
    run = run_over(model, make_small_study(prompts=1, contestants=2))
    drain()
    assert progress(run).unscored == {"refused": 1}
    again = start_run(run.study, run.judge, kind="unscored")
    plan_run(again.pk)
    retire(run.study)
    drain()
    assert (progress(again).put_aside, progress(again).waiting, len(model.requests)) == (1, 0, 1)
    assert states(again) == {"submitted": 1}
    assert Comparison.objects.get().is_current


def test_what_somebody_is_asking_is_left_alone(arena: Any, model: ChatServer, messages: deque[Any]) -> None:
    run = run_over(model)
    assignment = run.run_assignments.order_by("pk")[0].assignment
    Assignment.objects.filter(pk=assignment.pk).update(
        state="claimed", leased_until=timezone.now() + timedelta(minutes=1)
    )
    retire(run.study)
    judge_assignment(assignment.pk)
    assignment.refresh_from_db()
    assert assignment.state == "claimed"


# --- Judges elsewhere -------------------------------------------------------------------------------------


def claim(client: Client, rater: Rater, **body: object) -> Any:
    return request(client, rater, "/assignments/", body)


@pytest.mark.django_db
def test_a_worker_elsewhere_gets_what_can_be_rated(client: Client, model: ChatServer, messages: Any) -> None:
    run = run_over(model, remote=True)
    retire(run.study)
    offered = [claim(client, run.judge.rater).status_code for _ in range(3)]
    assert offered == [201, 201, 204]
    assert (progress(run).put_aside, progress(run).in_flight, progress(run).waiting) == (4, 2, 2)
    assert states(run) == {"claimed": 2, "failed": 4}


@pytest.mark.django_db
def test_a_remote_run_of_which_nothing_is_left_ends(client: Client, model: ChatServer, messages: Any) -> None:
    run = run_over(model, make_small_study(prompts=2, contestants=2), remote=True)
    retire(run.study)
    assert claim(client, run.judge.rater).status_code == 204
    run.refresh_from_db()
    assert (run.state, progress(run).put_aside) == ("finished", 2)
    assert not JudgeCall.objects.exists()


@pytest.mark.django_db
def test_a_late_answer_counts_instead(client: Client, model: ChatServer, messages: Any) -> None:
    run = run_over(model, make_small_study(prompts=1, contestants=2), remote=True)
    claimed = claim(client, run.judge.rater).json()
    lose_leases()
    retire(run.study)
    assert claim(client, run.judge.rater).status_code == 204
    assert (progress(run).put_aside, progress(run).waiting) == (1, 0)
    answer = {"assignment": claimed["assignment"], "rating": 7, "points": 8}
    call = {"model": "m", "attempt": 1}
    reply = request(client, run.judge.rater, "/comparisons/", answer | {"call": call})
    assert reply.status_code == 201, reply.json()
    assert (progress(run).scored, progress(run).put_aside, progress(run).waiting) == (1, 0, 0)


@pytest.mark.django_db
def test_a_judge_without_configuration_is_offered_what_can_be_rated(client: Client) -> None:
    study = make_small_study(prompts=2, contestants=3, visibility="public")
    rater = make_rater(kind=Rater.Kind.JUDGE)
    assert claim(client, rater, study=study.slug).status_code == 201
    Assignment.objects.filter(state="claimed").update(state="open", leased_until=None)
    retire(study)
    offered = [claim(client, rater, study=study.slug).status_code for _ in range(3)]
    assert offered == [201, 201, 204]
    assert Counter(Assignment.objects.values_list("state", flat=True)) == {"claimed": 2, "failed": 4}
    take_back(study)
    assert remote_services.claim(rater, study) is not None
    assert Assignment.objects.filter(state="failed").count() == 0  # planned again


@pytest.mark.both_databases(False)
@pytest.mark.django_db
def test_the_page_of_a_run_says_how_many(staff: Client, model: ChatServer, messages: Any) -> None:
    run = run_over(model, remote=True)
    page = f"/judging/runs/{run.pk}/"
    assert "Put aside" not in staff.get(page).content.decode()
    retire(run.study)
    while claim(Client(), run.judge.rater).status_code == 201:
        pass
    assert "Put aside</dt><dd>4" in staff.get(page).content.decode()
