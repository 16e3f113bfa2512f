import itertools
import json
from copy import deepcopy
from datetime import timedelta

import pytest
from celery import current_app
from django.utils import timezone

from arena.models import Completion, Contestant, Study
from leaderboard.models import ComputedView, Snapshot
from leaderboard.refreshing import computing, services
from leaderboard.snapshots import on_demand
from leaderboard.snapshots.canonical import FORM
from leaderboard.snapshots.settings import Setting
from tests.factories import make_prompt, make_rater, make_user
from tests.leaderboard.reading import printed
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

BAND = "/studies/small/?raters=people&band=3-6"
POLL = "/studies/small/computing/?raters=people&band=3-6"
HTMX = {"HX-Request": "true"}
ROUNDS = 20


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    made = HandMade("alpha", "beta", "writers", categories=("coding", "poems"), slug="small")
    Contestant.objects.filter(name="writers").update(kind="people")
    for number in range(12):
        made.rate("alpha", "beta", 1 + number % 8, prompt=number % 2)
        made.rate("beta", "writers", 1 + number * 3 % 8, prompt=number % 2)
    services.refresh(made.study)
    return made


@pytest.fixture(autouse=True)
def made(shared, monkeypatch):
    monkeypatch.setattr(current_app, "send_task", lambda *args, **options: None)
    return deepcopy(shared)


def work(made):
    assert computing.compute_next(made.study.pk)


def test_the_page_waits_without_being_kept_and_then_shows_the_numbers(client, made):
    waiting = client.get(BAND)
    assert waiting.status_code == 200
    text = waiting.content.decode()
    assert "These numbers are waiting to be computed." in text
    assert "People, all categories, Elo, ties half, ratings 3–6 are ties, 95% intervals" in text
    assert 'hx-get="/studies/small/computing/?raters=people&amp;band=3-6&amp;shown=wanted"' in text
    assert '<a class="button button-quiet" href="?raters=people&amp;band=3-6">Refresh</a>' in text
    assert "standings-table" not in text
    work(made)
    shown = client.get(BAND)
    assert 'id="computing"' not in shown.content.decode()
    page = shown.context["page"]
    assert page.parameters["tie_band"] == "3-6"
    assert [row.contestant for row in page.rows] == [row["contestant"] for row in page.content["standings"]]
    assert "no-store" in waiting["Cache-Control"]
    assert "ETag" not in waiting
    assert client.get(BAND, headers={"If-None-Match": shown["ETag"]}).status_code == 304
    assert client.get(BAND, headers={"If-None-Match": '"what a waiting page could have"'}).status_code == 200


@pytest.mark.parametrize(
    ("resample", "units"),
    [("games", "Ratings"), ("raters", "Raters"), ("prompts-and-raters", "Prompts and raters")],
)
def test_the_page_names_what_counts_as_independent(client, made, resample, units):
    address = f"/studies/small/?raters=people&method=davidson&resample={resample}"
    made.prompts.append(make_prompt(study=made.study, category="poems"))
    raters = [made.person, make_rater(), make_rater()]
    for number, prompt in itertools.product(range(3), range(3)):
        rater = raters[number]
        made.rate("alpha", "writers", 1 + (3 * number + 2 * prompt) % 8, prompt=prompt, rater=rater)
    services.refresh(made.study)
    client.get(address)
    work(made)
    assert f"{units} count as independent" in client.get(address).content.decode()


def test_people_who_are_left_out_are_not_called_retired(client, made):
    address = "/studies/small/?raters=people&contestants=models"
    client.get(address)
    work(made)
    page = client.get(address).content.decode()
    assert "12 ratings of people’s answers." in page
    assert "not listed" not in page


class TestTheQuestionOfAWaitingPage:
    def test_it_is_answered_when_something_happened(self, client, made):
        client.get(BAND)
        quiet = client.get(f"{POLL}&shown=wanted", headers=HTMX)
        assert (quiet.status_code, "HX-Refresh" in quiet) == (204, False)
        assert "no-store" in quiet["Cache-Control"]
        on_demand.claim(made.study.pk)
        running = client.get(f"{POLL}&shown=wanted", headers=HTMX)
        assert "These numbers are being computed now." in running.content.decode()
        assert "&amp;shown=running" in running.content.decode()
        ComputedView.objects.update(running_until=timezone.now())
        work(made)
        assert client.get(f"{POLL}&shown=running", headers=HTMX)["HX-Refresh"] == "true"

    def test_it_leads_to_the_board_without_htmx_and_where_a_newer_snapshot_has_none_of_it(self, client, made):
        assert client.get(f"{POLL}&shown=wanted").headers["Location"] == BAND
        reply = client.get("/studies/small/computing/?raters=nobody", headers=HTMX)
        assert reply["HX-Refresh"] == "true"


