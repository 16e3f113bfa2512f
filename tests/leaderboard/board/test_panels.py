"""The panels of a board."""

import pytest

from leaderboard import services
from leaderboard.board.board import Board
from leaderboard.board.setting import Setting
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db


def test_a_wide_table_is_made_when_it_is_read(monkeypatch):
    monkeypatch.setattr(services, "ROUNDS", 10)
    monkeypatch.setattr("leaderboard.board.panels.MOST_INLINE", 2)
    made = HandMade("alpha", "beta", "gamma")
    made.rate("alpha", "beta", 1)
    made.rate("beta", "gamma", 4)
    board = Board.read(made.study, services.refresh(made.study).snapshot, Setting("people"))
    panel = board.panel("win-rates")
    assert not panel.inline
    assert "table" not in vars(panel)
    assert panel.table.columns[1::3] == tuple(f"{name}: win rate" for name in board.order)
    assert board.panel("standings").inline
