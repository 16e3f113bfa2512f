"""A public crowd study on the board: people and two judges side by side."""

import pytest
from django.core.management import call_command

from arena.models import Study
from leaderboard.models import SnapshotSlice
from leaderboard.refreshing import services
from leaderboard.snapshots.settings import Setting
from leaderboard.standings.page import Board

pytestmark = pytest.mark.django_db


@pytest.fixture
def board(reference_data, monkeypatch):
    monkeypatch.setattr(services, "ROUNDS", 10)
    call_command("import_data", "llmfao", str(reference_data / "llmfao"), verbosity=0)
    Study.objects.update(visibility="public")
    study = Study.objects.get(slug="llmfao")
    return Board.read(study, services.refresh(study).snapshot, Setting("people"))


def test_people_and_judges_stand_side_by_side(board, client):
    counts = board.snapshot.counts
    assert (counts["prompts"], counts["contestants"], counts["comparisons"]) == (19, 70, 15403)
    assert {choice["label"]: choice["comparisons"] for choice in counts["raters"]} == {
        "People": 8931,
        "GPT-3.5": 3236,
        "GPT-4": 3236,
    }
    assert len(board.rows) == 59, "people saw 59 of the 70 models"
    table = board.panel("raters").table
    kinds, numbers = ("People", "GPT-3.5", "GPT-4"), ("rank", "rating", "low", "high")
    assert table.columns == ("Contestant", *(f"{kind}: {number}" for kind in kinds for number in numbers))
    assert len(table.rows) == 70
    assert [row[0] for row in table.rows[:59]] == list(board.order)
    figure = board.panel("standings").figure
    assert [trace["name"] for trace in figure["data"]] == ["People", "GPT-3.5", "GPT-4"]
    # The votes as shown, counted in the files themselves: left, tie, right.
    stored = SnapshotSlice.objects.filter(snapshot=board.snapshot)
    (scale,) = stored.get(kind="ratings", raters="people", category="").content["scales"]
    assert scale["counts"] == [2911, 3471, 2549]
    for judge in ("judge:gpt-3.5", "judge:gpt-4"):
        overall = stored.get(kind="correlation", raters=judge).content["rows"][0]
        assert (overall["category"], overall["n"]) == (None, 2139)
    assert "8,931" in client.get("/studies/llmfao/").content.decode()
    assert "GPT-4: rank" in client.get("/studies/llmfao/tables/raters.csv").content.decode()
