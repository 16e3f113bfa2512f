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
    crossed: npt.ArrayLike | None = None,
) -> Outcomes | Clusters:
    """The outcome of each game, arranged by cluster if there are clusters; ``crossed`` is a second kind.

    Raises the errors of make_games, and NoGamesError if there is no game.
    """
    first, second, points = column("a", a), column("b", b), column("score", score)
    label = None if cluster is None else column("cluster", cluster)
    other = None if crossed is None else column("crossed", crossed)
    _check(first, second, points, contestants, label, other)
    outcomes = outcomes_of(first, second, points.astype(np.float64, copy=False), contestants)
    return outcomes if label is None else group_by_cluster(outcomes, label, other)


def _check(
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    score: npt.NDArray[Any],
    contestants: int,
    label: npt.NDArray[Any] | None,
    other: npt.NDArray[Any] | None,
) -> None:
    def check(part: slice = slice(None)) -> None:
        cluster, crossed = (None if labels is None else labels[part] for labels in (label, other))
        make_games(a[part], b[part], score[part], contestants, cluster=cluster, crossed=crossed)

    lengths = {len(array) for array in (a, b, score, label, other) if array is not None}
    if len(lengths) > 1 or (label is None and other is not None):
        check()
    try:
        for part in parts(len(a)):
            check(part)
    except StatsError:
        # Found in a part: the whole says at which position.
        check()
        raise
    check_count(len(a))
