"""Releases made at the same time."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connections

from leaderboard.models import Release
from tests.leaderboard.releases.releasing import make_board, release

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr("celery.current_app.send_task", lambda *args, **options: None)


def test_two_at_once_make_one_release_and_two_versions_two_numbers():
    made = make_board()
    barrier = Barrier(3)

    def run(version):
        barrier.wait()
        try:
            return release(made, version).number
        finally:
            connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(run, ("1.0", "1.0", "2.0")))
    assert found[0] == found[1]
    assert sorted(Release.objects.values_list("number", flat=True)) == [1, 2]
