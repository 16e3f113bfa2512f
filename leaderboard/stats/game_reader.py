"""The caller's arrays, checked and numbered a part at a time, so that nothing of their size is copied.

make_games copies what it checks, which for twenty million games is more memory than their bootstrap needs.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.stats.errors import StatsError
from leaderboard.stats.games import make_games
from leaderboard.stats.outcomes import Outcomes, outcomes_of, parts
from leaderboard.stats.plain_values import column
from leaderboard.stats.resampling import Clusters, group_by_cluster
from leaderboard.stats.rounds import check_count


def read_games(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    contestants: int,
    cluster: npt.ArrayLike | None,
) -> Outcomes | Clusters:
    """The outcome of each game, arranged by cluster if there are clusters.

    Raises the errors of make_games, and NoGamesError if there is no game.
    """
    first, second, points = column("a", a), column("b", b), column("score", score)
    label = None if cluster is None else column("cluster", cluster)
    _check(first, second, points, contestants, label)
    outcomes = outcomes_of(first, second, points.astype(np.float64, copy=False), contestants)
    return outcomes if label is None else group_by_cluster(outcomes, label)


def _check(
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    score: npt.NDArray[Any],
    contestants: int,
    label: npt.NDArray[Any] | None,
) -> None:
    if not len(a) == len(b) == len(score) == len(a if label is None else label):
        make_games(a, b, score, contestants, cluster=label)
    try:
        for part in parts(len(a)):
            few = None if label is None else label[part]
            make_games(a[part], b[part], score[part], contestants, cluster=few)
    except StatsError:
        # Found in a part: the whole says at which position.
        make_games(a, b, score, contestants, cluster=label)
        raise
    check_count(len(a))
