"""The statistics: arrays in, frozen results out, parameters included. NumPy and SciPy only, no Django."""

from leaderboard.stats.anchored import anchored
from leaderboard.stats.anchored_result import Anchored
from leaderboard.stats.bradley_terry import BradleyTerryFit, bradley_terry
from leaderboard.stats.bradley_terry_bootstrap import BradleyTerryBootstrap, bootstrap_bradley_terry
from leaderboard.stats.correlation import Correlation, correlate, pair_means
from leaderboard.stats.davidson import DavidsonFit, davidson
from leaderboard.stats.davidson_bootstrap import DavidsonBootstrap, bootstrap_davidson
from leaderboard.stats.elo import EloParameters, sequential_elo
from leaderboard.stats.elo_bootstrap import EloBootstrap, bootstrap_elo
from leaderboard.stats.errors import StatsError
from leaderboard.stats.games import Games, games_from_ratings, make_games
from leaderboard.stats.histogram import Histogram, rating_histogram
from leaderboard.stats.intervals import central_interval, percentiles
from leaderboard.stats.matrices import Matrices, matrices
from leaderboard.stats.method import METHODOLOGY, METHODS, Method
from leaderboard.stats.ordinal import OrdinalFit, ordinal
from leaderboard.stats.ordinal_bootstrap import OrdinalBootstrap, bootstrap_ordinal
from leaderboard.stats.planner import Plan, plan_from_assumptions, plan_from_data
from leaderboard.stats.ratings import Ratings, make_ratings
from leaderboard.stats.robustness import Removals, fewest_removals
from leaderboard.stats.rows import Standing
from leaderboard.stats.sandwich import Sandwich, normal_interval, sandwich, sandwich_samples
from leaderboard.stats.separation import (
    Groups,
    groups_not_told_apart,
    probability_above,
    probability_first,
    rank_interval,
    rank_upper_bound,
)
from leaderboard.stats.standings import Standings, rank_games, rank_ratings
from leaderboard.stats.style import covariates_of
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
    "Games",
    "Groups",
    "Histogram",
    "Matrices",
    "Method",
    "OrdinalBootstrap",
    "OrdinalFit",
    "Plan",
    "Ratings",
    "Removals",
    "Sandwich",
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
    "fewest_removals",
    "games_from_ratings",
    "groups_not_told_apart",
    "make_games",
    "make_ratings",
    "matrices",
    "normal_interval",
    "ordinal",
    "pair_means",
    "percentiles",
    "plan_from_assumptions",
    "plan_from_data",
    "probability_above",
    "probability_first",
    "rank_games",
    "rank_interval",
    "rank_ratings",
    "rank_upper_bound",
    "rating_histogram",
    "sandwich",
    "sandwich_samples",
    "sequential_elo",
]
