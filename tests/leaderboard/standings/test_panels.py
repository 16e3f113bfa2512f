"""The panels of a board."""

import pytest

from leaderboard.refreshing import services
from leaderboard.snapshots.settings import Setting
from leaderboard.standings.page import Board
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db


def small_board(monkeypatch):
    monkeypatch.setattr(services, "ROUNDS", 10)
    made = HandMade("alpha", "beta", "gamma")
    made.rate("alpha", "beta", 1)
    made.rate("beta", "gamma", 4)
    return Board.read(made.study, services.refresh(made.study).snapshot, Setting("people"))


def test_a_wide_table_is_made_when_it_is_read(monkeypatch):
    monkeypatch.setattr("leaderboard.standings.page.MOST_INLINE", 2)
    board = small_board(monkeypatch)
    panel = board.panel("win-rates")
    assert not panel.inline
    assert "table" not in vars(panel)
    assert panel.table.columns[1::3] == tuple(f"{name}: win rate" for name in board.order)
    assert board.panel("standings").inline


def test_a_long_table_behind_a_figure_is_made_when_it_is_read(monkeypatch):
    monkeypatch.setattr("leaderboard.standings.page.MOST_ROWS", 2)
    panel = small_board(monkeypatch).panel("standings")
    assert not panel.inline
    assert "table" not in vars(panel)
    assert len(panel.table.rows) == 3


def test_a_panel_that_was_not_told_looks_at_its_table(monkeypatch):
    panel = small_board(monkeypatch).panel("ties")
    assert panel.inline
    monkeypatch.setattr("leaderboard.pages.page.MOST_ROWS", 2)
    assert not panel.inline
