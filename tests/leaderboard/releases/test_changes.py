"""What is different between two releases, by an example worked by hand."""

import csv
import io

import pytest

from leaderboard.refreshing import services as snapshots
from leaderboard.releases import changes
from leaderboard.releases.changes import Change, ContestantChange, Place
from leaderboard.releases.content import Board
from tests import factories
from tests.leaderboard.releases.releasing import make_board, release


def make_standings(*rows, selector="people"):
    names = ("contestant", "rank", "rating", "low", "high")
    content = {"standings": [dict(zip(names, row, strict=True)) for row in rows]}
    return Board(selector, selector.capitalize(), content, None)


def test_contestants_by_hand():
    earlier = make_standings(
        ("Alpha", 1, 1050.5, 1000.0, 1100.0),
        ("Beta", 2, 1010.25, 960.0, 1060.0),
        ("Gone", 3, 940.0, 900.0, 980.0),
        ("Unranked", None, None, None, None),
    )
    later = make_standings(
        ("Beta", 1, 1030.75, 1000.0, 1061.0),
        ("New", 2, 1000.0, None, None),
        ("Alpha", 3, 950.0, 930.0, 970.0),
    )
    found = changes.contestants(earlier, later)
    assert found == [
        ContestantChange("Beta", Place(2, 1010.25, 960.0, 1060.0), Place(1, 1030.75, 1000.0, 1061.0)),
        ContestantChange("New", None, Place(2, 1000.0, None, None)),
        ContestantChange("Alpha", Place(1, 1050.5, 1000.0, 1100.0), Place(3, 950.0, 930.0, 970.0)),
        ContestantChange("Gone", Place(3, 940.0, 900.0, 980.0), None),
    ]
    assert [(each.what, each.up, each.gained) for each in found] == [
        ("", 1, 20.5),
        ("added", None, None),
        ("", -2, -100.5),
        ("removed", None, None),
    ]


def test_boards_are_compared_for_the_first_raters_that_both_have():
    people, strict, other = (make_standings(selector=name) for name in ("people", "judge:a", "judge:b"))
    assert changes.shared_boards([strict, other], [people, other, strict]) == (other, other)
    assert changes.shared_boards([strict], [people]) is None


def test_judges_by_hand():
    before = {"judge": "a", "name": "A", "temperature": 0, "wording": ["x"], "prompt_hash": "1"}
    after = {**before, "temperature": 0.5, "wording": ["y"], "prompt_hash": "2", "timeout": 9}
    gone, new = {"judge": "g", "name": "Gone"}, {"judge": "n", "name": "New"}
    assert changes.judges([before, gone], [new, after]) == [
        Change("a", "prompt_hash", "1", "2"),
        Change("a", "temperature", 0, 0.5),
        Change("a", "timeout", None, 9),
        Change("g", "removed", "Gone", None),
        Change("n", "added", None, "New"),
    ]
    assert changes.judges([after], [after]) == []


@pytest.mark.django_db
def test_page_file_and_api_say_the_same(client):
    made = make_board()
    judge = factories.make_judge(slug="model", name="Model")
    made.rate("Alpha", "Beta", 2, rater=judge.rater)
    snapshots.refresh(made.study)
    release(made)
    judge.max_tokens = 77
    judge.save()
    made.contestants["New"] = factories.make_contestant(study=made.study, name="=New")
    made.rate("New", "Beta", 8)
    made.rate("New", "Beta", 8)
    snapshots.refresh(made.study)
    release(made, "2.0")
    page = client.get("/studies/made/releases/2/changes/1/")
    assert page.context["page"].sentences == [
        "Ratings by people: 8 (+2).",
        "Ratings by judges: 4 (unchanged).",
        "Models added: =New.",
        "Models with another rank: none.",
        "The method is the same.",
    ]
    answer = client.get("/studies/made/releases/2/changes/1/tables/contestants.csv").content.decode(
        "utf-8-sig"
    )
    rows = {row["Contestant"]: row for row in csv.DictReader(io.StringIO(answer))}
    assert rows["'=New"]["Change"] == "added"
    found = client.get("/api/v1/studies/made/releases/1/changes/2/").json()
    assert (found["earlier"], found["later"], found["raters"]) == (1, 2, "people")
    alpha = next(each for each in found["contestants"] if each["contestant"] == "Alpha")
    assert float(rows["Alpha"]["Rating change"]) == round(alpha["gained"], 1)
    assert float(rows["Alpha"]["Version 2.0: low"]) == alpha["after"]["low"]
    assert found["judges"] == [{"of": "model", "what": "max_tokens", "before": 1024, "after": 77}]
    assert {"part": "counted", "by": "people", "before": 6, "after": 8} in found["votes"]
    assert found["method"] == []
    for wrong in ("1/changes/1/", "1/changes/3/"):
        assert client.get(f"/studies/made/releases/{wrong}").status_code == 404
        assert client.get(f"/api/v1/studies/made/releases/{wrong}").status_code == 404
