"""Vectors of texts and their neighbours, by hand and against a second computation."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats.neighbours import nearest, tf_idf, unit

TEXTS = ["name a river", "Name a lake, a deep lake", "count to ten", ""]


def by_hand(texts: list[str]) -> list[dict[str, float]]:
    """The definition, word by word."""
    own = [Counter("".join(c if c.isalnum() else " " for c in text.lower()).split()) for text in texts]
    found = []
    for counts in own:
        weights = {
            word: times * (math.log((1 + len(texts)) / (1 + sum(word in each for each in own))) + 1)
            for word, times in counts.items()
        }
        length = math.sqrt(sum(weight**2 for weight in weights.values()))
        found.append({word: weight / length for word, weight in weights.items()})
    return found


def cosine(one: dict[str, float], other: dict[str, float]) -> float:
    return sum(weight * other.get(word, 0) for word, weight in one.items())


def test_an_example() -> None:
    # "river" is in 1 of 4 texts: ln(5/2) + 1 = 1.9163; "name" and "a" in 2: ln(5/3) + 1 = 1.5108.
    length = math.sqrt(1.9163**2 + 2 * 1.5108**2)
    first = tf_idf(TEXTS).toarray()[0]
    assert first[:3] == pytest.approx([1.5108 / length, 1.5108 / length, 1.9163 / length], abs=1e-4)
    place, near = nearest(tf_idf(TEXTS), np.arange(4), np.ones(4, bool), 0.9)
    assert place.tolist() == [1, 0, -1, -1]
    assert near[0] == pytest.approx(cosine(*by_hand(TEXTS)[:2]), abs=1e-12)


@given(st.lists(st.text("ab c", max_size=8), min_size=1, max_size=6), st.floats(0.1, 1.0))
def test_the_nearest_are_those_of_the_definition(texts: list[str], below: float) -> None:
    vectors = by_hand(texts)
    place, near = nearest(tf_idf(texts), np.arange(len(texts)), np.arange(len(texts)) != 1, below)
    for row, one in enumerate(vectors):
        others = [cosine(one, other) if each not in (row, 1) else 0 for each, other in enumerate(vectors)]
        if any(abs(each - below) < 1e-9 for each in others):
            continue
        best = max(each for each in [0.0, *others] if each < below)
        assert near[row] == pytest.approx(best, abs=1e-12)
        assert (place[row] >= 0) == (best > 1e-12)


def test_embeddings_point_where_they_point() -> None:
    vectors = unit(np.array([[3.0, 4.0], [6.0, 8.0], [4.0, 3.0], [-3.0, -4.0], [0.0, 0.0]]))
    assert vectors[0].tolist() == pytest.approx([0.6, 0.8])
    place, near = nearest(vectors, np.arange(5), np.ones(5, bool), 0.99)
    assert place.tolist() == [2, 2, 0, -1, -1]
    assert near[:3] == pytest.approx([0.96, 0.96, 0.96])
