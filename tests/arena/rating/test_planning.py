"""What a judge is to rate, score or check, and in which order."""

from typing import Any

import pytest

from arena.models import Assignment, Comparison, Completion, Pair, Rater, Study
from arena.rating import planning, plans
from arena.rating.plans import Plan, Wanted, Which
from arena.rules.pairing import choose_order
from tests.factories import (
    make_comparison,
    make_completion,
    make_pair,
    make_prompt,
    make_question,
    make_rater,
    make_score,
    make_small_study,
    make_study,
)

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

ALL = Wanted()
SCORE = Wanted(kind="score")


@pytest.fixture
def judge() -> Rater:
    return make_rater(kind=Rater.Kind.JUDGE)


def planned(study: Study, judge: Rater, wanted: Wanted = ALL) -> list[Assignment]:
    ids = planning.plan(study, judge, wanted).assignments
    rows = Assignment.objects.select_related("pair", "completion").in_bulk(ids)
    return [rows[pk] for pk in ids]


def test_every_pair_once_open_and_without_a_lease(judge: Rater) -> None:
    study = make_small_study(prompts=3, contestants=4)
    assert planning.preview(study, judge) == Plan(18, 18)
    assert Pair.objects.count() == 0
    rows = planned(study, judge)
    assert len({row.pair_id for row in rows}) == 18
    assert {(row.state, row.leased_until, row.study_id) for row in rows} == {("open", None, study.pk)}


def test_pairs_rated_by_people_come_first(judge: Rater) -> None:
    study = make_small_study(prompts=3, contestants=3)
    first, second = Completion.objects.filter(prompt=study.prompts.all()[1])[:2]
    rated = make_pair(prompt=first.prompt, first=first, second=second)
    make_comparison(pair=rated)
    Pair.objects.recount(study)
    assert [row.pair_id for row in planned(study, judge, Wanted(limit=1))] == [rated.pk]


def test_judges_with_a_limit_are_asked_about_the_same_pairs(judge: Rater) -> None:
    study = make_small_study(prompts=3, contestants=4)
    first = planned(study, judge, Wanted(limit=2))
    for assignment in first:
        answer(assignment)
    Pair.objects.recount(study)
    second = planned(study, make_rater(kind="judge", slug="another-judge"), Wanted(limit=2))
    assert {row.pair_id for row in second} == {row.pair_id for row in first}
    third = planned(study, judge, Wanted(limit=2))
    assert not {row.pair_id for row in third} & {row.pair_id for row in first}


def test_a_limited_plan_takes_one_pair_of_each_prompt_before_two_of_any(judge: Rater) -> None:
    study = make_small_study(prompts=5, contestants=4)
    rows = planned(study, judge, Wanted(limit=5))
    assert len({row.pair.prompt_id for row in rows if row.pair}) == 5


def test_planning_again_adds_nothing_and_takes_up_what_is_open_or_failed(judge: Rater) -> None:
    study = make_small_study(prompts=1, contestants=3)
    first = planning.plan(study, judge).assignments
    Assignment.objects.filter(pk=first[0]).update(state="failed")
    Assignment.objects.filter(pk=first[1]).update(state="submitted")
    again = planning.plan(study, judge).assignments
    assert set(again) == {first[0], first[2]}
    assert Assignment.objects.get(pk=first[0]).state == "open"
    assert Assignment.objects.count() == 3


def test_what_the_judge_answered_elsewhere_is_not_planned(judge: Rater) -> None:
    study = make_small_study(prompts=1, contestants=2)
    first, second = Completion.objects.order_by("pk")
    make_comparison(pair=make_pair(prompt=first.prompt, first=first, second=second), rater=judge)
    assert planned(study, judge) == []


def test_orders_of_a_plan_are_those_of_their_seeds(judge: Rater) -> None:
    rows = planned(make_small_study(prompts=20, contestants=4), judge)
    assert [row.swapped for row in rows] == [choose_order(row.seed) for row in rows]


def test_repeats_alternate_the_order(judge: Rater) -> None:
    study = make_small_study(prompts=2, contestants=3, ratings_per_pair_judges=3)
    rows = planned(study, judge)
    by_pair: dict[int, list[bool]] = {}
    for row in sorted(rows, key=lambda row: row.repeat):
        by_pair.setdefault(row.pair_id or 0, []).append(row.swapped)
    assert len(by_pair) == 6
    for orders in by_pair.values():
        assert orders[0] == orders[2] != orders[1]


def test_both_orders_ask_every_pair_twice_or_add_the_missing_order(judge: Rater) -> None:
    study = make_small_study(prompts=2, contestants=3)
    assert planning.preview(study, judge, Wanted(limit=2, both_orders=True)) == Plan(2, 4)
    rows = planned(study, judge, Wanted(both_orders=True))
    orders = {(row.pair_id, row.swapped) for row in rows}
    assert len(orders) == len(rows) == 12
    study = make_small_study(prompts=1, contestants=2)
    (first,) = planned(study, judge)
    Assignment.objects.update(state="submitted")
    (second,) = planned(study, judge, Wanted(both_orders=True))
    assert second.pair_id == first.pair_id
    assert second.swapped != first.swapped


def test_texts_that_are_unknown_old_or_retired_are_not_asked(judge: Rater) -> None:
    study = make_study()
    unknown_prompt = make_prompt(study=study, turns=[])
    make_completion(prompt=unknown_prompt)
    make_completion(prompt=unknown_prompt)
    prompt = make_prompt(study=study)
    make_completion(prompt=prompt, turns=[])
    make_completion(prompt=prompt, is_current=False)
    retired = make_completion(prompt=prompt)
    retired.contestant.retired_at = study.created_at
    retired.contestant.save()
    make_completion(prompt=prompt)
    empty = make_completion(prompt=prompt, turns=[""], is_empty=True)
    rows = planned(study, judge)
    assert len(rows) == 1
    assert empty.pk in (rows[0].pair.first_id, rows[0].pair.second_id)


