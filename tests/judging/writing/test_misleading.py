"""Models that write wrong answers beside right ones, with a loopback model."""

from typing import Any

import pytest
from django.test import Client

from arena.models import Completion, Pair, Prompt
from arena.rules.subsets import RIGHT, SIMILAR, WORSE
from judging.judges.services import JudgeError
from judging.models import Author, Trace, WritingCall
from judging.writing import services
from judging.writing.misleading import ASKED
from judging.writing.wanted import Wanted
from tests import factories as make
from tests.judging.endpoints.server import Answer, ChatServer, text_of
from tests.judging.working import work_off

pytestmark = pytest.mark.both_databases

INSTEAD = "Name a lake."


@pytest.fixture
def prompt(db: None) -> Prompt:
    """A candidate of each kind, with its right answer, and a prompt that is none."""
    study = make.make_study(slug="rivers")
    for subset in (WORSE, SIMILAR):
        prompt = make.make_prompt(study=study, subset=subset, turns=["Name a river."], input="Of Europe")
        make.make_completion(prompt=prompt, contestant=None, external_id=RIGHT, turns=["The Rhine."])
    make.make_prompt(study=study, subset=SIMILAR)
    return prompt


def writer(model: ChatServer, prompt: Prompt, writes: str) -> Author:
    contestant = make.make_contestant(study=prompt.study, name=f"Loop {writes}", slug=writes.lower())
    found: Author = make.make_author(contestant=contestant, base_url=model.url, max_tokens=100, writes=writes)
    return found


def test_a_similar_prompt_is_written_then_answered_and_the_right_answer_is_known(
    prompt: Prompt, model: ChatServer
) -> None:
    author = writer(model, prompt, SIMILAR)
    make.make_price()
    model.script = lambda body: Answer(
        f"<think>Hm.</think>{INSTEAD}" if "river" in text_of(body) else "Lake Garda."
    )
    count, taken = Wanted().estimate(author)
    assert (count, taken.calls.low, taken.calls.high) == (1, 2, 2)
    run = Wanted().start(author)
    assert work_off(services.door) == 2
    asked = [body["messages"] for body in model.requests]
    assert asked[0] == [
        {"role": "user", "content": f"{ASKED[Author.Writes.SIMILAR]}\nName a river.\n\nOf Europe"}
    ]
    assert asked[1] == [{"role": "user", "content": INSTEAD}]
    assert taken.prompt_tokens.high is not None
    assert taken.prompt_tokens.high * 2 >= sum(len(each[0]["content"]) for each in asked)
    wrong = Completion.objects.get(contestant=author.contestant)
    assert (wrong.turns, wrong.prompt) == (["Lake Garda."], prompt)
    assert (wrong.extra["written"]["instead"], wrong.extra["written"]["writes"]) == (INSTEAD, SIMILAR)
    pair = Pair.objects.get()
    assert (pair.first.turns, pair.second, pair.gold) == (["The Rhine."], wrong, "first")
    assert pair.gold_source == "candidate: GPTInst by loopback"
    assert (run.progress.written, run.progress.left, services.holes(author).count()) == (1, 0, 0)


def test_a_worse_answer_takes_one_call_and_no_trace(prompt: Prompt, model: ChatServer) -> None:
    author = writer(model, prompt, WORSE)
    model.script = lambda body: Answer("Rivers are long.")
    Wanted().start(author)
    assert work_off(services.door) == 1
    assert text_of(model.requests[0]).startswith(ASKED[Author.Writes.WORSE])
    assert Pair.objects.get().prompt.subset == WORSE
    assert not Trace.objects.exists()
    with pytest.raises(JudgeError, match="an answer to every prompt"):
        Wanted().start(author)


def test_the_same_text_is_no_wrong_answer(prompt: Prompt, model: ChatServer) -> None:
    author = writer(model, prompt, WORSE)
    model.script = lambda body: Answer("The Rhine.")
    Wanted().start(author)
    work_off(services.door)
    assert Completion.objects.filter(contestant=author.contestant).exists()
    assert not Pair.objects.exists()


def test_a_prompt_that_was_written_is_gone_on_from(prompt: Prompt, model: ChatServer) -> None:
    author = writer(model, prompt, SIMILAR)
    model.script = lambda body: Answer(INSTEAD if "river" in text_of(body) else "")
    Wanted().start(author)
    assert work_off(services.door) == 2
    assert not Pair.objects.exists()
    model.script = lambda body: Answer("Lake Garda.")
    Wanted(again=True).start(author)
    assert WritingCall.objects.filter(state="waiting").get().turn == 2
    assert work_off(services.door) == 1
    assert Pair.objects.get().second.extra["written"]["instead"] == INSTEAD


@pytest.mark.both_databases(False)
def test_the_form_says_what_a_model_writes(prompt: Prompt, staff: Client, model: ChatServer) -> None:
    page = "/judging/writing/rivers/new/"
    shown = staff.get(page, {"writes": WORSE}).content.decode()
    assert '<option value="GPTOut" selected>' in shown
    given: dict[str, Any] = {"name": "Sly", "model": "loopback", "base_url": model.url, "timeout": 5}
    given |= {"concurrency": 1, "max_tokens": 100, "options": "{}", "writes": WORSE}
    address = staff.post(page, given)["Location"]
    assert Author.objects.get().writes == WORSE
    assert "a worse answer that looks good" in staff.get(address).content.decode()
    edited = staff.get(f"{address}edit/").content.decode()
    assert '<option value="GPTOut" selected>' in edited
    assert services.holes(Author.objects.get()).count() == 1
