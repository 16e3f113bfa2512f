"""Which single answers a judge is to score or check, and in which order."""

import pytest

from arena.models import Assignment, Rater, Study
from arena.rating import planning
from arena.rating.plans import Plan, Wanted, Which
from tests.factories import make_question, make_rater, make_score, make_small_study

pytestmark = pytest.mark.django_db

SCORE = Wanted(kind="score")


@pytest.fixture
def study() -> Study:
    return make_small_study(prompts=3, contestants=3)


@pytest.fixture
def judge() -> Rater:
    return make_rater(kind=Rater.Kind.JUDGE)


def planned(study: Study, judge: Rater, wanted: Wanted) -> list[Assignment]:
    ids = planning.plan(study, judge, wanted).assignments
    rows = Assignment.objects.select_related("completion").in_bulk(ids)
    return [rows[pk] for pk in ids]


def test_what_people_scored_comes_first_then_one_answer_of_each_prompt(study: Study, judge: Rater) -> None:
    prompt = study.prompts.first()
    by_people = list(prompt.completions.all()[:2])
    for completion in by_people:
        make_score(completion=completion, study=study)
    found = [each.completion for each in planned(study, judge, SCORE)]
    assert set(found[:2]) == set(by_people)
    assert {each.prompt_id for each in found[2:5]} == set(study.prompts.values_list("pk", flat=True))
    assert len(set(found)) == 9


def test_each_answer_is_asked_about_as_often_as_the_study_says(study: Study, judge: Rater) -> None:
    study.ratings_per_pair_judges = 2
    study.save()
    found = planned(study, judge, Wanted(kind="score", limit=4))
    assert [(each.kind, each.repeat) for each in found] == [("score", 0), ("score", 1)] * 4
    assert planning.preview(study, judge, Wanted(Which.FAILURES, kind="score")) == Plan(4, 8)
    assert planning.preview(study, judge, Wanted(Which.EXTEND, kind="score")) == Plan(5, 10)
    # What is left over is planned again, not anew.
    again = planned(study, judge, SCORE)
    assert len(again) == 18
    assert {each.pk for each in found} <= {each.pk for each in again}


def test_only_answers_with_requirements_are_checked(study: Study, judge: Rater) -> None:
    first, second, _ = study.prompts.order_by("pk")
    make_question(prompt=first)
    make_question(prompt=second, is_accepted=False, proposed_by="a model")
    assert {each.completion.prompt for each in planned(study, judge, Wanted(kind="check"))} == {first}
    assert not planning.is_empty(study, judge, SCORE)
