import pytest

from leaderboard.refreshing import services
from leaderboard.snapshots.settings import Setting
from leaderboard.standings.page import Board
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def board(shared_rows, rounds):
    made = HandMade("alpha", "beta", "gamma")
    made.rate("alpha", "beta", 1)
    made.rate("beta", "gamma", 4)
    snapshot = services.refresh(made.study).snapshot
    return lambda: Board.read(made.study, snapshot, Setting("people"))


def test_a_wide_or_a_long_table_is_made_when_it_is_read(monkeypatch, board):
    monkeypatch.setattr("leaderboard.standings.page.MOST_INLINE", 2)
    panel = board().panel("win-rates")
    assert not panel.inline
    assert "table" not in vars(panel)
    assert panel.table.columns[1::3] == tuple(f"{name}: win rate" for name in board().order)
    assert board().panel("standings").inline
    monkeypatch.undo()
    monkeypatch.setattr("leaderboard.standings.page.MOST_ROWS", 2)
    panel = board().panel("standings")
    assert not panel.inline
    assert "table" not in vars(panel)
    assert len(panel.table.rows) == 3
    monkeypatch.undo()
    panel = board().panel("ties")
    assert panel.inline
    monkeypatch.setattr("leaderboard.pages.page.MOST_ROWS", 2)
    assert not panel.inline
