import json

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.models import Snapshot
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.reading import printed
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared(shared_rows):
    made = HandMade("alpha", "beta", "gamma", slug="small", categories=("coding", "poems"))
    made.rate("alpha", "beta", 1)
    made.rate("beta", "gamma", 4)
    made.rate("gamma", "alpha", 6, prompt=1)
    return made


def standings_of(*arguments):
    return json.loads(printed("standings", *arguments, "--format", "json"))


def test_the_order_of_one_pass_of_elo_worked_out_by_hand(made):
    found = standings_of("small", "--method", "elo-study", "--no-bootstrap")
    # 1: alpha beats beta, both at 1000: 1016, 984. 2: beta ties gamma: expected 0.476990 for beta.
    beta = 984 + 32 * (0.5 - 1 / (1 + 10 ** (16 / 400)))
    gamma = 1000 - (beta - 984)
    # 3: gamma shown first, rated 6: alpha wins.
    gain = 32 * (1 - 1 / (1 + 10 ** ((gamma - 1016) / 400)))
    ratings = {row["contestant"]: row["rating"] for row in found["standings"]}
    assert ratings == pytest.approx({"alpha": 1016 + gain, "beta": beta, "gamma": gamma - gain}, abs=1e-6)
    assert [row["rank"] for row in found["standings"]] == [1, 2, 3]
    assert all(row["low"] is None and row["high"] is None for row in found["standings"])
    assert (found["method"], found["games"], found["left_out"]) == ("elo-study", 3, 0)


def test_ties_off_raters_and_category(made):
    judge = made.judge("strict")
    made.rate("alpha", "gamma", 8, rater=judge)
    found = standings_of("small", "--ties", "off", "--rounds", "10")
    assert sum(row["ties"] for row in found["standings"]) == 0
    assert found["parameters"]["ties"] == "off"
    found = standings_of("small", "--raters", "judge:strict", "--rounds", "10")
    assert [row["contestant"] for row in found["standings"]] == ["gamma", "alpha"]
    found = standings_of("small", "--category", "poems", "--rounds", "10")
    assert found["games"] == 1


def test_a_group_is_selected_by_name(made):
    experts = factories.make_group(slug="experts")
    made.person.groups.add(experts)
    made.rate("alpha", "beta", 8, rater=factories.make_rater())
    found = standings_of("small", "--raters", "group:experts", "--rounds", "10")
    assert found["games"] == 3


def test_the_command_and_the_snapshot_agree(made, monkeypatch):
    monkeypatch.setattr(services, "ROUNDS", 25)
    snapshot = services.refresh(made.study).snapshot
    row = snapshot.slices.get(
        kind="standings", raters="people", ties="off", category="", method="bradley-terry"
    )
    live = standings_of("small", "--ties", "off", "--method", "bradley-terry", "--rounds", "25")
    stored = row.content
    for standing in stored["standings"]:
        del standing["kind"]
    about = {name: live.pop(name) for name in ("study", "raters", "category", "simulated")}
    assert about == {"study": "small", "raters": "people", "category": None, "simulated": False}
    assert {name: stored[name] for name in live} == live


def test_the_table_names_the_contestants_best_first_and_simulated_votes(made):
    table = printed("standings", "small", "--rounds", "10")
    ranked = [
        line.split() for line in table.splitlines() if line.split()[2:3] in (["alpha"], ["beta"], ["gamma"])
    ]
    assert ranked[0][:3] == ["1", "1", "alpha"]
    assert float(ranked[0][3]) > float(ranked[1][3]) >= float(ranked[2][3])
    assert "3 ratings" in table
    made.rate("alpha", "beta", 1, rater=made.judge("robot", simulated=True))
    arguments = ("standings", "small", "--raters", "judge:robot", "--rounds", "10")
    assert "ROBOT (simulated), all categories. Simulated ratings" in printed(*arguments)
    assert json.loads(printed(*arguments, "--format", "json"))["simulated"] is True
    assert "simulated" not in printed("standings", "small", "--rounds", "10").lower()


def test_refresh_publishes_a_snapshot_and_no_games_is_one_sentence(made):
    assert "small: 3 ratings" in printed("refresh", "small")
    assert Snapshot.objects.get().study == made.study
    judge = made.judge("silent")
    made.rate("alpha", "beta", None, reason="empty", rater=judge)
    with pytest.raises(CommandError, match=r"small, judge:silent: there are no ratings to rank by\."):
        printed("standings", "small", "--raters", "judge:silent")


class TestAdjusting:
    def balanced(self):
        """Three contestants whose answers differ in length, every pair in both orders."""
        made = HandMade("alpha", "beta", "gamma", slug="style", categories=("a", "b", "c"))
        for place, prompt in enumerate(made.prompts):
            for number, name in enumerate(made.contestants):
                text = "word " * (3 + (number + place) % 3 * 5 + number)
                factories.make_completion(prompt=prompt, contestant=made.contestants[name], turns=[text])
        for prompt in range(3):
            for one, other, rating in (("alpha", "beta", 3), ("beta", "gamma", 2), ("alpha", "gamma", 6)):
                made.rate(one, other, rating, prompt=prompt)
                made.rate(other, one, 8 - rating + prompt % 2, prompt=prompt)
        return made

    def test_for_the_length_of_the_texts_and_the_leans_of_raters_and_nothing_else(self):
        self.balanced()
        options = "--method ordinal --adjust length,raters --rounds 20"
        arguments = ("standings", "style", *options.split())
        found = json.loads(printed(*arguments, "--format", "json"))
        assert found["parameters"]["adjust"] == ["length", "raters"]
        assert set(found["effects"]) == {"length"}
        assert found["rater_lean_sd"] is not None
        assert "One standard deviation more length is worth" in printed(*arguments)
        with CaptureQueriesContext(connection) as captured:
            printed("standings", "style", "--method", "ordinal", "--rounds", "5")
        assert not any('"turns"' in query["sql"] for query in captured)
        with pytest.raises(CommandError, match=r"^style, people: .*colour.*: length, markdown\.$"):
            printed("standings", "style", "--method", "ordinal", "--adjust", "colour")
