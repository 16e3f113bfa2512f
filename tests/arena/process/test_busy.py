"""A database that something long keeps for itself, or that is being restarted."""

import sqlite3
from typing import Any

import psycopg
import psycopg_pool
import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.api import views
from arena.api.auth import rater_token
from arena.models import Membership
from arena.process import busy
from arena.rating import assignments
from tests import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


LOCKED = OperationalError("database is locked")


def refuse(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Make the database refuse claims and answers with the error."""

    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(assignments, "lock_to_rate", fail)
    monkeypatch.setattr(views, "record_all", fail)


def rating_page() -> Any:
    """What a rater gets who wants the next pair."""
    study, user = make.make_small_study(), make.make_user()
    make.make_member(study, user=user)
    Membership.objects.update(guidelines_read_at=timezone.now())
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client.get(reverse("rate-study", args=[study.slug]))


def test_a_rater_is_asked_to_try_again_and_other_errors_stay_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, LOCKED)
    page = rating_page()
    assert (page.status_code, page.headers["Retry-After"]) == (503, "10")
    assert "please try again in a moment" in page.content.decode()
    refuse(monkeypatch, OperationalError("database or disk is full"))
    page = rating_page()
    assert (page.status_code, page.headers["Retry-After"]) == (503, "10")
    assert "disk is full" in page.content.decode()
    refuse(monkeypatch, OperationalError("disk I/O error"))
    assert rating_page().status_code == 500


def test_a_judge_is_told_in_json(monkeypatch: pytest.MonkeyPatch) -> None:
    away = OperationalError("server closed the connection")
    away.__cause__ = psycopg.OperationalError("closed")
    headers = {"Authorization": f"Bearer {rater_token(make.make_rater(kind='judge'))}"}
    full = OperationalError("could not extend file")
    full.__cause__ = psycopg.errors.DiskFull("could not extend file")
    for error, sentence in ((LOCKED, busy.BUSY), (away, busy.AWAY), (full, busy.FULL)):
        refuse(monkeypatch, error)
        reply = Client(raise_request_exception=False).post(
            "/api/v1/comparisons/",
            {"assignment": "any", "rating": 5},
            content_type="application/json",
            headers=headers,
        )
        assert (reply.status_code, reply.headers["Retry-After"]) == (503, "10")
        assert reply.json() == {"detail": sentence, "field": None}


@pytest.mark.parametrize(
    ("cause", "sentence"),
    [
        (psycopg.OperationalError("server closed the connection unexpectedly"), busy.AWAY),
        (psycopg_pool.PoolTimeout("couldn't get a connection after 30.00 sec"), busy.AWAY),
        (psycopg.InterfaceError("the connection is closed"), busy.AWAY),
        (psycopg.errors.AdminShutdown("terminating connection"), busy.AWAY),
        (psycopg.errors.CannotConnectNow("the database system is starting up"), busy.AWAY),
        (psycopg.errors.DiskFull("no space left"), ""),
        (sqlite3.OperationalError("disk I/O error"), ""),
        (sqlite3.OperationalError("database is locked"), busy.BUSY),
    ],
)
def test_what_passes_by_itself_is_told_apart(cause: Exception, sentence: str) -> None:
    error = OperationalError(str(cause))
    error.__cause__ = cause
    assert busy.trouble(error) == sentence
    assert busy.trouble(ValueError(str(cause))) == ""


@pytest.mark.both_databases(False)
def test_a_disk_without_a_byte_left_is_full() -> None:
    error = OperationalError("disk I/O error")
    error.__cause__ = sqlite3.OperationalError("disk I/O error")
    assert not busy.disk_is_full(error)
    error.__cause__.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"
    assert busy.disk_is_full(error)
