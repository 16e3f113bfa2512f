"""Single answers over the API: claims, and conversations of several questions with a judge elsewhere."""

from functools import partial
from typing import Any

import pytest
from django.test import Client

from arena.models import Answer, Rater, Score, Study
from judging.models import Judge, JudgeCall, JudgeRun
from tests import factories as make
from tests.judging.elsewhere import lose_leases, planned, request

pytestmark = pytest.mark.django_db
QUESTIONS = ("Is it short?", "Is it kind?", "Does it rhyme?")


@pytest.fixture
def study() -> Study:
    """Two answers to a prompt with three requirements, which raters score and check."""
    study = make.make_small_study(prompts=1, contestants=2, tasks=["score", "check"], score_highest=7)
    prompt = study.prompts.get()
    for text in QUESTIONS:
        make.make_question(prompt=prompt, text=text, labels=["SECRET label"])
    make.make_question(prompt=prompt, is_accepted=False, proposed_by="model-1")
    return study


class Elsewhere:
    """A program with a rater's token."""

    def __init__(self, client: Client, rater: Rater) -> None:
        self.post = partial(request, client, rater)

    def claim(self, study: Study | None = None) -> Any:
        reply = self.post("/assignments/", {"study": study.slug} if study else {})
        assert reply.status_code in (200, 201), reply.content
        return reply.json()

    def hand_in(self, claimed: Any, text: str, **fields: Any) -> Any:
        call = {"model": "far-1", **{name: claimed["request"][name] for name in ("key", "attempt")}}
        body = {"raw_reply": text, "call": {**call, "prompt_tokens": 10, "seconds": 0.5}, **fields}
        return self.post(f"/assignments/{claimed['assignment']}/replied/", body)


def checks(claimed: Any) -> dict[str, Any]:
    answers = [{"position": each["position"], "value": "yes"} for each in claimed["questions"]]
    return {"assignment": claimed["assignment"], "answers": answers}


@pytest.mark.parametrize("kind", Rater.Kind.values)
def test_a_rater_scores_then_checks_every_answer_blindly(client: Client, study: Study, kind: str) -> None:
    rater = make.make_member(study, kind=kind)
    program, kinds = Elsewhere(client, rater), []
    while (reply := program.post("/assignments/", {"study": study.slug})).status_code == 201:
        claimed = reply.json()
        kinds.append(claimed["kind"])
        everything = reply.content.decode() + repr(dict(reply.headers))
        assert not any(
            word in everything for each in study.contestants.all() for word in (each.slug, each.name)
        )
        assert "SECRET" not in everything
        assert claimed["text"]["turns"][0].startswith("Answer")
        assert (claimed["first"], claimed["points"], claimed["request"]) == (None, None, None)
        if claimed["kind"] == "score":
            assert (claimed["lowest"], claimed["highest"], claimed["questions"]) == (1, 7, [])
            body = {"value": 6, "lowest": 1, "highest": 7, "assignment": claimed["assignment"]}
            assert program.post("/scores/", body).status_code == 201
        else:
            shown = [{"position": place, "text": text} for place, text in enumerate(QUESTIONS, 1)]
            assert (claimed["questions"], claimed["lowest"]) == (shown, None)
            assert program.post("/answers/", checks(claimed)).status_code == 201
    assert (reply.status_code, sorted(kinds)) == (204, ["check", "check", "score", "score"])
    assert (Score.objects.count(), Answer.objects.count()) == (2, 6)


@pytest.fixture
def judge(study: Study, messages: Any) -> Judge:
    """A judge that checks requirements one after the other, with a remote run over both answers."""
    judge = make.make_judge(slug="far", model="far-1", protocol="requirements")
    planned(judge, study, remote=True)
    messages.clear()
    return judge


@pytest.fixture
def far(client: Client, judge: Judge) -> Elsewhere:
    return Elsewhere(client, judge.rater)


@pytest.mark.both_databases
def test_a_conversation_goes_on_question_by_question_and_the_arena_reads_it(far: Elsewhere) -> None:
    asked = []
    for text in ("YES", "no, it is rude", "Perhaps"):
        claimed = far.claim()
        asked.append(claimed["request"]["messages"])
        reply = far.hand_in(claimed, text)
        assert (reply.status_code, reply.json()["assignment"]) == (200, claimed["assignment"])
        again = far.hand_in(claimed, text)
        assert (again.status_code, again.json()["state"]) == (200, reply.json()["state"])
    assert [len(messages_sent) for messages_sent in asked] == [1, 3, 5]
    assert [each["content"] for each in asked[2][1::2]] == ["YES", "no, it is rude"]
    assert reply.json() == {"assignment": claimed["assignment"], "state": "submitted", "due_at": None}
    stored = Answer.objects.order_by("question__position").values_list("value", "reason", "raw_reply")
    assert list(stored) == [("yes", "", "YES"), ("no", "", "no, it is rude"), (None, "unparsable", "Perhaps")]
    run = JudgeRun.objects.get()
    progress = JudgeCall.objects.progress(run)
    assert (progress.calls, progress.retried, progress.scored, progress.waiting) == (3, 0, 1, 1)
    assert progress.prompt_tokens == 30


