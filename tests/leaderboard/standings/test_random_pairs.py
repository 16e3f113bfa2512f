"""Pairs drawn at random as a control of adaptive choice, and whether they rank as all pairs do."""

import numpy as np
import pytest
from django.utils import timezone
from scipy.stats import kendalltau

from arena.models import Comparison
from leaderboard.refreshing import services
from leaderboard.stats.bradley_terry import bradley_terry
from leaderboard.stats.games import make_games
from leaderboard.stats.ranking import rank_ratings
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import make_ratings
from tests.factories import make_assignment
from tests.leaderboard.reading import records, shown, words
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

ROUNDS = 50
NAMES = ("Alpha", "Beta", "Gamma")
BOARD = "/studies/small/"
RANDOM = f"{BOARD}?raters=people&pairs=random"


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """Every third comparison of a person is on a pair drawn at random; a judge rated some pairs, too."""
    more = {"pairing": "adaptive", "closed_at": timezone.now()}
    made = HandMade(*NAMES, slug="small", categories=("coding", "poems") * 5, **more)
    judge = made.judge("strict")
    for number in range(30):
        one, other = NAMES[number % 3], NAMES[(number + 1) % 3]
        prompt = number // 3
        task = make_assignment(
            pair=made.pair(one, other, prompt), rater=made.person, is_random=number % 3 == prompt % 3
        )
        made.rate(one, other, 1 + number * 5 % 8, prompt=prompt, assignment=task)
        made.rate(one, other, 1 + number * 3 % 8, prompt=prompt, rater=judge)
    services.refresh(made.study)
    return made


def rows(*, at_random):
    """First, second, rating and prompt of a person's comparisons; contestants by number."""
    found = Comparison.objects.filter(rater__kind="person").order_by("pk")
    if at_random:
        found = found.filter(assignment__is_random=True)
    shown = []
    for one in found.select_related("pair__first__contestant", "pair__second__contestant"):
        first, second = (side.contestant.name for side in one.pair.shown(one.swapped))
        shown.append((NAMES.index(first), NAMES.index(second), one.rating, one.pair.prompt_id))
    return list(zip(*shown, strict=True))


def ratings(*, at_random):
    first, second, rating, prompt = rows(at_random=at_random)
    return make_ratings(first, second, rating, 8, 3, prompt=prompt)


def strengths(*, at_random):
    """Bradley-Terry with 4 and 5 as ties."""
    first, second, rating, _ = rows(at_random=at_random)
    score = [0.5 if each in (4, 5) else float(each < 4) for each in rating]
    return bradley_terry(make_games(first, second, score, 3)).rating


def test_the_board_says_how_many_there_are_and_leads_to_them(client, made):
    page = client.get(BOARD)
    said = "10 of 30 ratings by People (33%) are on random pairs, a control of how others were chosen."
    assert said in words(page)
    assert (
        '<a href="?raters=people&amp;pairs=random">Do they give the same ranking?</a>'
        in page.content.decode()
    )
    assert "random pairs" not in words(client.get(f"{BOARD}?raters=judge:strict"))
    (switch,) = (each for each in page.context["page"].switches if each.field == "raters")
    links = {
        option.value: option.query
        for option in shown(client, made, RANDOM).context["page"].switches[0].options
    }
    assert switch.field == "raters"
    assert links["judge:strict"] == "?raters=judge%3Astrict"
    refused = client.get(f"{BOARD}?raters=judge:strict&pairs=random")
    assert refused.status_code == 404
    assert "no random pairs" in refused.content.decode()


def test_where_nothing_was_drawn_at_random_nothing_is_said(client):
    plain = HandMade("A", "B", slug="plain")
    plain.rate("A", "B", 1)
    services.refresh(plain.study)
    assert "random pairs" not in client.get("/studies/plain/").content.decode()


def test_they_are_ranked_alone_beside_all(client, made):
    page = shown(client, made, RANDOM).context["page"]
    method = Method(rounds=ROUNDS)
    alone = rank_ratings(ratings(at_random=True), NAMES, method).as_dict()["standings"]
    every = {row.contestant: row for row in rank_ratings(ratings(at_random=False), NAMES, method).standings}
    for row, own in zip(page.content["standings"], alone, strict=True):
        assert [row[what] for what in ("contestant", "rating", "low", "high", "games")] == [
            own[what] for what in ("contestant", "rating", "low", "high", "games")
        ]
    for name, *cells in page.panel("all-pairs").table.rows:
        assert cells[5] == pytest.approx(every[name].rating, abs=1e-6)
        assert cells[8] == pytest.approx(cells[1] - every[name].rating, abs=0.005)
    assert "random pairs" in words(shown(client, made, RANDOM))


def test_whether_they_agree_is_worked_out_from_both_fits(client, made):
    page = shown(client, made, RANDOM)
    control = page.context["page"].control
    all_pairs, alone = strengths(at_random=False), strengths(at_random=True)
    assert control["tau"] == pytest.approx(kendalltau(all_pairs, alone).statistic)
    change = dict(zip(NAMES, alone - all_pairs, strict=True))
    largest = max(change, key=lambda name: abs(change[name]))
    assert control["changes"][0]["contestant"] == largest
    for row in control["changes"]:
        assert row["change"] == pytest.approx(change[row["contestant"]], abs=1e-4)
        assert row["low"] <= row["change"] <= row["high"]
    text = words(page)
    assert f"have Kendall’s tau {control['tau']:.2f} (95%:" in text
    assert f"{largest} changes most: {change[largest]:+.0f} points (95%:".replace("-", "−") in text
    assert "No change is larger than chance explains." in text
    table = records(client, f"{BOARD}tables/control.csv?raters=people&pairs=random")
    assert np.array([float(row["Change"].lstrip("'")) for row in table]) == pytest.approx(
        [row["change"] for row in control["changes"]]
    )
    reply = client.get("/api/v1/studies/small/standings/?pairs=random").json()
    assert reply["control"] == control
    assert len(reply["without"]["pairs"]) == 3
