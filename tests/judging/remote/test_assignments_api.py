"""Claiming, renewing and reporting over the API: what a judge or a person elsewhere may do."""

import json
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from arena.models import Assignment, Comparison, Membership, Rater, Study
from arena.rating import planning
from arena.rating.opinions import Rating
from arena.rating.recording import record
from judging.models import Judge, JudgeCall, JudgeRun, RunAssignment
from judging.remote import unconfigured
from judging.runs.lifecycle import cancel_run
from judging.runs.recovery import abandon_orphans, sweep
from tests.arena.rating.test_turns import make_conversations
from tests.factories import (
    make_assignment,
    make_completion,
    make_contestant,
    make_judge,
    make_member,
    make_prompt,
    make_rater,
    make_small_study,
    make_study,
)
from tests.judging.elsewhere import lose_leases, planned, request
from tests.judging.working import work_off

pytestmark = pytest.mark.django_db

Post = Callable[..., Any]


@pytest.fixture
def post(client: Client) -> Post:
    """POST to a path below /api/v1 as a rater; None for an operator's signed token."""
    return partial(request, client)


def remote_run(judge: Judge, study: Study | None = None) -> JudgeRun:
    return planned(judge, study, remote=True)


@pytest.fixture
def judge() -> Judge:
    return make_judge(slug="far", model="far-1", options={"top_p": 0.5})


@pytest.fixture
def outsider() -> Rater:
    """A judge with a token that is not configured here."""
    return make_rater(kind=Rater.Kind.JUDGE, slug="outsider")


# --- Configured judges ------------------------------------------------------------------------------------


def test_a_claim_holds_the_request_and_commits_its_call_first(post: Post, judge: Judge) -> None:
    run = remote_run(judge)
    reply = post(judge.rater, "/assignments/", {"worker": "box-7"})
    assert reply.status_code == 201
    claimed = reply.json()
    call = JudgeCall.objects.get()
    assignment = Assignment.objects.get(public_id=claimed["assignment"])
    assert (call.assignment, call.run) == (assignment, run)
    assert (call.state, call.worker) == ("in_flight", "remote box-7")
    assert assignment.state == "claimed"
    assert assignment.leased_until == call.deadline
    assert 295 < claimed["lease_seconds"] <= 300
    assert claimed["request"] == {
        "protocol": "likert",
        "prompt_hash": judge.current_prompt_hash(),
        "form": "likert",
        "points": 8,
        "key": "rate",
        "attempt": 1,
        "model": "far-1",
        "messages": call.messages,
        "temperature": 0.0,
        "max_tokens": 1024,
        "options": {"top_p": 0.5},
        "logprobs": False,
        "reply_schema": None,
        "timeout": 5.0,
        "base_url": "http://127.0.0.1:9/v1",
        "key_variable": "",
    }
    assert claimed["points"] == 8
    assert claimed["scale"][0]["rating"] == 1
    assert len(claimed["scale"]) == 8


def test_every_claim_of_a_judge_is_another_pair(post: Post, judge: Judge) -> None:
    remote_run(judge)
    claimed = [post(judge.rater, "/assignments/") for _ in range(7)]
    assert [reply.status_code for reply in claimed] == [201] * 6 + [204]
    assert len({reply.json()["assignment"] for reply in claimed[:6]}) == 6


def test_runs_of_this_arena_and_of_others_are_left_alone(post: Post, judge: Judge) -> None:
    planned(judge)
    remote_run(make_judge())
    assert post(judge.rater, "/assignments/").status_code == 204
    assert not JudgeCall.objects.exists()


def test_this_arenas_workers_leave_remote_runs_alone(judge: Judge, messages: Any) -> None:
    remote_run(judge)
    messages.clear()
    sweep(timezone.now() + timedelta(minutes=5))
    assert work_off() == 0
    assert not messages
    assert not JudgeCall.objects.exists()


def test_nothing_is_claimed_before_it_is_due_or_after_the_end(post: Post, judge: Judge) -> None:
    run = remote_run(judge)
    RunAssignment.objects.update(due_at=timezone.now() + timedelta(minutes=1))
    assert post(judge.rater, "/assignments/").status_code == 204
    RunAssignment.objects.update(due_at=timezone.now())
    cancel_run(run)
    assert post(judge.rater, "/assignments/").status_code == 204
    assert not JudgeCall.objects.exists()


