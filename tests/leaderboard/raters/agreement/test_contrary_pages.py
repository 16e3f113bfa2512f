"""Tests of every page on agreement, of studies in which raters contradict each other or rate by lot."""

import json
from copy import deepcopy

import pytest
from django.urls import reverse
from django.utils import timezone

from leaderboard.refreshing import computing
from tests.leaderboard.raters.agreement.claims import BY_LOT, CONTRARY, LIKE, make_rated_study
from tests.leaderboard.reading import printed, words

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """A judge against the only person; raters of all sorts and a panel; two people against each other."""
    judges = {"contrary": CONTRARY, "lot": BY_LOT, "same": LIKE, "both": LIKE}
    closed = {"closed_at": timezone.now()}
    return (
        make_rated_study(judges={"contrary": CONTRARY}, slug="one", **closed),
        make_rated_study([LIKE, LIKE], judges, panels=["both"], slug="many", **closed),
        make_rated_study([CONTRARY], slug="foes", **closed),
    )


@pytest.fixture
def studies(shared):
    return {study.slug: study for study in deepcopy(shared)}


def page(client, study, address="", **query):
    client.get(f"{study.get_absolute_url()}{address}", query)
    while computing.compute_next(study.pk):
        pass
    return client.get(f"{study.get_absolute_url()}{address}", query)


ABOUT_AGREEMENT = ("", "agreement/", "judges/")


@pytest.mark.parametrize("address", ABOUT_AGREEMENT)
def test_a_judge_against_the_only_person_contradicts(client, studies, address):
    said = words(page(client, studies["one"], address))
    assert "Judge Contrary contradicts the only person who rated (r −1.00)" in said
    assert "too close to call" not in said
    assert "agrees" not in said
    assert "No two models are told apart both by people and by judge Contrary" in said


@pytest.mark.parametrize(
    ("address", "query", "told"),
    [
        ("raters/judge:contrary/", {}, "Contrary contradicts people (r −1.00)"),
        ("agreement/two/", {"raters": "judge:contrary"}, "Contrary and People contradict each other: "),
    ],
)
def test_its_own_pages_say_so_too(client, studies, address, query, told):
    assert told in words(page(client, studies["one"], address, **query))


def test_intervals_are_spoken_of_only_where_there_are_some(client, studies):
    without = words(page(client, studies["one"], "agreement/")).partition("Details")[0]
    assert "95% interval" not in without
    assert "Intervals (" not in without
    assert "Intervals (95%) are for other prompts" in words(page(client, studies["many"], "agreement/"))


def test_the_axis_ends_where_correlations_do(client, studies):
    drawn = page(client, studies["one"], "agreement/").content.decode()
    assert "−1.1" not in drawn
    figure = client.get(f"{reverse('study-agreement', args=['one'])}figures/correlation.json").json()
    assert figure["layout"]["xaxis"]["range"][0] >= -1.05


@pytest.mark.parametrize("address", ABOUT_AGREEMENT)
def test_judges_of_all_sorts_have_a_sentence_each(client, studies, address):
    said = words(page(client, studies["many"], address))
    assert "nothing shows that judge Lot agrees with people (r " in said
    assert "judge Contrary contradicts people (r −" in said
    assert "Both (panel)" in said
    assert "four judges" not in said, "the panel is no judge of its own"


def test_a_panel_says_whose_ratings_it_follows(client, studies):
    said = words(page(client, studies["many"], "raters/judge:both/"))
    assert "All raters / Panel" in said
    assert "Its ratings follow from those of a and b. It is no judge of its own." in said
    assert "were imported" not in said


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("agreement/", "People contradict each other (r −1.00)."),
        ("raters/people/", "People contradict each other (r −1.00)."),
    ],
)
def test_people_who_contradict_each_other_do_not_agree(client, studies, address, told):
    said = words(page(client, studies["foes"], address))
    assert told in said
    assert "eople agree with each other" not in said.replace("how people agree with each other", "")


def test_the_command_claims_no_more(studies):
    told = printed("agreement", "one", "--raters", "judge:contrary")
    assert "Contrary and People contradict each other: weighted kappa −1.00" in told
    found = json.loads(printed("agreement", "one", "--format", "json", "--rounds", "20"))
    (judge,) = [own for own in found["kinds"] if own["selector"] == "judge:contrary"]
    assert judge["correlation"][0]["pearson_alike"] is True


def test_agreement_of_a_panel_with_a_judge_is_qualified(client, studies):
    query = {"raters": "judge:both", "against": "judge:same"}
    said = words(page(client, studies["many"], "agreement/two/", **query))
    assert "The ratings of Both (panel) follow from those of judges" in said
    with_people = words(page(client, studies["many"], "agreement/two/", raters="judge:both"))
    assert "follow from those of judges" not in with_people
