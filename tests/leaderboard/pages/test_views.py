import json
import re
from itertools import pairwise

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.models import Completion, Study
from leaderboard.models import Refresh, SnapshotSlice
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.reading import text
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    made = HandMade("alpha", "beta", "gamma", slug="small", categories=("coding", "poems"))
    judge = made.judge("strict")
    made.rate("alpha", "beta", 1)
    made.rate("beta", "gamma", 2)
    made.rate("alpha", "gamma", 4, prompt=1)
    made.rate("beta", "alpha", 2, rater=judge)
    made.rate("alpha", "gamma", None, rater=judge, reason="refused")
    services.refresh(made.study)
    return made


def test_home_lists_public_studies_with_their_counts_and_private_ones_to_staff(client, made):
    HandMade("hidden", name="Hidden study", visibility="private")
    page = text(client.get("/"))
    assert made.study.name in page
    assert "1 person, 1 judge, 4 ratings" in page
    assert page.index(">alpha<") < page.index(">beta<") < page.index(">gamma<")
    assert page.count('class="dots"') == 3
    assert "Hidden study" not in page
    assert "Private" not in page
    assert "Simulated" not in page
    HandMade("alpha", simulated=True)
    assert "Simulated ratings" in text(client.get("/"))
    client.force_login(factories.make_user(is_staff=True))
    response = client.get("/")
    assert response["Cache-Control"] == "private, no-cache"
    page = text(response)
    assert "Hidden study" in page
    assert "Private" in page


def test_home_without_public_studies_says_what_to_do(client, made):
    made.change(visibility="private")
    page = text(client.get("/"))
    assert 'href="/rate/"' in page


def test_home_queries_do_not_grow_with_the_studies(client, made):
    def queries():
        with CaptureQueriesContext(connection) as captured:
            client.get("/")
        return len(captured)

    before = queries()
    for _ in range(3):
        services.refresh(HandMade("a").study)
    assert queries() == before


def test_a_snapshot_of_an_earlier_methodology_is_shown_until_it_is_replaced(client, made):
    new = {
        *("rank_ub", "p_first", "group", "unbounded", "groups", "robustness"),
        *("tie_band", "intervals", "units"),
    }

    def without(value):
        if isinstance(value, dict):
            return {name: without(entry) for name, entry in value.items() if name not in new}
        return [without(entry) for entry in value] if isinstance(value, list) else value

    for row in SnapshotSlice.objects.filter(kind="standings"):
        payload = json.dumps(without(row.content))
        SnapshotSlice.objects.filter(pk=row.pk).update(payload=payload)
    for query in ("", "?method=bradley-terry"):
        assert client.get(f"/studies/small/{query}").status_code == 200
    assert client.get("/studies/small/tables/standings.csv").status_code == 200


def test_a_setting_without_an_answer_is_explained(client, made):
    response = client.get("/studies/small/?raters=judge:nobody")
    assert response.status_code == 404
    assert "no raters “judge:nobody”" in response.content.decode()
    assert '<a href="/studies/small/?raters=judge%3Astrict">STRICT</a>' in response.content.decode()
    assert client.get("/studies/small/tables/games.csv?ties=maybe").status_code == 404
    nobody_rated = "raters=judge:strict&category=poems"
    page = text(client.get(f"/studies/small/?{nobody_rated}"))
    assert "No rating by STRICT (poems) compares two ranked models. Choose" in page
    assert client.get(f"/studies/small/standings.json?{nobody_rated}").status_code == 404


def test_ratings_of_completions_without_a_contestant_are_counted_where_there_is_nobody_to_rank(client):
    study = factories.make_study(slug="bare", visibility="public")
    judge = factories.make_rater(kind="judge", slug="bare", name="Bare")
    for _ in range(2):
        prompt = factories.make_prompt(study=study)
        texts = [factories.make_completion(prompt=prompt, contestant=None) for _ in range(2)]
        pair = factories.make_pair(prompt=prompt, first=texts[0], second=texts[1])
        factories.make_comparison(pair=pair, rater=judge, rating=1)
    services.refresh(study)
    sentence = "Bare gave 2 ratings, but the answers have no model to rank"
    assert sentence in text(client.get("/studies/bare/categories/"))
    assert client.get("/studies/bare/").url == "/studies/bare/raters/"


