"""Texts as vectors, and the nearest of others by cosine similarity."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from leaderboard.stats.checks import BoolArray, FloatArray, IntArray


def tf_idf(texts: Sequence[str]) -> Any:
    """Sparse rows of unit length: how often each word is in a text, times ln((1 + n) / (1 + m)) + 1.

    m of n texts have the word (Salton and Buckley 1988, smoothed). Capitals do not matter.
    """
    number: dict[str, int] = {}
    counts = [
        Counter(number.setdefault(word, len(number)) for word in re.findall(r"\w+", text.lower()))
        for text in texts
    ]
    row = np.repeat(np.arange(len(texts)), [len(own) for own in counts])
    column, times = (np.array([x[i] for own in counts for x in own.items()], dtype=np.int64) for i in (0, 1))
    weight = np.log((1 + len(texts)) / (1 + np.bincount(column, minlength=len(number)))) + 1
    shape = (len(texts), len(number))
    return unit(sparse.csr_array((times * weight[column], (row, column)), shape=shape))


def unit(vectors: Any) -> Any:
    """The rows scaled to length 1; a row of zeros stays."""
    length = np.sqrt((vectors * vectors).sum(axis=1))
    scale = np.divide(1.0, length, out=np.zeros(len(length)), where=length > 0)
    return sparse.diags_array(scale) @ vectors


def nearest(vectors: Any, rows: IntArray, others: BoolArray, below: float) -> tuple[IntArray, FloatArray]:
    """For each of ``rows`` the most similar of ``others``, itself left out, and how similar it is.

    Vectors have unit length. Only similarities above 0 and less than ``below`` count; -1 where none does.
    """
    found = vectors[rows] @ vectors.T
    similar = np.array(found.toarray() if sparse.issparse(found) else found)
    similar[np.arange(len(rows)), rows] = 0
    similar[:, ~others] = 0
    similar[similar >= below] = 0
    best = similar.argmax(axis=1)
    near = similar[np.arange(len(rows)), best]
    return np.where(near > 0, best, -1), near
