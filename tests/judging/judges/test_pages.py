"""The staff pages under /judging/."""

from collections import deque
from typing import Any

import pytest
from django.test import Client

from arena.models import Study
from judging.models import Judge, JudgeRun
from judging.runs.lifecycle import cancel_run, pause_run, start_run
from tests.factories import make_call, make_judge, make_rater, make_small_study, make_study, make_user

pytestmark = pytest.mark.django_db

FORM = {
    "name": "Loop",
    "slug": "loop",
    "provider": "openai",
    "model": "loop-1",
    "base_url": "http://127.0.0.1:9/v1",
    "api_key_env": "LOOP_API_KEY",
    "protocol": "likert",
    "form": "likert",
    "points": "8",
    "parameters": "{}",
    "samples": "1",
    "concurrency": "8",
    "temperature": "0",
    "max_tokens": "512",
    "timeout": "30",
    "options": "{}",
    "simulation": "{}",
    "active": "on",
}


PLACES = ("", "judges/new/", "judges/protocol/", "panels/new/", "runs/new/", "runs/preview/")


@pytest.mark.parametrize("place", PLACES)
def test_pages_are_for_operators(place: str, client: Client) -> None:
    assert client.get(f"/judging/{place}").status_code == 302
    client.force_login(make_user())
    assert client.get(f"/judging/{place}").status_code == 403
    client.force_login(make_user(is_staff=True))
    assert client.get(f"/judging/{place}").status_code == 200


def test_configuring_a_judge(staff: Client) -> None:
    page = staff.get("/judging/").content.decode()
    assert "This arena asks no judge yet." in page
    assert "elsewhere" not in page
    make_rater(kind="judge", slug="a", study=make_study())
    make_rater(kind="judge", slug="b", derived_from=["a"])
    assert "1 judge rated elsewhere: you find it under" in staff.get("/judging/").content.decode()
    assert staff.post("/judging/judges/new/", FORM).status_code == 302
    judge = Judge.objects.get()
    assert (judge.slug, judge.name, judge.max_tokens, judge.asks.api_key_env) == (
        "loop",
        "Loop",
        512,
        "LOOP_API_KEY",
    )
    page = staff.get("/judging/").content.decode()
    assert "Loop" in page
    changed = {**FORM, "name": "Loopy", "slug": "ignored", "timeout": "10"}
    assert staff.post("/judging/judges/loop/edit/", changed).status_code == 302
    judge = Judge.objects.get()
    assert (judge.slug, judge.name, judge.timeout) == ("loop", "Loopy", 10)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"base_url": ""}, "Enter an address like"),
        ({"protocol": "rating"}, "Protocol rating has no answer scale likert: it asks for scores"),
        ({"parameters": '{"rounds": 2}'}, "Protocol likert has no parameter &quot;rounds&quot;"),
        ({"samples": "-1"}, "Enter a number of at least 1."),
        ({"concurrency": "10001"}, "Enter a number of at most 10,000."),
        ({"api_key_env": "sk-abc"}, "Enter the name of an environment variable"),
        ({"options": "[1]"}, "Enter a JSON object"),
        ({"options": '{"top_logprobs": 5}'}, "must not set top_logprobs"),
        ({"options": "{"}, "valid JSON"),
        ({"options": '{"top_p": NaN}'}, "nan is not a number that can be stored"),
        ({"options": '{"top_p": 1e999}'}, "inf is not a number that can be stored"),
        ({"options": '{"stop": "\\u0000"}'}, "a NUL character"),
        ({"options": '{"stop": "\\ud83d"}'}, "half of a surrogate pair"),
        ({"simulation": "[" * 100_000}, "valid JSON"),
        ({"simulation": "9" * 5_000}, "valid JSON"),
        ({"provider": "simulated", "simulation": '{"noise": -1}'}, "noise must not be negative"),
        ({"slug": "taken"}, "Another judge or panel has the short name &quot;taken&quot;"),
    ],
)
def test_bad_configurations_are_explained(change: dict[str, str], sentence: str, staff: Client) -> None:
    make_judge(slug="taken")
    reply = staff.post("/judging/judges/new/", {**FORM, **change})
    assert reply.status_code == 422
    assert sentence in reply.content.decode()
    assert Judge.objects.count() == 1


def test_preview_says_how_many_pairs_and_who_has_no_workers_elsewhere(staff: Client) -> None:
    study, judge = make_small_study(prompts=2, contestants=3), make_judge()
    asked = {"study": study.slug, "judge": judge.pk, "both_orders": "on"}
    page = staff.get("/judging/runs/preview/", asked).content.decode()
    assert "<dt>Pairs</dt><dd>6</dd>" in page
    assert "<dt>Calls</dt><dd>12</dd>" in page
    study = make_small_study(simulated=True)
    judge = make_judge(provider="simulated", base_url="")
    chosen = {"study": study.slug, "judge": str(judge.pk), "remote": "elsewhere"}
    preview = staff.get("/judging/runs/preview/", chosen).content.decode()
    assert "judge workers have no model to ask" in preview