def test_a_claim_names_one_of_several_studies(post: Post, judge: Judge) -> None:
    first, second = make_small_study(), make_small_study()
    remote_run(judge, first)
    remote_run(judge, second)
    assert post(judge.rater, "/assignments/").json()["study"] == first.slug
    assert post(judge.rater, "/assignments/", {"study": second.slug}).json()["study"] == second.slug


def test_a_closed_study_a_paused_judge_and_an_unknown_study(post: Post, judge: Judge) -> None:
    study = make_small_study()
    run = remote_run(judge, study)
    assert post(judge.rater, "/assignments/", {"study": "nothing"}).json() == {
        "detail": 'This rater has no study "nothing".',
        "field": "study",
    }
    study.closed_at = timezone.now()
    study.save()
    closed = post(judge.rater, "/assignments/", {"study": study.slug})
    sentence = "This study is closed and takes no more ratings."
    assert (closed.status_code, closed.json()["detail"]) == (403, sentence)
    assert post(judge.rater, "/assignments/").status_code == 204
    sweep()
    run.refresh_from_db()
    assert (run.state, run.error) == ("cancelled", "The study was closed.")
    Rater.objects.filter(pk=judge.rater.pk).update(paused_at=timezone.now())
    assert post(judge.rater, "/assignments/").json()["detail"] == "This rater is paused by the operator."


def test_renewing_moves_lease_and_deadline(post: Post, judge: Judge) -> None:
    remote_run(judge)
    claimed = post(judge.rater, "/assignments/").json()
    soon = timezone.now() + timedelta(seconds=5)
    Assignment.objects.filter(state="claimed").update(leased_until=soon)
    JudgeCall.objects.update(deadline=soon)
    renewed = post(judge.rater, f"/assignments/{claimed['assignment']}/renew/", {"attempt": 1})
    assert renewed.status_code == 200
    assert renewed.json()["lease_seconds"] > 295
    call = JudgeCall.objects.select_related("assignment").get()
    assert call.deadline == call.assignment.leased_until > timezone.now() + timedelta(seconds=295)


def test_a_lost_lease_is_not_renewed(post: Post, judge: Judge) -> None:
    remote_run(judge, make_small_study(prompts=1, contestants=2))
    lost = post(judge.rater, "/assignments/").json()["assignment"]
    lose_leases()

    def check_lost(sentence: str) -> None:
        reply = post(judge.rater, f"/assignments/{lost}/renew/", {"attempt": 1})
        assert (reply.status_code, reply.json()["detail"]) == (409, sentence)

    check_lost("This assignment is not yours to keep: it is open.")
    assert post(judge.rater, "/assignments/").json()["request"]["attempt"] == 2
    check_lost("Attempt 1 was given up. Another worker may have this assignment.")
    assert post(judge.rater, f"/assignments/{lost}/renew/").status_code == 200
    somebody = make_rater(kind="judge")
    assert post(somebody, f"/assignments/{lost}/renew/").status_code == 403
    assert post(judge.rater, "/assignments/a%00b/renew/").status_code == 403


def test_overdue_calls_elsewhere_are_abandoned_and_asked_again(post: Post, judge: Judge) -> None:
    run = remote_run(judge, make_small_study(prompts=1, contestants=2))
    name = post(judge.rater, "/assignments/").json()["assignment"]
    assert abandon_orphans() == 0, "a restart of the arena says nothing about workers elsewhere"
    assert sweep()["abandoned"] == 0
    assert lose_leases() == 1
    assert JudgeCall.objects.progress(run).abandoned == 1
    assert post(judge.rater, "/assignments/").status_code == 201
    post(judge.rater, f"/assignments/{name}/failed/", {"kind": "abandoned", "attempt": 2})
    progress = JudgeCall.objects.progress(run)
    assert (progress.abandoned, progress.attempts_failed) == (2, 0)
    assert post(judge.rater, "/assignments/").status_code == 201


