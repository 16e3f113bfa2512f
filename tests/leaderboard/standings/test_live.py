"""Live prompts and anonymous votes apart from the others, in numbers and in words."""

import io
import json
import zipfile

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from arena.rules.subsets import LIVE_SUBSET
from leaderboard.files import published
from leaderboard.files.bundle.making import make
from leaderboard.files.interchange import vote_file
from leaderboard.files.selection import ExportError
from leaderboard.models import Snapshot
from leaderboard.refreshing import services
from leaderboard.refreshing.computing import compute_next
from leaderboard.snapshots.reading import opinions
from leaderboard.standings.page import Board
from tests import factories
from tests.leaderboard.reading import computed
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


def test_two_raters_who_rated_live_prompts_alone(client):
    live = Both()
    address = "/studies/both/agreement/two/?raters=group:visitors&against=judge:strict"
    page = computed(client, live.study, f"{address}&prompts=live").context["page"]
    assert [each["label"] for each in page.content["raters"]] == ["Visitors", "STRICT"]
    assert page.content["between"]["n"] == 2
    assert client.get(address).status_code == 404


@pytest.mark.parametrize(
    "place", ["?raters=people&", "categories/?raters=people&", "raters/?", "raters/people/?", "agreement/?"]
)
def test_no_table_of_live_prompts_is_of_curated_ones(client, place):
    live = Both()
    curated, own = (
        computed(client, live.study, f"/studies/both/{place}prompts={kind}").context["page"]
        for kind in ("curated", "live")
    )
    tables = [{each.slug: each for each in page.panels} for page in (curated, own)]
    for slug in tables[0].keys() & tables[1].keys():
        first, second = (each[slug] for each in tables)
        assert first.table.rows != second.table.rows, slug
        assert (first.name, second.name) == (f"{slug}-curated-prompts", f"{slug}-live-prompts")


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


def test_what_is_said_of_neither_is_of_the_prompts_shown():
    live = Both()
    live.rate("alpha", "beta", 4, prompt=0, neither=True)
    services.refresh(live.study)
    assert live.board().neither.startswith("Neither answer was acceptable in 1 of 5")
    assert live.board(prompts="live").neither == ""


def test_the_data_page_counts_pairs_and_ratings_of_the_same_prompts(client):
    live = Both(closed_at=timezone.now())
    page = client.get("/studies/both/data/").content.decode()
    assert "How many of the 4 pairs of curated prompts have 0, 1, 2 or more" in page
    assert "<dt>Pairs of curated prompts</dt>" in page
    [table] = Snapshot.objects.newest(live.study).slices.filter(kind="data")
    found = json.loads(table.payload)
    assert [(row["ratings"], row["pairs"]) for row in found["coverage"]] == [(4, [0, 4])]
    assert found["pairs"] == 4


def test_the_file_of_the_board_says_which_prompts_and_visitors_it_counts():
    live = Both()
    rows = [*live.board(prompts="live", visitors="without").file_rows(), *live.board().file_rows()]
    assert [(row["prompts"], row["visitors"]) for row in rows[::2]] == [
        ("live", "without"),
        ("curated", None),
    ]
    [entry, *_] = published.leaderboard(live.study, {"raters": "people"})[1]["full"].values()
    assert entry["prompts"] == "curated"


@pytest.mark.parametrize(
    ("what", "asked", "held", "rows"),
    [
        ("evalica", {}, "curated", 4),
        ("evalica", {"prompts": "live"}, "live", 3),
        ("arena", {"raters": "people"}, "both", 7),
        ("arena", {"raters": "people", "prompts": "curated"}, "curated", 4),
    ],
)
def test_files_of_ratings_say_which_prompts_they_hold(what, asked, held, rows):
    note = json.loads(vote_file(Both().study, what, "jsonl", asked).note())
    assert (note["prompts"], note["rows"]) == (held, rows)


def test_files_refuse_a_kind_of_prompts_that_there_is_not():
    with pytest.raises(ExportError, match='prompts is "old"; it must be curated, live or both'):
        vote_file(Both().study, "arena", "jsonl", {"prompts": "old"})


def test_a_bundle_says_which_prompts_it_holds():
    file = io.BytesIO()
    make(Both().study, file)
    with zipfile.ZipFile(file) as archive:
        assert "It holds the ratings of curated prompts." in archive.read("README.md").decode()


def told(*options):
    out = io.StringIO()
    call_command("standings", "both", "--format=json", "--no-bootstrap", *options, stdout=out)
    return json.loads(out.getvalue())


def test_the_command_ranks_by_the_prompts_and_visitors_that_it_is_asked_for(capsys):
    Both()
    found = [
        told(),
        told("--prompts=live"),
        told("--prompts=both"),
        told("--prompts=live", "--visitors=without"),
    ]
    assert [(each["prompts"], each["games"]) for each in found] == [
        ("curated", 4),
        ("live", 3),
        ("both", 7),
        ("live", 1),
    ]
    call_command("standings", "both", "--prompts=live", "--visitors=without", "--no-bootstrap")
    assert "both: People, all categories, live prompts, without anonymous ratings." in capsys.readouterr().out


def test_the_command_names_a_kind_of_prompts_that_nobody_rated():
    HandMade("alpha", "beta", slug="both").rate("alpha", "beta", 1)
    with pytest.raises(CommandError, match="has no ratings of live prompts"):
        told("--prompts=live")


def test_counts_of_curated_and_live_prompts_and_of_turns_add_up(client):
    live = Both()
    for subset, rated in (("", (1, 2)), (LIVE_SUBSET, (1, 2, 2))):
        about = {"study": live.study, "subset": subset, "category": "", "turns": ["One?", "Two?"]}
        live.prompts.append(factories.make_prompt(**about))
        for name in live.contestants.values():
            factories.make_completion(prompt=live.prompts[-1], contestant=name, turns=["One.", "Two."])
        for turn in rated:
            live.rate("alpha", "beta", 1, prompt=len(live.prompts) - 1, turn=turn)
    services.refresh(live.study)

    def games(prompts, turn=""):
        board = live.board(prompts=prompts, turn=turn)
        said = client.get(f"/api/v1/studies/both/standings/?raters=people&prompts={prompts}&turn={turn}")
        assert said.json()["games"] == board.content["games"]
        return board.content["games"]

    every = {prompts: games(prompts) for prompts in ("curated", "live", "both")}
    assert every == {"curated": 6, "live": 6, "both": 12}
    for prompts, total in every.items():
        assert sum(games(prompts, turn) for turn in "012") == total
    assert [games("live", turn) for turn in "012"] == [3, 1, 2]
    assert live.board(prompts="both").size.startswith(
        "2 models, 9 curated and live prompts, 12 ratings by people"
    )
    switches = {each.field: each.options for each in live.board(prompts="live").switches}
    assert [each.comparisons for each in switches["turn"]] == [6, 3, 1, 2]
    assert [each.comparisons for each in switches["prompts"]] == [6, 9, 15]


def test_the_page_of_a_rater_of_live_prompts_alone_is_of_these(client):
    Both()
    page = "/studies/both/raters/group:visitors/"
    assert client.get(f"{page}?prompts=live").status_code in (200, 202, 503)
    assert client.get(page).status_code == 404
