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
from leaderboard.stats.ratings import Ratings, make_ratings
from leaderboard.stats.rows import Standing
from leaderboard.stats.sandwich import Sandwich, normal_interval, sandwich, sandwich_samples
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
    "Histogram",
    "Matrices",
    "Method",
    "OrdinalBootstrap",
    "OrdinalFit",
    "Ratings",
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
    "games_from_ratings",
    "make_games",
    "make_ratings",
    "matrices",
    "normal_interval",
    "ordinal",
    "pair_means",
    "percentiles",
    "rank_games",
    "rank_ratings",
    "rating_histogram",
    "sandwich",
    "sandwich_samples",
    "sequential_elo",
]