def test_failures_are_retried_as_patiently_as_the_arenas_own(post: Post, judge: Judge, settings: Any) -> None:
    settings.JUDGE_MAX_ATTEMPTS = 2
    run = remote_run(judge, make_small_study(prompts=1, contestants=2))
    name = post(judge.rater, "/assignments/").json()["assignment"]
    report = {"kind": "rate_limited", "detail": "slow down", "retry_after": "60"}
    report |= {"attempt": 1, "seconds": 0.5}
    first = post(judge.rater, f"/assignments/{name}/failed/", report)
    assert (first.status_code, first.json()["state"]) == (200, "open")
    due = RunAssignment.objects.get().due_at
    assert due >= timezone.now() + timedelta(seconds=55)
    assert first.json()["due_at"][:19] == due.isoformat()[:19]
    assert post(judge.rater, f"/assignments/{name}/failed/", report).json() == first.json()
    call = JudgeCall.objects.get()
    assert (call.state, call.error_kind) == ("failed", "rate_limited")
    assert (call.error, call.latency) == ("slow down", 0.5)
    assert post(judge.rater, "/assignments/").status_code == 204
    RunAssignment.objects.update(due_at=timezone.now())
    assert post(judge.rater, "/assignments/").json()["request"]["attempt"] == 2
    last = post(judge.rater, f"/assignments/{name}/failed/", {**report, "attempt": 2})
    assert last.json() == {"assignment": name, "state": "failed", "due_at": None}
    assert post(judge.rater, "/assignments/").status_code == 204
    run.refresh_from_db()
    assert run.state == "failed", "whoever finds nothing left ends the run"
    assert JudgeCall.objects.progress(run).failed == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"kind": "Two words"}, "kind"),
        ({"detail": "x" * 601}, "detail"),
        ({"detail": "a\0b"}, "detail"),
        ({"attempt": 0}, "attempt"),
        ({"seconds": -1}, "seconds"),
        ({"cost": 3}, "cost"),
    ],
)
def test_bad_reports_are_explained(change: dict[str, Any], field: str, post: Post, judge: Judge) -> None:
    remote_run(judge)
    name = post(judge.rater, "/assignments/").json()["assignment"]
    reply = post(judge.rater, f"/assignments/{name}/failed/", {"kind": "timeout", **change})
    assert (reply.status_code, reply.json()["field"]) == (422, field)
    assert JudgeCall.objects.get().state == "in_flight"


def test_a_judge_reads_about_itself_alone(client: Client, judge: Judge) -> None:
    def get(rater: Rater, slug: str) -> Any:
        return request(client, rater, f"/judges/{slug}/", method="GET")

    remote_run(judge)
    assert get(judge.rater, "far").json() == {
        "slug": "far",
        "name": judge.name,
        "model": "far-1",
        "base_url": "http://127.0.0.1:9/v1",
        "task": "compare",
        "key_variable": "",
        "protocol": "likert",
        "prompt_hash": judge.current_prompt_hash(),
        "form": "likert",
        "points": 8,
        "parameters": {},
        "wording": {},
        "runs": 1,
        "waiting": 6,
    }
    other = make_judge(slug="other").rater
    reply = get(other, "far")
    assert (reply.status_code, reply.json()["detail"]) == (404, 'This token belongs to no judge "far".')


# --- Any other judge --------------------------------------------------------------------------------------


def test_a_judge_that_is_not_configured_rates_what_is_planned_for_it(
    post: Post, outsider: Rater, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unconfigured, "PLANNED", 4)
    study = make_small_study(prompts=2, visibility="public", points=5)
    claimed = [post(outsider, "/assignments/", {"study": study.slug}).json() for _ in range(5)]
    assert len({each["assignment"] for each in claimed}) == 5
    assert all(each["request"] is None and each["points"] == 5 for each in claimed)
    assert Assignment.objects.filter(state="open").count() == 1  # 6 pairs, planned 4 and then 2
    answer = {"assignment": claimed[0]["assignment"], "rating": 2, "points": 5}
    assert post(outsider, "/comparisons/", answer).status_code == 201
    assert post(outsider, "/assignments/", {"study": study.slug}).status_code == 201
    assert post(outsider, "/assignments/", {"study": study.slug}).status_code == 204


