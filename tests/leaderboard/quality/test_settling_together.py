"""Two operators settle the same pair at the same time."""

import pytest
from django.test import Client
from django.urls import reverse

from arena.models import Assignment, Comparison, Completion, Membership
from tests import factories as make

pytestmark = pytest.mark.both_databases


@pytest.mark.django_db
def test_the_second_one_is_told_that_the_answer_was_not_stored() -> None:
    study = make.make_small_study(prompts=1, contestants=2)
    first, second = Completion.objects.order_by("pk")
    pair = make.make_pair(prompt=first.prompt, first=first, second=second)
    address = reverse("operate-dispute", args=[study.slug, pair.pk])
    operators = [make.make_member(study) for _ in range(2)]
    Membership.objects.update(role="operator")
    clients = [Client() for _ in operators]
    for client, rater in zip(clients, operators, strict=True):
        client.force_login(rater.user)
        client.post(address)
    said = []
    for client, rater, rating in zip(clients, operators, ("2", "7"), strict=True):
        sent = {"assignment": Assignment.objects.get(rater=rater).public_id, "rating": rating}
        said.append(client.post(address, sent, follow=True).content.decode())
    assert ["Your answer was not stored" in page for page in said] == [False, True]
    assert Comparison.objects.get().rating == 2
