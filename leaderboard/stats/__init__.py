"""The statistics: arrays in, frozen results out, parameters included. NumPy and SciPy only, no Django."""

from leaderboard.stats.bradley_terry import BradleyTerryFit, bradley_terry
from leaderboard.stats.bradley_terry_bootstrap import BradleyTerryBootstrap, bootstrap_bradley_terry
from leaderboard.stats.correlation import Correlation, correlate, pair_means
from leaderboard.stats.elo import EloParameters, sequential_elo
from leaderboard.stats.elo_bootstrap import EloBootstrap, bootstrap_elo
from leaderboard.stats.errors import StatsError
from leaderboard.stats.games import Games, games_from_ratings, make_games
from leaderboard.stats.histogram import Histogram, rating_histogram
from leaderboard.stats.intervals import central_interval, percentiles
from leaderboard.stats.matrices import Matrices, matrices
from leaderboard.stats.standings import METHODOLOGY, METHODS, Method, Standing, Standings, rank_games

__all__ = [
    "METHODOLOGY",
    "METHODS",
    "BradleyTerryBootstrap",
    "BradleyTerryFit",
    "Correlation",
    "EloBootstrap",
    "EloParameters",
    "Games",
    "Histogram",
    "Matrices",
    "Method",
    "Standing",
    "Standings",
    "StatsError",
    "bootstrap_bradley_terry",
    "bootstrap_elo",
    "bradley_terry",
    "central_interval",
    "correlate",
    "games_from_ratings",
    "make_games",
    "matrices",
    "pair_means",
    "percentiles",
    "rank_games",
    "rating_histogram",
    "sequential_elo",
]
