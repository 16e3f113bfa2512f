from datetime import timedelta
from io import StringIO

import pytest
from celery import current_app
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from kombu.exceptions import OperationalError

from arena.models import Comparison
from arena.models.signals import opinion_recorded, study_changed
from leaderboard import tasks
from leaderboard.management.commands import refresh as command
from leaderboard.models import Refresh, Snapshot, SnapshotChangedError, SnapshotSlice
from leaderboard.refreshing import services
from leaderboard.snapshots import freshness
from leaderboard.snapshots.study_lock import BusyError
from leaderboard.stats.ranking_method import METHODOLOGY
from tests.leaderboard.rows import HandMade

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def messages(monkeypatch):
    """The messages sent to the queue instead of sending them: (study id, countdown)."""
    sent = []

    def keep(task, args, kwargs=None, *, countdown, **options):
        assert task == tasks.refresh_study.name
        sent.append((args[0], countdown))

    monkeypatch.setattr(current_app, "send_task", keep)
    return sent


@pytest.fixture
def made():
    made = HandMade("alpha", "beta")
    made.rate("alpha", "beta", 2)
    return made


@pytest.mark.both_databases(False)
def test_a_snapshot_carries_its_method_and_watermark(made):
    outcome = services.refresh(made.study)
    snapshot = Snapshot.objects.newest(made.study)
    assert outcome.made
    assert outcome.snapshot == snapshot
    last = made.study.comparisons.get().pk
    assert snapshot.watermark == f"0.1.{last}"
    assert (snapshot.seed, snapshot.methodology) == (0, METHODOLOGY)
    assert snapshot.parameters["rounds"] == services.ROUNDS
    assert snapshot.parameters["resample"] == "prompts"
    row = snapshot.slices.get(kind="standings", raters="people", ties="on", category="", method="elo")
    assert row.content["games"] == 1

    def tables(snapshot):
        return sorted(snapshot.slices.values_list("kind", "raters", "ties", "category", "method", "payload"))

    assert tables(services.refresh(made.study, anew=True).snapshot) == tables(snapshot)


def test_a_snapshot_cannot_be_changed(made):
    snapshot = services.refresh(made.study).snapshot
    snapshot.seed = 5
    with pytest.raises(SnapshotChangedError, match="is published"):
        snapshot.save()
    row = snapshot.slices.first()
    row.payload = "{}"
    with pytest.raises(SnapshotChangedError):
        row.save()


def test_nothing_is_computed_while_data_and_methods_stay_the_same(made, messages):
    assert services.refresh_if_stale(made.study) is not None
    assert services.refresh_if_stale(made.study) is None
    made.rate("beta", "alpha", 2)
    assert services.refresh_if_stale(made.study).snapshot.counts["comparisons"] == 2
    made.study.touch()
    assert services.refresh_if_stale(made.study).snapshot.revision == 1
    services.refresh(made.study)
    Snapshot.objects.update(methodology="1")
    assert services.stale() == [made.study.pk]
    assert services.refresh_if_stale(made.study).snapshot.methodology == METHODOLOGY
    assert services.stale() == []
    older = Snapshot.objects.newest(made.study)
    Snapshot.objects.update(counts={**older.counts, "form": older.counts["form"] - 1})
    assert services.stale() == [made.study.pk], "tables of another form are made again"


def test_the_command_waits_for_a_quicker_worker(made, monkeypatch):
    Refresh.of(made.study.pk)
    Refresh.objects.update(running_until=timezone.now() + timedelta(minutes=1))
    monkeypatch.setattr(command.time, "sleep", lambda _: Refresh.objects.update(running_until=None))
    told, warned = StringIO(), StringIO()
    call_command("refresh", made.study.slug, stdout=told, stderr=warned)
    assert "another process computes it; waiting for its end." in warned.getvalue()
    assert told.getvalue().startswith(f"{made.study.slug}: ")
    assert Snapshot.objects.exists()


def test_a_running_computation_is_left_alone_until_it_has_died(made, messages):
    Refresh.of(made.study.pk)
    Refresh.objects.update(running_until=timezone.now() + timedelta(minutes=1))
    with pytest.raises(BusyError, match="another process"):
        services.refresh(made.study)
    assert not Snapshot.objects.exists()
    Refresh.of(made.study.pk)
    Refresh.objects.update(running_until=timezone.now() + timedelta(minutes=1))
    assert services.sweep() == 0
    assert messages == []
    Refresh.of(made.study.pk)
    Refresh.objects.update(running_until=timezone.now() + timedelta(minutes=1))
    tasks.refresh_study(made.study.pk)
    assert messages == [(made.study.pk, tasks.BUSY_COUNTDOWN)]
    Refresh.of(made.study.pk)
    Refresh.objects.update(running_until=timezone.now() - timedelta(seconds=1))
    assert services.refresh(made.study).made
    assert Refresh.objects.get().running_until is None


def test_a_new_only_process_takes_over_at_once(made, messages):
    Refresh.of(made.study.pk)
    Refresh.objects.update(running_until=timezone.now() + timedelta(minutes=1), wanted_at=timezone.now())
    services.abandon_runs()
    assert services.sweep() == 1
    assert messages == [(made.study.pk, freshness.COUNTDOWN.total_seconds())]


def test_newer_data_win_over_a_computation_that_ends_later(made, monkeypatch):
    publish = services._publish

    def overtaken(*computed):
        made.rate("beta", "alpha", 2)
        publish(*services._compute(made.study, anew=True))
        return publish(*computed)

    monkeypatch.setattr(services, "_publish", overtaken)
    outcome = services.refresh(made.study)
    assert not outcome.made
    assert outcome.snapshot.comparisons == 2
    assert Snapshot.objects.count() == 1