def make_identical(study: Study) -> tuple[Completion, Completion]:
    """Two contestants who say the same to a prompt of their own."""
    prompt = make_prompt(study=study)
    same = {"prompt": prompt, "turns": ["the same"], "digest": "f" * 64}
    return make_completion(**same), make_completion(**same)


def answer(assignment: Assignment, **said: Any) -> Comparison:
    """The judge's answer to an assignment; give a reason for one without a rating."""
    Assignment.objects.filter(pk=assignment.pk).update(state="submitted")
    shown = {name: getattr(assignment, name) for name in ("pair", "rater", "swapped", "repeat")}
    return make_comparison(assignment=assignment, **shown, **said)


def test_a_plan_to_extend_holds_pairs_that_were_never_asked(judge: Rater) -> None:
    study = make_small_study(prompts=1, contestants=3)
    (asked,) = planned(study, judge, Wanted(limit=1))
    extended = planned(study, judge, Wanted(Which.EXTEND))
    assert len(extended) == 2
    assert asked.pair_id not in {row.pair_id for row in extended}
    assert planning.is_empty(study, judge, Wanted(Which.EXTEND))


def test_a_plan_of_failures_holds_what_has_no_answer_in_the_orders_it_was_asked(judge: Rater) -> None:
    study = make_small_study(prompts=1, contestants=3)
    rows = planned(study, judge, Wanted(limit=2, both_orders=True))
    answer(rows[0])
    Assignment.objects.filter(pk=rows[1].pk).update(state="failed")
    again = planned(study, judge, Wanted(Which.FAILURES))
    assert {row.pk for row in again} == {rows[1].pk, rows[2].pk, rows[3].pk}
    assert Assignment.objects.get(pk=rows[1].pk).state == "open"


def test_a_plan_of_the_unscored_opens_their_assignments_again(judge: Rater) -> None:
    study = make_small_study(prompts=1, contestants=3)
    scored, unscored, _ = planned(study, judge)
    answer(scored)
    lacking = answer(unscored, reason="refused")
    assert planning.preview(study, judge, Wanted(Which.UNSCORED)) == Plan(1, 1)
    assert [row.pk for row in planned(study, judge, Wanted(Which.UNSCORED))] == [unscored.pk]
    assert Assignment.objects.get(pk=unscored.pk).state == "open"
    assert Comparison.objects.current().get(assignment=unscored) == lacking
    assert unscored not in planned(study, judge, Wanted(Which.FAILURES))


def test_the_outlook_counts_every_kind_of_plan(judge: Rater) -> None:
    study = make_small_study(prompts=2, contestants=3)
    first, second, third = planned(study, judge, Wanted(limit=3))
    answer(first)
    answer(second, reason="empty")
    Assignment.objects.filter(pk=third.pk).update(state="failed")
    assert planning.outlook(study, judge) == {
        Which.ALL: Plan(4, 4),
        Which.EXTEND: Plan(3, 3),
        Which.FAILURES: Plan(1, 1),
        Which.UNSCORED: Plan(1, 1),
    }
    assert planning.outlook(study, judge, both_orders=True)[Which.EXTEND] == Plan(3, 6)


def test_identical_completions_are_recorded_and_not_asked(judge: Rater) -> None:
    study = make_small_study(prompts=1, contestants=2)
    first, second = make_identical(study)
    assert planning.preview(study, judge) == Plan(1, 1, identical=1)
    # They do not count towards the limit.
    assert planning.preview(study, judge, Wanted(limit=1)).assignments == 1
    result = planning.plan(study, judge, points=5)
    assert (len(result.assignments), result.identical) == (1, 1)
    recorded = Comparison.objects.get()
    assert (recorded.status, recorded.rating, recorded.reason, recorded.points) == ("identical", None, "", 5)
    assert (recorded.pair.first, recorded.pair.second) == (first, second)
    assert recorded.pair.judge_ratings == 1
    assert recorded.assignment.state == "submitted"
    Pair.objects.recount(study)
    assert Pair.objects.get(pk=recorded.pair_id).judge_ratings == 1
    assert planning.preview(study, judge, Wanted(Which.EXTEND)) == Plan(0, 0)


def test_controls_ask_about_identical_completions_also_later(judge: Rater) -> None:
    study = make_study()
    make_identical(study)
    planning.plan(study, judge)
    assert planning.is_empty(study, judge, Wanted())
    (control,) = planned(study, judge, Wanted(controls=True))
    recorded = Comparison.objects.get()
    assert recorded.assignment == control
    answer_to_control = {"status": "identical", "rating": 6, "revises": recorded}
    Comparison.objects.update(is_current=False)
    answer(control, **answer_to_control)
    assert planning.is_empty(study, judge, Wanted(controls=True))


def test_an_open_assignment_about_identical_completions_is_ended(judge: Rater) -> None:
    study = make_study()
    make_identical(study)
    (open_one,) = planned(study, judge, Wanted(controls=True))
    result = planning.plan(study, judge, Wanted(Which.FAILURES))
    assert result == plans.Planned([], 1)
    assert Comparison.objects.get().assignment == open_one
    assert Assignment.objects.get().state == "submitted"


# --- single answers -----------------------------------------------------------------------------------------


@pytest.fixture
def study() -> Study:
    return make_small_study(prompts=3, contestants=3)


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
