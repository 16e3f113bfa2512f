"""Recording opinions about one text: scores, and answers to the questions of its prompt."""

from typing import Any

import pytest
from django.utils import timezone

from arena.models import Answer, Assignment, Completion, Rater, Score
from arena.models.signals import opinion_recorded
from arena.rating import assignments, recording
from arena.rating.opinions import Check, Checks, InvalidAnswerError, NotAllowedError, Rating, TextScore
from arena.rating.recording import AlreadyAnsweredError
from tests import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def completion() -> Completion:
    made = make.make_text()
    for _ in range(3):
        make.make_question(prompt=made.prompt)
    return made


@pytest.fixture
def rater(completion: Completion) -> Rater:
    return make.make_member(completion.prompt.study)


def checks(*values: str, **more: Any) -> Checks:
    given = [Check(position=place, value=value) for place, value in enumerate(values, 1)]
    return Checks(answers=given, **more)


def of(kind: str, completion: Completion, rater: Rater, **more: Any) -> Assignment:
    return make.make_assignment(kind=kind, completion=completion, rater=rater, **more)


def score(value: float | None, **more: Any) -> TextScore:
    return TextScore(**{"lowest": 1, "highest": 5, "value": value, **more})


def test_a_score_is_stored_once(
    completion: Completion, rater: Rater, hear: Any, django_capture_on_commit_callbacks: Any
) -> None:
    heard, assignment = hear(opinion_recorded), of("score", completion, rater)
    with django_capture_on_commit_callbacks(execute=True):
        stored = recording.record(rater, assignment.public_id, score(4, seconds=2.5))
        assert recording.record(rater, assignment.public_id, score(4, seconds=2.5)) == stored
    assert (stored.value, stored.seconds, stored.status, stored.completion) == (4, 2.5, "scored", completion)
    assert [each["study_id"] for each in heard] == [completion.prompt.study_id]
    assignment.refresh_from_db()
    assert assignment.state == "submitted"
    with pytest.raises(AlreadyAnsweredError, match="already has the score 4"):
        recording.record(rater, assignment.public_id, score(5))
    assert Score.objects.count() == 1


def test_answers_are_stored_by_question_and_share_the_time(completion: Completion, rater: Rater) -> None:
    assignment = of("check", completion, rater)
    stored = recording.record(rater, assignment.public_id, checks("yes", "no", "unknown", seconds=6))
    places = [(each.question.position, each.value, each.seconds) for each in stored]
    assert places == [(1, "yes", 2), (2, "no", 2), (3, "unknown", 2)]
    assert recording.record(rater, assignment.public_id, checks("yes", "no", "unknown")) == stored
    with pytest.raises(AlreadyAnsweredError, match="already checked this answer"):
        recording.record(rater, assignment.public_id, checks("yes", "yes", "yes"))


def test_after_undo_only_what_changed_is_a_new_row(completion: Completion, rater: Rater) -> None:
    assignment = of("check", completion, rater)
    first = recording.record(rater, assignment.public_id, checks("yes", "no", "yes"))
    assert assignments.undo(completion.prompt.study, rater) == assignment
    second = recording.record(rater, assignment.public_id, checks("yes", "yes", "yes"))
    assert [each.pk for each in second if each in first] == [first[0].pk, first[2].pk]
    assert second[1].revises == first[1]
    current = Answer.objects.current().order_by("question__position").values_list("value", flat=True)
    assert (list(current), Answer.objects.count()) == (["yes", "yes", "yes"], 4)


def test_an_answer_after_undo_is_about_the_wording_that_replaced_the_old_one(
    completion: Completion, rater: Rater
) -> None:
    assignment = of("check", completion, rater)
    first = recording.record(rater, assignment.public_id, checks("yes", "no", "yes"))
    old = first[1].question
    old.is_current = False
    old.save()
    new = make.make_question(prompt=completion.prompt, position=2, text="Replaced?")
    assignments.undo(completion.prompt.study, rater)
    for _ in range(2):
        second = recording.record(rater, assignment.public_id, checks("yes", "no", "yes"))
        assert [each.question for each in second][1] == new
        assert [each.pk for each in second if each in first] == [first[0].pk, first[2].pk]
    assert Answer.objects.current().filter(question=old).exists()  # what was said of the old wording stays


