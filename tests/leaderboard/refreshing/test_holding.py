"""A snapshot of a large study holds what pages show before anybody chooses; the rest is made when asked."""

import io
import json

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from leaderboard.files.bundle import making
from leaderboard.files.bundle.archive import Reader
from leaderboard.files.bundle.recomputing import recompute
from leaderboard.models import SnapshotSlice
from leaderboard.raters.agreement.verdict import Verdict
from leaderboard.refreshing import services
from leaderboard.refreshing.computing import compute_next
from leaderboard.snapshots import holding
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

PLACE = ("raters", "ties", "category", "method")


@pytest.fixture(scope="module")
def shared(shared_rows, rounds):
    """A study as a large one, its snapshot, and the standings that a small one's snapshot holds."""
    made = HandMade("alpha", "beta", categories=("poems", "poems", "maths"))
    for rater in (made.person, made.judge("strict")):
        for prompt, rating in enumerate((2, 6, 7)):
            made.rate("alpha", "beta", rating, rater=rater, prompt=prompt)
    every = payloads(services.refresh(made.study).snapshot)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(holding, "MOST_PARTS", 0)
        made.study.touch()
        yield made.study, services.refresh(made.study).snapshot, every


@pytest.fixture
def large(made):
    return made


def payloads(snapshot):
    rows = SnapshotSlice.objects.filter(snapshot=snapshot, kind="standings")
    return {tuple(place): payload for *place, payload in rows.values_list(*PLACE, "payload")}


def test_it_holds_the_first_leaderboard_of_all_raters_and_the_first_ranking_of_every_category(large):
    _, snapshot, every = large
    held = payloads(snapshot)
    assert held == {place: every[place] for place in held}
    opened = {
        (raters, ties, "", method)
        for raters in ("people", "judge:strict")
        for ties, method in (("on", "elo"), ("off", "elo"), ("on", "bradley-terry"))
    }
    assert set(held) == opened | {("people", "on", category, "elo") for category in ("maths", "poems")}
    assert len(every) == 42


def test_other_settings_are_computed_when_somebody_asks(large):
    study, _, every = large
    address = f"{study.get_absolute_url()}?method=davidson"
    assert Client().get(address).context["page"].pending.state == "wanted"
    assert compute_next(study.pk)
    page = Client().get(address).context["page"]
    assert page.pending is None
    own = page.stored.payloads["standings", "people", "", "on", "davidson"]
    assert own == every["people", "on", "", "davidson"]


@pytest.mark.parametrize("name", ["study-agreement", "study-raters"])
def test_pages_about_raters_compare_their_rankings_of_a_category(large, name):
    study, *_ = large
    address = reverse(name, args=[study.slug])
    assert Client().get(address).context["page"].pending is None
    address += "?category=poems"
    assert Client().get(address).context["page"].pending.state == "wanted"
    assert compute_next(study.pk)
    page = Client().get(address).context["page"]
    assert page.pending is None
    assert {place[1] for place in page.stored.payloads if place[0] == "standings"} == {
        "people",
        "judge:strict",
    }


def test_the_leaderboard_of_a_category_compares_judges_as_before(large):
    study, *_ = large
    address = f"{study.get_absolute_url()}?category=poems"
    Client().get(address)
    assert compute_next(study.pk)
    assert Client().get(address).context["page"].on_judges != Verdict()


def test_programs_are_told_to_ask_again(large):
    study, _, every = large
    table = f"/api/v1/studies/{study.slug}/tables/standings/?category=maths&raters=judge:strict"
    whole = f"/api/v1/studies/{study.slug}/leaderboard/?raters=judge:strict"
    file = reverse("study-leaderboard-file", args=[study.slug, "json"]) + "?raters=judge:strict"
    for address in (table, whole, file):
        assert Client().get(address).status_code == 202
    while compute_next(study.pk):
        pass
    found = [Client().get(address).json() for address in (table, whole, file)]
    assert found[0]["content"] == json.loads(every["judge:strict", "on", "maths", "elo"])
    assert found[1] == found[2]
    assert set(found[1]) == {"full", "maths", "poems"}
    unknown = f"/api/v1/studies/{study.slug}/tables/standings/?category=cooking"
    assert Client().get(unknown).status_code == 404


def test_an_export_computes_what_is_not_held(large, tmp_path):
    study, *_ = large
    out = tmp_path / "standings.jsonl"
    call_command("export", study.slug, what="standings", method="davidson", out=str(out))
    assert len(out.read_text().splitlines()) == 2


def test_a_bundle_holds_every_table_and_can_be_computed_again(large):
    study, _, every = large
    file = io.BytesIO()
    making.make(study, file)
    report = recompute(Reader(file))
    assert report.verdict.is_equal
    assert report.verdict.same > len(every)
