"""Judges of single answers, through the services: a real client, a loopback endpoint, the real API."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from arena.models import Answer, Assignment, Question, Score, Study
from arena.rating import planning
from arena.rating.plans import Plan, Wanted, Which
from arena.studies import questions
from arena.studies.questions import Wording
from judging.judges.services import JudgeError
from judging.models import JudgeCall, JudgeRun
from judging.runs.estimating import estimate
from judging.runs.lifecycle import pause_run, resume_run, start_run
from tests.factories import (
    make_client,
    make_completion,
    make_judge,
    make_prompt,
    make_question,
    make_small_study,
    make_user,
)
from tests.judging.elsewhere import planned
from tests.judging.endpoints.server import Answer as Reply
from tests.judging.endpoints.server import ChatServer
from tests.judging.protocols.infobench import what_is_asked
from tests.judging.runs.releasing import releasing
from tests.judging.working import judge_assignment

Drain = Callable[[], None]


def make_questions(study: Study, *counts: int) -> None:
    for prompt, count in zip(study.prompts.order_by("pk"), counts, strict=True):
        for _ in range(count):
            make_question(prompt=prompt)


def checked() -> list[tuple[int, int, str | None, str]]:
    rows = Answer.objects.current().order_by("completion", "question__position")
    return list(rows.values_list("completion", "question__position", "value", "reason"))


def test_each_requirement_is_asked_about_once(arena: Any, model: ChatServer, drain: Drain) -> None:
    study = make_small_study(prompts=3, contestants=2)
    make_questions(study, 3, 1, 0)
    make_question(prompt=study.prompts.first(), position=9, is_accepted=False, proposed_by="m")
    model.script = lambda body: Reply("Perhaps" if len(body["messages"]) == 5 else "Yes")
    judge = make_judge(base_url=model.url, protocol="requirements")
    expected = estimate(study, judge, Wanted())
    assert (expected.pairs, expected.calls.low, expected.calls.high) == (4, 8, 8)
    run = start_run(study, judge, both_orders=True, controls=True)
    assert (run.both_orders, run.controls) == (False, False)
    drain()
    run.refresh_from_db()
    progress = JudgeCall.objects.progress(run)
    assert (run.state, progress.scored, progress.calls) == ("finished", 4, 8)
    asked = [what_is_asked(body["messages"]) for body in model.requests]
    assert len(set(asked)) == 8
    assert not any(turn in str(model.requests) for prompt in study.prompts.all() for turn in prompt.turns)
    assert {body["temperature"] for body in model.requests} == {0}
    assert len(checked()) == 8
    first = Answer.objects.select_related("assignment").order_by("pk").first()
    assert first is not None
    assert first.assignment is not None
    assert (first.source, first.assignment.kind, first.assignment.state) == ("api", "check", "submitted")
    assert planning.outlook(study, judge.rater, kind="check") == {
        Which.ALL: Plan(0, 0),
        Which.EXTEND: Plan(0, 0),
        Which.FAILURES: Plan(0, 0),
        Which.UNSCORED: Plan(2, 2),
    }
    with pytest.raises(JudgeError, match="has replied about every answer"):
        start_run(study, judge)


def test_a_reply_that_cannot_be_read_is_asked_for_again(arena: Any, model: ChatServer, drain: Drain) -> None:
    study = make_small_study(prompts=1, contestants=1)
    make_questions(study, 2)
    model.script = lambda body: Reply("Yes" if len(body["messages"]) == 1 else "Perhaps")
    judge = make_judge(base_url=model.url, protocol="requirements")
    start_run(study, judge)
    drain()
    assert [row[1:] for row in checked()] == [(1, "yes", ""), (2, None, "unparsable")]
    model.script = lambda body: Reply("Yes" if len(body["messages"]) == 1 else "No")
    start_run(study, judge, kind="unscored")
    drain()
    assert [row[1:] for row in checked()] == [(1, "yes", ""), (2, "no", "")]
    assert (Answer.objects.count(), len(model.requests)) == (3, 4)


def test_what_was_never_asked_is_left_out(arena: Any, model: ChatServer, drain: Drain) -> None:
    study = make_small_study(prompts=1, contestants=1)
    make_questions(study, 3)
    model.script = lambda body: Reply("Yes" if len(body["messages"]) == 1 else "Perhaps")
    judge = make_judge(base_url=model.url, protocol="requirements", parameters={"stop_at_unreadable": True})
    run = start_run(study, judge)
    drain()
    run.refresh_from_db()
    assert run.state == "finished"
    assert [row[1:] for row in checked()] == [(1, "yes", ""), (2, None, "unparsable")]
    assert planning.outlook(study, judge.rater, kind="check")[Which.UNSCORED] == Plan(1, 1)


@pytest.mark.parametrize(("protocol", "calls_made"), [("requirements-alone", 2), ("requirements-at-once", 1)])
def test_other_ways_to_ask_about_requirements(
    protocol: str, calls_made: int, arena: Any, model: ChatServer, drain: Drain
) -> None:
    study = make_small_study(prompts=1, contestants=1)
    make_questions(study, 2)
    model.script = lambda body: Reply("1: YES\n2: NO" if protocol.endswith("once") else "YES")
    judge = make_judge(base_url=model.url, protocol=protocol)
    assert estimate(study, judge, Wanted()).calls.low == calls_made
    start_run(study, judge)
    drain()
    assert [row[2] for row in checked()] == ["yes", "no" if calls_made == 1 else "yes"]
    assert len(model.requests) == calls_made


def test_examples_are_sent_with_every_question_and_are_in_the_estimate(
    arena: Any, model: ChatServer, drain: Drain
) -> None:
    study = make_small_study(prompts=1, contestants=1)
    make_questions(study, 2)
    model.script = lambda body: Reply("No")
    plainly, by_example = (
        make_judge(base_url=model.url, protocol="requirements", parameters={"shots": shots})
        for shots in (0, 4)
    )
    without, tokens = (estimate(study, judge, Wanted()).prompt_tokens for judge in (plainly, by_example))
    for judge in (plainly, by_example):
        start_run(study, judge)
        drain()
    plain, shown = model.requests[:2], model.requests[2:]
    assert [len(body["messages"]) for body in (*plain, *shown)] == [1, 3, 9, 11]
    examples = sum(len(message["content"]) for message in shown[0]["messages"][:-1])
    # Each of the two questions holds them: as many tokens as bytes at most, and a quarter to be expected.
    assert tokens.high - without.high >= 2 * examples > 6000
    assert abs(4 * (tokens.low - without.low) - 2 * examples) < 200
    assert sorted(row[1:] for row in checked()) == 2 * [(1, "no", "")] + 2 * [(2, "no", "")]


def test_requirements_that_change_while_a_conversation_waits_are_asked_anew(
    arena: Any, model: ChatServer, drain: Drain
) -> None:
    study = make_small_study(prompts=1, contestants=1)
    make_questions(study, 3)
    run = planned(make_judge(base_url=model.url, protocol="requirements"), study)

    def pause(body: Mapping[str, Any]) -> Reply:
        if len(body["messages"]) == 3:
            pause_run(run)
        return Reply("YES")

    model.script = releasing(pause)
    judge_assignment(run.run_assignments.get().assignment_id)
    assert [call.key for call in run.calls.order_by("pk")] == ["first.1", "next.2"]
    Question.objects.filter(position=2).update(text="Is it another one?")
    model.script = lambda body: Reply("NO" if "another" in str(body["messages"][-1]) else "YES")
    assert resume_run(run)
    drain()
    assert [row[2] for row in checked()] == ["yes", "no", "yes"]
    replied = run.calls.filter(round=1).order_by("pk").values_list("key", "cached_from")
    assert [key for key, _ in replied] == ["first.1", "next.2", "next.3"]
    assert len(model.requests) == 5


def test_a_shorter_wording_is_asked_anew(arena: Any, model: ChatServer, drain: Drain) -> None:
    study = make_small_study(prompts=1, contestants=1)
    prompt = study.prompts.get()
    for text in ("Does it name Paris and London?", "Is it short?"):
        make_question(prompt=prompt, text=text)
    run = planned(make_judge(base_url=model.url, protocol="requirements"), study)

    def pause(body: Mapping[str, Any]) -> Reply:
        pause_run(run)
        return Reply("YES")

    model.script = releasing(pause)
    judge_assignment(run.run_assignments.get().assignment_id)
    questions.change(prompt, None, prompt.questions.get(position=1).pk, Wording("Does it name Paris"))
    model.script = lambda body: Reply("NO")
    assert resume_run(run)
    drain()
    assert [row[2] for row in checked()] == ["no", "no"]


@pytest.mark.parametrize("protocol", ["requirements", "requirements-alone", "requirements-at-once"])
def test_replies_that_wait_for_their_submission_stay_with_their_requirement(
    protocol: str, arena: Any, model: ChatServer, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_small_study(prompts=1, contestants=1)
    prompt = study.prompts.get()
    for text in ("Alpha?", "Beta?"):
        make_question(prompt=prompt, text=text)

    def script(body: Mapping[str, Any]) -> Reply:
        asked = body["messages"][-1]["content"]
        if protocol == "requirements-at-once":
            first = asked.index("Alpha?") < asked.index("Beta?")
            return Reply("1: YES\n2: NO" if first else "1: NO\n2: YES")
        return Reply("YES" if "Alpha?" in asked else "NO")

    model.script = script
    run = planned(make_judge(base_url=model.url, protocol=protocol), study)
    judge = run.judge.rater
    with monkeypatch.context() as patch:  # as if the judge had been paused meanwhile
        patch.setattr(type(judge), "paused_at", timezone.now())
        judge_assignment(run.run_assignments.get().assignment_id)
    assert questions.move(prompt, None, prompt.questions.get(position=1).pk, 2)
    drain()
    said = Answer.objects.current().order_by("question__text").values_list("question__text", "value")
    assert list(said) == [("Alpha?", "yes"), ("Beta?", "no")]
    run.refresh_from_db()
    assert run.state == "finished"


def test_answers_are_scored_on_the_protocols_scale(arena: Any, model: ChatServer, drain: Drain) -> None:
    study = make_small_study(prompts=1, contestants=2)
    said = iter(["2", "3", "3", "4", "five", "six"])
    model.script = lambda body: Reply(next(said))
    judge = make_judge(base_url=model.url, protocol="direct-score", samples=3, temperature=1)
    assert (judge.task, judge.form) == ("score", "score")
    run = start_run(study, judge)
    drain()
    run.refresh_from_db()
    assert (run.state, JudgeCall.objects.progress(run).scored) == ("finished", 2)
    scores = Score.objects.order_by("pk")
    assert [round(score.value or 0, 3) for score in scores] == [2.667, 4]
    assert {(score.lowest, score.highest, score.source) for score in scores} == {(1, 5, "api")}
    staff = make_client(make_user(is_staff=True))
    page = staff.get(f"/judging/runs/{run.pk}/").content.decode()
    assert f"/studies/{study.slug}/scores/?raters=judge:{judge.slug}" in page


def test_a_study_without_requirements_has_nothing_to_check(model: ChatServer, db: None) -> None:
    study = make_small_study(prompts=1, contestants=1)
    with pytest.raises(JudgeError, match="has requirements to check"):
        start_run(study, make_judge(base_url=model.url, protocol="requirements"))
    with pytest.raises(JudgeError, match="criteria do not rate"):
        make_judge(protocol="score", rates_criteria=True)


def test_an_answer_whose_requirements_are_gone_is_put_aside(
    arena: Any, model: ChatServer, drain: Drain
) -> None:
    study = make_small_study(prompts=1, contestants=2)
    make_questions(study, 1)
    run = planned(make_judge(base_url=model.url, protocol="requirements"), study)
    Question.objects.update(is_current=False)
    drain()
    run.refresh_from_db()
    assert (run.state, JudgeCall.objects.progress(run).put_aside) == ("finished", 2)
    assert set(Assignment.objects.values_list("state", flat=True)) == {"failed"}
    assert JudgeRun.objects.get().calls.count() == 0


def test_the_page_of_a_run_shows_how_each_reply_was_read(
    arena: Any, model: ChatServer, drain: Drain, staff: Client
) -> None:
    study = make_small_study(prompts=1, contestants=1)
    make_questions(study, 3)
    model.script = lambda body: Reply(["Yes", "no", "Perhaps"][len(body["messages"]) // 2])
    checking = start_run(study, make_judge(base_url=model.url, protocol="requirements"))
    drain()
    page = staff.get(f"/judging/runs/{checking.pk}/")
    assert [row[1:] for row in page.context["calls"]] == [
        ("requirement 3", "not rated: unreadable"),
        ("requirement 2", "not met"),
        ("requirement 1", "met"),
    ]
    assert "met 1, not met 1, not rated 1" in page.content.decode()
    model.script = lambda body: Reply("4")
    scoring = start_run(study, make_judge(base_url=model.url, protocol="direct-score"))
    drain()
    page = staff.get(f"/judging/runs/{scoring.pk}/")
    assert [said for _, _, said in page.context["calls"]] == ["4"]
    assert "mean 4.00" in page.content.decode()


def test_each_turn_of_a_conversation_gets_its_score(arena: Any, model: ChatServer, drain: Drain) -> None:
    """Two prompts, one of two turns: three calls, of which one reply cannot be read at first."""
    study = make_small_study(prompts=1, contestants=1)
    prompt = make_prompt(study=study, turns=["And how?", "And when?"])
    answer = make_completion(prompt=prompt, contestant=study.contestants.get(), turns=["So.", "Now."])
    readable = {"second": False}

    def script(body: Any) -> Reply:
        is_second = "turn 2, user" in body["messages"][0]["content"]
        return Reply("Good.\nno idea" if is_second and not readable["second"] else "Good.\n7")

    model.script = script
    judge = make_judge(base_url=model.url, protocol="mt-bench-single")
    expected = estimate(study, judge, Wanted())
    assert (expected.pairs, expected.calls.low, expected.calls.high) == (2, 3, 3)
    run = start_run(study, judge)
    drain()
    run.refresh_from_db()
    progress = JudgeCall.objects.progress(run)
    assert (run.state, progress.scored, progress.unscored, progress.calls) == ("finished", 2, {}, 3)
    rows = Score.objects.filter(is_current=True).order_by("completion", "turn")
    columns = ("turn", "value", "reason", "raw_reply")
    assert list(rows.filter(completion=answer).values_list(*columns)) == [
        (1, 7.0, "", "Good.\n7"),
        (2, None, "unparsable", "Good.\nno idea"),
    ]
    assert list(rows.exclude(completion=answer).values_list("turn", "value")) == [(0, 7.0)]
    assert planning.outlook(study, judge.rater, kind="score")[Which.UNSCORED] == Plan(1, 1)
    readable["second"] = True
    start_run(study, judge, kind="unscored")
    drain()
    assert list(rows.filter(completion=answer).values_list("turn", "value")) == [(1, 7.0), (2, 7.0)]
    assert (Score.objects.count(), len(model.requests)) == (5, 5)
    assert planning.outlook(study, judge.rater, kind="score")[Which.UNSCORED] == Plan(0, 0)
