"""The list of one's studies: what is to do in each, and what stands before it."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Membership, Rater, Role, Study, TrainingAnswer
from arena.rating import training
from tests import factories as make

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
    assert "0 rated, 0 skipped, at most 6 pairs" in content(client)
    make.make_training_pairs(study, 2)
    assert "Begins with a training of 2 pairs" in content(client)
    first = training.course(membership).steps[0].pair
    wrong = next(
        r
        for r in (1, 8)
        if not training.is_right(first, r, 8, swapped=training.is_swapped(first, rater.pk, 1))
    )
    training.answer(membership, 1, 1, wrong)
    assert "Training: 1 of 2 answered" in content(client)
    training.answer(membership, 1, 2, 1)
    assert "has to be gone through again" in content(client)
    TrainingAnswer.objects.update(attempt=3)
    assert "please ask the operator" in content(client)
    training.let_through(membership)
    assert "at most 6 pairs still want a rating" in content(client)


def test_pauses_are_named(client: Client, rater: Rater) -> None:
    study = make.make_small_study()
    membership = member_of(rater, study)
    Membership.objects.filter(pk=membership.pk).update(paused_at=timezone.now())
    assert "You are paused in this study" in content(client)
    Study.objects.update(paused_at=timezone.now())
    assert "This study is paused" in content(client)


def test_viewers_are_led_to_results_and_raters_of_closed_studies_told(client: Client, rater: Rater) -> None:
    seen = make.make_small_study(name="Seen")
    member_of(rater, seen, role=Role.VIEWER)
    member_of(rater, make.make_small_study(name="Over", closed_at=timezone.now()))
    page = content(client)
    assert seen.get_absolute_url() in page
    assert reverse("rate-study", args=[seen.slug]) not in page
    assert "Over <span" in page
    assert "You are not a rater of any open study" in page
    guidelines = client.get(reverse("guidelines", args=[seen.slug])).content.decode()
    assert "You may see this study but not rate in it." in guidelines
    assert "Start rating" not in guidelines


def test_a_studys_training_is_none_of_another(client: Client, rater: Rater) -> None:
    make.make_training_pairs(make.make_study())
    assert training.waiting([member_of(rater, make.make_small_study())]) == {}
