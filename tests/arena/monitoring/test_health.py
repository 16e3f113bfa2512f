"""/healthz and /readyz: what they say when all is well, and when something is missing."""

import socket
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

from arena.celery import app
from arena.monitoring import health
from arena.monitoring.health import Workers
from arena.process import worker

pytestmark = pytest.mark.both_databases


@pytest.fixture(autouse=True)
def _forget() -> None:
    health.remembered.clear()


def away(*args: Any, **kwargs: Any) -> Any:
    raise DatabaseError("away")


@pytest.mark.django_db
def test_all_is_well(client: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EMBEDDED_WORKER = True
    assert client.get("/healthz").json()["worker"] == "none"
    monkeypatch.setattr(worker, "embedded_worker_alive", lambda: True)
    reply = client.get("/healthz")
    assert reply.status_code == 200
    assert reply.json() == {"database": "ok", "worker": "embedded", "version": settings.VERSION}
    assert "no-store" in reply["Cache-Control"]
    assert client.post("/healthz").status_code == 405
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()) == (
        200,
        {"ready": True, "missing": [], "version": settings.VERSION},
    )


@pytest.mark.django_db
def test_the_database_is_away(
    client: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(BaseDatabaseWrapper, "cursor", away)
    for path in ("/healthz", "/readyz"):
        reply = client.get(path)
        assert reply.status_code == 503
        assert "away" not in reply.content.decode()
    assert client.get("/healthz").json()["database"] == "unreachable"
    assert client.get("/readyz").json()["missing"][0] == "The database does not answer."
    assert "The database does not answer: away" in caplog.text
    assert {record.levelname for record in caplog.records} == {"WARNING"}  # nothing of the arena failed


@pytest.mark.django_db
def test_a_queue_without_worker_is_named(
    client: Any, settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.EMBEDDED_WORKER = False
    found = Workers(broker=True, queues={"judging": True, "statistics": False, "imports": True})
    asked: list[int] = []
    monkeypatch.setattr(health, "_ask_workers", lambda: asked.append(1) or found)
    assert client.get("/healthz").json()["worker"] == "seen"
    replies = [client.get("/readyz") for _ in range(3)]
    assert {reply.status_code for reply in replies} == {503}
    assert replies[0].json()["missing"] == ["No worker takes tasks from the queue statistics."]
    assert len(asked) == 1  # lately enough
    said = "Not ready: No worker takes tasks from the queue statistics."
    assert {(each.levelname, each.getMessage()) for each in caplog.records} == {("WARNING", said)}


@pytest.mark.django_db
def test_a_missing_migration_is_told(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    newest = max(key for key in MigrationRecorder(connection).applied_migrations() if key[0] == "judging")
    MigrationRecorder(connection).record_unapplied(*newest)
    assert "Migrations are missing: run python manage.py migrate." in client.get("/readyz").json()["missing"]


def test_a_broker_that_is_away_means_no_worker(
    client: Any, settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(**kwargs: Any) -> Any:
        raise OSError("connection refused")

    settings.EMBEDDED_WORKER = False
    monkeypatch.setattr(app, "connection_for_write", refused)
    monkeypatch.setattr(health, "database_answers", lambda: True)
    monkeypatch.setattr(health, "_is_migrated", lambda: True)
    assert client.get("/readyz").json()["missing"] == ["The broker does not answer."]
    assert client.get("/healthz").json()["worker"] == "none"
    assert "The broker does not answer" in caplog.text


def test_a_broker_that_never_answers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "PING_SECONDS", 0.05)
    connect = app.connection_for_write
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        monkeypatch.setattr(app, "connection_for_write", lambda **options: connect(address, **options))
        assert not health._ask_workers().broker
