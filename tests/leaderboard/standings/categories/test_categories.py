import re
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.models import SnapshotSlice
from leaderboard.pages.standings.table import Row, ranks_shown, standing_rows
from leaderboard.refreshing import computing, services
from leaderboard.standings.categories.page import Place
from leaderboard.standings.categories.table import CategoryMatrix, verdict
from tests.leaderboard.reading import records
from tests.leaderboard.rows import HandMade, standing, standings

pytestmark = pytest.mark.django_db
ROUNDS = 200


def place(**changes):
    row = {"rank_ub": 1, "high": 1020.0, "games": 40} | changes
    return replace(Row.read(standing("a", 1000.0, **row)), **changes)


@pytest.fixture
def matrix():
    """Two categories; c plays in coding alone, a does not play in poems."""
    everything = standings(standing("b", 1100.0, rank=1, rank_ub=1), standing("a", 900.0, rank=2, rank_ub=2))
    coding = standings(
        standing("a", 1050.0, rank=1, rank_ub=1),
        standing("c", 1000.0, rank=2, rank_ub=1, games=3),
        standing("b", 950.0, rank=3, rank_ub=3),
    )
    poems = standings(standing("b", 1000.0, rank=1), {**standing("a", 0.0), "rating": None})
    boards = {"": everything, "coding": coding, "poems": poems}
    return CategoryMatrix.of({name: {**board, "games": 40} for name, board in boards.items()})


@pytest.mark.parametrize(
    ("changes", "tint"),
    [
        ({}, ""),  # 990 to 1020 holds the overall score of 1000
        ({"low": 1001.0}, "better"),
        ({"high": 999.0}, "worse"),
        ({"low": 1001.0, "provisional": "fewer than 30 ratings"}, "provisional"),
        ({"low": None, "high": None}, ""),
    ],
)
def test_a_cell_is_tinted_where_its_interval_excludes_the_overall_score(changes, tint):
    cell = Place.of("poems", place(rank=2, ranks=(2, 4), **changes), place(rank=2), "2=")
    assert cell == Place("poems", tint, "2= (2–4)", "1000")
    assert Place.of("poems", place(**changes), None, "1").tint == (tint if tint == "provisional" else "")
    assert Place.of("poems", place(rank=1), None, "1").rank == "1"
    assert Place.of("poems", None, place(), "") == Place("poems")


def test_the_verdict_names_leaders_and_clear_differences(matrix):
    said = " ".join(verdict(matrix) or ())
    for part in (
        "b ",
        "overall and in 1 of 2 rated categories",
        "a in coding",
        "b is clearly worse in poems than overall",
        "No correction is made for 4 tests.",
    ):
        assert part in said
    same = {
        name: {**standings(standing("a", 1000.0, rank=1)), "games": 40} for name in ("", "coding", "poems")
    }
    assert "every rated category" in (verdict(CategoryMatrix.of(same)) or ("",))[0]
    assert verdict(CategoryMatrix.of({"": same[""]})) is None
    few = {name: {**standings(standing("a", 1000.0, rank=1, games=3)), "games": 3} for name in ("", "coding")}
    assert (verdict(CategoryMatrix.of(few)) or ("",))[0] == (
        "a scores highest overall (provisional) and in every rated category."
    )
    few[""] = same[""]
    assert (verdict(CategoryMatrix.of(few)) or ("",))[0] == (
        "a scores highest overall and in every rated category (provisional)."
    )


def test_models_that_share_the_first_place_are_all_named():
    both = standings(standing("b", 1000.0), standing("a", 1000.0))
    other = standings(standing("a", 1000.0), standing("b", 900.0, rank=2))
    boards = {name: {**rows, "games": 40} for name, rows in (("", both), ("coding", both), ("poems", other))}
    assert (verdict(CategoryMatrix.of(boards)) or ("",))[0] == (
        "b and a score highest overall and in 1 of 2 rated categories, a in poems."
    )


