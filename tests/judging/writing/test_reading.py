"""What endpoints tell of tokens while they write and when they read; the language model is known."""

import json
from typing import Any

import numpy as np
import pytest
from django.test import Client

from arena.models import Completion, CompletionFeature, Study
from arena.texts.dialogue import dialogue
from judging.endpoints.scoring import plain
from judging.judges.services import JudgeError
from judging.models import Author, Trace, WritingCall
from judging.models.writing import NO_TRACE, errors_of
from judging.writing import reading, services
from judging.writing.probing import gifts, probe
from judging.writing.wanted import Kind, Wanted
from leaderboard.answers.features.from_traces import measure_missing
from tests import factories as make
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.endpoints.worded import WordModel
from tests.judging.working import work_off

WORDS = WordModel(seed=5, vocabulary=80)
ANSWER, REFERENCE = "w1 w7 w30 w2 w79", "w4 w4 w12"


def fields(body: dict[str, Any]) -> str:
    return "echo" if "echo" in body else "prompt_logprobs" if "prompt_logprobs" in body else "chat"


def serving(*known: str, logprobs: bool = True) -> Any:
    """A server of the language model that knows these fields, and refuses the others."""

    def script(body: dict[str, Any]) -> Answer:
        if fields(body) not in (*known, "chat"):
            return Answer(status=400, raw=b'{"error": {"message": "no such field"}}')
        return Answer(raw=WORDS.reply(body if logprobs else {**body, "logprobs": False}))

    return script


