"""The rating page of one text: what it shows, what it takes, and what it says when it cannot."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Answer, Assignment, Question, Rater, Score, Study
from arena.rating.screen import score_key
from tests import factories as make
from tests.arena.rating.test_offering_texts import texts_study

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}


@pytest.fixture
def study() -> Study:
    return texts_study(1, 2)


def page(browser: Client, study: Study) -> str:
    return browser.get(reverse("rate-study", args=[study.slug])).content.decode()


def held(rater: Rater) -> Assignment:
    return Assignment.objects.get(rater=rater, state="claimed")


def send(browser: Client, study: Study, rater: Rater, name: str = "rate-study", **data: Any) -> Any:
    """Post what the page's script posts about the text in hand."""
    fields = {"rater": rater.user_id, "assignment": held(rater).public_id, **data}
    return browser.post(reverse(name, args=[study.slug]), fields, headers=JSON)


def test_a_score_and_then_the_requirements(browser: Client, study: Study, rater: Rater) -> None:
    Question.objects.filter(position=1).update(text="Does it <rhyme>?", labels=["Phonetics"])
    html = page(browser, study)
    assignment = held(rater)
    assert assignment.completion.turns[0] in html
    assert assignment.completion.prompt.turns[0] in html
    values = re.findall(r'type="radio" name="value" value="(\d+)" required data-key="(\d)">', html)
    assert values == [(str(score), str(score)) for score in range(1, 6)]
    assert "rhyme" not in html
    reply = send(browser, study, rater, value=4, seconds="0.0", rationale="Nice").json()
    assert (reply["status"], reply["progress"]["text"]) == ("stored", "1 done, at most 3 left")
    score = Score.objects.get()
    assert (score.value, score.lowest, score.highest, score.rationale, score.source) == (
        4,
        1,
        5,
        "Nice",
        "web",
    )

    html = page(browser, study)
    assert held(rater).completion == assignment.completion
    assert "Does it &lt;rhyme&gt;?" in html
    assert "Phonetics" not in html
    fields = {f"check-{place}": value for place, value in ((1, "no"), (2, "unknown"))}
    assert send(browser, study, rater, **fields, rationale="Hm").json()["status"] == "stored"
    stored = Answer.objects.order_by("question__position").values_list("value", "rationale")
    assert list(stored) == [("no", "Hm"), ("unknown", "")]


@pytest.mark.parametrize("opened", [True, False])
def test_undo_is_offered_only_where_the_score_may_change(
    browser: Client, study: Study, rater: Rater, opened: bool
) -> None:
    page(browser, study)
    assert send(browser, study, rater, value=4).json()["progress"]["can_undo"]
    if opened:
        page(browser, study)
    undone = browser.post(reverse("undo", args=[study.slug]), headers=JSON)
    assert undone.status_code == (409 if opened else 200)


def test_a_page_without_scripts_goes_from_one_to_the_next(
    browser: Client, study: Study, rater: Rater
) -> None:
    address = reverse("rate-study", args=[study.slug])
    for said in [{"value": 3}, {"check-1": "yes", "check-2": "no"}] * 2:
        page(browser, study)
        browser.post(address, {"assignment": held(rater).public_id, **said})
    assert (Score.objects.count(), Answer.objects.count()) == (2, 4)
    assert "You scored 2 answers and checked 2 answers of" in page(browser, study)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({}, "Choose a score first."),
        ({"value": "6"}, "A score is a number from 1 to 5."),
        ({"value": "2.5"}, "A score is a number from 1 to 5."),
        ({"value": "3", "rationale": "x" * 5001}, "Please keep the comment under 5,000 characters."),
    ],
)
def test_no_such_score(browser: Client, study: Study, rater: Rater, sent: dict[str, str], words: str) -> None:
    page(browser, study)
    refused = send(browser, study, rater, **sent)
    assert (refused.status_code, refused.json()["detail"]) == (422, words)
    form = {"assignment": held(rater).public_id, **sent}
    again = browser.post(reverse("rate-study", args=[study.slug]), form)
    assert again.status_code == 422
    assert words in again.content.decode()
    assert not Score.objects.exists()


def test_what_lacks_an_answer_is_named_and_the_rest_is_kept(
    browser: Client, study: Study, rater: Rater
) -> None:
    Study.objects.update(tasks=["check"])
    page(browser, study)
    form = {"assignment": held(rater).public_id, "check-1": "yes"}
    html = browser.post(reverse("rate-study", args=[study.slug]), form).content.decode()
    assert "Requirement 2 has no answer yet." in html
    assert re.search(r'name="check-1" value="yes"[^>]* checked>', html)
    assert "Choose one of the buttons." in send(browser, study, rater, **{"check-1": "x"}).json()["detail"]
    assert not Answer.objects.exists()


def exchange() -> None:
    """Let the two requirements change places."""
    for before, after in ((1, 9), (2, 1), (9, 2)):
        Question.objects.filter(position=before).update(position=after)