def test_data_that_shrank_are_published_all_the_same(made):
    made.rate("beta", "alpha", 2).delete()
    made.rate("beta", "alpha", 2)
    services.refresh(made.study)
    made.study.comparisons.last().delete()
    assert services.refresh(made.study).made
    assert services.stale() == []


def test_a_failure_is_kept_and_lets_the_study_go(made, monkeypatch, messages):
    def broken(*args, **kwargs):
        raise ArithmeticError("no numbers today")

    monkeypatch.setattr(services, "_compute", broken)
    with pytest.raises(ArithmeticError):
        services.refresh(made.study)
    state = Refresh.objects.get()
    assert "no numbers today" in state.error
    assert state.running_until is None
    assert services.sweep() == 0
    Refresh.objects.update(failed_at=timezone.now() - freshness.RETRY_FAILED_AFTER)
    assert services.sweep() == 1


def test_many_ratings_ask_for_one_refresh(made, messages):
    for _ in range(5):
        opinion_recorded.send(sender=None, study_id=made.study.pk)
    study_changed.send(sender=None, study_id=made.study.pk)
    assert messages == [(made.study.pk, freshness.COUNTDOWN.total_seconds())]
    tasks.refresh_study(made.study.pk)
    opinion_recorded.send(sender=None, study_id=made.study.pk)
    assert len(messages) == 2


@pytest.mark.parametrize(
    ("where", "name", "error", "said"),
    [
        (current_app, "send_task", OperationalError("connection refused"), "cannot be reached"),
        (freshness, "request_refresh", DatabaseError("database is locked"), "the sweep will ask again"),
    ],
)
def test_a_queue_or_database_that_cannot_be_reached_does_not_break_a_rating(
    made, monkeypatch, caplog, where, name, error, said
):
    def broken(*args, **kwargs):
        raise error

    monkeypatch.setattr(where, name, broken)
    opinion_recorded.send(sender=None, study_id=made.study.pk)
    assert said in caplog.text


def test_the_sweep_finds_stale_studies_and_lost_messages(made, messages):
    assert services.sweep() == 1
    assert services.sweep() == 0, "asked for a moment ago"
    Refresh.objects.update(wanted_at=timezone.now() - freshness.LOST_AFTER)
    assert services.sweep() == 1, "the message was lost"
    tasks.refresh_study(made.study.pk)
    assert services.sweep() == 0, "nothing is stale"
    made.rate("beta", "alpha", 2)
    assert services.sweep() == 1
    assert [study for study, _ in messages] == [made.study.pk] * 3
    tasks.refresh_study(10**9)
    assert len(messages) == 3, "a study that is deleted"


@pytest.mark.both_databases(False)
def test_old_snapshots_are_pruned_but_for_one_a_day(made):
    now = timezone.now()
    for days in (40, 8, 8, 7, 0, 0, 0, 0):
        made.rate("alpha", "beta", 2)
        snapshot = services.refresh(made.study).snapshot
        Snapshot.objects.filter(pk=snapshot.pk).update(created_at=now - timedelta(days=days))
    services._prune(snapshot)
    ages = [(now - created).days for created in Snapshot.objects.values_list("created_at", flat=True)]
    assert ages == [0, 0, 0, 7, 8]
    assert set(SnapshotSlice.objects.values_list("snapshot", flat=True)) == set(
        Snapshot.objects.values_list("pk", flat=True)
    )


def test_ratings_that_are_not_in_the_snapshot_yet_are_counted_in_one_query_by_an_index(made):
    snapshot = services.refresh(made.study).snapshot
    HandMade("alpha", "beta").rate("alpha", "beta", 1)
    with CaptureQueriesContext(connection) as captured:
        assert freshness.behind(made.study, snapshot) == 0
    assert len(captured) == 1
    plan = Comparison.objects.filter(study=made.study, pk__gt=snapshot.last_comparison).explain()
    assert "index" in plan.lower()
    made.rate("alpha", "beta", 2)
    made.rate("alpha", "beta", 2)
    assert freshness.behind(made.study, snapshot) == 2
    snapshot = services.refresh(made.study).snapshot
    made.study.touch()
    made.study.refresh_from_db()
    assert freshness.behind(made.study, snapshot) == -1, "another change"


def committed_late(made):
    """A comparison with a smaller id than the newest, which the snapshot did not see."""
    early = made.rate("beta", "alpha", 3)
    row = {field.attname: getattr(early, field.attname) for field in early._meta.concrete_fields}
    row["repeat"] = 50
    early.delete()
    made.rate("beta", "alpha", 2)
    services.refresh(made.study)
    return lambda: Comparison.objects.create(**row)


class TestSweeping:
    def test_new_ratings_revisions_and_new_studies_are_stale(self, made):
        assert services.stale() == [made.study.pk]
        services.refresh(made.study)
        assert services.stale() == []
        made.rate("beta", "alpha", 2)
        assert services.stale() == [made.study.pk]
        services.refresh(made.study)
        made.study.touch()
        other = HandMade("alpha", "beta").study
        assert services.stale() == [made.study.pk, other.pk]

    def test_what_committed_late_is_found_among_the_last_ids(self, made, messages):
        store = committed_late(made)
        assert services.stale() == []
        store()
        assert services.sweep() == 1
        assert services.refresh_if_stale(made.study).snapshot.comparisons == 3

    @pytest.mark.both_databases(False)
    def test_a_sweep_asks_the_same_number_of_queries_for_many_studies(self, made, messages):
        def queries():
            with CaptureQueriesContext(connection) as captured:
                services.stale()
            return len(captured)

        services.refresh(made.study)
        before = queries()
        for _ in range(3):
            HandMade("alpha", "beta").rate("alpha", "beta", 1)
        assert queries() == before <= 4
