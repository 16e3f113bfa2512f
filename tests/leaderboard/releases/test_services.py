"""Releases are made once, from what is published, and outlast what happens to the study."""

import io
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from arena.models import Comparison, Study, StudyEvent
from arena.people.anonymising import anonymise
from leaderboard.files.bundle.archive import JUDGES, Reader
from leaderboard.files.bundle.recomputing import recompute
from leaderboard.models import Release, Snapshot, SnapshotChangedError, SnapshotSlice
from leaderboard.refreshing import services as snapshots
from leaderboard.releases import services
from leaderboard.releases.fields import FieldsError
from leaderboard.releases.provenance import MEANINGS
from tests import factories
from tests.leaderboard.releases.releasing import fields, make_board, release

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr("celery.current_app.send_task", lambda *args, **options: None)


@pytest.fixture(scope="module")
def shared(shared_rows, rounds):
    return make_board()


@pytest.mark.both_databases
def test_a_release_outlasts_whatever_becomes_of_the_study(made, client, monkeypatch):
    first = release(made, changelog="The first.")
    before = page_and_bundle(client)
    made.study.name = "Another name"
    made.study.save()
    made.contestants["Alpha"].name = "Omega"
    made.contestants["Alpha"].save()
    anonymise(made.person, None)
    Comparison.objects.filter(rater=made.strict).delete()
    with monkeypatch.context() as patch:
        patch.setattr(snapshots, "METHODOLOGY", "99")
        for number in range(snapshots.KEPT_IN_FULL + 2):
            made.rate("Beta", "Gamma", 8, rater=factories.make_rater())
            Snapshot.objects.update(created_at=timezone.now() - timedelta(days=100 + number))
            snapshots.refresh(made.study)
    assert Snapshot.objects.count() == snapshots.KEPT_IN_FULL + 1
    Snapshot.objects.filter(pk=first.snapshot_id).update(created_at=first.snapshot.created_at)
    assert page_and_bundle(client) == before
    assert recompute(Reader(io.BytesIO(before[1]))).verdict.is_equal


def page_and_bundle(client):
    """What a reader sees of the release apart from the study's present name, and its bundle."""
    page = client.get("/studies/made/releases/1/").context["page"]
    tables = {panel.slug: (panel.table.caption, panel.table.csv()) for panel in page.panels}
    assert set(tables) == {"standings", "raters", "judges"}
    shown = (page.citation, page.release.name, page.provenance, tables)
    return shown, client.get("/studies/made/releases/1/bundle.zip").content


def test_the_bundle_is_the_one_that_is_named_and_holds_the_judges(made):
    found = release(made)
    content = bytes(found.bundle.content)
    assert len(content) == found.size
    assert Reader(io.BytesIO(content)).json(JUDGES)["judges"] == found.judges
    assert [judge["judge"] for judge in found.judges] == ["strict"]
    for row in (found, found.bundle):
        with pytest.raises(SnapshotChangedError):
            row.save()


@pytest.mark.both_databases
def test_two_tabs_make_one_release(made):
    first, second = (services.release(made.study, fields()) for _ in range(2))
    assert (first.made, second.made) == (True, False)
    assert first.release == second.release
    assert StudyEvent.objects.filter(note="Release 1, version 1.0, made.").count() == 1
    with pytest.raises(FieldsError, match=r"Release 1 .* is version 1\.0; choose another"):
        release(made, authors=["Alan Turing"])
    assert release(made, "1.1").number == 2


def test_only_what_is_published_and_current_can_be_released(made, monkeypatch):
    snapshot = Snapshot.objects.get()

    def refused(match):
        with pytest.raises(services.ReleaseError, match=match) as error:
            release(made)
        assert "manage.py refresh made" in str(error.value)

    Snapshot.objects.update(methodology="3")
    refused("by method version 3, from before an update")
    Snapshot.objects.update(methodology=snapshot.methodology)
    made.rate("Alpha", "Beta", 3)
    refused("1 rating came in since")
    Comparison.objects.order_by("pk").last().delete()
    made.study.touch()
    refused("something else in the study changed since")
    Snapshot.objects.all().delete()
    refused("no scores to release yet")
    assert not Release.objects.exists()


def test_a_change_while_the_bundle_is_packed_stops_the_release(made, monkeypatch):
    make = services.make

    def overtaken(study, file):
        snapshot = make(study, file)
        study.touch()
        return snapshot

    monkeypatch.setattr(services, "make", overtaken)
    with pytest.raises(services.ReleaseError, match="changed while the release was made"):
        release(made)
    assert not Release.objects.exists()