@pytest.fixture
def author(db: None, model: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    model.script = serving("prompt_logprobs")
    study = make.make_study(slug="rivers")
    prompt = make.make_prompt(study=study, turns=["w3 w5"])
    prompt.references.create(author="us", turns=[REFERENCE])
    author = make.make_author(contestant=make.make_contestant(study=study, slug="loop"), base_url=model.url)
    author.endpoint.vocabulary = 80
    author.endpoint.save()
    return author


@pytest.mark.parametrize(
    ("known", "logprobs", "expected", "calls"),
    [
        (["prompt_logprobs"], True, {"logprobs": True, "prompt_logprobs": True, "echo": False}, 2),
        (["echo"], True, {"logprobs": True, "prompt_logprobs": False, "echo": True}, 3),
        ([], False, {"logprobs": False, "prompt_logprobs": False, "echo": False}, 3),
    ],
)
def test_a_probe_finds_what_an_endpoint_gives(
    author: Author, model: ChatServer, known: list[str], logprobs: bool, expected: dict[str, bool], calls: int
) -> None:
    model.script = serving(*known, logprobs=logprobs)
    probe(author)
    found = dict(author.endpoint.gives)
    assert found.pop("at")
    assert (found, len(model.requests)) == (expected, calls)
    assert {body["max_tokens"] for body in model.requests} == {1}
    how = {gift.label: gift.how for gift in gifts(author)}
    assert bool(how["Mean log-probability"]) == logprobs
    assert bool(how["Surprise at the reference"]) == bool(known)
    assert ("bounds" in how["Entropy"]) == logprobs
    assert not how["Mean under dropout"]


def test_a_probe_that_nobody_answers_finds_nothing(author: Author, model: ChatServer) -> None:
    for status in (401, 500):
        model.script = lambda body, status=status: Answer(status=status, raw=b"{}")
        with pytest.raises(JudgeError):
            probe(author)
        assert author.endpoint.gives == {}


def test_a_written_answer_has_a_trace_of_each_turn(author: Author, model: ChatServer) -> None:
    author.contestant.study.prompts.all().delete()
    prompt = make.make_prompt(study=author.contestant.study, turns=["w3 w5", "w6 w7"])
    author.endpoint.gives = {"logprobs": True}
    author.endpoint.save()
    Wanted().start(author)
    assert work_off(services.door) == 2
    written = Completion.objects.get(prompt=prompt)
    traces = list(Trace.objects.order_by("turn"))
    assert [(each.completion, each.turn, each.before) for each in traces] == [
        (written, 1, 0),
        (written, 2, 0),
    ]
    assert [each.tokens for each in traces] == [len(WORDS.cut(turn)) for turn in written.turns]
    assert {each.source for each in traces} == {reading.source(author.endpoint, "while writing")}
    assert all(body["logprobs"] for body in model.requests)


def test_answers_whose_tokens_spell_another_text_are_counted(author: Author, model: ChatServer) -> None:
    tokens = {"content": [{"token": "w1", "bytes": [0xE2, 0x82], "logprob": -0.5, "top_logprobs": []}]}
    choice = {"message": {"content": "w1 €"}, "finish_reason": "stop", "logprobs": tokens}
    model.script = lambda body: Answer(raw=json.dumps({"choices": [choice]}).encode())
    author.endpoint.gives = {"logprobs": True}
    author.endpoint.save()
    run = Wanted().start(author)
    work_off(services.door)
    assert (run.progress.written, errors_of(run)) == (1, [(NO_TRACE, 1)])
    assert not Trace.objects.exists()


def test_without_logprobs_nothing_is_asked_and_nothing_kept(author: Author, model: ChatServer) -> None:
    Wanted().start(author)
    work_off(services.door)
    assert Completion.objects.count() == 1
    assert not Trace.objects.exists()
    assert "logprobs" not in model.requests[0]


@pytest.mark.parametrize("known", ["prompt_logprobs", "echo"])
def test_texts_are_read_once_and_give_their_features(author: Author, model: ChatServer, known: str) -> None:
    model.script = serving(known)
    study = Study.objects.get()
    answer = make.make_completion(prompt=study.prompts.get(), contestant=author.contestant, turns=[ANSWER])
    with pytest.raises(JudgeError, match="Probe it first"):
        Wanted(Kind.READ).start(author)
    probe(author)
    Wanted(Kind.READ).start(author)
    work_off(services.door)
    revision = Study.objects.get().revision
    assert Trace.objects.get().source.endswith(", read")
    run = Wanted(Kind.READ, references=True).start(author)
    assert work_off(services.door) == 2  # the answer itself was read before
    assert run.progress.written == 2
    assert Study.objects.get().revision == revision + 2
    assert set(Trace.objects.values_list("text", flat=True)) == {"answer", "illustrated", "reference"}
    with pytest.raises(JudgeError, match="has read every text"):
        Wanted(Kind.READ, references=True).start(author)
    measure_missing(study)
    values = dict(CompletionFeature.objects.filter(completion=answer).values_list("name", "value"))
    tokens = WORDS.cut(plain(dialogue(["w3 w5"], "", [ANSWER])))
    log_p = np.array(WORDS.log_p(tokens)[1:])
    assert values["mean_logprob"] == pytest.approx(log_p[-5:].mean(), rel=1e-5)
    assert values["mean_logprob.full"] == pytest.approx(log_p.mean(), rel=1e-5)
    of_reference = np.array(WORDS.log_p(WORDS.cut(plain(dialogue(["w3 w5"], "", [REFERENCE]))))[-3:])
    surprise = -(np.exp(of_reference) * of_reference).mean()
    assert values["reference_surprise"] == pytest.approx(surprise, rel=1e-5)
    assert "mean_logprob.illustrated" in values
    assert values["entropy_low"] <= values["entropy_high"]


def test_a_text_that_is_gone_is_not_read(author: Author, model: ChatServer) -> None:
    answer = make.make_completion(
        prompt=Study.objects.get().prompts.get(), contestant=author.contestant, turns=[ANSWER]
    )
    probe(author)
    asked = len(model.requests)
    run = Wanted(Kind.READ).start(author)
    Completion.objects.filter(pk=answer.pk).update(is_current=False)
    work_off(services.door)
    assert (run.progress.failed, len(model.requests)) == (1, asked)
    assert "not there any more" in WritingCall.objects.get().error


def test_reading_is_started_on_the_page(author: Author, staff: Client) -> None:
    make.make_completion(
        prompt=Study.objects.get().prompts.get(), contestant=author.contestant, turns=[ANSWER]
    )
    page = "/judging/writing/rivers/model/loop/"
    assert "Probe it first" in staff.get(page, {"kind": "read", "limit": ""}).content.decode()
    staff.post(f"{page}probe/")
    assert "Which features the endpoint can give" in staff.get(page).content.decode()
    assert "about" in staff.get(page, {"kind": "references", "limit": ""}).content.decode()
    staff.post(page, {"kind": "references"})
    assert WritingCall.objects.count() == 3
    staff.logout()
    assert staff.post(f"{page}probe/").status_code == 302
    staff.force_login(make.make_user(is_staff=True, paid_runs=False))
    assert "Ask a superuser" in staff.post(f"{page}probe/", follow=True).content.decode()
