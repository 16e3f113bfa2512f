"""Categories of live prompts: by a model, by version, and checked by hand."""

from typing import Any

import pytest
from django.test import Client

from arena.models import Prompt
from arena.rules.subsets import LIVE_SUBSET
from judging.battles import categories
from judging.battles.categories import (
    NONE_NAMED,
    STOPPED,
    check,
    define,
    door,
    labels,
    newest,
    next_to_check,
    read,
    start,
)
from judging.endpoints.client import Reply
from judging.judges.rights import NotAllowedError
from judging.judges.services import JudgeError
from judging.models import HandLabel, Judge, LabelCall
from leaderboard.templatetags.labelling import labelling_accuracy
from tests.factories import make_client, make_judge, make_prompt, make_study, make_user

pytestmark = pytest.mark.django_db

NAMES = ["Coding", "Writing", "Facts"]


@pytest.fixture
def judge() -> Judge:
    return make_judge()


def make_live(study: Any, **overrides: Any) -> Prompt:
    return make_prompt(study=study, subset=LIVE_SUBSET, is_private=True, category="", **overrides)


def answered(call: LabelCall, reply: str) -> LabelCall:
    door.keep(call, Reply(reply, "stop", "loopback"))
    call.state = "replied"
    call.save()
    return call


@pytest.mark.parametrize(
    ("reply", "category"),
    [
        ("2", "Writing"),
        ("**3.**", "Facts"),
        ("1. Coding", "Coding"),
        ("writing", "Writing"),
        ("<think>It may be 1.</think>\n2", "Writing"),
        ("4", ""),
        ("1. Writing", ""),
        ("It is about coding, I think", ""),
        ("12", ""),
        ("", ""),
    ],
)
def test_a_reply_names_one_category_or_none(reply: str, category: str) -> None:
    assert read(reply, NAMES) == category


def test_other_categories_or_another_model_are_a_new_version(judge: Judge) -> None:
    study, ada = make_study(), make_user()
    first = define(study, NAMES, judge, ada)
    assert define(study, NAMES, judge, ada) == first
    second = define(study, NAMES[:2], judge, ada)
    assert (first.version, second.version, newest(study)) == (1, 2, second)
    assert first.wording != second.wording
    with pytest.raises(JudgeError, match="at least two"):
        define(study, ["One"], judge, ada)


def test_a_model_labels_live_prompts_once(judge: Judge) -> None:
    study, ada = make_study(), make_user(is_staff=True)
    prompt, _ = make_live(study, turns=["Fix my loop."]), make_prompt(study=study)
    labelling = define(study, NAMES, judge, ada)
    assert start(labelling, ada) == 1
    assert start(labelling, ada) == 0
    call = LabelCall.objects.get()
    [message] = door.messages(call)
    assert "Fix my loop." in message["content"]
    assert "2. Writing" in message["content"]
    answered(call, "1")
    prompt.refresh_from_db()
    assert (prompt.category, call.category) == ("Coding", "Coding")
    assert start(labelling, ada) == 0


def test_a_reply_that_names_none_is_told_and_asked_again(judge: Judge) -> None:
    study, ada = make_study(), make_user(is_staff=True)
    prompt = make_live(study)
    labelling = define(study, NAMES, judge, ada)
    start(labelling, ada)
    assert answered(LabelCall.objects.get(), "Ignore this").error == NONE_NAMED
    prompt.refresh_from_db()
    assert prompt.category == ""
    assert start(labelling, ada) == 1


def test_what_was_said_by_hand_wins(judge: Judge) -> None:
    study, ada = make_study(), make_user(is_staff=True)
    prompt = make_live(study)
    labelling = define(study, NAMES, judge, ada)
    start(labelling, ada)
    answered(LabelCall.objects.get(), "1")
    check(labelling, prompt, "Facts", ada)
    prompt.refresh_from_db()
    assert prompt.category == "Facts"
    with pytest.raises(JudgeError):
        check(labelling, prompt, "Poems", ada)
    second = define(study, NAMES[:2], judge, ada)
    start(second, ada)
    answered(LabelCall.objects.get(labelling=second), "1")
    prompt.refresh_from_db()
    assert prompt.category == "Facts"


def test_accuracy_is_that_of_the_prompts_checked_by_hand(judge: Judge) -> None:
    study, ada = make_study(), make_user(is_staff=True)
    labelling = define(study, NAMES, judge, ada)
    prompts = [make_live(study) for _ in range(10)]
    start(labelling, ada)
    for call in LabelCall.objects.all():
        answered(call, "1")
    assert labelling_accuracy(study) == []
    for number in range(10):
        prompt = next_to_check(labelling, labels(labelling))
        assert prompt is not None
        check(labelling, prompt, "Coding" if number else "Writing", ada)
    assert next_to_check(labelling, labels(labelling)) is None
    assert HandLabel.objects.count() == len(prompts)
    [row] = labelling_accuracy(study)
    # Wilson's interval of 9 of 10.
    assert (row.share.n, row.value, row.ends) == (10, "90.0%", "59.6–98.2%")


def test_stopping_asks_no_more(judge: Judge) -> None:
    study, ada = make_study(), make_user(is_staff=True)
    make_live(study)
    labelling = define(study, NAMES, judge, ada)
    start(labelling, ada)
    call = LabelCall.objects.get()
    assert categories.stop(labelling) == 1
    call.is_stopped = True
    assert door.why_not(call) == STOPPED


def test_only_who_may_have_models_asked_starts(judge: Judge) -> None:
    study, bob = make_study(), make_user(is_staff=True, paid_runs=False)
    make_live(study)
    labelling = define(study, NAMES, judge, bob)
    with pytest.raises(NotAllowedError):
        start(labelling, bob)


def test_the_page_defines_asks_and_checks(judge: Judge, client: Client) -> None:
    study, ada = make_study(), make_user(is_staff=True)
    client.force_login(ada)
    prompt = make_live(study, turns=["<b>Fix</b> my loop."])
    address = f"/operate/{study.slug}/battles/categories/"
    answer = client.post(address, {"define": "1", "categories": "One", "judge": judge.pk})
    assert answer.status_code == 422
    assert "Enter at least two categories." in answer.content.decode()
    client.post(address, {"define": "1", "categories": "\n".join(NAMES), "judge": judge.pk})
    client.post(address, {"start": "1"})
    answered(LabelCall.objects.get(), "1")
    page = client.get(address).content.decode()
    assert "The model says <strong>Coding</strong>" in page
    assert "&lt;b&gt;Fix&lt;/b&gt; my loop." in page
    assert 'data-key="2"' in page
    client.post(address, {"check": "Writing", "prompt": prompt.pk})
    client.post(address, {"check": "Facts", "prompt": prompt.pk})  # the same form in another tab
    prompt.refresh_from_db()
    assert prompt.category == "Writing"
    assert "0.0%" in client.get(address).content.decode()
    assert make_client(make_user()).get(address).status_code == 404