def test_what_another_process_planned_meanwhile_is_not_planned_again(
    post: Post, outsider: Rater, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unconfigured, "PLANNED", 2)
    study = make_small_study(prompts=2, visibility="public")
    claims = [post(outsider, "/assignments/", {"study": study.slug})]
    planning.plan(study, outsider)
    claims += [post(outsider, "/assignments/", {"study": study.slug}) for _ in range(6)]
    assert [each.status_code for each in claims] == [201] * 6 + [204]
    assert Assignment.objects.values("pair").distinct().count() == Assignment.objects.count() == 6


def test_its_lapsed_lease_and_failures_put_the_pair_back_or_aside(post: Post, outsider: Rater) -> None:
    study = {"study": make_small_study(prompts=1, contestants=2, visibility="public").slug}
    name = post(outsider, "/assignments/", study).json()["assignment"]
    assert post(outsider, "/assignments/", study).status_code == 204
    Assignment.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    again = post(outsider, "/assignments/", study)
    assert (again.status_code, again.json()["assignment"]) == (201, name)
    back = post(outsider, f"/assignments/{name}/failed/", {"kind": "timeout"})
    assert back.json() == {"assignment": name, "state": "open", "due_at": None}
    assert post(outsider, "/assignments/", study).json()["assignment"] == name
    aside = {"kind": "too_long", "detail": "20,000 tokens", "retryable": False}
    assert post(outsider, f"/assignments/{name}/failed/", aside).json()["state"] == "skipped"
    assert Assignment.objects.get().skip_reason == "too_long: 20,000 tokens"
    assert post(outsider, "/assignments/", study).status_code == 204


def test_private_studies_need_members_and_imported_judges_stay_apart(post: Post, outsider: Rater) -> None:
    study = make_small_study()
    assert post(outsider, "/assignments/", {"study": study.slug}).status_code == 404
    Membership.objects.create(study=study, rater=outsider)
    assert post(outsider, "/assignments/", {"study": study.slug}).status_code == 201
    nothing = post(outsider, "/assignments/")
    sentence = "Name a study, because this judge has no runs here."
    assert (nothing.status_code, nothing.json()["detail"]) == (403, sentence)
    study = make_small_study(visibility="public", name="Imported")
    make_rater(kind=Rater.Kind.JUDGE, slug="outsider", study=study)
    reply = post(outsider, "/assignments/", {"study": study.slug})
    assert reply.status_code == 403
    assert "Imported holds imported ratings of another judge outsider" in reply.json()["detail"]


# --- People -----------------------------------------------------------------------------------------------


def test_people_claim_where_they_are_members_and_keep_what_they_hold(post: Post) -> None:
    study = make_small_study(visibility="public")
    stranger, member = make_rater(), make_member(study)
    assert post(stranger, "/assignments/", {"study": study.slug}).status_code == 404
    unnamed = post(member, "/assignments/")
    assert (unnamed.status_code, unnamed.json()["field"]) == (422, "study")
    new = post(member, "/assignments/", {"study": study.slug})
    held = post(member, "/assignments/", {"study": study.slug})
    assert (new.status_code, held.status_code) == (201, 200)
    name = new.json()["assignment"]
    assert held.json()["assignment"] == name
    assert 1700 < held.json()["lease_seconds"] <= 1800
    assert post(member, f"/assignments/{name}/renew/").status_code == 200
    refused = post(member, f"/assignments/{name}/failed/", {"kind": "bored"})
    sentence = "Only judges report failures. People skip a pair on the rating page."
    assert (refused.status_code, refused.json()["detail"]) == (403, sentence)
    study.daily_limit = 1
    study.save()
    assert post(member, "/comparisons/", {"assignment": name, "rating": 3}).status_code == 201
    reached = post(member, "/assignments/", {"study": study.slug})
    assert reached.status_code == 403
    assert "at most 1 a day from each person. Come back after" in reached.json()["detail"]
    assert Comparison.objects.get().rater == member


