"""Every constraint and trigger of scores, questions and answers refuses what it is there to refuse."""

from typing import Any

import pytest

from tests import factories as make
from tests.arena.models.test_models import refused

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

SCORE_BREAKS = [
    ({"value": 0.9}, "score_within_scale_or_reason"),
    ({"value": 5.1}, "score_within_scale_or_reason"),
    ({"value": None}, "score_within_scale_or_reason"),
    ({"status": "unscored", "value": None}, "score_within_scale_or_reason"),
    ({"status": "scored", "reason": "empty", "value": 3}, "score_within_scale_or_reason"),
    ({"status": "identical"}, "score_within_scale_or_reason"),
    ({"lowest": 3, "highest": 3, "value": 3}, "score_scale_has_two_ends"),
    ({"seconds": -0.1}, "score_seconds_not_negative"),
    ({"purpose": "fun"}, "score_purpose_known"),
]
ANSWER_BREAKS = [
    ({"value": "maybe"}, "answer_known_or_reason"),
    ({"value": None}, "answer_known_or_reason"),
    ({"status": "scored", "reason": "empty", "value": "no"}, "answer_known_or_reason"),
    ({"status": "unscored", "value": None}, "answer_known_or_reason"),
    ({"seconds": -0.1}, "answer_seconds_not_negative"),
    ({"purpose": "fun"}, "answer_purpose_known"),
]
QUESTION_BREAKS = [
    ({"position": 0}, "question_position_from_one"),
    ({"text": ""}, "question_has_a_text"),
    ({"is_accepted": False}, "question_waits_if_proposed"),
]


@pytest.mark.parametrize(("change", "rule"), SCORE_BREAKS)
def test_scores(change: dict[str, Any], rule: str) -> None:
    completion, rater = make.make_completion(), make.make_rater()
    refused(lambda: make.make_score(completion=completion, rater=rater, **change), rule)
    assert make.make_score(completion=completion, rater=rater, reason="refused").value is None


@pytest.mark.parametrize(("change", "rule"), ANSWER_BREAKS)
def test_answers(change: dict[str, Any], rule: str) -> None:
    question = make.make_question()
    completion, rater = make.make_completion(prompt=question.prompt), make.make_rater()
    about = {"completion": completion, "question": question, "rater": rater}
    refused(lambda: make.make_answer(**about, **change), rule)
    assert make.make_answer(**about, reason="refused").value is None


@pytest.mark.parametrize(("change", "rule"), QUESTION_BREAKS)
def test_questions(change: dict[str, Any], rule: str) -> None:
    prompt = make.make_prompt()
    refused(lambda: make.make_question(prompt=prompt, **change), rule)


def test_a_place_has_one_question_that_is_asked() -> None:
    first = make.make_question()
    same = {"prompt": first.prompt, "position": 1}
    refused(lambda: make.make_question(**same), "question_one_current_per_position")
    make.make_question(**same, is_current=False)
    make.make_question(**same, is_accepted=False, proposed_by="model-1")


def test_one_is_current() -> None:
    score = make.make_score()
    about = {"completion": score.completion, "rater": score.rater}
    refused(lambda: make.make_score(**about), "score_one_current")
    for other in ({"turn": 1}, {"repeat": 1}, {"is_current": False}):
        make.make_score(**about, **other)
    answer = make.make_answer()
    same = {"completion": answer.completion, "question": answer.question, "rater": answer.rater}
    refused(lambda: make.make_answer(**same), "answer_one_current")
    make.make_answer(**same, is_current=False)


def test_an_assignment_has_one_current_opinion_and_a_text_is_offered_once() -> None:
    question = make.make_question()
    completion = make.make_completion(prompt=question.prompt)
    score = make.make_assignment(kind="score", completion=completion)
    check = make.make_assignment(kind="check", completion=completion, rater=score.rater)
    again = {"completion": completion, "rater": score.rater}
    refused(lambda: make.make_assignment(kind="score", **again), "assignment_text_offered_once")
    make.make_score(completion=completion, assignment=score)
    scored = {"completion": completion, "assignment": score}
    refused(lambda: make.make_score(**scored), "score_one_per_assignment_and_turn")
    make.make_score(**scored, turn=2)
    said = {"completion": completion, "question": question, "assignment": check}
    make.make_answer(**said)
    refused(lambda: make.make_answer(**said), "answer_one_per_assignment_and_question")


def test_one_of_a_file_is_stored_once() -> None:
    score = make.make_score(external_id="1")
    other = make.make_completion(prompt=score.completion.prompt)
    about = {"rater": score.rater, "external_id": "1", "completion": other}
    refused(lambda: make.make_score(**about), "score_external_id_unique")
    answer = make.make_answer(external_id="1")
    other = make.make_completion(prompt=answer.completion.prompt)
    about = {"rater": answer.rater, "external_id": "1", "completion": other, "question": answer.question}
    refused(lambda: make.make_answer(**about), "answer_external_id_unique")


def test_an_opinion_stays_with_its_prompt_and_study() -> None:
    completion, elsewhere = make.make_completion(), make.make_study()
    refused(lambda: make.make_score(completion=completion, study=elsewhere), "a score belongs to the study")
    of_its_prompt = "a question is answered about an answer to its own prompt"
    question = make.make_question()
    refused(lambda: make.make_answer(completion=completion, question=question), of_its_prompt)
    refused(lambda: make.make_answer(completion=completion, study=elsewhere), of_its_prompt)
