"""The page of two contestants, and ``decide``, on a study made by hand."""

import json
from unittest.mock import Mock

import numpy as np
import pytest
from django.core.management.base import SystemCheckError
from django.utils import timezone

from leaderboard.head_to_head import measuring
from leaderboard.management.commands.decide import Command
from leaderboard.models import Snapshot
from leaderboard.refreshing import computing, services
from leaderboard.snapshots.reading import opinions
from leaderboard.stats.ranking import rank_ratings
from leaderboard.stats.ranking_method import Method
from tests import factories
from tests.leaderboard.reading import printed, records, text, words
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db
HOSTILE = "</script><img src=x onerror=alert(1)>"
PROMPTS = 12


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """Alpha beats beta on 10 of 12 prompts (a tie on one); a judge agrees; gamma and a hostile name lose."""
    made = HandMade("alpha", "beta", "gamma", HOSTILE, slug="small", categories=("coding", "poems") * 6)
    strict = made.judge("strict")
    for prompt in range(PROMPTS):
        rating = 8 if prompt == 3 else 4 if prompt == 4 else 1
        made.rate("alpha", "beta", rating, prompt=prompt)
        made.rate("beta", "gamma", 2 if prompt % 3 else 7, prompt=prompt)
        made.rate("gamma", "alpha", 8 if prompt % 4 else 1, prompt=prompt)
        made.rate("beta", "alpha", 8 if prompt % 5 else 1, prompt=prompt, rater=strict)
        made.rate("alpha", HOSTILE, 2 if prompt else 6, prompt=prompt)
    services.refresh(made.study)
    return made


def address(made, first="alpha", second="beta", query=""):
    slugs = [made.contestants[name].slug for name in (first, second)]
    return f"/studies/small/compare/{slugs[0]}/{slugs[1]}/{query}"


def computed(client, made, **place):
    assert "waiting to be computed" in text(client.get(address(made, **place)))
    assert computing.compute_next(made.study.pk)
    return client.get(address(made, **place))


def test_the_page_says_who_is_better_and_by_how_much(client, made):
    counts = "Wins of alpha 10 Ties (each counts half) 1 Wins of beta 1"
    at_once = words(client.get(address(made)))
    assert "alpha has a win share of 88% against beta in 12 ratings." in at_once
    assert counts in at_once
    assert "Wins of" not in words(client.get(address(made, query="?band=2-7"))), "no snapshot counted those"
    page = computed(client, made)
    said = words(page)
    assert "alpha has a win share of 88% (" in said
    assert "alpha is better than beta" in said
    assert counts in said
    assert f"{PROMPTS} prompts" in said
    places = [
        page.content.decode().index(part) for part in ('id="board"', "verdict-sentence", "switch-first")
    ]
    assert places == sorted(places), "the verdict comes first; a switch renews the others with it"
    row = records(client, address(made) + "tables/raters.csv")[0]
    found = opinions(made.study)
    people = found.by(found.people).present()
    ranked = rank_ratings(people.ratings(), people.names, Method(rounds=None)).standings
    board = {each.contestant: each.rating for each in ranked}
    assert row["Raters"] == "People"
    assert float(row["Difference: points"]) == pytest.approx(board["alpha"] - board["beta"], abs=0.01)
    assert (row["Verdict"], row["Against each other: wins"]) == ("Better", "10")
    assert float(row["Share of points: %"]) == pytest.approx(100 * 10.5 / 12, abs=0.01)


def test_other_raters_people_with_a_judge_and_categories_have_rows(client, made):
    computed(client, made)
    rows = records(client, address(made) + "tables/raters.csv")
    assert [row["Raters"] for row in rows] == ["People", "STRICT", "People with STRICT"]
    rows = records(client, address(made) + "tables/categories.csv")
    games = "Against each other: games"
    assert [(row["Category"], row[games]) for row in rows] == [("coding", "6"), ("poems", "6")]
    # Every game was shown in one order, and texts are as long as each other.
    drivers = records(client, address(made) + "tables/drivers.csv")
    assert {row["What"] for row in drivers} == {"Category"}


