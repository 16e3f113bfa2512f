"""After a test that commits, the database is as Django's own flush would leave it."""

from collections import Counter

import pytest
from django.core.management import call_command
from django.db import connection

from tests import emptying
from tests.leaderboard.rows import HandMade


def rows() -> Counter[str]:
    """How many rows every table of a model holds."""
    counts: Counter[str] = Counter()
    with connection.cursor() as cursor:
        for name in connection.introspection.django_table_names(only_existing=True, include_views=False):
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(name)}")  # noqa: S608
            counts[name] = cursor.fetchone()[0]
    return counts


@pytest.mark.django_db(transaction=True)
def test_nothing_is_left_but_what_a_flush_leaves() -> None:
    call_command("flush", verbosity=0, interactive=False)
    fresh = rows()
    made = HandMade("alpha", "beta")
    made.rate("alpha", "beta", 2)
    assert rows() != fresh
    assert {"arena_study", "arena_comparison"} <= set(emptying.tables_with_rows(connection))
    emptying.empty("default")
    assert emptying.tables_with_rows(connection) == []
    assert rows() == fresh


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("number", [1, 2])
def test_a_test_that_commits_starts_without_rows(number: int) -> None:
    assert emptying.tables_with_rows(connection) == []
    HandMade("alpha", "beta")
