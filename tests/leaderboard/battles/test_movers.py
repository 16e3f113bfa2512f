import pytest

from arena.rules.subsets import LIVE_SUBSET
from leaderboard.battles.movers import moves
from tests import factories
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db


def test_a_visitor_with_many_one_sided_votes_moves_the_board():
    live = HandMade("alpha", "beta", slug="moved", categories=())
    about = {"study": live.study, "subset": LIVE_SUBSET, "category": ""}
    live.prompts = [factories.make_prompt(**about) for _ in range(80)]
    bot, other = factories.make_visitor(name="Visitor 1"), factories.make_visitor(name="Visitor 2")
    for number in range(60, 80):
        live.rate("alpha", "beta", 1 if number % 2 else 8, prompt=number)
    for number in range(40):
        live.rate("beta", "alpha", 1, prompt=number, rater=bot)
    for number in range(40, 60):
        live.rate("alpha", "beta", 1 if number % 2 else 8, prompt=number, rater=other)
    found = moves(live.study, [bot.pk, other.pk, live.person.pk])
    assert found[bot.pk] < -150
    assert all(abs(found[each.pk]) < -found[bot.pk] for each in (other, live.person))


def test_nothing_is_said_of_the_only_voter_on_the_first():
    live = HandMade("alpha", "beta", "gamma", slug="moved")
    live.rate("alpha", "beta", 1)
    live.rate("beta", "gamma", 1, rater=factories.make_rater(name="Bea"))
    assert moves(live.study, [live.person.pk]) == {}


def test_nobody_moves_an_empty_board():
    assert moves(factories.make_study(), [1]) == {}