def test_the_other_tie_rule_stands_beside_the_standings(client):
    made = HandMade("alpha", "beta", slug="tied")
    for rating in (5, 5, 5, 1):
        made.rate("alpha", "beta", rating)
    services.refresh(made.study)
    # Without ties beta wins three of four; with ties alpha has 2.5 points of four.
    page = text(client.get("/studies/tied/?method=bradley-terry&columns=all"))
    assert "2 models change places if ties do not count" in page
    assert '<td role="cell" class="num nowrap down">2 ↓−1</td>' in page, "alpha falls without ties"
    assert '<td role="cell" class="num nowrap up">1 ↑+1</td>' in page
    page = text(client.get("/studies/tied/?method=bradley-terry&ties=off&columns=all"))
    assert "Ties half: rank" in page
    assert "ties: rank" not in text(client.get("/studies/tied/?method=ordinal&columns=all")).lower()
    for _ in range(3):
        made.rate("alpha", "beta", 1)
    services.refresh(made.study)
    assert "change places" not in text(client.get("/studies/tied/?method=bradley-terry"))


def test_a_category_shows_who_moved_against_all_of_them(client):
    made = HandMade("alpha", "beta", slug="moved", categories=("coding", "poems"))
    for _ in range(3):
        made.rate("alpha", "beta", 1)
    made.rate("beta", "alpha", 1, prompt=1)
    services.refresh(made.study)
    page = text(client.get("/studies/moved/?method=bradley-terry&category=poems&columns=all"))
    assert "Against all" in page
    assert page.index('<td role="cell" class="num up">↑+1</td>') < page.index(
        '<td role="cell" class="num down">↓−1</td>'
    )
    assert '<td role="cell" class="num">=</td>' in text(
        client.get("/studies/moved/?category=coding&columns=all")
    )
    assert "Against all" not in text(client.get("/studies/moved/?columns=all"))


def test_what_operators_say_of_a_contestant_is_in_columns(client, made):
    alpha = made.contestants["alpha"]
    alpha.organisation, alpha.licence, alpha.benchmarks = "Heron <Labs>", "MIT", {"MMLU": 70.25}
    alpha.save()
    page = text(client.get("/studies/small/?sort=benchmark-MMLU"))
    assert "Heron &lt;Labs&gt;" in page
    assert '<td role="cell" class="num">70.25</td>' in page
    assert page.index(">MMLU</a>") < page.index(">Licence</a>")
    assert page.index("<bdi>alpha</bdi>") < page.index("<bdi>beta</bdi>")


def test_a_search_hides_rows_and_keeps_their_ranks(client, made):
    page = text(client.get("/studies/small/?search=GAM"))
    assert len(re.findall(r"<tr[^>]* hidden>", page)) == 2
    assert "search=GAM" in re.search('<a id="raters-1" href="([^"]*)"', page)[1]


def test_what_a_browser_has_is_not_sent_again(client, made):
    for address in ("/studies/small/", "/studies/small/?ties=off", "/studies/small/figures/win-rates.json"):
        seen = client.get(address)
        known = {"If-None-Match": seen["ETag"]}
        assert client.get(address, headers=known).status_code == 304
        asked_by_part = client.get(address, headers={**known, "HX-Request": "true"})
        assert asked_by_part.status_code == 200, "a part of a page is another answer"
    known = {"If-None-Match": client.get("/studies/small/")["ETag"]}
    assert client.get("/studies/small/?ties=off", headers=known).status_code == 200
    made.rate("alpha", "beta", 1)
    assert client.get("/studies/small/", headers=known).status_code == 304, "until the next snapshot"
    services.refresh(made.study)
    assert client.get("/studies/small/", headers=known).status_code == 200
    known = {"If-None-Match": client.get("/studies/small/")["ETag"]}
    client.force_login(factories.make_user(is_staff=True))
    assert client.get("/studies/small/", headers=known).status_code == 200, "staff see more"


def test_one_prompt_resampled_gives_no_interval(client):
    made = HandMade("alpha", "beta", slug="one")
    made.rate("alpha", "beta", 1)
    services.refresh(made.study)
    page = text(client.get("/studies/one/"))
    assert "only one prompt to resample" in page
    assert "+0 / −0" not in page
    assert "Lines are the" not in page


def test_from_a_study_one_gets_to_rating_and_staff_to_everything_else(client, made):
    assert "/studies/small/sign-up/" not in text(client.get("/studies/small/"))
    made.change(sign_up_open=True)
    page = text(client.get("/studies/small/"))
    assert "/studies/small/sign-up/" in page
    assert "/admin/" not in page
    client.force_login(factories.make_user(is_staff=True))
    page = text(client.get("/studies/small/"))
    assert '/operate/small/"' in page
    made.change(closed_at=timezone.now())
    page = text(client.get("/studies/small/"))
    assert "/sign-up/" not in page
    assert '/operate/small/"' in page


