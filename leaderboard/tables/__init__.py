"""Tables of the pages: from a snapshot's content to rows for a page and for a CSV file. Pure."""

from leaderboard.tables.agreement import correlation_table
from leaderboard.tables.matrices import Matrix, count_matrix, win_rates
from leaderboard.tables.parts import Cell, Content, DataTable
from leaderboard.tables.ratings import Shown, ratings_table, shown_by_scale, unscored_reasons
from leaderboard.tables.standings import (
    FEWEST_GAMES,
    Row,
    beside,
    provisional,
    raters_table,
    ratings_by_name,
    same_order,
    standing_rows,
    standings_table,
    ties_table,
)

__all__ = [
    "FEWEST_GAMES",
    "Cell",
    "Content",
    "DataTable",
    "Matrix",
    "Row",
    "Shown",
    "beside",
    "correlation_table",
    "count_matrix",
    "provisional",
    "raters_table",
    "ratings_by_name",
    "ratings_table",
    "same_order",
    "shown_by_scale",
    "standing_rows",
    "standings_table",
    "ties_table",
    "unscored_reasons",
    "win_rates",
]
