import re

import pytest
from django.utils import timezone

from judging.judges.services import configure_judge
from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.refreshing import services
from leaderboard.snapshots.visible_lengths import WITHHELD
from tests import factories
from tests.leaderboard import rater_payloads as payloads
from tests.leaderboard.reading import table, text, words
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db
PAGES = (
    *("/studies/small/raters/", "/studies/small/agreement/"),
    *(
        "/studies/small/raters/people/",
        "/studies/small/raters/judge:strict/",
        "/studies/small/raters/group:panel/",
    ),
)


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """A public study rated by two people and two judges, one of them in a group with a person."""
    made = HandMade("alpha", "beta", "gamma", slug="small", categories=("coding", "poems"))
    strict, kind = made.judge("strict"), made.judge("kind")
    group = factories.make_group(slug="panel", name="Panel")
    strict.groups.add(group)
    made.person.groups.add(group)
    made.rate("alpha", "beta", 1)
    made.rate("beta", "gamma", 2)
    made.rate("alpha", "gamma", 4, prompt=1)
    made.rate("beta", "alpha", 2, rater=strict)
    made.rate("beta", "gamma", 3, rater=kind)
    made.rate("alpha", "gamma", None, rater=strict, reason="refused")
    services.refresh(made.study)
    return made


@pytest.fixture
def tables(made):
    made.change(closed_at=timezone.now())
    snapshot = Snapshot.objects.newest(made.study)
    SnapshotSlice.objects.filter(
        snapshot=snapshot, kind__in=("agreement", "correlation", "length", "ratings")
    ).delete()
    refused = payloads.scale(unscored={"refused": 4, "out_of_range": 1}, share_first=0.7)
    payloads.store(snapshot, "ratings", "people", payloads.ratings())
    payloads.store(
        snapshot,
        "ratings",
        "judge:strict",
        payloads.ratings(refused, flips=payloads.flips(), scores=payloads.scores()),
    )
    even = payloads.position(p=0.61, share_first=0.5)
    payloads.store(snapshot, "ratings", "judge:kind", payloads.ratings(payloads.scale(position=even)))
    payloads.store(snapshot, "ratings", "group:panel", payloads.ratings())
    payloads.store(snapshot, "ratings", "people", payloads.ratings(), category="poems")
    for raters in ("people", "judge:strict"):
        payloads.store(snapshot, "length", raters, payloads.length())
    rows = [payloads.correlation_row(one, r) for one, r in ((None, 0.6), ("coding", 0.5), ("-coding", 0.7))]
    short = payloads.correlation_row("poems", None, n=2, reason="fewer than 3 pairs rated by both")
    payloads.store(snapshot, "correlation", "judge:strict", payloads.correlation(*rows, short))
    payloads.store(
        snapshot, "correlation", "people", payloads.correlation(payloads.correlation_row(None, 0.8))
    )
    strict = payloads.entry("people", payloads.kappa_row(), payloads.kappa_row("poems", 0.1, pairs=8))
    other = payloads.entry("judge:kind", payloads.kappa_row(None, -0.2))
    payloads.store(snapshot, "agreement", "judge:strict", payloads.agreement(strict, other))
    payloads.store(snapshot, "agreement", "people", payloads.agreement())
    return made


@pytest.mark.parametrize("address", PAGES)
def test_an_older_snapshot_lacks_tables_and_the_page_says_so(client, made, address):
    SnapshotSlice.objects.filter(kind__in=("agreement", "correlation", "length")).delete()
    assert "at the next refresh" in text(client.get(address))


def test_what_length_has_to_do_with_winning_is_shown_when_rating_ends(client, tables):
    addresses = "/studies/small/raters/", "/studies/small/raters/judge:strict/"
    assert all(WITHHELD not in text(client.get(address)) for address in addresses)
    tables.change(closed_at=None)
    for address in addresses:
        page = text(client.get(address))
        assert WITHHELD in page
        assert "longer" not in page.replace(WITHHELD, "")
        assert "length-words" not in page


def test_kinds_are_chosen_with_boxes_that_keep_the_rest_of_the_address(client, tables):
    page = text(client.get("/studies/small/raters/?with=judge:strict&with=people&ties=off"))
    assert re.search(r'value="people" checked', page)
    assert re.search(r'value="judge:strict" checked', page)
    assert not re.search(r'value="judge:kind" checked', page)
    assert '<input type="hidden" name="ties" value="off">' in page
    header, *_ = table(client, "/studies/small/raters/tables/ratings-8.csv?with=judge:strict&with=people")
    assert header == ["Rating", "People", "STRICT"]


def test_more_kinds_than_colours_are_rows_of_a_map(client, made):
    for number in range(6):
        made.rate("alpha", "beta", 6, rater=made.judge(f"more-{number}"))
    services.refresh(made.study)
    chosen = [entry["selector"] for entry in Snapshot.objects.newest(made.study).counts["raters"]]
    query = "&".join(f"with={one}" for one in chosen)
    figure = client.get(f"/studies/small/raters/figures/ratings-8.json?{query}").json()
    assert figure["data"][0]["type"] == "heatmap"
    assert len(figure["data"][0]["z"]) == len(chosen) > 6


def test_a_judge_shows_how_it_was_asked_and_nothing_that_tells_where(client, made):
    options = {"top_p": 0.9, "user": "secret-account"}
    judge = factories.make_judge(
        slug="asked", name="Asked", model="heron-70b", base_url="http://10.0.0.9:9/v1",
        api_key_env="VERY_SECRET_API_KEY", options=options,
    )  # fmt: skip
    made.rate("alpha", "beta", 6, rater=judge.rater)
    services.refresh(made.study)
    page = text(client.get("/studies/small/raters/judge:asked/"))
    assert "heron-70b" in page
    assert "<dt>top_p</dt><dd>0.9</dd>" in page
    for secret in ("10.0.0.9", "VERY_SECRET_API_KEY", "secret-account"):
        assert secret not in page


