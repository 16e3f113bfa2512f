"""What a judge is to rate, and in which order."""

import pytest

from arena import planning
from arena.models import Assignment, Completion, Pair, Rater
from tests.factories import (
    make_comparison,
    make_completion,
    make_pair,
    make_prompt,
    make_rater,
    make_small_study,
    make_study,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def judge() -> Rater:
    return make_rater(kind=Rater.Kind.JUDGE)


def planned(ids: list[int]) -> list[Assignment]:
    rows = Assignment.objects.select_related("pair").in_bulk(ids)
    return [rows[pk] for pk in ids]


def test_every_pair_once_open_and_without_a_lease(judge: Rater) -> None:
    study = make_small_study(prompts=3, contestants=4)
    assert planning.preview(study, judge) == planning.Plan(18, 18)
    assert Pair.objects.count() == 0
    rows = planned(planning.plan(study, judge))
    assert len({row.pair_id for row in rows}) == 18
    assert {(row.state, row.leased_until, row.study_id) for row in rows} == {("open", None, study.pk)}


def test_pairs_rated_by_people_come_first(judge: Rater) -> None:
    study = make_small_study(prompts=3, contestants=3)
    completions = list(Completion.objects.filter(prompt=study.prompts.all()[1])[:2])
    rated = make_pair(prompt=completions[0].prompt, first=completions[0], second=completions[1])
    make_comparison(pair=rated)
    Pair.objects.recount(study)
    rows = planned(planning.plan(study, judge, limit=1))
    assert [row.pair_id for row in rows] == [rated.pk]


def test_a_limited_plan_takes_one_pair_of_each_prompt_before_two_of_any(judge: Rater) -> None:
    study = make_small_study(prompts=5, contestants=4)
    rows = planned(planning.plan(study, judge, limit=5))
    assert len({row.pair.prompt_id for row in rows if row.pair}) == 5


def test_planning_again_adds_nothing_and_takes_up_what_is_open_or_failed(judge: Rater) -> None:
    study = make_small_study(prompts=1, contestants=3)
    first = planning.plan(study, judge)
    Assignment.objects.filter(pk=first[0]).update(state="failed")
    Assignment.objects.filter(pk=first[1]).update(state="submitted")
    again = planning.plan(study, judge)
    assert set(again) == {first[0], first[2]}
    assert Assignment.objects.get(pk=first[0]).state == "open"
    assert Assignment.objects.count() == 3


def test_what_the_judge_answered_elsewhere_is_not_planned(judge: Rater) -> None:
    study = make_small_study(prompts=1, contestants=2)
    first, second = Completion.objects.order_by("pk")
    make_comparison(pair=make_pair(prompt=first.prompt, first=first, second=second), rater=judge)
    assert planning.plan(study, judge) == []


def test_orders_are_balanced_over_a_plan(judge: Rater) -> None:
    study = make_small_study(prompts=20, contestants=4)
    rows = planned(planning.plan(study, judge))
    swapped = sum(row.swapped for row in rows)
    assert abs(2 * swapped - len(rows)) <= 12  # of 120; a biased coin keeps the difference small


def test_repeats_alternate_the_order(judge: Rater) -> None:
    study = make_small_study(prompts=2, contestants=3, ratings_per_pair_judges=3)
    rows = planned(planning.plan(study, judge))
    by_pair: dict[int, list[bool]] = {}
    for row in sorted(rows, key=lambda row: row.repeat):
        by_pair.setdefault(row.pair_id or 0, []).append(row.swapped)
    assert len(by_pair) == 6
    for orders in by_pair.values():
        assert orders[0] == orders[2] != orders[1]


def test_both_orders_ask_every_pair_twice_and_the_limit_counts_pairs(judge: Rater) -> None:
    study = make_small_study(prompts=2, contestants=3)
    assert planning.preview(study, judge, limit=2, both_orders=True) == planning.Plan(2, 4)
    rows = planned(planning.plan(study, judge, both_orders=True))
    orders = {(row.pair_id, row.swapped) for row in rows}
    assert len(orders) == len(rows) == 12


def test_both_orders_later_adds_the_missing_order_only(judge: Rater) -> None:
    study = make_small_study(prompts=1, contestants=2)
    (first,) = planned(planning.plan(study, judge))
    Assignment.objects.update(state="submitted")
    (second,) = planned(planning.plan(study, judge, both_orders=True))
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
    assert retired.contestant is not None
    retired.contestant.retired_at = study.created_at
    retired.contestant.save()
    make_completion(prompt=prompt)
    empty = make_completion(prompt=prompt, turns=[""], is_empty=True)
    rows = planned(planning.plan(study, judge))
    assert len(rows) == 1
    assert rows[0].pair is not None
    assert empty.pk in (rows[0].pair.first_id, rows[0].pair.second_id)
