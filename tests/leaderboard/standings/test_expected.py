"""Boards of a judge's expected ratings."""

import json

import numpy as np
import pytest
from django.utils import timezone
from scipy.stats import kendalltau, pearsonr, spearmanr

from arena.data.importing.imports import import_files
from arena.models import Comparison, Study
from leaderboard.refreshing import services
from leaderboard.stats.ranking import rank_ratings
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import make_ratings
from tests import factories
from tests.leaderboard.reading import computed, records, shown, words
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

ROUNDS = 40
NAMES = ("Alpha", "Beta", "Gamma")
BOARD = "/studies/small/"
EXPECTED = f"{BOARD}?raters=judge:tokens&ratings=expected"


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """A judge with expected ratings but for one pair, in both orders; two people rated most of its pairs."""
    made = HandMade(*NAMES, slug="small", categories=("coding", "poems") * 5)
    judge, panel = made.judge("tokens"), made.judge("panel")
    other = factories.make_rater(name="Ben")
    for number in range(30):
        one, two = NAMES[number % 3], NAMES[(number + 1) % 3]
        prompt, rating = number // 3, 1 + number * 5 % 8
        expected = None if number == 7 else min(8.0, rating + 0.1 * (number % 9))
        made.rate(one, two, rating, prompt=prompt, rater=judge, expected=expected)
        made.rate(
            two, one, 9 - rating, prompt=prompt, rater=judge, expected=8.0 if number == 3 else 9.0 - rating
        )
        made.rate(one, two, rating, prompt=prompt, rater=panel, expected=rating + 0.0, source="panel")
        if number < 25:
            made.rate(one, two, 1 + (rating + number) % 8, prompt=prompt)
            made.rate(two, one, 1 + number * 3 % 8, prompt=prompt, rater=other)
    services.refresh(made.study)
    return made


def rows(**chosen):
    """Comparisons with the numbers of first and second contestant."""
    found = Comparison.objects.filter(**chosen).order_by("pk")
    for one in found.select_related("pair__first__contestant", "pair__second__contestant"):
        first, second = (NAMES.index(side.contestant.name) for side in one.pair.shown(one.swapped))
        yield one, first, second


@pytest.mark.parametrize("method", ["elo", "bradley-terry"])
def test_the_judge_is_ranked_by_shares_of_a_win_beside_its_ratings_as_given(client, made, method):
    page = shown(client, made, f"{EXPECTED}&method={method}").context["page"]
    own = list(rows(rater__slug="tokens", expected__isnull=False))
    assert len(own) == 59
    first, second = ([each[side] for each in own] for side in (1, 2))
    given = [each.rating for each, *_ in own]
    about = {"prompt": [each.pair.prompt_id for each, *_ in own]}
    wanted = Method(method, rounds=ROUNDS)
    by_share = make_ratings(first, second, given, 8, 3, expected=[each.expected for each, *_ in own], **about)
    expected = rank_ratings(by_share, NAMES, wanted).as_dict()["standings"]
    as_given = {
        row.contestant: row
        for row in rank_ratings(make_ratings(first, second, given, 8, 3, **about), NAMES, wanted).standings
    }
    what = ("contestant", "rating", "low", "high", "games", "wins")
    assert [[row[name] for name in what] for row in page.content["standings"]] == [
        [row[name] for name in what] for row in expected
    ]
    for name, *cells in page.panel("as-given").table.rows:
        assert cells[5] == pytest.approx(as_given[name].rating, abs=1e-6)
    assert page.panel("win-rates") is None


