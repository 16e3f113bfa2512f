"""Panels are counted apart from judges, wherever ratings and raters are counted."""

import pytest

from leaderboard.models import Snapshot
from leaderboard.pages.cards import Card, comparisons, not_rated
from leaderboard.refreshing import services
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> HandMade:
    """A person and two judges who rated twice each, and their panel, which was undecided once."""
    made = HandMade("Alpha", "Beta", slug="small")
    judges = [made.judge(slug) for slug in ("ayla", "ben")]
    panel = made.judge("both", derived_from=["ayla", "ben"])
    for rater in (made.person, *judges):
        made.rate("Alpha", "Beta", 2, rater=rater)
        made.rate("Beta", "Alpha", 7, rater=rater)
    made.rate("Alpha", "Beta", 2, rater=panel, source="panel")
    made.rate("Beta", "Alpha", None, rater=panel, source="panel", reason="undecided")
    services.refresh(made.study)
    return made


def test_counts_of_a_snapshot(made: HandMade) -> None:
    snapshot = Snapshot.objects.get()
    found = {kind: comparisons(snapshot, kind) for kind in ("people", "judge", "panel")}
    assert found == {"people": 2, "judge": 4, "panel": 1}
    assert not_rated(snapshot) == 0
    card = Card(made.study, snapshot)
    assert (card.people, card.judges, card.panels, card.ratings) == (1, 2, 1, 6)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/studies/small/", "2 ratings by people, 4 by judges, 1 by panels, which follow from them."),
        ("/", "1 person, 2 judges, 1 panel, 6 ratings"),
    ],
)
def test_pages(made: HandMade, client, address: str, said: str) -> None:
    assert said in " ".join(client.get(address).content.decode().split())


def test_a_panel_whose_judges_said_nothing_here_is_no_lack_of_ratings(client) -> None:
    made = HandMade("Alpha", "Beta", slug="small")
    made.rate("Alpha", "Beta", 2, rater=made.judge("both", derived_from=["ayla", "ben"]), source="panel")
    services.refresh(made.study)
    text = " ".join(client.get("/").content.decode().split())
    assert ">1 panel.<" in text
    assert "No ratings to show yet" not in text


@pytest.mark.parametrize("page", ["agreement/", "raters/", "raters/people/"])
def test_where_nobody_gave_a_rating_no_refresh_is_promised(client, page: str) -> None:
    made = HandMade("Alpha", "Beta", slug="small")
    for rater in (made.person, made.judge("ayla")):
        made.rate("Alpha", "Beta", None, rater=rater, reason="empty")
    services.refresh(made.study)
    text = client.get(f"/studies/small/{page}").content.decode()
    assert "refresh" not in text.split("<main", 1)[1]