@pytest.mark.parametrize(
    ("description", "summary"),
    [
        ("a " + "word " * 50, "a " + "word " * 27 + "…"),
        ("字" * 300, "字" * 140 + " …"),
        ("A demo of " + "word " * 6 + "here. It is " + "long " * 30, "A demo of " + "word " * 6 + "here."),
        ("# Short\n\nand *sweet* & <b>more</b>", "Short and sweet &amp; &lt;b&gt;more&lt;/b&gt;"),
    ],
)
def test_a_card_shows_the_beginning_of_the_description(description, summary, client, made):
    made.change(description=description)
    assert f'<p class="small muted">{summary}</p>' in text(client.get("/"))


def test_a_study_without_snapshot_waits_and_reloads_itself(client):
    study = HandMade("alpha").study
    page = text(client.get(f"/studies/{study.slug}/"))
    assert "being computed" in page
    assert f'hx-get="/studies/{study.slug}/status/"' in page
    asked = client.get(f"/studies/{study.slug}/status/", headers={"HX-Request": "true"})
    assert (asked.status_code, asked.headers.get("HX-Refresh")) == (204, None)
    services.refresh(study)
    asked = client.get(f"/studies/{study.slug}/status/", headers={"HX-Request": "true"})
    assert asked.headers["HX-Refresh"] == "true"
    assert client.get(f"/studies/{study.slug}/status/").url == f"/studies/{study.slug}/"
    assert "being computed" not in text(client.get(f"/studies/{study.slug}/"))


def test_a_failed_computation_is_told_to_staff_only_in_detail(client):
    study = HandMade("alpha").study
    Refresh.of(study.pk)
    Refresh.objects.update(error="secret detail", failed_at=timezone.now())
    page = text(client.get(f"/studies/{study.slug}/"))
    assert "failed" in page
    assert "secret detail" not in page
    client.force_login(factories.make_user(is_staff=True))
    assert "secret detail" in text(client.get(f"/studies/{study.slug}/"))


def test_newer_ratings_are_announced_to_those_signed_in(client, made):
    made.rate("alpha", "beta", 1)
    assert "being added" not in text(client.get("/studies/small/"))
    client.force_login(factories.make_user())
    known = client.get("/studies/small/")
    assert "1 new rating is being added" in text(known)
    made.rate("alpha", "beta", 1)
    newer = client.get("/studies/small/", headers={"If-None-Match": known["ETag"]})
    assert "2 new ratings are being added" in text(newer)


def test_simulated_votes_say_so(client, made):
    judge = made.judge("robot", simulated=True)
    made.rate("alpha", "beta", 1, rater=judge)
    services.refresh(made.study)
    assert "Some ratings are simulated" in text(client.get("/studies/small/"))
    made.change(simulated=True)
    assert "Simulated ratings say nothing" in text(client.get("/studies/small/"))
    assert "simulated" in text(client.get("/studies/small/tables/games/"))
    assert json.loads(text(client.get("/studies/small/standings.json")))["simulated"] is True


def test_no_text_of_a_prompt_or_completion_is_ever_shown(client, made):
    written = [*made.study.prompts.all(), *Completion.objects.filter(prompt__study=made.study)]
    texts = [turn for each in written for turn in each.turns]
    assert len(texts) == 7
    for path in ("", "standings.json", "tables/raters/", "tables/raters.csv"):
        page = text(client.get(f"/studies/small/{path}"))
        assert not [shown for shown in texts if shown in page]


def test_a_large_matrix_is_linked_instead_of_put_on_the_board(client):
    names = [f"contestant {number:02}" for number in range(22)]
    made = HandMade(*names, slug="large")
    for one, other in pairwise(names):
        made.rate(one, other, 1)
    services.refresh(made.study)
    page = text(client.get("/studies/large/"))
    assert 'hx-get="/studies/large/tables/games/?' in page
    assert "contestant 21" in text(client.get("/studies/large/tables/games/"))


def test_what_is_not_counted_yet_is_never_nought(client):
    """As in the moments after an import."""
    study = factories.make_study(slug="new", visibility="public")
    services.refresh(study)
    assert "The study has 0 prompts and 0 models." in client.get("/studies/new/").content.decode()
    prompt = factories.make_prompt(study=study)
    for _ in range(2):
        factories.make_completion(prompt=prompt)
    Study.objects.filter(pk=study.pk).update(revision=F("revision") + 1)
    page = client.get("/studies/new/").content.decode()
    assert "Its prompts and models are not counted yet." in page
    assert "0 prompts" not in page
