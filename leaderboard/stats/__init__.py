"""The statistics: arrays in, frozen results out, parameters included. NumPy and SciPy only, no Django."""

from leaderboard.stats.anchored import anchored
from leaderboard.stats.anchored_result import Anchored
from leaderboard.stats.bradley_terry import bootstrap_bradley_terry, bradley_terry
from leaderboard.stats.checks import StatsError
from leaderboard.stats.davidson import bootstrap_davidson, davidson
from leaderboard.stats.descriptive import describe, matrices, rating_histogram
from leaderboard.stats.elo import EloParameters, sequential_elo
from leaderboard.stats.elo_bootstrap import bootstrap_elo
from leaderboard.stats.flips import flips
from leaderboard.stats.games import Games, games_from_ratings, make_games
from leaderboard.stats.intervals import central_interval, normal_interval
from leaderboard.stats.label_correlation import correlate, pair_means
from leaderboard.stats.length_bias import length_effect
from leaderboard.stats.ordinal import bootstrap_ordinal, ordinal
from leaderboard.stats.planning import Plan, plan_from_assumptions, plan_from_data
from leaderboard.stats.position_bias import position
from leaderboard.stats.ranking import Standings, rank_games, rank_ratings
from leaderboard.stats.ranking_method import METHODOLOGY, METHODS, Method
from leaderboard.stats.ranking_rows import Standing
from leaderboard.stats.ratings import Ratings, make_ratings
from leaderboard.stats.robustness import fewest_removals
from leaderboard.stats.sandwich import sandwich, sandwich_samples
from leaderboard.stats.score_differences import score_differences
from leaderboard.stats.separation import (
    groups_not_told_apart,
    probability_above,
    probability_first,
    rank_interval,
    rank_upper_bound,
)
from leaderboard.stats.style import covariates_of, size_of
from leaderboard.stats.tie_bands import TieBand

__all__ = [
    "METHODOLOGY",
    "METHODS",
    "Anchored",
    "EloParameters",
    "Games",
    "Method",
    "Plan",
    "Ratings",
    "Standing",
    "Standings",
    "StatsError",
    "TieBand",
    "anchored",
    "bootstrap_bradley_terry",
    "bootstrap_davidson",
    "bootstrap_elo",
    "bootstrap_ordinal",
    "bradley_terry",
    "central_interval",
    "correlate",
    "covariates_of",
    "davidson",
    "describe",
    "fewest_removals",
    "flips",
    "games_from_ratings",
    "groups_not_told_apart",
    "length_effect",
    "make_games",
    "make_ratings",
    "matrices",
    "normal_interval",
    "ordinal",
    "pair_means",
    "plan_from_assumptions",
    "plan_from_data",
    "position",
    "probability_above",
    "probability_first",
    "rank_games",
    "rank_interval",
    "rank_ratings",
    "rank_upper_bound",
    "rating_histogram",
    "sandwich",
    "sandwich_samples",
    "score_differences",
    "sequential_elo",
    "size_of",
]