def test_a_tie_band_acts_on_raters_of_its_scale(client, made):
    short = made.judge("short")
    for prompt in range(PROMPTS):
        made.rate("alpha", "beta", 2 if prompt else 1, points=3, prompt=prompt, rater=short)
    services.refresh(made.study)
    page = address(made, query="?band=2-7")
    assert "waiting to be computed" in text(client.get(page))
    assert computing.compute_next(made.study.pk)
    rows = records(client, address(made) + "tables/raters.csv?band=2-7")
    assert [(row["Raters"], row["Against each other: ties"]) for row in rows][:3] == [
        ("People", "1"),
        ("SHORT", "11"),
        ("STRICT", "0"),
    ]


def test_what_must_be_said_of_a_judge_stands_beside_its_verdict(client, made):
    computed(client, made, query="?raters=judge:strict")
    gamma = made.contestants["gamma"]
    gamma.slug = "strict"
    gamma.save()
    assert "STRICT judges its own answers: it is also ranked here as gamma" in words(
        client.get(address(made, query="?raters=judge:strict"))
    )
    assert "judges its own answers" not in words(client.get(address(made)))
    assert "Caution: STRICT judges its own answers" in printed(
        "decide", "small", "alpha", "beta", "--raters", "judge:strict", "--margin", "1000"
    )


def test_margin_and_looks_change_the_verdict_and_not_the_numbers(client, made):
    computed(client, made, first="beta", second="alpha")
    assert "beta is worse than alpha " in words(client.get(address(made, "beta", "alpha")))
    wide = words(client.get(address(made, "beta", "alpha", "?margin=2000")))
    assert "beta is not worse than alpha by more than 2000 points" in wide
    page = client.get(address(made, "beta", "alpha", "?looks=every")).context["page"]
    assert page.chosen.decision.every_look
    assert {
        option.value: option.chosen
        for switch in page.switches
        if switch.field == "looks"
        for option in switch.options
    } == {"": False, "every": True}
    refused = client.get(address(made, "beta", "alpha", "?margin=-1"))
    assert refused.status_code == 404
    assert "it must be a number of points, 0 or more" in refused.content.decode()


def test_pairs_are_sealed_while_the_study_is_open_and_listed_after(client, made):
    computed(client, made)
    assert "Pairs open when rating ends" in words(client.get(address(made)))
    made.change(closed_at=timezone.now())
    page = words(client.get(address(made)))
    assert page.count("alpha wins, 1 rating") == 5
    assert page.count("beta wins, 1 rating") == 1


def test_the_chooser_takes_the_leaders_or_who_is_named(client, made):
    slugs = {name: each.slug for name, each in made.contestants.items()}
    assert client.get("/studies/small/compare/").url.startswith(f"/studies/small/compare/{slugs['alpha']}/")
    found = client.get(f"/studies/small/compare/?first={slugs['gamma']}&second={slugs['beta']}&margin=5")
    assert found.url == f"/studies/small/compare/{slugs['gamma']}/{slugs['beta']}/?margin=5"


def test_the_chooser_opens_with_the_best_that_the_first_has_met(client):
    """Best and good never met. Best won more against middle."""
    far = HandMade("best", "good", "low", "middle", slug="far", categories=("coding",) * 4)
    for prompt in range(4):
        for winner, loser in (("best", "middle"), ("good", "middle"), ("middle", "low"), ("best", "low")):
            far.rate(winner, loser, 1 if prompt else 8, prompt=prompt)
        far.rate("best", "middle", 1, prompt=prompt, rater=factories.make_rater(name=f"Ann {prompt}"))
    services.refresh(far.study)
    slugs = {name: each.slug for name, each in far.contestants.items()}
    snapshot = Snapshot.objects.newest(far.study)
    assert snapshot is not None
    assert snapshot.slices.all().ranking("people", "on", "", "elo")[:2] == ["best", "good"]
    assert (
        client.get("/studies/far/compare/").url == f"/studies/far/compare/{slugs['best']}/{slugs['middle']}/"
    )
    chosen = client.get(f"/studies/far/compare/?first={slugs['good']}").url
    assert chosen == f"/studies/far/compare/{slugs['good']}/{slugs['middle']}/"
    both = client.get(f"/studies/far/compare/?first={slugs['best']}&second={slugs['good']}").url
    assert both == f"/studies/far/compare/{slugs['best']}/{slugs['good']}/"