def test_a_changed_study_is_waited_for(client, made):
    client.get(BAND)
    made.study.touch()
    work(made)
    assert "The new numbers come in a moment" in client.get(BAND).content.decode()


def test_a_failure_ends_the_questions_and_is_for_staff(client, made):
    client.get(BAND)
    on_demand.fail(ComputedView.objects.get(), "MemoryError: <no memory>")
    text = client.get(BAND).content.decode()
    assert "These numbers could not be computed." in text
    assert "no memory" not in text
    client.force_login(make_user(is_staff=True))
    assert "MemoryError: &lt;no memory&gt;" in client.get(BAND).content.decode()
    assert client.get(f"{POLL}&shown=running", headers=HTMX)["HX-Refresh"] == "true"


def crowd(made):
    snapshot = Snapshot.objects.newest(made.study)
    for number in range(on_demand.MOST_WAITING):
        on_demand.contents(snapshot, Setting("people", level=f"{60 + number}"))


def test_too_many_at_a_time_are_refused(client, made):
    crowd(made)
    refused = client.get(BAND)
    assert (refused.status_code, refused["Retry-After"]) == (503, "30")
    assert "Too many other settings of this study are waiting." in refused.content.decode()
    assert "hx-get" not in refused.content.decode().split('id="computing"')[1].split("</div>")[0]
    assert client.get("/studies/small/").status_code == 200
    assert client.get("/studies/small/standings.json?band=3-6").status_code == 503


class TestFilesAndPrograms:
    @pytest.mark.parametrize(
        "address", ["standings.json", "tables/standings.csv", "tables/standings/", "figures/standings.json"]
    )
    def test_they_are_told_when_to_come_back(self, client, made, address):
        where = f"/studies/small/{address}?band=3-6"
        waiting = client.get(where)
        assert (waiting.status_code, waiting["Retry-After"]) == (202, "2")
        assert "no-store" in waiting["Cache-Control"]
        assert waiting.json() == {"detail": on_demand.Pending("wanted").sentence}
        work(made)
        assert client.get(where).status_code == 200

    def test_a_failure_says_how_long_to_wait(self, client, made):
        client.get(BAND)
        on_demand.fail(ComputedView.objects.get(), "x")
        ComputedView.objects.update(computed_at=timezone.now() - timedelta(minutes=4))
        reply = client.get("/studies/small/standings.json?band=3-6")
        assert reply.status_code == 503
        assert 350 <= int(reply["Retry-After"]) <= 360
        assert client.get("/studies/small/tables/nonsense.csv").status_code == 404


class TestLevels:
    def test_a_usual_level_is_read_from_the_snapshot(self, client, made, monkeypatch):
        monkeypatch.setattr(services, "ROUNDS", 1000)
        services.refresh(made.study, anew=True)
        content = client.get("/studies/small/standings.json?level=80").json()
        row = content["standings"][0]
        assert content["parameters"]["interval"] == 80
        assert (row["low"], row["high"]) == (row["quantiles"]["10"], row["quantiles"]["90"])
        assert not ComputedView.objects.exists()

    def test_levels_for_which_the_rounds_are_few_are_computed_with_their_caution(self, client, made):
        assert client.get("/studies/small/standings.json?level=99").status_code == 202
        work(made)
        content = client.get("/studies/small/standings.json?level=99").json()
        assert any("few for 99% intervals" in warning for warning in content["warnings"])
        where = "/studies/small/standings.json?level=99&band=3-6"
        for key in ("?raters=people&band=3-6", "?raters=people&band=3-6&level=99"):
            assert client.get(where).status_code == 202
            assert ComputedView.objects.get(state="wanted").setting == f"{key}#{FORM}"
            work(made)
        content = client.get(where).json()
        assert (content["parameters"]["interval"], content["parameters"]["tie_band"]) == (99, "3-6")


def test_both_orders_stand_side_by_side(client, made):
    assert 'href="?raters=people&amp;contestants=models"' in client.get("/studies/small/").content.decode()
    client.get("/studies/small/?contestants=models")
    work(made)
    page = client.get("/studies/small/?contestants=models").context["page"]
    assert {row.contestant for row in page.rows} == {"alpha", "beta"}
    table = page.panel("with-people").table
    assert table.columns == (
        "Contestant",
        *("Models only: rank", "Models only: rating", "Models only: low", "Models only: high"),
        *("Everyone: rank", "Everyone: rating", "Everyone: low", "Everyone: high"),
        *("Difference: rating", "Difference: places"),
    )
    stored = Snapshot.objects.newest(made.study).slices.get(
        kind="standings", raters="people", ties="on", category="", method="elo"
    )
    everyone = {
        row["contestant"]: (row["rank"], row["rating"], row["low"], row["high"])
        for row in stored.content["standings"]
    }
    assert {row[0]: row[5:9] for row in table.rows} == everyone
    assert page.standings()["contestants"] == "models"


