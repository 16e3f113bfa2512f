import pytest

from leaderboard.models import SnapshotSlice
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.rows import HandMade

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture(scope="module")
def snapshot(shared_rows, rounds):
    """Numbers of people, a judge, and a group of one of the people."""

    made = HandMade("alpha", "beta", "gamma", categories=("coding", "poems"))
    expert = factories.make_rater(name="Bo")
    expert.groups.add(factories.make_group(slug="experts"))
    for rater in (made.person, expert, made.judge("strict")):
        for prompt in (0, 1):
            made.rate("alpha", "beta", 1, rater=rater, prompt=prompt)
            made.rate("beta", "gamma", 4, rater=rater, prompt=prompt)
    return services.refresh(made.study).snapshot


def read(snapshot, *setting):
    rows = SnapshotSlice.objects.filter(snapshot=snapshot).for_board(*setting)
    assert {row.category for row in rows} == {setting[2]}
    return {(row.kind, row.raters, row.ties, row.method) for row in rows}


@pytest.mark.parametrize("category", ["", "poems"])
def test_a_board_reads_what_it_shows_and_nothing_else(snapshot, category):
    assert read(snapshot, "people", "on", category, "elo", "bradley-terry") == {
        ("standings", "people", "on", "elo"),
        ("standings", "people", "off", "elo"),
        ("standings", "people", "on", "bradley-terry"),
        ("standings", "judge:strict", "on", "elo"),
        ("matrices", "people", "on", ""),
    }


def test_a_group_is_read_where_it_is_chosen_and_the_ordinal_model_has_no_other_tie_rule(snapshot):
    assert read(snapshot, "judge:strict", "on", "", "ordinal", "bradley-terry") == {
        ("standings", "judge:strict", "on", "ordinal"),
        ("standings", "judge:strict", "on", "bradley-terry"),
        ("standings", "people", "on", "ordinal"),
        ("matrices", "judge:strict", "on", ""),
    }
    found = read(snapshot, "group:experts", "off", "", "davidson", "bradley-terry")
    assert {raters for _, raters, _, _ in found} == {"group:experts", "people", "judge:strict"}