def test_every_vote_is_counted_where_it_comes_from(made):
    closed = made.study.closed_at
    robot, out = factories.make_rater(simulated=True), factories.make_member(made.study)
    made.study.memberships.filter(rater=out).update(left_out_at=closed)
    web = {"source": "web", "created_at": closed - timedelta(days=1)}
    made.rate("Alpha", "Beta", 3, rater=robot, **web, is_late=True)
    made.rate("Alpha", "Beta", 3, rater=out, **web)
    made.rate("Alpha", "Beta", 3, rater=factories.make_rater(), **web, purpose="adjudication")
    made.rate("Alpha", "Beta", 3, rater=factories.make_rater(), **web, purpose="repeat")
    made.rate(
        "Alpha", "Beta", 3, rater=factories.make_rater(), source="web", created_at=closed + timedelta(1)
    )
    panel = factories.make_rater(kind="judge", slug="panel", derived_from=["a", "b"])
    later = closed + timedelta(days=1)
    made.rate("Alpha", "Beta", 3, rater=panel, source="panel", created_at=later)
    same = {"source": "plan", "status": "identical", "created_at": web["created_at"]}
    made.rate("Alpha", "Beta", None, rater=made.judge("asked"), **same)
    Comparison.objects.filter(source="import").update(created_at=web["created_at"])
    snapshots.refresh(made.study)
    found = release(made)
    assert found.provenance == {
        "counted": {"people": 8, "judges": 5},
        "simulated": {"people": 1, "judges": 0},
        "imported": {"people": 6, "judges": 3},
        "late": {"people": 2, "judges": 0},
        "panels": {"people": 0, "judges": 1},
        "identical": {"people": 0, "judges": 1},
        "left_out": {"people": 1, "judges": 0},
        "adjudicated": {"people": 1, "judges": 0},
        "apart": {"people": 1, "judges": 0},
    }
    assert list(found.provenance) == list(MEANINGS)
    assert sum(found.provenance["counted"].values()) == found.snapshot.counts["comparisons"]
    assert found.simulated


def test_a_vote_that_is_revised_later_counts_as_it_was(made):
    counted = release(made).provenance
    old = Comparison.objects.first()
    Comparison.objects.filter(pk=old.pk).update(is_current=False)
    given = {name: getattr(old, name) for name in ("pair", "rater", "swapped", "repeat")}
    factories.make_comparison(**given, rating=8, revises=old)
    assert services.by_origin(made.study, Snapshot.objects.get()) == counted


def test_doi_and_changelog_alone_are_corrected_on_record(made):
    operator = factories.make_user()
    release(made, changelog="Frist.")
    assert services.correct(1, made.study, "doi:10.5281/zenodo.7", "First.", operator)
    found = Release.objects.get()
    assert (found.doi, found.changelog) == ("10.5281/zenodo.7", "First.")
    notes = StudyEvent.objects.filter(by=operator).values_list("note", flat=True)
    assert set(notes) == {
        "Release 1, version 1.0, DOI: 10.5281/zenodo.7\nBefore: none",
        "Release 1, version 1.0, changelog: First.\nBefore: Frist.",
    }
    assert not services.correct(1, made.study, "10.5281/zenodo.7", "First.", operator)
    with pytest.raises(FieldsError, match="is not a DOI"):
        services.correct(1, made.study, "7", "", operator)
    assert Release.objects.get().corrected_at == found.corrected_at


@pytest.mark.both_databases
def test_the_deletion_of_a_study_takes_its_releases(made):
    release(made)
    Study.objects.get().delete()
    assert not Release.objects.exists()
    assert not SnapshotSlice.objects.exists()


class TestCommand:
    def test_it_makes_a_release_and_says_so(self, made):
        made.study.licence = "CC-BY-4.0"
        made.study.save()
        arguments = [
            "release",
            "made",
            "--version",
            "1.0",
            "--author",
            "Ada Lovelace",
            "--changelog",
            "First.",
        ]
        out = io.StringIO()
        call_command(*arguments, "--format", "json", stdout=out)
        said = json.loads(out.getvalue())
        found = Release.objects.get()
        assert (said["made"], said["licence"], said["path"]) == (
            True,
            "CC-BY-4.0",
            "/studies/made/releases/1/",
        )
        assert said["sha256"] == found.sha256
        assert said["authors"] == [{"name": "Ada Lovelace", "orcid": "", "affiliation": ""}]
        call_command(*arguments, stdout=out)
        assert "release 1, version 1.0, exists already; nothing changed." in out.getvalue()

    def test_what_is_wrong_is_one_sentence(self, made):
        with pytest.raises(CommandError, match="Name at least one author"):
            call_command("release", "made", "--version", "1.0")
