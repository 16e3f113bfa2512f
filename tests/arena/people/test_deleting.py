"""What goes with a study, and with a rater."""

import pytest

from arena.models import Answer, Comparison, Question, Rater, Score, Study
from tests import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def study() -> Study:
    """A rater who compares, scores and checks, and another of the same text."""
    study = make.make_small_study()
    prompt = study.prompts.first()
    assert prompt is not None
    text, question = prompt.completions.first(), make.make_question(prompt=prompt)
    for rater in (make.make_rater(study=study, slug="imported"), make.make_rater(slug="here")):
        make.make_comparison(pair=make.make_pair(prompt=prompt), rater=rater, rating=1)
        checks = make.make_assignment(kind="check", completion=text, rater=rater)
        old = make.make_answer(completion=text, question=question, rater=rater, is_current=False)
        make.make_answer(
            completion=text, question=question, rater=rater, assignment=checks, revises=old, value="no"
        )
        make.make_score(completion=text, rater=rater)
    return study


def counts() -> list[int]:
    return [model._default_manager.count() for model in (Comparison, Score, Answer, Question)]


def test_all_opinions_go_with_a_study_and_its_imported_raters(study: Study) -> None:
    study.delete()
    assert counts() == [0, 0, 0, 0]
    assert list(Rater.objects.values_list("slug", flat=True)) == ["here"]


def test_the_opinions_of_a_rater_go_with_the_rater_and_others_stay(study: Study) -> None:
    assert counts() == [2, 2, 4, 1]
    Rater.objects.get(slug="imported").delete()
    assert counts() == [1, 1, 2, 1]
