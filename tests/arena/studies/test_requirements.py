"""Writing, changing and accepting the requirements of a prompt."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from arena.models import Completion, Prompt, Question, Study
from arena.studies import questions
from arena.studies.questions import Wording
from tests import factories as make


@pytest.fixture
def prompt(study: Study) -> Prompt:
    Study.objects.update(tasks=["check"])
    found = study.prompts.first()
    assert found is not None
    return found


def post(client: Client, prompt: Prompt, **sent: Any) -> Any:
    return client.post(reverse("operate-prompt-requirements", args=["rivers", prompt.pk]), sent)


def asked(prompt: Prompt) -> list[tuple[int, str]]:
    return list(questions.asked(prompt).values_list("position", "text"))


def notes(prompt: Prompt) -> list[str]:
    return list(prompt.study.events.order_by("pk").values_list("note", flat=True))


def test_added_moved_and_deleted_each_once(operator: Client, prompt: Prompt) -> None:
    for text in ("Is it a list?", "Is it short?"):
        for _ in range(2):
            sent = {"add": "1", "text": text, "labels": "Format\nStyle", "required": "on"}
            assert post(operator, prompt, **sent).status_code == 302
    other = post(operator, prompt, add="1", text="Is it short?", labels="Tone")
    assert other.context["form"].errors == {"text": [questions.TAKEN]}
    assert other.context["form"]["labels"].value() == "Tone"
    first, second = questions.asked(prompt)
    assert (first.labels, first.required, asked(prompt)) == (
        ["Format", "Style"],
        True,
        [(1, "Is it a list?"), (2, "Is it short?")],
    )
    for _ in range(2):
        post(operator, prompt, move=f"{second.pk}:1")
    assert asked(prompt) == [(1, "Is it short?"), (2, "Is it a list?")]
    for _ in range(2):
        post(operator, prompt, retire=str(second.pk))
    assert asked(prompt) == [(2, "Is it a list?")]
    about = f"of prompt {prompt.external_id}, “Is it short?”"
    assert notes(prompt)[2:] == [
        f"Requirement 2 {about}: moved to place 1.",
        f"Requirement 1 {about}: deleted.",
    ]
    prompt.study.refresh_from_db()
    assert prompt.study.revision == 4


def test_one_with_checks_is_replaced_and_keeps_them(operator: Client, prompt: Prompt) -> None:
    completion = Completion.objects.filter(prompt=prompt).first()
    answer = make.make_answer(completion=completion, question=make.make_question(prompt=prompt, text="Old?"))
    other = make.make_question(prompt=prompt, text="Other?")
    address = reverse("operate-requirement", args=["rivers", prompt.pk, answer.question_id])
    assert "This requirement has 1 check." in operator.get(address).content.decode()
    for _ in range(2):
        assert operator.post(address, {"text": "New?", "save": "1"}).status_code == 302
    assert asked(prompt) == [(1, "New?"), (2, "Other?")]
    answer.question.refresh_from_db()
    assert (answer.question.text, answer.question.is_current) == ("Old?", False)
    refused = operator.post(address, {"text": "Newest?", "save": "1"})
    assert (refused.status_code, "no longer asked" in refused.content.decode()) == (422, True)
    twice = reverse("operate-requirement", args=["rivers", prompt.pk, other.pk])
    assert "already has a requirement of this text" in operator.post(twice, {"text": "New?"}).content.decode()
    operator.post(twice, {"text": "Better?"})  # without checks, in place
    other.refresh_from_db()
    assert other.text == "Better?"
    shown = operator.get(reverse("operate-prompt-requirements", args=["rivers", prompt.pk])).content.decode()
    assert "No longer asked (1)" in shown


def test_a_new_one_gets_no_place_that_was_used(prompt: Prompt) -> None:
    retired = make.make_question(prompt=prompt, position=7, is_current=False)
    make.make_answer(completion=Completion.objects.filter(prompt=prompt).first(), question=retired)
    assert questions.add(prompt, None, Wording("New?"))
    assert asked(prompt) == [(8, "New?")]


def test_nothing_changes_while_somebody_checks(operator: Client, prompt: Prompt) -> None:
    question = make.make_question(prompt=prompt)
    held = make.make_assignment(kind="check", completion=Completion.objects.filter(prompt=prompt).first())
    for sent in ({"add": "1", "text": "New?"}, {"retire": question.pk}, {"move": f"{question.pk}:2"}):
        response = operator.post(
            reverse("operate-prompt-requirements", args=["rivers", prompt.pk]), sent, follow=True
        )
        assert "Somebody is checking an answer to this prompt" in response.content.decode()
    assert asked(prompt) == [(1, question.text)]
    held.state = "expired"
    held.save()
    post(operator, prompt, retire=str(question.pk))
    assert asked(prompt) == []


def test_proposals_wait_for_an_operator(operator: Client, prompt: Prompt) -> None:
    make.make_question(prompt=prompt, text="Known?")
    texts = ("Known?", "<b>One?</b>", "Two?", "Three?", "Two?")
    assert questions.propose(prompt, [Wording(text, ("Format",)) for text in texts], "gpt-x") == 3
    assert questions.propose(prompt, [Wording("Two?")], "gpt-x") == 0
    one, two, three = questions.waiting(prompt)
    page = operator.get(reverse("operate-prompt-requirements", args=["rivers", prompt.pk])).content.decode()
    assert "&lt;b&gt;One?&lt;/b&gt;" in page
    assert page.count("proposed by gpt-x") == 3
    assert asked(prompt) == [(1, "Known?")]
    listed = operator.get(reverse("operate-requirements", args=["rivers"]) + "?show=proposed")
    assert [row.proposed for row in listed.context["page"]] == [3]
    address = reverse("operate-requirement", args=["rivers", prompt.pk, one.pk])
    operator.post(address, {"text": "One, better?", "accept": "1"})
    for _ in range(2):
        post(operator, prompt, accept=f"{two.pk}")
        post(operator, prompt, drop=f"{three.pk}")
    assert asked(prompt) == [(1, "Known?"), (2, "One, better?"), (3, "Two?")]
    assert not questions.waiting(prompt).exists()
    assert set(Question.objects.filter(proposed_by="gpt-x").values_list("is_accepted", flat=True)) == {True}


@pytest.mark.parametrize(
    "sent", [{"move": "1"}, {"move": "a:b"}, {"retire": ""}, {"accept": "1,x"}, {"drop": "99999999999"}]
)
def test_what_no_button_sends(operator: Client, prompt: Prompt, sent: dict[str, str]) -> None:
    assert post(operator, prompt, **sent).status_code == 404


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"text": " "}, "This field is required"),
        ({"text": "x" * 2001}, "at most 2,000 characters"),
        ({"text": "a\0b"}, "Remove the NUL character"),
        ({"text": "x", "labels": "a\na"}, "is listed twice"),
    ],
)
def test_what_cannot_be_asked(operator: Client, prompt: Prompt, sent: dict[str, str], problem: str) -> None:
    response = post(operator, prompt, add="1", **sent)
    assert (response.status_code, problem in response.content.decode()) == (422, True)
    assert asked(prompt) == []


def test_there_is_a_limit(prompt: Prompt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "MOST", 1)
    questions.add(prompt, None, Wording("One?"))
    with pytest.raises(questions.QuestionError, match="1 requirements at most"):
        questions.add(prompt, None, Wording("Two?"))