def test_starting_and_cancelling(staff: Client, messages: deque[Any]) -> None:
    study, judge = make_small_study(prompts=2, contestants=3), make_judge()
    reply = staff.post("/judging/runs/new/", {"study": study.slug, "judge": judge.pk, "limit": "2"})
    run = JudgeRun.objects.get()
    assert reply.headers["Location"] == f"/judging/runs/{run.pk}/"
    assert (run.limit, run.created_by_id) == (2, int(staff.session["_auth_user_id"]))
    again = staff.post("/judging/runs/new/", {"study": study.slug, "judge": judge.pk})
    assert again.status_code == 422
    assert "is already rating" in again.content.decode()
    staff.post(f"/judging/runs/{run.pk}/cancel/")
    run.refresh_from_db()
    assert run.state == "cancelled"


def test_progress_is_polled_while_the_run_is_active(staff: Client, run: JudgeRun) -> None:
    page = staff.get(f"/judging/runs/{run.pk}/").content.decode()
    address = f"/judging/runs/{run.pk}/progress/?state=running"
    assert f'hx-get="{address}"' in page
    assert "HX-Refresh" not in staff.get(address).headers
    pause_run(run)
    assert staff.get(address).headers["HX-Refresh"] == "true"
    cancel_run(run)
    part = staff.get(address)
    assert part.headers["HX-Refresh"] == "true"
    assert "hx-get" not in part.content.decode()


def test_replies_are_escaped(staff: Client, run: JudgeRun) -> None:
    make_call(run, finished_at=run.created_at, state="replied", raw_reply="<script>alert(1)</script>")
    page = staff.get(f"/judging/runs/{run.pk}/").content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_a_simulated_judge_needs_no_model(staff: Client) -> None:
    simulated = {"provider": "simulated", "model": "", "base_url": "", "simulation": '{"noise": 9}'}
    staff.post("/judging/judges/new/", FORM | simulated)
    assert Judge.objects.get().is_simulated


def test_simulated_judges_are_labelled(staff: Client, messages: deque[Any]) -> None:
    study = make_small_study(prompts=1, contestants=2, simulated=True)
    strengths = dict.fromkeys(study.contestants.values_list("slug", flat=True), 1000)
    judge = make_judge(provider="simulated", base_url="", simulation={"strengths": strengths})
    run = start_run(study, judge)
    for url in ("/judging/", f"/judging/judges/{judge.slug}/edit/", f"/judging/runs/{run.pk}/"):
        assert "badge-simulated" in staff.get(url).content.decode()


def test_the_list_of_runs_shows_the_newest_first(staff: Client, run: JudgeRun) -> None:
    cancel_run(run)
    newer = start_run(run.study, run.judge)
    page = staff.get("/judging/").content.decode()
    assert page.index(f">Run {newer.pk}<") < page.index(f">Run {run.pk}<")


def test_the_only_judge_is_chosen_and_a_closed_study_cannot_be(staff: Client) -> None:
    study, judge = make_small_study(), make_judge()
    assert f'value="{judge.pk}" selected' in staff.get("/judging/runs/new/").content.decode()
    assert study.slug in staff.get("/judging/runs/new/").content.decode()
    make_judge(slug="second")
    Study.objects.update(closed_at=study.created_at)
    page = staff.get("/judging/runs/new/").content.decode()
    assert f'value="{judge.pk}" selected' not in page
    assert study.slug not in page


def test_a_run_for_judge_workers_elsewhere(staff: Client, messages: deque[Any]) -> None:
    study, judge = make_small_study(), make_judge(api_key_env="ONLY_ELSEWHERE_API_KEY")
    chosen = {"study": study.slug, "judge": str(judge.pk)}
    here = staff.get("/judging/runs/preview/", {**chosen, "remote": ""}).content.decode()
    assert "is not set where the arena runs" in here
    elsewhere = staff.get("/judging/runs/preview/", {**chosen, "remote": "elsewhere"}).content.decode()
    assert "<dt>Pairs</dt><dd>6</dd>" in elsewhere
    reply = staff.post("/judging/runs/new/", {**chosen, "remote": "elsewhere"}, follow=True)
    assert JudgeRun.objects.get().remote
    page = reply.content.decode()
    assert f"judge_worker --judge {judge.slug} --arena-url http://testserver" in page