def test_the_matrix_its_order_and_its_table(matrix):
    assert matrix.contestants == ("b", "a", "c")
    assert matrix.categories == ("", "coding", "poems")
    assert matrix.standings["c", "coding"].provisional == "fewer than 30 ratings"
    assert ("a", "poems") not in matrix.standings
    assert matrix.ordered("") == ("b", "a", "c")
    assert matrix.ordered("coding") == ("a", "c", "b")
    assert matrix.ordered("coding", best_first=False) == ("b", "c", "a")
    assert matrix.ordered("poems", best_first=False) == ("b", "a", "c")
    table = matrix.table("95 % interval")
    assert table.columns[8:15] == (
        *("coding: rank", "coding: rank (UB)", "coding: rating", "coding: low (95 % interval)"),
        *("coding: high (95 % interval)", "coding: games", "coding: provisional"),
    )
    assert table.rows[2][8:15] == (2, 1, 1000.0, 990.0, 1020.0, 3, "fewer than 30 ratings")
    assert table.rows[1][15:] == (None,) * 6 + ("",)


@pytest.fixture(scope="module")
def shared(shared_rows, rounds):
    """Beta wins poems, alpha the rest; the judge rated coding alone."""
    made = HandMade("alpha", "beta", "gamma", slug="small", categories=("coding", "coding", "poems", "poems"))
    for prompt, order in ((0, "alpha beta"), (1, "alpha beta"), (2, "beta alpha"), (3, "beta alpha")):
        best, second = order.split()
        for _ in range(2):
            made.rate(best, second, 1, prompt=prompt)
            made.rate(second, "gamma", 2, prompt=prompt)
    made.rate("alpha", "gamma", 1, prompt=0)
    made.rate("alpha", "beta", 8, rater=made.judge("strict"))
    services.refresh(made.study)
    return made


def cells(client, query=""):
    page = client.get(f"/studies/small/categories/{query}").content.decode()
    body = page[page.index('id="category-table"') : page.index("</table>")]
    rows = re.findall(r"<bdi>(.*?)</bdi>(.*?)</tr>", body, re.DOTALL)
    return {name: re.findall(r"rank ([^< ]+)", rest) for name, rest in rows}


def test_the_page_shows_the_ranks_of_the_snapshot_sorted_by_a_category(client, made):
    found = cells(client, "?method=bradley-terry")
    for column, category in enumerate(("", "coding", "poems")):
        stored = SnapshotSlice.objects.get(
            kind="standings", raters="people", ties="on", category=category, method="bradley-terry"
        ).content
        assert {name: ranks[column] for name, ranks in found.items()} == ranks_shown(
            standing_rows(stored, None)
        )
    assert next(iter(cells(client, "?sort=poems"))) == "beta"
    assert next(iter(cells(client, "?sort=-poems"))) == "gamma"
    assert list(cells(client, "?sort=nothing")) == list(cells(client))
    page = client.get("/studies/small/categories/?raters=judge:strict").content.decode()
    head = page[page.index("<thead") : page.index("</thead>")]
    assert "coding" in head
    assert "poems" not in head


def test_the_caption_names_the_fewest_prompts_of_a_category(client, made):
    caution = "The intervals of some categories come from as few as 2 prompts."
    assert caution in client.get("/studies/small/categories/").content.decode()
    page = client.get("/studies/small/categories/").context["page"]
    enough = {name: {**board, "warnings": []} for name, board in page.boards.items()}
    assert replace(page, boards=enough).caution == ""
    few = ("12 prompts", "3 prompts and 9 raters")
    said = [f"The intervals come from only {one}. In simulations they were reliable." for one in few]
    boards = {"": {"warnings": []}, "a": {"warnings": said[:1]}, "b": {"warnings": said[1:]}}
    assert "as few as 3 prompts and 9 raters." in replace(page, boards=boards).caution


