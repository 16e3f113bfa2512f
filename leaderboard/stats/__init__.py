"""The statistics: arrays in, frozen results out, parameters included. NumPy and SciPy only, no Django."""

from leaderboard.stats.anchored.ranking import anchored
from leaderboard.stats.anchored.result import Anchored
from leaderboard.stats.bias.flips import Flips, flips
from leaderboard.stats.bias.length import LengthEffect, length_effect
from leaderboard.stats.bias.position import Position, position
from leaderboard.stats.bias.scores import ScoreDifferences, score_differences
from leaderboard.stats.bradley_terry.bootstrap import BradleyTerryBootstrap, bootstrap_bradley_terry
from leaderboard.stats.bradley_terry.davidson import DavidsonFit, davidson
from leaderboard.stats.bradley_terry.davidson_bootstrap import DavidsonBootstrap, bootstrap_davidson
from leaderboard.stats.bradley_terry.fit import BradleyTerryFit, bradley_terry
from leaderboard.stats.bradley_terry.sandwich import Sandwich, normal_interval, sandwich, sandwich_samples
from leaderboard.stats.correlation import Correlation, correlate, pair_means
from leaderboard.stats.describe import Summary, describe
from leaderboard.stats.elo.bootstrap import EloBootstrap, bootstrap_elo
from leaderboard.stats.elo.sequential import EloParameters, sequential_elo
from leaderboard.stats.errors import StatsError
from leaderboard.stats.games import Games, games_from_ratings, make_games
from leaderboard.stats.histogram import Histogram, rating_histogram
from leaderboard.stats.intervals import central_interval, percentiles
from leaderboard.stats.matrices import Matrices, matrices
from leaderboard.stats.order.robustness import Removals, fewest_removals
from leaderboard.stats.order.separation import (
    Groups,
    groups_not_told_apart,
    probability_above,
    probability_first,
    rank_interval,
    rank_upper_bound,
)
from leaderboard.stats.ordinal.bootstrap import OrdinalBootstrap, bootstrap_ordinal
from leaderboard.stats.ordinal.model import OrdinalFit, ordinal
from leaderboard.stats.planning.planner import Plan, plan_from_assumptions, plan_from_data
from leaderboard.stats.ranking.method import METHODOLOGY, METHODS, Method
from leaderboard.stats.ranking.rows import Standing
from leaderboard.stats.ranking.standings import Standings, rank_games, rank_ratings
from leaderboard.stats.ratings import Ratings, make_ratings
from leaderboard.stats.style import covariates_of
from leaderboard.stats.text_size import TextSize, size_of
from leaderboard.stats.tie_bands import TieBand

__all__ = [
    "METHODOLOGY",
    "METHODS",
    "Anchored",
    "BradleyTerryBootstrap",
    "BradleyTerryFit",
    "Correlation",
    "DavidsonBootstrap",
    "DavidsonFit",
    "EloBootstrap",
    "EloParameters",
    "Flips",
    "Games",
    "Groups",
    "Histogram",
    "LengthEffect",
    "Matrices",
    "Method",
    "OrdinalBootstrap",
    "OrdinalFit",
    "Plan",
    "Position",
    "Ratings",
    "Removals",
    "Sandwich",
    "ScoreDifferences",
    "Standing",
    "Standings",
    "StatsError",
    "Summary",
    "TextSize",
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
    "percentiles",
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
