"""Hypothesis strategies for graded ratings."""

import numpy as np
from hypothesis import strategies as st

from leaderboard.stats import Ratings, make_ratings
from tests.leaderboard.stats.strategies import CONTESTANTS


@st.composite
def small_ratings(draw: st.DrawFn, scales: tuple[int, ...] = (2, 3, 5, 8)) -> Ratings:
    """Between 1 and 30 ratings of five contestants on the scales."""
    row = st.tuples(
        st.integers(0, CONTESTANTS - 1),
        st.integers(1, CONTESTANTS - 1),
        st.sampled_from(scales),
        st.integers(0, max(scales) - 1),
        st.integers(0, 4),
    )
    rows = draw(st.lists(row, min_size=1, max_size=30))
    first, distance, points, raw, prompt = (np.array(column) for column in zip(*rows, strict=True))
    second = (first + distance) % CONTESTANTS
    return make_ratings(first, second, 1 + raw % points, points, CONTESTANTS, prompt=prompt)
