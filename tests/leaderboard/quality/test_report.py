import pytest
from django.urls import reverse
from django.utils import timezone

from arena.models import Comparison, Pair
from leaderboard.quality.page import report
from tests import factories as make
from tests.leaderboard.quality.rated import rate, rated_study

pytestmark = pytest.mark.django_db


def address(study):
    return reverse("rater-report", args=[study.slug])


def test_it_is_for_members_alone(client):
    study = make.make_study()
    assert client.get(address(study)).status_code == 302
    client.force_login(make.make_user())
    assert client.get(address(study)).status_code == 404
    client.force_login(make.make_member(study).user)
    assert "You have not rated" in client.get(address(study)).content.decode()


def test_it_names_no_contestant_and_no_other_rater(client):
    study = rated_study(prompts=8)
    one, *others = [each.rater for each in study.memberships.order_by("pk")]
    client.force_login(one.user)
    page = client.get(address(study)).content.decode()
    assert ">24<" in page
    for name in ["alpha", "beta", "gamma", *[each.name for each in others]]:
        assert name not in page


def test_it_hides_what_is_empty_and_warns_who_rushes(client):
    study = make.make_study()
    rater = make.make_member(study)
    known_pairs(study, rater, 2)
    client.force_login(rater.user)
    page = client.get(address(study)).content.decode()
    assert "Right on known pairs" not in page
    assert "Very fast" not in page
    Comparison.objects.update(seconds=0.2)
    assert "Median 0.2 s. <strong>Very fast" in client.get(address(study)).content.decode()


def known_pairs(study, rater, number):
    """Rate so many pairs whose right answer is the first, every one rightly."""
    for _ in range(number):
        pair = make.make_pair(prompt=make.make_prompt(study=study), gold="first", gold_source="expert")
        rate(pair, rater, 1)


def test_right_answers_follow_in_steps_while_the_study_is_open():
    study = make.make_study()
    rater = make.make_member(study)
    known_pairs(study, rater, 9)
    assert report(study, rater).known.value == "–"
    known_pairs(study, rater, 1)
    assert report(study, rater).known.note.endswith("n\u00a010")
    pair = make.make_pair(prompt=make.make_prompt(study=study), gold="second", gold_source="expert")
    rate(pair, rater, 1)
    found = report(study, rater)
    assert (found.known.value, found.own.comparisons) == ("100%", 11)
    study.closed_at = timezone.now()
    study.save()
    assert report(study, rater).known.note.endswith("n\u00a011")


def test_agreement_with_others_follows_in_steps_too():
    study = make.make_study()
    ada, bea = make.make_member(study), make.make_member(study)
    pairs = [make.make_pair(prompt=make.make_prompt(study=study)) for _ in range(19)]
    for pair in pairs:
        rate(pair, bea, 1)
    for pair in pairs[:10]:
        rate(pair, ada, 1)
    assert report(study, ada).agreement.value == "100%"
    for pair in pairs[10:]:
        rate(pair, ada, 8)
    assert report(study, ada).agreement.value == "100%"
    last = make.make_pair(prompt=make.make_prompt(study=study))
    rate(last, bea, 1)
    rate(last, ada, 8)
    assert report(study, ada).agreement.value == "50%"


def test_the_figures_are_those_that_operators_see():
    from leaderboard.quality.measures import compare, votes

    study = rated_study(prompts=10)
    Pair.objects.filter(prompt__study=study).update(gold="first", gold_source="expert")
    rater = study.memberships.order_by("pk").first().rater
    seen, own = compare(votes(study)).raters[rater.pk], report(study, rater).own
    assert (own.agreement, own.known, own.first, own.ties, own.speed) == (
        seen.agreement,
        seen.known,
        seen.first,
        seen.ties,
        seen.speed,
    )