@pytest.mark.parametrize("change", [{"options": {"top_p": 0.5}}, {"max_tokens": 77}, {"model": "alpha-9b"}])
def test_a_judge_that_is_edited_is_sent_anew_before_the_next_snapshot(client, made, change):
    asked = {"model": "heron-70b", "options": {"top_p": 0.9}}
    judge = factories.make_judge(slug="asked", name="Asked", **asked)
    made.rate("alpha", "beta", 6, rater=judge.rater)
    services.refresh(made.study)
    addresses = ["/studies/small/raters/judge:asked/", "/studies/small/agreement/"]
    before = {address: client.get(address)["ETag"] for address in addresses}
    configure_judge(judge, "Asked", factories.judge_with(**asked | change))
    for address, known in before.items():
        response = client.get(address, headers={"If-None-Match": known})
        assert response.status_code == 200
        assert response["ETag"] != known


def test_a_judge_counts_its_runs_over_this_study_and_no_other(client, made):
    judge = factories.make_judge(slug="asked", name="Asked", model="heron-70b")
    for study in (made.study, made.study, factories.make_study()):
        factories.make_run(study=study, judge=judge, state="finished")
    made.rate("alpha", "beta", 6, rater=judge.rater)
    services.refresh(made.study)
    page = words(client.get("/studies/small/raters/judge:asked/"))
    assert "2 in this study; first" in page
    factories.make_run(study=made.study, judge=judge, state="finished")
    assert "2 in this study; first" in words(client.get("/studies/small/raters/judge:asked/")), (
        "a page belongs to its snapshot"
    )


def test_judges_that_were_imported_or_simulated_say_so(client, made):
    assert "Its ratings were imported" in text(client.get("/studies/small/raters/judge:strict/"))
    rater = factories.make_rater(kind="judge", slug="dice", name="Dice", simulated=True)
    made.rate("alpha", "beta", 6, rater=rater)
    services.refresh(made.study)
    assert "(simulated)" in text(client.get("/studies/small/raters/judge:dice/"))
    assert "Dice (simulated)" in text(client.get("/studies/small/raters/"))


@pytest.mark.parametrize(("family", "warned"), [("Heron", True), ("Stork", False)])
def test_a_judge_of_a_contestants_family_carries_a_warning(client, made, family, warned):
    made.contestants["alpha"].family = family
    made.contestants["alpha"].save()
    judge = factories.make_judge(slug="asked", name="Asked", model="birds/heron-70b")
    made.rate("alpha", "beta", 6, rater=judge.rater)
    services.refresh(made.study)
    sentence = "By its name, Asked may be of the same family as alpha."
    assert (sentence in text(client.get("/studies/small/raters/judge:asked/"))) == warned
    assert (sentence in text(client.get("/studies/small/agreement/"))) == warned


def test_a_group_counts_its_members_only(client, made):
    page = words(client.get("/studies/small/raters/group:panel/"))
    assert "2, shown without names" in page


def test_correlations_stand_by_category_with_the_ceiling_of_people_and_the_coefficient_is_a_link(
    client, tables
):
    figure = client.get("/studies/small/agreement/figures/correlation.json").json()
    assert [trace["name"] for trace in figure["data"]] == ["STRICT", "People with each other"]
    assert figure["data"][0]["x"] == [0.6, 0.5]
    assert figure["data"][1]["x"] == [0.8]
    assert figure["layout"]["yaxis"]["ticktext"][2] == "poems<br>2 pairs"
    page = text(client.get("/studies/small/agreement/"))
    assert 'href="?coefficient=kendall"' in page
    assert page.count('<svg class="dots"') == 2
    figure = client.get("/studies/small/agreement/figures/correlation.json?coefficient=kendall").json()
    assert figure["data"][0]["x"] == [0.5, 0.4]
    assert figure["layout"]["xaxis"]["title"]["text"] == "Agrees with people (tau)"


def test_everybody_stands_against_everybody(client, tables):
    figure = client.get("/studies/small/agreement/figures/kappa-matrix.json").json()
    assert figure["data"][0]["z"] == [[None, None, 0.45], [None, None, -0.2], [0.45, -0.2, None]]
    rows = table(client, "/studies/small/agreement/tables/correlation-matrix.csv")
    assert rows[1:] == [
        ["People", "STRICT", "0.6", "", "", "45"],
        ["KIND", "STRICT", "0.6", "", "", "45"],
    ]
    page = text(client.get("/studies/small/agreement/?category=poems"))
    assert "People and a judge both rated fewer than 30 pairs in poems: too few" in page
    assert "All but" not in text(client.get("/studies/small/agreement/")).partition("More settings")[0]
    assert 'href="/studies/small/agreement/two/?category=poems"' in page


def test_people_alone_agree_among_themselves_only(client):
    made = HandMade("alpha", "beta", "gamma", slug="people")
    other = factories.make_rater()
    for rater in (made.person, other):
        for one, another, rating in (("alpha", "beta", 1), ("beta", "gamma", 3), ("alpha", "gamma", 6)):
            made.rate(one, another, rating, rater=rater)
    services.refresh(made.study)
    assert client.get("/studies/people/agreement/").status_code == 200
    figure = client.get("/studies/people/agreement/figures/correlation.json").json()
    assert [trace["name"] for trace in figure["data"]] == ["People with each other"]
    assert figure["data"][0]["x"][0] == pytest.approx(1.0)
    assert client.get("/studies/people/raters/").status_code == 200
