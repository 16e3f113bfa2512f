"""The figures and tables of a board, in its order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from leaderboard.pages.figure import MOST_NUMBERS, MOST_ON_A_PHONE
from leaderboard.pages.page import MOST_INLINE, MOST_ROWS, Panel, step
from leaderboard.standings.figure import count_map, intervals, win_rate_map
from leaderboard.standings.table import (
    Matrix,
    count_matrix,
    people_table,
    raters_table,
    standings_table,
    ties_table,
    win_rates,
    win_rates_table,
)

if TYPE_CHECKING:
    from leaderboard.standings.page import Board


def panels(board: Board) -> Iterator[Panel]:
    """Every panel of a board; none of the standings' where the setting has no games."""
    if board.content is not None:
        yield _standings(board)
        yield from _with_people(board)
        yield from _matrices(board)
        yield from _side_by_side(board)


def _standings(board: Board) -> Panel:
    boards = board.by_raters()
    return board.make_panel(
        "standings",
        "Ratings and intervals",
        f"Dots are ratings, bars the {board.interval_line}. All kinds of raters share one axis.",
        lambda: standings_table(board.rows, board.setting.method, board.parameters),
        draw=lambda: intervals(board.order, boards),
        height=step(len(board.order) * max(1, 0.4 * len(boards)) + 3 + len(boards)),
        apart=len(board.order) > MOST_ROWS,
    )


def _side_by_side(board: Board) -> Iterator[Panel]:
    boards = board.by_raters()
    if len(boards) > 1:
        yield board.make_panel(
            "raters",
            "People and judges side by side",
            f"Rank and rating of each contestant by each kind of rater, at the same setting. {_ends(board)}",
            raters_table(board.order, boards),
        )
    on, off = board.standings_of(ties="on"), board.standings_of(ties="off")
    if on and off:
        yield board.make_panel(
            "ties",
            "With and without ties",
            f"The same comparisons with ties counted half and with ties off. {_ends(board)}",
            ties_table(board.order, on, off),
        )


def _with_people(board: Board) -> Iterator[Panel]:
    """The board of models only beside that of everyone."""
    everyone = board.everyone
    if board.content and everyone:
        yield board.make_panel(
            "with-people",
            "With and without people among the contestants",
            "The same comparisons among models only, and with human demonstrations as a contestant. "
            f"{_ends(board)}",
            people_table(board.order, board.content, everyone),
        )


def _ends(board: Board) -> str:
    """What the columns of the interval are."""
    return f"Low and high are the ends of the {board.parameters['interval']:g}\N{NO-BREAK SPACE}% interval."


def _matrices(board: Board) -> Iterator[Panel]:
    content = board.matrices
    if content is None:
        return
    contestants, level = len(board.order), float(board.setting.level)
    size = {"height": step(contestants + 6), "width": _width(contestants), "apart": contestants > MOST_INLINE}

    def counts(what: str) -> Matrix:
        return count_matrix(content, what, board.order)

    def rates() -> Matrix:
        return win_rates(content, board.order)

    yield board.make_panel(
        "win-rates",
        "Win rates",
        "Read across a row: the share of points the contestant of the row won against that of the "
        f"column, a tie counting half. The table has Wilson’s {level:g}\N{NO-BREAK SPACE}% intervals, in "
        "which every game counts as independent, so where several raters saw one prompt they are too narrow.",
        lambda: win_rates_table(rates(), counts("games"), level),
        draw=lambda: win_rate_map(rates(), counts("games")),
        **size,
    )
    yield board.make_panel(
        "games",
        "Games",
        "Read across a row: how many games the two contestants played.",
        lambda: counts("games").table("Games"),
        draw=lambda: count_map(counts("games"), counts("games"), "games"),
        **size,
    )
    if board.setting.ties == "on":
        yield board.make_panel(
            "tie-counts",
            "Ties",
            "Read across a row: how many games of the two contestants were ties.",
            lambda: counts("ties").table("Ties"),
            draw=lambda: count_map(counts("ties"), counts("games"), "ties"),
            **size,
        )


def _width(contestants: int) -> str:
    """How wide a matrix must be for its cells to be told apart, and for the numbers in them."""
    if contestants > MOST_INLINE:
        return "wide"
    if contestants > MOST_NUMBERS:
        return "large"
    return "matrix" if contestants > MOST_ON_A_PHONE else ""
