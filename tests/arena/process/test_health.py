"""/healthz: what it says when all is well, when the database is away and when nobody works."""

import pytest
from django.db import DatabaseError, connection

from arena.process import health, worker

pytestmark = pytest.mark.both_databases


@pytest.fixture(autouse=True)
def forget_pings(monkeypatch) -> None:
    monkeypatch.setattr(health, "_last_ping", (float("-inf"), False))


@pytest.mark.django_db
def test_all_is_well(client, settings, monkeypatch) -> None:
    settings.EMBEDDED_WORKER = True
    assert client.get("/healthz").json()["worker"] == "none"
    monkeypatch.setattr(worker, "embedded_worker_alive", lambda: True)
    reply = client.get("/healthz")
    assert reply.status_code == 200
    assert reply.json() == {"database": "ok", "worker": "embedded", "version": settings.VERSION}
    assert "no-store" in reply["Cache-Control"]
    assert client.post("/healthz").status_code == 405


@pytest.mark.django_db
def test_the_database_is_away(client, monkeypatch) -> None:
    def away(*args, **kwargs):
        raise DatabaseError("away")

    monkeypatch.setattr(connection, "cursor", away)
    reply = client.get("/healthz")
    assert reply.status_code == 503
    assert reply.json()["database"] == "unreachable"
    assert "away" not in reply.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(("answers", "word"), [(True, "seen"), (False, "none")])
def test_a_worker_elsewhere_is_asked_once_in_a_while(client, settings, monkeypatch, answers, word) -> None:
    settings.EMBEDDED_WORKER = False
    asked = []
    monkeypatch.setattr(health, "_worker_answers", lambda: asked.append(1) or answers)
    assert [client.get("/healthz").json()["worker"] for _ in range(3)] == [word] * 3
    assert len(asked) == 1


def test_a_broker_that_is_away_means_no_worker(monkeypatch, caplog) -> None:
    def away(**kwargs):
        raise OSError("connection refused")

    from arena.celery import app

    monkeypatch.setattr(app, "connection_for_write", away)
    assert health._worker_answers() is False
    assert "The broker does not answer" in caplog.text