def decide(*arguments):
    """What it prints, and its exit code."""
    try:
        return printed("decide", *arguments), 0
    except SystemExit as exit:
        return "", exit.code


def test_decide_says_what_the_page_says_and_ends_with_its_code(client, made):
    computed(client, made)
    sentence, code = decide("small", "alpha", "beta")
    assert code == 0
    assert sentence.strip() in words(client.get(address(made)))
    assert decide("small", "beta", "alpha")[1] == 1
    assert decide("small", "alpha", "gamma", "--every-look")[1] == 2
    assert decide("small", "beta", "alpha", "--margin", "2000")[1] == 0
    found = json.loads(decide("small", "alpha", "beta", "--format", "json", "--raters", "anchored:strict")[0])
    assert found["verdict"] == "better"
    assert found["low"] < found["difference"] < found["high"]
    assert np.isclose((found["high"] - found["low"]) / 2 / found["standard_error"], 2.201, atol=0.001)


@pytest.mark.parametrize("broken", [ZeroDivisionError, SystemCheckError])
def test_a_defect_does_not_say_that_one_is_worse(monkeypatch, capsys, broken):
    monkeypatch.setattr("leaderboard.management.commands.decide.study_named", Mock(side_effect=broken("why")))
    monkeypatch.setattr("django.core.management.base.connections", Mock())  # which it closes
    with pytest.raises(SystemExit) as caught:
        Command().run_from_argv(["manage.py", "decide", "small", "alpha", "beta"])
    assert caught.value.code == 3
    assert "why" in capsys.readouterr().err


def test_the_api_gives_the_decision_and_what_the_page_shows(client, made):
    slugs = {name: each.slug for name, each in made.contestants.items()}
    url = f"/api/v1/studies/small/compare/{slugs['alpha']}/{slugs['beta']}/"
    assert client.get(url).status_code == 202
    assert computing.compute_next(made.study.pk)
    found = client.get(url).json()
    decided = json.loads(decide("small", "alpha", "beta", "--format", "json")[0])
    assert decided == found["decision"] | {"cautions": []}
    assert [row["label"] for row in found["by_raters"]] == ["People", "STRICT"]
    assert (found["preferring"], found["pairs"]) == ({"first": 1, "second": 0, "neither": 0}, [])
    assert client.get(url, {"margin": "much"}).status_code == 404
    assert client.get(url, {"looks": "twice"}).status_code == 422
    assert client.get(url.replace(slugs["beta"], slugs["alpha"])).status_code == 404
    made.change(visibility="private")
    assert client.get(url).status_code == 404


def test_a_panel_leans_alone_but_not_beside_its_judges(made):
    strict = made.judge("sober")
    jury = made.judge("jury", derived_from=["sober"])
    group = factories.make_group(slug="both", name="Both")
    for rater in (strict, jury):
        rater.groups.add(group)
        made.rate("alpha", "beta", 1, rater=rater)
    read, method = opinions(made.study), Method(rounds=10)
    leaning = {
        raters: measuring.head_to_head(read, "alpha", "beta", raters, method)["preferring"]["first"]
        for raters in ("group:both", "judge:jury", "judge:sober")
    }
    assert leaning == {"group:both": 1, "judge:jury": 1, "judge:sober": 1}
