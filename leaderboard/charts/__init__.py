"""Figures of the board: tables in, Plotly figures (plain data, traces, axes, no code) out. Pure.

Colours are names of CSS variables ("--..."); static/leaderboard.js puts in their values, so a figure follows
the page's light or dark scheme. Plotly reads a few HTML tags in its labels, so every name is escaped.
"""

from leaderboard.charts.matrices import count_map, win_rate_map
from leaderboard.charts.parts import LONGEST_LABEL, MOST_NUMBERS, MOST_SERIES, SERIES, Figure, full, label
from leaderboard.charts.ratings import histogram
from leaderboard.charts.standings import intervals

__all__ = [
    "LONGEST_LABEL",
    "MOST_NUMBERS",
    "MOST_SERIES",
    "SERIES",
    "Figure",
    "count_map",
    "full",
    "histogram",
    "intervals",
    "label",
    "win_rate_map",
]