@pytest.mark.both_databases
def test_a_late_reply_counts_once(far: Elsewhere) -> None:
    claimed = far.claim()
    lose_leases()
    again = far.claim()
    assert again["request"]["messages"] == claimed["request"]["messages"]
    assert [each["request"]["attempt"] for each in (claimed, again)] == [1, 2]
    assert far.hand_in(claimed, "YES").status_code == 200
    refused = far.hand_in(again, "NO")
    assert (refused.status_code, refused.json()["field"]) == (409, "assignment")
    states = JudgeCall.objects.order_by("attempt").values_list("state", "raw_reply", "prompt_tokens")
    assert list(states) == [("replied", "YES", 10), ("abandoned", "NO", 10)]
    assert far.claim()["request"]["key"] != claimed["request"]["key"]


def test_calls_about_one_answer_are_told_apart_by_their_question(far: Elsewhere) -> None:
    first = far.claim()
    far.hand_in(first, "YES")
    second = far.claim()
    name = {name: second["request"][name] for name in ("key", "attempt")}
    assert (first["assignment"], name["attempt"]) == (second["assignment"], 1)
    path = f"/assignments/{second['assignment']}"
    assert far.post(f"{path}/renew/", name).status_code == 200
    assert far.post(f"{path}/renew/", {**name, "key": first["request"]["key"]}).status_code == 409
    failed = {**name, "kind": "timeout"}
    assert far.post(f"{path}/failed/", failed).json()["state"] == "open"
    states = JudgeCall.objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == ["replied", "failed"]


def test_a_requirement_that_is_gone_is_not_waited_for(far: Elsewhere, study: Study) -> None:
    first = far.claim()
    far.hand_in(first, "YES")
    study.prompts.get().questions.filter(position__gt=1).update(is_current=False)
    second = far.claim()
    assert second["assignment"] != first["assignment"]
    assert Answer.objects.get().value == "yes"
    far.hand_in(second, "NO")
    study.prompts.get().questions.update(is_current=False)
    assert far.post("/assignments/", {}).status_code == 204


@pytest.mark.both_databases
def test_only_claimed_questions_take_a_reply(far: Elsewhere, client: Client, study: Study) -> None:
    claimed = far.claim()
    other = Elsewhere(client, make.make_member(study))
    assert other.hand_in(claimed, "YES").status_code == 403
    for field, value, status in (("key", "next.9", 403), ("attempt", 9, 403), ("key", "\0", 422)):
        changed = {**claimed, "request": {**claimed["request"], field: value}}
        assert far.hand_in(changed, "YES").status_code == status
    assert far.hand_in(claimed, "\0").status_code == 422
    assert far.hand_in(claimed, "YES", expected=float("nan")).status_code == 422
    assert far.hand_in(claimed, "YES", surprise=1).status_code == 422
    assert JudgeCall.objects.get().state == "in_flight"


def test_a_judge_scores_on_the_scale_of_its_protocol(client: Client, study: Study) -> None:
    judge = make.make_judge(model="far-1", protocol="score-only")
    planned(judge, study, remote=True)
    far = Elsewhere(client, judge.rater)
    claimed = far.claim()
    assert (claimed["kind"], claimed["lowest"], claimed["highest"]) == ("score", 1, 10)
    assert far.hand_in(claimed, "8", expected=7.5).json()["state"] == "submitted"
    score = Score.objects.get()
    assert (score.value, score.expected, score.highest, score.raw_reply) == (8, 7.5, 10, "8")


@pytest.mark.parametrize(
    ("said", "field", "words"),
    [
        ({"turns": [{"turn": 1, "value": 2}]}, "turns", "has 2 turns: score each of them, or all of it"),
        ({"turns": [{"turn": 1, "value": 2}, {"turn": 2, "value": 9}]}, "turns.2.value", "between 1 and 7"),
        ({"turns": [{"turn": 1, "value": 2}, {"turn": 2}]}, "turns.2.value", "either a score or the reason"),
        ({"value": 3, "turns": [{"turn": 1, "value": 2}]}, "value", "as a whole or turn by turn, not both"),
        ({"turns": [{"turn": 1, "value": 2}] * 2}, "turns", "turn 1 is scored twice"),
    ],
)
def test_a_judge_hands_in_scores_of_turns(
    client: Client, study: Study, said: dict[str, Any], field: str, words: str
) -> None:
    prompt = make.make_prompt(study=study, turns=["One?", "Two?"])
    answer = make.make_completion(prompt=prompt, contestant=study.contestants.first(), turns=["1", "2"])
    judge = make.make_member(study, kind="judge")
    assignment = make.make_assignment(
        study=study, rater=judge, kind="score", completion=answer, pair=None, state="claimed"
    )
    post = partial(request, client, judge)
    common = {"assignment": assignment.public_id, "lowest": 1, "highest": 7}
    refused = post("/scores/", common | said)
    assert (refused.status_code, words in refused.content.decode()) == (422, True)
    assert refused.json()["field"] == field
    assert not Score.objects.exists()
    good = common | {"turns": [{"turn": 2, "value": 6, "seconds": 1.5}, {"turn": 1, "value": 2}]}
    replies = [post("/scores/", good) for _ in range(2)]
    assert [reply.status_code for reply in replies] == [201, 200]
    assert [(each["turn"], each["value"]) for each in replies[0].json()["turns"]] == [(1, 2), (2, 6)]
    assert list(Score.objects.order_by("turn").values_list("turn", "value", "seconds")) == [
        (1, 2, None),
        (2, 6, 1.5),
    ]
    assert post("/scores/", common | {"value": 4}).status_code == 409
