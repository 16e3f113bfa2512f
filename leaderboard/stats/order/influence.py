"""How much each game moves a gap between two ratings of Bradley-Terry, to first order (Hampel 1974)."""

from dataclasses import dataclass

import numpy as np

from leaderboard.stats.bradley_terry.climbing import climb
from leaderboard.stats.bradley_terry.fit import all_games
from leaderboard.stats.bradley_terry.pair_table import PairTable
from leaderboard.stats.games import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class FittedTable:
    """The fit of all games of a table: log-odds (contestants,), and minus the second derivative there."""

    table: PairTable
    theta: FloatArray
    curvature: FloatArray

    @classmethod
    def of(cls, table: PairTable) -> "FittedTable":
        """Fit the games that the table counts."""
        likelihood = all_games(table)
        theta = climb(likelihood, np.zeros((table.contestants, 1)))
        return cls(table, table.centred(theta)[:, 0], likelihood.curvature(theta)[0])

    @property
    def component(self) -> IntArray:
        """The connected group of each contestant."""
        return self.table.component

    def influence(self, first: int, second: int) -> FloatArray:
        """By how much one more game of each outcome widens the gap from ``first`` to ``second``, in log-odds.

        That is the game's surplus (score less expected score), carried to the two by the inverse curvature.
        The two must be in one component.
        """
        contrast = np.zeros(len(self.theta))
        contrast[first], contrast[second] = 1.0, -1.0
        pull = np.linalg.solve(self.curvature, contrast)
        a, b = self.table.a[self.table.pair_of_outcome], self.table.b[self.table.pair_of_outcome]
        expected = 0.5 * (1.0 + np.tanh(0.5 * (self.theta[a] - self.theta[b])))
        moved: FloatArray = (pull[a] - pull[b]) * (self.table.score_of_outcome - expected)
        return moved