def test_a_token_without_a_rater_claims_nothing_and_people_keep_no_closed_study(post: Post) -> None:
    for path in ("/assignments/", "/assignments/x/renew/", "/assignments/x/failed/"):
        reply = post(None, path, {"kind": "timeout"} if path.endswith("failed/") else {})
        assert reply.status_code == 403, path
    assignment = make_assignment(rater=(member := make_rater()))
    Study.objects.update(closed_at=timezone.now())
    reply = post(member, f"/assignments/{assignment.public_id}/renew/")
    assert (reply.status_code, reply.json()["field"]) == (403, "assignment")


# --- Blindness --------------------------------------------------------------------------------------------


def test_a_turn_is_claimed_with_those_before_it_alone(post: Post, judge: Judge, outsider: Rater) -> None:
    study = make_conversations(visibility="public", show_references="demand")
    prompt = study.prompts.get()
    prompt.references.create(author="Ann", turns=["Right 1", "Right 2"])
    prompt.asides = [{"turn": turn, "kind": "system", "text": f"Rule {turn}"} for turn in (1, 2)]
    prompt.save()
    remote_run(judge, study)
    for rater in (judge.rater, outsider):
        for turn in (1, 2):
            body = post(rater, "/assignments/", {"study": study.slug}).json()
            assert body["turn"] == turn
            shown = [body["prompt"], body["first"], body["second"]]
            assert [len(each["turns"]) for each in shown] == [turn] * 3
            assert body["prompt"]["references"] == [["Right 1", "Right 2"][:turn]]
            assert [each["text"] for each in body["prompt"]["asides"]] == ["Rule 1", "Rule 2"][:turn]
            sent = json.dumps(body["request"])
            assert ("Reply 2" in sent, "Rule 2" in sent) == ((turn == 2 and rater != outsider,) * 2)
            record(rater, body["assignment"], Rating(points=8, rating=turn))
        said = Comparison.objects.filter(rater=rater).order_by("turn")
        assert list(said.values_list("turn", "rating")) == [(1, 1), (2, 2)]


def test_nothing_in_a_claim_tells_who_wrote_what(post: Post, judge: Judge, outsider: Rater) -> None:
    study = make_study(
        visibility="public", guidelines="Be fair.", criteria=["style"], show_references="demand"
    )
    prompt = make_prompt(study=study, turns=["Say hello."], extra={"origin": "SECRET-origin"})
    prompt.references.create(author="SECRET-author", turns=["Hi."])
    for letter in ("a", "b"):
        contestant = make_contestant(
            study=study,
            slug=f"secret-slug-{letter}",
            name=f"SECRET name {letter}",
            family="SECRET-family",
            organisation="SECRET-maker",
            extra={"x": "SECRET-extra"},
        )
        make_completion(
            prompt=prompt,
            contestant=contestant,
            turns=[f"Hello {letter}."],
            external_id=f"SECRET-id-{letter}",
            extra={"y": "SECRET-extra"},
        )
    remote_run(judge, study)
    member = make_member(study)
    for rater in (judge.rater, outsider, member):
        reply = post(rater, "/assignments/", {"study": study.slug})
        assert reply.status_code == 201
        everything = reply.content.decode() + repr(dict(reply.headers))
        assert "secret" not in everything.lower()
        body = reply.json()
        told = {
            "assignment",
            "kind",
            "study",
            "leased_until",
            "lease_seconds",
            "guidelines",
            "prompt",
            "turn",
        }
        of_a_pair = {"points", "scale", "criteria", "reasons", "first", "second"}
        of_a_text = {"text", "lowest", "highest", "questions"}
        assert set(body) == told | of_a_pair | of_a_text | {"request"}
        assert not any(body[name] for name in of_a_text)
        assert set(body["first"]) == set(body["second"]) == {"turns", "asides"}
        assert set(body["prompt"]) == {"turns", "asides", "input", "category", "references"}
        assert body["prompt"]["references"] == [["Hi."]]
        assert {body["first"]["turns"][0], body["second"]["turns"][0]} == {"Hello a.", "Hello b."}
        assignment = Assignment.objects.select_related("pair__first", "pair__second").get(
            public_id=body["assignment"]
        )
        first, _ = assignment.pair.shown(assignment.swapped)
        assert body["first"]["turns"] == first.turns
