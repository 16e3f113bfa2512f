"""Hypothesis strategies for games."""

import numpy as np
from hypothesis import strategies as st

from leaderboard.stats import Games, make_games

CONTESTANTS = 5


@st.composite
def small_games(draw: st.DrawFn, clustered: bool = False) -> Games:
    """Between 1 and 40 games of five contestants."""
    game = st.tuples(
        st.integers(0, CONTESTANTS - 1),
        st.integers(1, CONTESTANTS - 1),
        st.sampled_from((0.0, 0.5, 1.0)),
        st.integers(0, 6),
    )
    first, distance, score, cluster = zip(*draw(st.lists(game, min_size=1, max_size=40)), strict=True)
    second = (np.array(first) + np.array(distance)) % CONTESTANTS
    return make_games(first, second, score, CONTESTANTS, cluster=cluster if clustered else None)
