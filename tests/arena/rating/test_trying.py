"""The try of rating: only pairs of closed public studies, and nothing stored."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.models import Pair, Study
from arena.rating.trying import caption
from arena.rules.scales import CAPTIONS
from tests import factories as make

pytestmark = pytest.mark.django_db


def rated(**study: object) -> Pair:
    """A pair that a person rated 2 and, in the other order, a judge 1."""
    pair = make.make_pair(prompt=make.make_prompt(study=make.make_study(**study)))
    for side, text in ((pair.first, "<b>one</b>"), (pair.second, "two")):
        side.turns = [text]
        side.save()
    make.make_comparison(pair=pair, rating=2)
    make.make_comparison(pair=pair, rating=1, swapped=True, rater=make.make_rater(kind="judge"))
    Pair.objects.filter(pk=pair.pk).recount(pair.prompt.study)
    return pair


def closed(**more: object) -> Pair:
    return rated(visibility="public", closed_at=timezone.now(), **more)


def test_a_pair_is_shown_blind_and_its_authors_and_ratings_after_the_rating(client: Client) -> None:
    pair = closed()
    names = [one.contestant.name for one in (pair.second, pair.first)]
    asked = client.get("/try/", follow=True)
    assert asked.redirect_chain[0][0].startswith(f"/try/{pair.pk}/")
    address = f"/try/{pair.pk}/ba/"
    shown = client.get(address).content.decode()
    assert shown.index("two") < shown.index("&lt;b&gt;one")
    assert not any(name in shown for name in names)
    with CaptureQueriesContext(connection) as captured:
        told = client.get(address, {"rating": "6"}).content.decode()
    assert all(query["sql"].startswith("SELECT") for query in captured)
    assert told.index(names[0]) < told.index(names[1])
    for number, words in (("6", "B is somewhat better"), ("7", "B is better"), ("1", "A is much better")):
        assert f'<strong class="num">{number}</strong> of 8: {words}' in told
    assert client.get(address, {"rating": "9"}).status_code == 422


def test_only_closed_public_studies_lend_pairs(client: Client) -> None:
    private = rated(closed_at=timezone.now())
    unrated = closed()
    Pair.objects.filter(pk=unrated.pk).update(people_ratings=0, judge_ratings=0)
    for pair in (rated(visibility="public"), private, unrated):
        for order in ("ab", "ba"):
            assert client.get(f"/try/{pair.pk}/{order}/", {"rating": "1"}).status_code == 404
    assert "No pair to try" in client.get("/try/").content.decode()
    assert 'href="/try/"' not in client.get("/").content.decode()
    Study.objects.filter(pk=private.prompt.study_id).update(visibility="public")
    assert 'href="/try/"' in client.get("/").content.decode()
    assert client.get("/try/").headers["Location"].startswith(f"/try/{private.pk}/")


@pytest.mark.parametrize("points", CAPTIONS)
def test_means_that_mirror_each_other_have_captions_that_do(points: int) -> None:
    sides = str.maketrans("AB", "BA")
    for ratings in range(1, 8):
        for total in range(ratings, ratings * points + 1):
            mirrored = caption(points + 1 - total / ratings, points)
            assert caption(total / ratings, points).translate(sides) == mirrored
    assert [caption(rating, points) for rating in range(1, points + 1)] == [*CAPTIONS[points]]


@pytest.mark.parametrize(
    ("mean", "words"),
    [
        (1.49, "A is much better"),
        (1.5, "A is better"),
        (4.4, "A is barely better"),
        (4.5, "Neither is better"),
        (7.5, "B is better"),
        (7.51, "B is much better"),
    ],
)
def test_a_half_goes_towards_the_middle(mean: float, words: str) -> None:
    assert caption(mean, 8) == words


@pytest.mark.parametrize("address", [f"{10**30}/ab", "1/aa"])
def test_another_address_is_not_found(client: Client, address: str) -> None:
    assert client.get(f"/try/{address}/").status_code == 404