def test_they_are_correlated_with_the_mean_ratings_of_people(client, made):
    page = shown(client, made, EXPECTED)
    found = page.context["page"].expected
    means = {}
    for one, first, second in rows(status="scored"):
        if one.rater.slug == "panel" or (one.rater.slug == "tokens" and one.expected is None):
            continue
        side = 1 if first < second else -1
        kinds = {"given": one.rating, "expected": one.expected} if one.expected else {"people": one.rating}
        for kind, rating in kinds.items():
            means.setdefault((one.pair_id, kind), []).append(side * (2 * rating - 9) / 7)
    pairs = sorted(
        {pair for pair, kind in means if kind == "people"} & {p for p, kind in means if kind == "given"}
    )
    mean = {
        kind: np.round([np.mean(means[pair, kind]) for pair in pairs], 9)
        for kind in ("people", "given", "expected")
    }
    both = {kind: np.concatenate((values, -values)) for kind, values in mean.items()}
    for kind in ("given", "expected"):
        for name, coefficient in (("pearson", pearsonr), ("spearman", spearmanr), ("kendall", kendalltau)):
            value = coefficient(both["people"], both[kind]).statistic
            own = found[name][kind]
            assert own["value"] == pytest.approx(value, abs=1e-6), (kind, name)
            assert own["low"] <= own["value"] <= own["high"]
    assert found["pairs"] == len(pairs) == 25
    pearson = found["pearson"]
    assert pearson["difference"]["value"] == pytest.approx(
        pearson["expected"]["value"] - pearson["given"]["value"], abs=2e-6
    )
    said = "Over 25 pairs that people rated too, expected ratings correlate with people’s mean ratings at "
    assert f"{said}{pearson['expected']['value']:.2f} (95%: " in words(page)
    row = records(client, f"{BOARD}tables/expected.csv?raters=judge:tokens&ratings=expected")[0]
    assert float(row["Given: correlation"].lstrip("'")) == pearson["given"]["value"]
    reply = client.get("/api/v1/studies/small/standings/?raters=judge:tokens&ratings=expected").json()
    assert (reply["expected"], reply["ratings"], reply["parameters"]["ratings"]) == (
        found,
        "expected",
        "expected",
    )
    assert len(reply["without"]["ratings"]) == 3


def test_they_are_offered_where_a_judge_has_them_and_a_method_takes_them(client, made):
    def options(address):
        page = client.get(address).context["page"]
        return {switch.field: [option.query for option in switch.options] for switch in page.switches}

    assert options(f"{BOARD}?raters=judge:tokens")["ratings"] == [
        "?raters=judge%3Atokens",
        "?raters=judge%3Atokens&ratings=expected",
    ]
    for others in ("raters=people", "raters=judge:panel", "raters=judge:tokens&method=davidson"):
        assert "ratings" not in options(f"{BOARD}?{others}")
    page = shown(client, made, EXPECTED).context["page"]
    fields = {switch.field: [option.query for option in switch.options] for switch in page.switches}
    assert "?raters=people" in fields["raters"]
    assert "ties" not in fields
    refused = client.get(f"{BOARD}?raters=people&ratings=expected")
    assert refused.status_code == 404
    assert "no expected ratings" in refused.content.decode()


def test_weighted_preferences_of_alpaca_eval_come_to_its_win_rate(client, tmp_path):
    """Its leaderboard has 100 times the mean of ``preference - 1`` as the win rate of ``output_2``."""
    preferences = [1.0, 1.0000049, 1.25, 1.5, 1.75, 1.9876, 2.0, 1.31]
    lines = [
        {
            **{
                "instruction": f"Task {number}",
                "output_1": "One.",
                "output_2": "Two.",
                "annotator": "weighted",
            },
            **{"generator_1": "baseline", "generator_2": "own", "preference": preference},
        }
        for number, preference in enumerate(preferences)
    ]
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(lines))
    assert import_files("alpaca", [path]).written
    study = Study.objects.get(slug="alpaca")
    study.closed_at = timezone.now()
    study.visibility = Study.Visibility.PUBLIC
    study.save()
    services.refresh(study)
    page = computed(client, study, "/studies/alpaca/?raters=judge:weighted&ratings=expected").context["page"]
    shares = {row.contestant: row.win_share for row in page.rows}
    assert shares["own"] == pytest.approx(100 * np.mean(preferences) - 100, abs=1e-6)