def test_an_unscored_reply_keeps_its_reason(completion: Completion) -> None:
    judge = make.make_rater(kind=Rater.Kind.JUDGE)
    said = Checks(
        answers=[
            Check(position=1, value="yes", raw_reply="YES"),
            Check(position=2, reason="unparsable", raw_reply="Perhaps"),
            Check(position=3, reason="empty"),
        ]
    )
    stored = recording.record(judge, of("check", completion, judge).public_id, said)
    assert [(each.status, each.reason, each.raw_reply) for each in stored] == [
        ("scored", "", "YES"),
        ("unscored", "unparsable", "Perhaps"),
        ("unscored", "empty", ""),
    ]
    judged = recording.record(
        judge, of("score", completion, judge).public_id, score(None, highest=10, reason="refused")
    )
    assert (judged.status, judged.reason, judged.highest) == ("unscored", "refused", 10)


@pytest.mark.parametrize(
    ("kind", "said", "field", "words"),
    [
        ("score", score(6), "value", "must be between 1 and 5"),
        ("score", score(None), "value", "either a score or the reason"),
        ("score", score(3, reason="empty"), "value", "either a score or the reason"),
        ("score", score(3, highest=10), "highest", "scores answers from 1 to 5"),
        ("score", score(3, lowest=5), "highest", "above the lowest"),
        ("score", score(2.5), "value", "whole number"),
        ("score", checks("yes", "no", "yes"), "assignment", "is to score an answer"),
        ("check", checks("yes", "no"), "answers.3", "number 3 has no answer yet"),
        ("check", checks("yes", "no", "yes", "no"), "answers.4", "no requirement number 4"),
        ("check", Rating(points=8, rating=3), "assignment", "is to check an answer against its requirements"),
    ],
)
def test_what_is_not_stored(
    completion: Completion, rater: Rater, kind: str, said: Any, field: str, words: str
) -> None:
    assignment = of(kind, completion, rater)
    with pytest.raises(InvalidAnswerError, match=words) as refused:
        recording.record(rater, assignment.public_id, said)
    assert refused.value.field == field
    assert not Score.objects.exists()
    assert not Answer.objects.exists()


def test_nothing_is_asked_about_a_prompt_without_requirements() -> None:
    completion = make.make_text()
    make.make_question(prompt=completion.prompt, is_accepted=False, proposed_by="model-1")
    rater = make.make_member(completion.prompt.study)
    with pytest.raises(InvalidAnswerError, match="has no requirements"):
        recording.record(rater, of("check", completion, rater).public_id, checks())


@pytest.mark.parametrize("kind", ["score", "check"])
def test_places_are_taken_by_what_counts_imported_or_not(
    completion: Completion, rater: Rater, kind: str
) -> None:
    def say(assignment: Assignment) -> bool:
        said = score(4) if kind == "score" else checks("yes", "no", "unknown")
        recording.record(rater, assignment.public_id, said)
        return assignment.scores.get().is_late if kind == "score" else assignment.answers.first().is_late

    study = completion.prompt.study
    other = make.make_member(study)
    if kind == "score":
        make.make_score(completion=completion, rater=other)
    else:
        for question in completion.prompt.questions.all():
            make.make_answer(completion=completion, question=question, rater=other)
    assert say(of(kind, completion, rater, leased_until=timezone.now()))
    Score.objects.filter(rater=rater).delete()
    Answer.objects.filter(rater=rater).delete()
    # Whoever is left out takes no place.
    study.memberships.filter(rater=other).update(left_out_at=timezone.now())
    again = of(kind, completion, rater, leased_until=timezone.now(), repeat=1)
    assert not say(again)


def test_a_batch_holds_every_kind(completion: Completion, rater: Rater) -> None:
    pair = make.make_assignment(
        pair=make.make_pair(prompt=completion.prompt), rater=rater, study=completion.prompt.study
    )
    given = [
        checks("no", "no", "no", assignment=of("check", completion, rater).public_id),
        Rating(points=8, rating=3, assignment=pair.public_id),
        score(1, assignment=of("score", completion, rater).public_id),
        score(1, assignment="unknown"),
    ]
    *recorded, refused = recording.record_all(rater, given)
    answers, [comparison], [scored] = (each.stored for each in recorded)  # type: ignore[union-attr]
    assert [each.value for each in answers] == ["no"] * 3
    assert (comparison.rating, scored.value) == (3, 1)
    assert isinstance(refused, NotAllowedError)
    again = recording.record_all(rater, given)[:3]
    assert [each.is_new for each in [*recorded, *again]] == [True] * 3 + [False] * 3  # type: ignore[union-attr]