def test_who_is_above_whom_is_linked_from_the_board_and_shown_once_it_is_computed(client, made):
    address = "/studies/small/?raters=people&pairwise=on"
    page = client.get("/studies/small/").content.decode()
    assert '<a href="?raters=people&amp;pairwise=on#above">Who is above whom?</a>' in page
    assert 'id="above"' not in page
    client.get(address)
    work(made)
    shown = client.get(address)
    page = shown.context["page"]
    wanted = json.loads(printed("standings", "small", "--pairwise", "--rounds", ROUNDS, "--format", "json"))
    names = [row["contestant"] for row in wanted["standings"]]
    table = page.panel("above").table
    assert table.columns[1:] == tuple(names)
    assert [list(row) for row in table.rows] == [
        [name, *shares] for name, shares in zip(names, wanted["probability_above"], strict=True)
    ]
    assert page.panel("above").figure["data"][0]["z"][0][1] == wanted["probability_above"][0][1]
    assert "#above" not in shown.content.decode()
    assert page.standings()["probability_above"] == wanted["probability_above"]
    assert client.get("/studies/small/categories/?raters=people&pairwise=on").context["page"].pending is None


class TestAdjusting:
    @pytest.fixture
    def closed(self, made):
        """The study closed, with texts of different lengths and no Markdown."""
        for number, completion in enumerate(Completion.objects.order_by("pk")):
            completion.turns = ["word " * (4 + number * 7 % 11)]
            completion.save()
        Study.objects.update(closed_at=timezone.now())
        return made

    def test_is_for_closed_studies(self, client, made):
        page = client.get("/studies/small/").content.decode()
        assert "Style control" not in page
        refused = client.get("/studies/small/?adjust=length")
        assert refused.status_code == 404
        assert "opens when the study closes" in refused.content.decode()

    def test_the_board_is_that_of_the_command_beside_the_one_without(self, client, closed):
        address = "/studies/small/?raters=people&method=ordinal&adjust=length"
        assert (
            f'href="{address[15:]}"'.replace("&", "&amp;") in client.get("/studies/small/").content.decode()
        )
        client.get(address)
        work(closed)
        shown = client.get(address)
        page = shown.context["page"]
        options = ("small", "--method", "ordinal", "--intervals", "sandwich", "--rounds", ROUNDS)
        adjusted = json.loads(printed("standings", *options, "--adjust", "length", "--format", "json"))
        plain = json.loads(printed("standings", *options, "--format", "json"))
        effect = page.content["effects"]["length"]
        assert effect == adjusted["effects"]["length"]
        assert effect["points"] != 0
        here, there = ({row["contestant"]: row for row in of["standings"]} for of in (adjusted, plain))
        table = page.panel("adjusted").table
        assert [row[0] for row in table.rows] == list(here)
        for name, *cells in table.rows:
            own, other = here[name], there[name]
            assert cells[:8] == [
                each[what] for each in (own, other) for what in ("rank", "rating", "low", "high")
            ]
            assert cells[8] == pytest.approx(own["rating"] - other["rating"], abs=0.005)
            assert cells[9] == other["rank"] - own["rank"]
        sentence = (
            f"One standard deviation more length is worth {effect['points']:+.1f} points "
            f"(95%: {effect['low']:+.1f} to {effect['high']:+.1f})."
        ).replace("-", "−")
        assert sentence in shown.content.decode()
        assert page.panel("effects").table.rows[0][:4] == (
            "length",
            *(effect[what] for what in ("points", "low", "high")),
        )
        queries = {option.value: option.query for each in page.switches for option in each.options}
        assert queries["elo"] == "?raters=people", "by Elo nothing is adjusted"
        (one, *_), (row, *_) = page.standings()["without"]["adjust"], table.rows
        assert (one["rank"], one["rating"], one["places"]) == (*row[5:7], row[10])

    def test_what_cannot_be_adjusted_for_is_said(self, client, closed):
        address = "/studies/small/?raters=people&method=ordinal&adjust=length-and-markdown"
        client.get(address)
        work(closed)
        said = "The two sides are equal in markdown everywhere, so there is nothing to adjust for."
        assert said in client.get(address).content.decode()
        assert client.get("/studies/small/standings.json?adjust=length-and-markdown").status_code == 404
