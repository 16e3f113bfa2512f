"""Live prompts and anonymous votes apart from the others, in numbers and in words."""

import pytest

from arena.rules.subsets import LIVE_SUBSET
from leaderboard.models import Snapshot
from leaderboard.refreshing import services
from leaderboard.refreshing.computing import compute_next
from leaderboard.snapshots.reading import opinions
from leaderboard.standings.movers import movers
from leaderboard.standings.page import Board
from tests import factories
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db


class Both(HandMade):
    """alpha wins on 4 curated prompts; beta on 3 live ones, 2 of them by a visitor without an account."""

    def __init__(self, curated=4, live=3, **overrides):
        super().__init__("alpha", "beta", slug="both", categories=("coding",) * curated, **overrides)
        about = {"study": self.study, "subset": LIVE_SUBSET, "category": "", "is_private": True}
        self.prompts += [factories.make_prompt(**about) for _ in range(live)]
        self.visitor = factories.make_visitor(name="Visitor 1")
        self.strict = self.judge("strict")
        for number in range(curated):
            self.rate("alpha", "beta", 1, prompt=number)
        for number in range(curated, curated + live):
            rater = self.person if number == curated else self.visitor
            self.rate("beta", "alpha", 1, prompt=number, rater=rater)
            self.rate("alpha", "beta", 7, prompt=number, rater=self.strict)
        services.refresh(self.study)

    def board(self, **wanted):
        while True:
            board = Board.newest(self.study, {"raters": "people", **wanted})
            if not board.pending:
                return board
            assert compute_next(self.study.pk)


def places(board):
    return [row["contestant"] for row in board.content["standings"]]


def test_live_and_curated_prompts_are_apart_unless_both_are_asked_for():
    live = Both()
    assert [
        (places(board), board.content["games"]) for board in (live.board(), live.board(prompts="live"))
    ] == [
        (["alpha", "beta"], 4),
        (["beta", "alpha"], 3),
    ]
    assert live.board(prompts="both").content["games"] == 7
    assert live.board(prompts="curated").setting == live.board().setting
    assert live.board(prompts="live", visitors="without").content["games"] == 1


def test_a_battle_is_drawn_as_a_prompt():
    live = Both()
    assert live.board(prompts="live").content["parameters"]["clusters"] == 3
    assert live.board(prompts="both").content["parameters"]["clusters"] == 7


def test_words_say_what_is_counted():
    live = Both()
    assert live.board().size == "2 models, 4 curated prompts, 4 ratings by people."
    assert live.board(prompts="live").size == (
        "2 models, 3 live prompts, 3 ratings by people (2 by 1 visitor without an account), 3 by judges."
    )
    assert live.board(prompts="both").size.startswith("2 models, 7 curated and live prompts, 7 ratings")
    without = live.board(prompts="live", visitors="without")
    assert without.size == "2 models, 3 live prompts, 1 rating by people, 3 by judges."
    assert without.about_words == "live prompts, without anonymous ratings"
    assert live.board().setting_words.startswith("People, all categories, curated prompts, ")


def test_switches_lead_to_what_they_say(client):
    live = Both()
    shown = {
        switch.field: [(each.label, each.comparisons) for each in switch.options]
        for switch in live.board().switches
    }
    assert shown["prompts"] == [("Curated", 4), ("Live", 6), ("Both", 10)]
    assert "visitors" not in shown
    switches = {switch.field: switch for switch in live.board(prompts="live").switches}
    assert [(each.label, each.comparisons) for each in switches["visitors"].options] == [
        ("Counted", 6),
        ("Left out", 4),
    ]
    for option in (*switches["prompts"].options, *switches["visitors"].options):
        assert client.get(f"/studies/both/{option.query}").status_code in (200, 202, 503)


def test_a_study_without_live_prompts_shows_neither_switch_and_counts_as_before(client):
    other = HandMade("alpha", "beta", slug="plain")
    other.rate("alpha", "beta", 1)
    services.refresh(other.study)
    snapshot = Snapshot.objects.newest(other.study)
    assert not {"apart", "prompt_kinds", "prompts_shown", "anonymous"} & snapshot.counts.keys()
    board = Board.newest(other.study, {})
    assert not {"prompts", "visitors"} & {switch.field for switch in board.switches}
    assert board.size == "2 models, 1 prompt, 1 rating by people."
    assert not {"prompts", "visitors"} & board.standings().keys()
    assert "no ratings of live prompts" in client.get("/studies/plain/?prompts=live").content.decode()


