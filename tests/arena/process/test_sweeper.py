"""The sweep: every function in turn, failures apart, one process at a time; and the thread around it."""

import threading

import pytest
from django.db import OperationalError, connection

from arena.process import sweep

pytestmark = pytest.mark.both_databases

calls: list[str] = []


def first() -> None:
    calls.append("first")


def broken() -> None:
    calls.append("broken")
    raise RuntimeError("this sweep fails")


def busy() -> None:
    raise OperationalError("database is locked")


def last() -> None:
    calls.append("last")


@pytest.fixture(autouse=True)
def three_sweeps(settings) -> None:
    calls.clear()
    settings.SWEEPS = [f"{__name__}.{name}" for name in ("first", "broken", "last")]


@pytest.mark.django_db
def test_a_failing_sweep_is_logged_and_stops_no_other(caplog) -> None:
    sweep.sweep_once()
    assert calls == ["first", "broken", "last"]
    assert "broken failed" in caplog.text
    assert "this sweep fails" in caplog.text


@pytest.mark.django_db
def test_a_database_that_is_busy_is_no_failure(settings, caplog) -> None:
    settings.SWEEPS = [f"{__name__}.{name}" for name in ("busy", "last")]
    sweep.sweep_once()
    assert calls == ["last"]
    (said,) = caplog.records
    assert said.levelname == "WARNING"
    assert "busy could not write (database is locked)" in said.message
    assert said.exc_info is None


@pytest.mark.django_db(transaction=True)
def test_the_thread_sweeps_until_it_is_stopped(settings) -> None:
    settings.SWEEP_SECONDS = 0.01
    swept = threading.Event()
    settings.SWEEPS = [f"{__name__}.last"] * 3
    thread = sweep.Sweeper()
    thread.start()
    while len(calls) < 9:
        assert not swept.wait(0.01)
    assert thread.is_alive()
    thread.stop(timeout=10)
    assert not thread.is_alive()


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_one_process_sweeps_at_a_time() -> None:
    """Another connection that holds the lock stands for another process."""
    taken, release = threading.Event(), threading.Event()

    def other_process() -> None:
        with sweep._only_sweeper() as free:
            assert free
            taken.set()
            release.wait(10)
        connection.close()

    other = threading.Thread(target=other_process)
    other.start()
    assert taken.wait(10)
    sweep.sweep_once()
    assert calls == []
    release.set()
    other.join()
    sweep.sweep_once()
    assert calls == ["first", "broken", "last"]
