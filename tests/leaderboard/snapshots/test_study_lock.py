import threading
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from leaderboard.models import Refresh
from leaderboard.models.querysets import RefreshQuerySet
from leaderboard.snapshots import study_lock
from tests.factories import make_study

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


@pytest.fixture
def study_id():
    return Refresh.of(make_study().pk).study_id


@pytest.fixture
def renewed(monkeypatch):
    """Renews very often; set after each renewal."""
    monkeypatch.setattr(study_lock, "RENEWED_EVERY", timedelta(seconds=0.01))
    done, renew = threading.Event(), RefreshQuerySet.renew

    def noting(self, *args):
        try:
            return renew(self, *args)
        finally:
            done.set()

    monkeypatch.setattr(RefreshQuerySet, "renew", noting)
    return done


def test_a_hold_is_renewed_and_let_go(study_id, renewed):
    with study_lock.held(study_id, "demo"):
        first = Refresh.objects.get().running_until
        for _ in range(3):
            renewed.clear()
            assert renewed.wait(30)
        assert Refresh.objects.get().running_until > first
        with pytest.raises(study_lock.BusyError, match='"demo" is being computed by another process'):
            study_lock.held(study_id, "demo").__enter__()
    assert Refresh.objects.get().running_until is None


def test_a_hold_ends_after_a_failure_and_a_minute_after_its_process_died(study_id):
    with pytest.raises(ArithmeticError), study_lock.held(study_id, "demo"):
        raise ArithmeticError
    assert Refresh.objects.get().running_until is None
    now = timezone.now()
    assert Refresh.objects.claim(study_id, now, now + study_lock.HELD_FOR)
    assert not Refresh.objects.claim(study_id, now, now + study_lock.HELD_FOR)
    later = now + timedelta(minutes=1)
    assert Refresh.objects.claim(study_id, later, later + study_lock.HELD_FOR)


def test_a_hold_that_another_has_taken_is_left_to_it(study_id, renewed):
    theirs = timezone.now() + timedelta(hours=1)
    with study_lock.held(study_id, "demo"):
        Refresh.objects.update(running_until=theirs)
        for _ in range(2):
            renewed.clear()
            assert renewed.wait(30)
    assert Refresh.objects.get().running_until == theirs


def test_a_database_that_is_away_ends_no_hold(study_id, monkeypatch, caplog):
    monkeypatch.setattr(study_lock, "RENEWED_EVERY", timedelta(seconds=0.01))
    tries, renew, enough = [], RefreshQuerySet.renew, threading.Event()

    def away(self, *args):
        tries.append(args)
        if len(tries) > 2:
            enough.set()
            return renew(self, *args)
        raise OperationalError("server closed the connection")

    monkeypatch.setattr(RefreshQuerySet, "renew", away)
    with study_lock.held(study_id, "demo"):
        assert enough.wait(30)
    assert Refresh.objects.get().running_until is None
    assert "could not be renewed: server closed the connection" in caplog.text