def test_undo_shows_what_was_said_and_skip_keeps_it(browser: Client, study: Study, rater: Rater) -> None:
    Study.objects.update(tasks=["check"])
    page(browser, study)
    send(browser, study, rater, **{"check-1": "yes", "check-2": "no", "rationale": "Hm"})
    undo, form = reverse("undo", args=[study.slug]), {"rater": rater.user_id}
    for shown in (["yes", "no"], ["no", "yes"]):
        html = browser.post(undo, form, headers=JSON).json()["html"]
        assert "You have checked this answer." in html
        assert re.findall(r'value="(\w+)" required data-key="\w" checked>', html) == shown
        assert ">Hm</textarea>" in html
        send(browser, study, rater, "skip")
        assert sorted(Answer.objects.current().values_list("value", flat=True)) == ["no", "yes"]
        exchange()


def test_a_score_given_in_another_tab_is_kept(browser: Client, study: Study, rater: Rater) -> None:
    Study.objects.update(tasks=["score"])
    page(browser, study)
    form = {"assignment": held(rater).public_id, "rater": rater.user_id}
    address = reverse("rate-study", args=[study.slug])
    browser.post(address, form | {"value": 2}, headers=JSON)
    refused = browser.post(address, form | {"value": 5}, headers=JSON)
    assert (refused.status_code, refused.json()["reopen"]) == (409, True)
    assert "already given this answer the score 2" in refused.json()["detail"]
    html = browser.post(address, form | {"value": 5}).content.decode()
    assert "Change it" in html
    assert Score.objects.get().value == 2


def asked_on(html: str) -> str:
    return re.search(r'name="asked" value="(\w+)"', html)[1]


CHANGED = "What is asked was changed while your page was open."


@pytest.mark.parametrize(
    ("task", "change", "said"),
    [
        ("score", lambda: Study.objects.update(score_highest=10), {"value": 5}),
        ("check", lambda: Question.objects.filter(position=1).update(text="Is it long?"), {"check-1": "yes"}),
        ("check", exchange, {"check-1": "yes"}),
    ],
)
def test_what_was_asked_otherwise_is_not_stored(
    browser: Client, study: Study, rater: Rater, task: str, change: Any, said: dict[str, Any]
) -> None:
    Study.objects.update(tasks=[task])
    sent = {"asked": asked_on(page(browser, study)), "check-2": "no", **said}
    change()
    refused = send(browser, study, rater, **sent)
    assert (refused.status_code, refused.json()["detail"].startswith(CHANGED)) == (422, True)
    form = {"assignment": held(rater).public_id, **sent}
    again = browser.post(reverse("rate-study", args=[study.slug]), form)
    assert again.status_code == 422
    html = again.content.decode()
    assert CHANGED in html
    assert not re.search(r"<input[^>]* checked>", html)
    assert not Score.objects.exists()
    assert not Answer.objects.exists()
    sent["asked"] = asked_on(html)
    assert send(browser, study, rater, **sent).json()["status"] == "stored"


def test_keys_of_scores(study: Study) -> None:
    study.score_highest = 10
    assert [score_key(score, study.score_lowest) for score in (1, 9, 10)] == ["1", "9", "0"]
    study.score_lowest = 0
    assert [score_key(score, study.score_lowest) for score in (0, 9, 10)] == ["0", "9", ""]


def test_references_and_turns_are_shown(browser: Client, study: Study, rater: Rater) -> None:
    Study.objects.update(show_references="demand")
    prompt = study.prompts.get()
    prompt.references.create(author="Somebody", turns=["The reference."])
    prompt.completions.update(turns=["First turn.", "Second turn."])
    html = page(browser, study)
    assert "The reference." in html
    assert "Answer to turn 2" in html
    assert "Somebody" not in html


def test_the_guidelines_say_what_is_asked(browser: Client, study: Study) -> None:
    html = browser.get(reverse("guidelines", args=[study.slug])).content.decode()
    assert "score it from 1 (worst) to 5 (best)" in html
    assert "whether the answer meets it" in html
    assert "both answers" not in html
    assert "The requirements open once your score is stored" in html
    Study.objects.update(tasks=["check", "score"])
    html = browser.get(reverse("guidelines", args=[study.slug])).content.decode()
    assert "After that you score the answer, and cannot change what you checked." in html
    assert "open once" not in html


def test_the_list_of_studies_counts_texts(browser: Client, study: Study, rater: Rater) -> None:
    make.make_training_pairs(study)
    page(browser, study)
    send(browser, study, rater, value=4)
    html = browser.get(reverse("rate")).content.decode()
    assert "1 done, at most 3 left" in html
    assert "Continue (3 left)" in html
    assert "Start the training" not in html  # which is for pairs
    Study.objects.update(closed_at=timezone.now())
    assert "You scored 1 answer<" in browser.get(reverse("rate")).content.decode()


def test_what_the_study_no_longer_asks_is_refused_and_not_shown_again(
    browser: Client, study: Study, rater: Rater
) -> None:
    page(browser, study)
    Study.objects.update(tasks=["check"])
    answer = send(browser, study, rater, value=3)
    assert answer.status_code == 409
    assert "no longer asks for this" in answer.json()["detail"]
    assert not Score.objects.exists()
    assert 'data-kind="check"' in page(browser, study)
