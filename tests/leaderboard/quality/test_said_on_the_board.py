import pytest
from django.urls import reverse

from arena.people.members import decide
from leaderboard.pages.pairs import entries
from leaderboard.refreshing import services
from tests import factories as make
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db


@pytest.fixture
def made():
    made = HandMade("alpha", "beta")
    made.bea = make.make_member(made.study, name="Bea")
    for rating in (1, 2, 3):
        made.rate("alpha", "beta", rating)
    made.rate("alpha", "beta", 8, rater=made.bea)
    made.rate("beta", "alpha", 7, rater=made.bea, purpose="repeat", repeat=1)
    return made


def page(client, made, name="study"):
    services.refresh(made.study)
    return client.get(reverse(name, args=[made.study.slug])).content.decode()


def test_with_everybody_in_or_a_snapshot_from_before_nothing_is_said_of_leaving_out(client, made):
    text = page(client, made)
    assert "operators left out" not in text
    assert "1 rating of hidden repeats" in text
    snapshot = services.refresh(made.study).snapshot
    counts = {name: value for name, value in snapshot.counts.items() if name != "uncounted"}
    type(snapshot).objects.filter(pk=snapshot.pk).update(counts=counts)
    text = client.get(reverse("study", args=[made.study.slug])).content.decode()
    assert "operators left out" not in text


@pytest.mark.parametrize("name", ["study", "study-raters", "study-agreement"])
def test_who_is_left_out_is_said(client, made, name):
    decide(made.study, made.bea, "left_out", make.make_user(is_staff=True), "A reason for operators")
    text = page(client, made, name)
    assert "The operators left out 1 rater with 1 rating" in text
    assert "A reason for operators" not in text
    assert "Bea" not in text


def test_what_does_not_count_is_not_browsed(made):
    pair = made.pair("alpha", "beta")
    assert len(entries(made.study, [pair.pk])[0].answers) == 4
    decide(made.study, made.bea, "left_out", make.make_user(is_staff=True), "why")
    assert len(entries(made.study, [pair.pk])[0].answers) == 3