def test_where_all_prompts_are_live_they_are_usual():
    live = Both(curated=0)
    assert live.board().content["games"] == 3
    assert live.board(prompts="both").setting == live.board().setting
    assert live.board().size.startswith("2 models, 3 live prompts, 3 ratings")
    assert [switch.field for switch in live.board().switches if switch.field in ("prompts", "visitors")] == [
        "visitors"
    ]


def test_visitors_are_raters_of_their_own_beside_people_and_judges():
    live = Both()
    assert live.board(prompts="live", raters="group:visitors").content["games"] == 2
    read = opinions(live.study)
    labels = [choice.label for choice in read.at("live").raters]
    assert labels == ["People", "STRICT", "Visitors"]
    assert [choice.label for choice in read.at().raters] == ["People"]


def test_the_api_says_what_is_counted(client):
    live = Both()
    live.board(prompts="live", visitors="without")
    told = client.get("/api/v1/studies/both/standings/?raters=people&prompts=live&visitors=without").json()
    assert (told["prompts"], told["visitors"], told["games"]) == ("live", "without", 1)
    assert client.get("/api/v1/studies/both/standings/?raters=people").json()["prompts"] == "curated"


def test_agreement_on_live_prompts_is_that_of_live_prompts(client):
    live = Both()
    address = "/studies/both/agreement/?prompts=live"
    for _ in range(5):
        page = client.get(address)
        if not compute_next(live.study.pk):
            break
    assert page.status_code == 200
    text = page.content.decode()
    assert "Live" in text
    assert "Visitors" in text


def test_a_bot_moves_the_board_and_is_out_without_anonymous_votes():
    live = HandMade("alpha", "beta", slug="bot")
    about = {"study": live.study, "subset": LIVE_SUBSET, "category": ""}
    live.prompts = [factories.make_prompt(**about) for _ in range(312)]
    bot = factories.make_visitor(name="Visitor 1")
    for number in range(300):
        live.rate("beta", "alpha", 1, prompt=number, rater=bot)
    for number in range(300, 312):
        live.rate("alpha", "beta", 1, prompt=number)
    services.refresh(live.study)
    assert places(Board.newest(live.study, {"raters": "people"})) == ["beta", "alpha"]
    while (board := Board.newest(live.study, {"raters": "people", "visitors": "without"})).pending:
        assert compute_next(live.study.pk)
    assert (places(board), board.content["games"]) == (["alpha", "beta"], 12)


def test_neither_is_counted_by_model_and_is_no_tie_and_no_zero():
    live = HandMade("alpha", "beta", "gamma", slug="bad", categories=("coding",) * 4)
    live.rate("alpha", "beta", 1)
    live.rate("alpha", "beta", 4, prompt=1, neither=True)
    live.rate("alpha", "gamma", None, prompt=2, reason="neither", neither=True)
    live.rate("beta", "gamma", 1, prompt=3)
    services.refresh(live.study)
    board = Board.newest(live.study, {"raters": "people"})
    assert board.neither == (
        "Neither answer was acceptable in 2 of 4: alpha 2 of 3, gamma 1 of 2, beta 1 of 3."
    )
    assert board.content["games"] == 3
    assert board.content["unscored"] == 1


def test_without_such_ratings_nothing_is_said_of_neither():
    assert Both().board().neither == ""


def test_the_visitor_whose_votes_move_the_board_most_comes_first():
    live = HandMade("alpha", "beta", slug="moved", categories=())
    about = {"study": live.study, "subset": LIVE_SUBSET, "category": ""}
    live.prompts = [factories.make_prompt(**about) for _ in range(60)]
    bot, other = factories.make_visitor(name="Visitor 1"), factories.make_visitor(name="Visitor 2")
    for number in range(40):
        live.rate("beta", "alpha", 1, prompt=number, rater=bot)
    for number in range(40, 60):
        live.rate("alpha", "beta", 1 if number % 2 else 8, prompt=number, rater=other)
    first, second = movers(live.study)
    assert (first.rater, first.votes, second.rater, second.votes) == (bot, 40, other, 20)
    assert first.change < -200
    assert abs(second.change or 0) < abs(first.change)


def test_nobody_moves_an_empty_board():
    assert movers(factories.make_study()) == []
