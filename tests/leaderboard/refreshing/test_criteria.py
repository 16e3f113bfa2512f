"""Boards of one criterion: what they would be, had its ratings been the overall ones."""

import json
import re

import pytest

from arena.models import CriterionRating
from leaderboard.raters.agreement.two import parse_for_two
from leaderboard.refreshing import computing, services
from leaderboard.snapshots import on_demand
from leaderboard.snapshots.settings import Scope, UnknownSettingError, parse, parse_for_all
from tests import factories
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

ROUNDS = 20
NAMES = ("alpha", "beta", "gamma")
PEOPLE = ("ann", "ben", "cal")
SCOPES = {
    Scope.BOARD: (parse, {"raters": "people", "method": "bradley-terry", "ties": "off"}),
    Scope.CATEGORIES: (parse, {"raters": "judge:strict"}),
    Scope.RATERS: (parse_for_all, {"level": "90"}),
    Scope.TWO: (parse_for_two, {"raters": "people,judge:strict", "category": "coding"}),
}


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """Two studies of the same raters: accuracy in one is overall in the other.

    One comparison was not rated by accuracy, and of one no accuracy could be read.
    """
    made, twin = (HandMade(*NAMES, slug=slug, categories=("coding", "poems") * 2) for slug in ("one", "twin"))
    made.change(criteria=["tone", "accuracy"])
    raters = [factories.make_rater(name=name) for name in PEOPLE] + [made.judge("strict")]
    for number in range(24):
        one, other = NAMES[number % 3], NAMES[(number + 1) % 3]
        for turn, rater in enumerate(raters):
            accuracy = 1 + (number * 3 + turn * (number % 5)) % 8
            said = made.rate(one, other, 1 + (number + turn) % 8, prompt=number % 4, rater=rater)
            if number or turn:
                unread = (number, turn) == (5, 3)
                given = {"rating": None, "reason": "refused"} if unread else {"rating": accuracy}
                CriterionRating.objects.create(comparison=said, criterion="accuracy", points=8, **given)
                twin.rate(one, other, prompt=number % 4, rater=rater, **given)
    CriterionRating.objects.create(comparison=said, criterion="tone", points=8, rating=2)
    CriterionRating.objects.create(comparison=said, criterion="brevity", points=8, rating=7)
    made.snapshot = services.refresh(made.study).snapshot
    made.twin = services.refresh(twin.study).snapshot
    return made


def tables(snapshot, scope, **more):
    read, asked = SCOPES[scope]
    wanted = read({**asked, **more}, snapshot.counts)
    on_demand.contents(snapshot, wanted, scope)
    assert computing.compute_next(snapshot.study_id)
    found = on_demand.contents(snapshot, wanted, scope)
    assert not isinstance(found, on_demand.Pending), found
    return {place: json.loads(payload) for place, payload in found.items()}


@pytest.mark.parametrize("scope", SCOPES)
def test_a_criterion_has_the_tables_of_ratings_given_overall(made, scope):
    by_accuracy, overall = tables(made.snapshot, scope, criterion="accuracy"), tables(made.twin, scope)
    assert by_accuracy == overall
    assert by_accuracy != tables(made.snapshot, scope)


def test_raters_categories_and_criteria_are_counted_by_what_was_rated(made):
    counts = made.snapshot.counts
    assert counts["criteria"] == ["tone", "accuracy", "brevity"]
    by_selector = {each["selector"]: each["by_criterion"] for each in counts["raters"]}
    overall = {each["selector"]: each for each in made.twin.counts["raters"]}
    for selector, found in by_selector.items():
        numbers = ("comparisons", "unscored", "by_category", "points")
        assert found["accuracy"] == {name: overall[selector][name] for name in numbers}
    assert by_selector["people"]["accuracy"]["comparisons"] == 3 * 24 - 1
    assert by_selector["judge:strict"]["accuracy"]["unscored"] == 1
    assert by_selector["people"]["tone"]["comparisons"] == 0
    assert by_selector["judge:strict"]["tone"]["by_category"] == {"coding": 0, "poems": 1}


def test_pages_and_api_show_a_criterion_and_say_so(client, made):
    addresses = [
        "/studies/one/?raters=people&criterion=accuracy",
        "/studies/one/raters/?criterion=accuracy",
        "/studies/one/raters/people/?criterion=accuracy",
        "/studies/one/agreement/?criterion=accuracy",
        "/studies/one/agreement/two/?criterion=accuracy",
        "/studies/one/categories/?raters=people&criterion=accuracy",
        f"/studies/one/contestants/{made.contestants['beta'].slug}/?raters=people&criterion=accuracy",
    ]
    for address in addresses:
        assert "rating of accuracy" in client.get(address).content.decode(), address  # while it waits
    while computing.compute_next(made.study.pk):
        pass
    for address in addresses:
        page = client.get(address).content.decode()
        assert "Rating of" in page
        assert 'aria-current="true">accuracy' in page, address
    board = client.get(addresses[0]).content.decode()
    assert re.search(r'title="71 ratings"[^>]*>accuracy', board)
    assert re.search(r'title="72 ratings"[^>]*>Overall', board)
    said = client.get("/api/v1/studies/one/standings/?raters=people&criterion=accuracy").json()
    assert (said["criterion"], said["games"]) == ("accuracy", 71)
    assert client.get("/studies/one/tables/standings.csv?raters=people&criterion=accuracy").status_code == 200


def test_a_criterion_that_nobody_rated_is_named(client, made):
    with pytest.raises(UnknownSettingError, match=r'no criterion "wit"\. It has: tone, accuracy, brevity'):
        parse({"criterion": "wit"}, made.snapshot.counts)
    assert "no criterion" in client.get("/api/v1/studies/one/standings/?criterion=wit").json()["detail"]
    assert "Rating of" not in client.get("/studies/twin/").content.decode()
