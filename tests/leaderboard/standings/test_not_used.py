"""What counts in no score is counted by reason, the same everywhere, and all adds up."""

import csv
import io
import json
import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from arena.models import Comparison
from leaderboard.files import exports
from leaderboard.pages.standings.sentences import all_ratings, not_used, not_used_words
from leaderboard.pages.standings.table import NOT_USED
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

WHY = {"identical": 0, "unscored": 1, "no_model": 2, "retired": 3, "other_kind": 0, "same_model": 1}
GAMES, TIES = 6, 1


@pytest.fixture(scope="module")
def shared(shared_rows, rounds):
    """Ratings of every kind by one person."""
    made = HandMade("alpha", "beta", "gone", slug="small", categories=("", ""), closed_at=timezone.now())
    for prompt in (0, 1):
        for rating in (2, 3):
            made.rate("alpha", "beta", rating, prompt=prompt)
        made.rate("beta", "alpha", 2, points=3, prompt=prompt) if prompt else made.rate("beta", "alpha", 8)
    made.rate("alpha", "beta", None, status="unscored", reason="refused", prompt=1, repeat=9)
    for rating in (1, 8, 4):
        made.rate("alpha", "gone", rating)
    made.contestants["gone"].retired_at = timezone.now()
    made.contestants["gone"].save()
    alone, other = (
        factories.make_completion(prompt=made.prompts[1], contestant=None, turns=[text]) for text in "xy"
    )
    for one, second in ((made.completion("alpha", made.prompts[1]), other), (alone, other)):
        first, second = sorted((one, second), key=lambda text: text.pk)
        pair = factories.make_pair(prompt=made.prompts[1], first=first, second=second)
        factories.make_comparison(pair=pair, rater=made.person)
    made.completion("beta", made.prompts[0])
    old = factories.make_completion(
        prompt=made.prompts[0],
        contestant=made.contestants["beta"],
        turns=["Old"],
        version=2,
        is_current=False,
    )
    pair = factories.make_pair(
        prompt=made.prompts[0], first=made.completion("beta", made.prompts[0]), second=old
    )
    factories.make_comparison(pair=pair, rater=made.person)
    services.refresh(made.study)
    return made


@pytest.mark.parametrize(("ties", "games", "left_out"), [("on", GAMES, 0), ("off", GAMES - TIES, TIES)])
@pytest.mark.parametrize("method", ["elo", "bradley-terry", "davidson"])
def test_used_and_not_used_by_reason_are_all_on_page_command_and_api(
    made, client, ties, games, left_out, method
):
    everything = Comparison.objects.filter(study=made.study).count()
    query = f"?method={method}&ties={ties}"
    found = client.get(f"/studies/small/standings.json{query}").json()
    assert (found["games"], found["left_out"], found["not_used"]) == (games, left_out, WHY)
    assert found["games"] + found["left_out"] + sum(found["not_used"].values()) == everything
    assert client.get(f"/api/v1/studies/small/standings/{query}").json()["not_used"] == WHY
    page = client.get(f"/studies/small/{query}").content.decode()
    used, rated = map(int, re.findall(r"<dt>Counted</dt><dd>(\d+) of (\d+) ratings", page)[0])
    why = re.search(r"<dt>Not used</dt><dd>(.*?)</dd>", page)[1]
    assert used == games
    assert why == ". ".join(not_used_words(found)) + "."
    assert used + sum(map(int, re.findall(r"(?:^|\. )(\d+) ", why))) == everything
    assert rated == everything - WHY["unscored"] == all_ratings(found)
    out = StringIO()
    options = ("--method", method, "--ties", ties, "--rounds", "20")
    call_command("standings", "small", *options, "--format", "json", stdout=out)
    told = json.loads(out.getvalue())
    assert {name: told[name] for name in ("games", "left_out", "not_used")} == {
        name: found[name] for name in ("games", "left_out", "not_used")
    }
    out = StringIO()
    call_command("standings", "small", *options, stdout=out)
    assert (
        f"{used} of {rated} ratings counted. Not used: {'; '.join(not_used_words(found))}." in out.getvalue()
    )


def test_the_file_of_the_ranking_adds_up_too(made):
    content = b"".join(exports.pieces(made.study, "standings", "csv")).decode("utf-8-sig")
    for row in csv.DictReader(io.StringIO(content)):
        numbers = [int(row[name]) for name in ("all_games", "left_out", *NOT_USED)]
        assert sum(numbers) == Comparison.objects.filter(study=made.study).count()


def test_a_snapshot_of_an_earlier_methodology_says_what_it_knows():
    old = {"games": 4, "left_out": 1, "unscored": 2, "not_ranked": 3}
    assert not_used(old) == {"left_out": 1, "not_ranked": 3, "unscored": 2}
    assert all_ratings(old) == 8
    assert not_used_words(old)[1] == "3 ratings of retired models or of no model"