class TestAnySetting:
    def test_the_matrix_waits_and_then_shows_what_the_board_of_each_category_shows(self, client, made):
        wanted = "?raters=people&method=bradley-terry&band=2-7&level=97.5&resample=games"
        waiting = client.get(f"/studies/small/categories/{wanted}").content.decode()
        assert "ratings 2–7 are ties, resampled ratings, 97.5% intervals" in waiting
        poll = wanted.replace("&", "&amp;") + "&amp;shown=wanted"
        assert f'hx-get="/studies/small/categories/computing/{poll}"' in waiting
        assert "category-table" not in waiting
        assert computing.compute_next(made.study.pk)
        page = client.get(f"/studies/small/categories/{wanted}").content.decode()
        assert "People, Bradley-Terry, ties (2-7) count half. 97.5% intervals over games" in page
        table = records(client, f"/studies/small/categories/tables/categories.csv{wanted}")
        for category in ("", "coding", "poems"):
            board = f"/studies/small/standings.json{wanted}&category={category}"
            client.get(board)
            assert computing.compute_next(made.study.pk)
            name = category or "All"
            columns = ("rank", "rating", "low (97.5 % interval)", "high (97.5 % interval)", "games")
            assert {row["Contestant"]: [row[f"{name}: {what}"] for what in columns] for row in table} == {
                row["contestant"]: [str(row[what]) for what in ("rank", "rating", "low", "high", "games")]
                for row in client.get(board).json()["standings"]
            }

    def test_models_only_and_a_level_for_which_the_rounds_are_few_are_computed(
        self, client, made, monkeypatch
    ):
        made.contestants["gamma"].kind = "people"
        made.contestants["gamma"].save()
        made.study.touch()
        services.refresh(made.study)
        client.get("/studies/small/categories/?contestants=models")
        assert computing.compute_next(made.study.pk)
        assert set(cells(client, "?contestants=models")) == {"alpha", "beta"}
        monkeypatch.setattr(services, "ROUNDS", 10)
        made.rate("alpha", "gamma", 1)
        services.refresh(made.study)
        assert "computing" in client.get("/studies/small/categories/?level=80").content.decode()
        assert computing.compute_next(made.study.pk)
        assert "80% intervals" in client.get("/studies/small/categories/?level=80").content.decode()

    def test_what_is_ready_takes_as_many_queries_as_what_is_stored(self, client, made):
        client.get("/studies/small/categories/?band=3-6")
        assert computing.compute_next(made.study.pk)
        with CaptureQueriesContext(connection) as stored:
            client.get("/studies/small/categories/")
        with CaptureQueriesContext(connection) as captured:
            client.get("/studies/small/categories/?band=3-6")
        assert len(captured) == len(stored) == 6
        where = "/studies/small/categories/?resample=prompts-and-raters"
        client.get(where)
        assert computing.compute_next(made.study.pk)
        page = client.get(where).content.decode()
        assert "People, Elo, ties count half.</caption>" in page
        assert "intervals over" not in page, "one person gives none"
        assert "95% intervals over prompts." in client.get("/studies/small/categories/").content.decode()
        where = "/studies/small/categories/tables/categories.csv?band=2-7"
        waiting = client.get(where)
        assert (waiting.status_code, waiting["Retry-After"]) == (202, "2")
        assert computing.compute_next(made.study.pk)
        assert client.get(where).status_code == 200


def test_of_many_categories_one_is_picked(client, rounds):
    names = [f"c{number:02}" for number in range(15)]
    made = HandMade("alpha", "beta", slug="many", categories=names)
    for prompt in range(15):
        for _ in range(1 if prompt in (3, 8, 14) else 2):
            made.rate("alpha", "beta", 1, prompt=prompt)
    made.rate("beta", "alpha", 1, prompt=8)
    made.rate("beta", "alpha", 1, prompt=8)
    services.refresh(made.study)
    address = "/studies/many/categories/"

    def shown(query):
        page = client.get(f"{address}{query}").context["page"]
        assert all(len(line.places) == len(page.headings) for line in page.lines)
        return page, [each.label for each in page.headings]

    page, headings = shown("")
    most = [name for name in names if name not in ("c03", "c13", "c14")]
    assert headings == ["All", *most]
    assert "alpha scores highest overall (provisional) and in 14 of 15 rated categories, " in page.verdict[0]
    assert "beta in 1 category (provisional)." in page.verdict[0]
    assert "Of 15 categories, the 12 with the most ratings. Choose another above." in page.left_out
    page, headings = shown("?sort=c14&ties=off")
    assert headings == ["All", "c14", *most]
    assert "the 12 with the most ratings, and c14." in page.left_out
    picker = next(switch for switch in page.switches if switch.field == "sort")
    assert [option.value for option in picker.options] == ["", *names]
    assert [option.value for option in picker.options if option.chosen] == ["c14"]
    assert ("ties", "off") in picker.kept
    assert {
        name for name in names if records(client, f"{address}tables/categories.csv")[0][f"{name}: rank"]
    } == {*names}
    unknown = client.get("/studies/many/?category=nope").content.decode()
    assert "no category “nope”" in unknown
    assert unknown.count("<option") == 16
    assert "?category=" not in unknown
    assert "and 3 more" not in unknown
    said = client.get("/api/v1/studies/many/standings/?category=nope").json()["detail"]
    assert said.endswith("c10, c11, 3 more.")
