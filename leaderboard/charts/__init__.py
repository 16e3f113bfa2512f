"""Figures of the board: tables in, Plotly figures (plain data, traces, axes, no code) out. Pure.

Colours are names of CSS variables ("--..."); static/leaderboard.js puts in their values, so a figure follows
the page's light or dark scheme. Plotly reads a few HTML tags in its labels, so every name is escaped.
"""

from leaderboard.charts.agreement import confusion, correlations, kinds_map, preferences
from leaderboard.charts.categories import rank_map
from leaderboard.charts.contestants import history, kinds_places, places, win_rates
from leaderboard.charts.length_effect import length_effect
from leaderboard.charts.matrices import count_map, win_rate_map
from leaderboard.charts.parts import (
    LONGEST_LABEL,
    MOST_NUMBERS,
    MOST_ON_A_PHONE,
    MOST_SERIES,
    SERIES,
    Figure,
    full,
    label,
)
from leaderboard.charts.ratings import histogram, mirrored_histogram, position_dots, score_differences
from leaderboard.charts.standings import intervals

__all__ = [
    "LONGEST_LABEL",
    "MOST_NUMBERS",
    "MOST_ON_A_PHONE",
    "MOST_SERIES",
    "SERIES",
    "Figure",
    "confusion",
    "correlations",
    "count_map",
    "full",
    "histogram",
    "history",
    "intervals",
    "kinds_map",
    "kinds_places",
    "label",
    "length_effect",
    "mirrored_histogram",
    "places",
    "position_dots",
    "preferences",
    "rank_map",
    "score_differences",
    "win_rate_map",
    "win_rates",
]
