"""An answer is taken by the page of its own study alone."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Comparison, Membership
from arena.rating import assignments
from tests import factories as make

pytestmark = pytest.mark.both_databases


@pytest.mark.django_db
@pytest.mark.parametrize("headers", [{}, {"Accept": "application/json"}])
def test_the_page_of_another_study_takes_no_answer(headers: dict[str, str]) -> None:
    study, other = make.make_small_study(criteria=["truthfulness"]), make.make_small_study()
    rater = make.make_member(study)
    Membership.objects.create(study=other, rater=rater)
    Membership.objects.update(guidelines_read_at=timezone.now())
    assignment = assignments.claim(study, rater)
    client = Client()
    client.force_login(rater.user)
    sent = {"assignment": assignment.public_id, "rater": str(rater.user_id), "rating": "3"}
    refused = client.post(reverse("rate-study", args=[other.slug]), sent, headers=headers)
    assert refused.status_code == 409
    assert not Comparison.objects.exists()
    rated = client.post(
        reverse("rate-study", args=[study.slug]), sent | {"criterion-0": "4"}, headers=headers
    )
    assert rated.status_code in (200, 302)
    assert Comparison.objects.get().criterion_ratings.get().rating == 4
