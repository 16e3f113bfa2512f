"""The list of one's studies: what is to do in each, and what stands before it."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Membership, Rater, Role, Study, TrainingAnswer
from arena.rating import assignments, training
from tests import factories as make
from tests.arena.rating.answering import answer

pytestmark = pytest.mark.django_db


@pytest.fixture
def rater(client: Client) -> Rater:
    user = make.make_user()
    client.force_login(user)
    return make.make_rater(user=user)


def member_of(rater: Rater, study: Study, **columns: object) -> Membership:
    return Membership.objects.create(study=study, rater=rater, **columns)


def content(client: Client) -> str:
    return client.get(reverse("rate")).content.decode()


def test_a_study_with_a_training_says_how_far_one_is(client: Client, rater: Rater) -> None:
    study = make.make_small_study(training_threshold=1.0)
    membership = member_of(rater, study)
    assert "0 done, at most 6 left" in content(client)
    make.make_training_pairs(study, 2)
    assert "Starts with a training of 2 pairs" in content(client)
    first = training.course(membership).steps[0].pair
    wrong = next(
        r
        for r in (1, 8)
        if not training.is_right(first, r, 8, swapped=training.is_swapped(first, rater.pk, 1))
    )
    training.answer(membership, 1, 1, wrong)
    assert "Training: 1 of 2 answered" in content(client)
    training.answer(membership, 1, 2, 1)
    assert "Training not passed yet" in content(client)
    TrainingAnswer.objects.update(attempt=3)
    assert "Training not passed. Please ask" in content(client)
    training.let_through(membership)
    assert "Start (6 left)" in content(client)


def test_pauses_are_named(client: Client, rater: Rater) -> None:
    study = make.make_small_study()
    membership = member_of(rater, study)
    Membership.objects.filter(pk=membership.pk).update(paused_at=timezone.now())
    assert "Paused for you" in content(client)
    Study.objects.update(paused_at=timezone.now())
    assert "this study offers nothing" in content(client)


def test_viewers_are_led_to_results_and_raters_of_closed_studies_told(client: Client, rater: Rater) -> None:
    seen = make.make_small_study(name="Seen")
    member_of(rater, seen, role=Role.VIEWER)
    member_of(rater, make.make_small_study(name="Over", closed_at=timezone.now()))
    page = content(client)
    assert seen.get_absolute_url() in page
    assert reverse("rate-study", args=[seen.slug]) not in page
    assert "You rated nothing" in page
    guidelines = client.get(reverse("guidelines", args=[seen.slug])).content.decode()
    assert "Start rating" not in guidelines


def test_a_closed_study_keeps_count_and_report_of_its_rater(client: Client, rater: Rater) -> None:
    study = make.make_small_study(closed_at=timezone.now())
    member_of(rater, study)
    prompt = make.make_prompt(study=study)
    make.make_comparison(rater=rater, pair=make.make_pair(prompt=prompt))
    page = content(client)
    assert "You rated 1 pair" in page
    assert reverse("rater-report", args=[study.slug]) in page


def test_a_goal_is_what_is_left(client: Client, rater: Rater) -> None:
    study = make.make_small_study(goal=2)
    member_of(rater, study)
    assert "0 of 2" in content(client)
    assert "Start (2 left)" in content(client)


def test_a_visitor_can_join_what_is_open(client: Client) -> None:
    study = make.make_small_study(sign_up_open=True, description="**About** summaries")
    other = make.make_small_study()
    page = content(client)
    assert reverse("sign-up", args=[study.slug]) in page
    assert "About summaries" in page
    assert reverse("account_login") in page
    assert reverse("sign-up", args=[other.slug]) not in page


def test_a_studys_training_is_none_of_another(client: Client, rater: Rater) -> None:
    make.make_training_pairs(make.make_study())
    assert training.waiting([member_of(rater, make.make_small_study())]) == {}


@pytest.mark.parametrize("tasks", [["compare"], ["check", "compare"], ["score"]])
def test_visitors_see_an_example_of_a_pair_only_where_they_can_compare(tasks: list[str]) -> None:
    make.make_small_study(tasks=tasks, sign_up_open=True)
    assert ("scale-example" in content(Client())) is ("compare" in tasks)


def test_the_end_says_that_others_hold_the_last_ones_only_while_they_do() -> None:
    study = make.make_small_study(prompts=2, contestants=2, ratings_per_pair_people=1)
    ann, ben = make.make_member(study), make.make_member(study)
    Membership.objects.update(guidelines_read_at=timezone.now())
    client = make.make_client(ann.user)
    held = assignments.claim(study, ben)
    answer(ann, assignments.claim(study, ann))
    page = reverse("rate-study", args=[study.slug])
    assert "Other raters hold the last ones." in client.get(page).content.decode()
    answer(ben, held)
    said = client.get(page).content.decode()
    assert ("You rated" in said, "hold the last ones" in said) == (True, False)
