"""Probabilities of a text's tokens as they are kept: 16 bytes for each, packed. Pure.

The likeliest tokens themselves are not kept; what bounds of the entropy need of them is.
"""

import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from judging.endpoints.client import Token

_NUMBERS: Final = 4
_BYTES: Final = 4


Floats = npt.NDArray[np.float64]


class Steps(NamedTuple):
    """A number for each token. ``known``: of how many tokens the probability is known, its own included.

    ``told``: the sum of -p log p over these; ``least``: the probability of the least of the likeliest, which
    no other token exceeds; ``left``: the probability of all others.
    """

    log_p: Floats
    told: Floats
    least: Floats
    left: Floats
    known: npt.NDArray[np.int64]


def pack(tokens: Sequence[Token]) -> bytes:
    rows = np.array([_row(token) for token in tokens], dtype="<f4").reshape(len(tokens), _NUMBERS)
    known = np.array([_known(token) for token in tokens], dtype=np.uint8)
    # Bytes of the same place lie together: the upper ones are much alike.
    planes = rows.view(np.uint8).reshape(len(tokens), _NUMBERS * _BYTES).T
    return zlib.compress(known.tobytes() + np.ascontiguousarray(planes).tobytes(), 9)


def unpack(packed: bytes) -> Steps:
    raw = np.frombuffer(zlib.decompress(packed), dtype=np.uint8)
    count = len(raw) // (1 + _NUMBERS * _BYTES)
    planes = raw[count:].reshape(_NUMBERS * _BYTES, count)
    rows = np.ascontiguousarray(planes.T).view("<f4").astype(np.float64)
    log_p, told, least, left = rows.T
    return Steps(log_p, told, least, left, raw[:count].astype(np.int64))


def _row(token: Token) -> tuple[float, float, float, float]:
    likely = np.exp([logprob for _, logprob in token.alternatives])
    own = np.exp(token.logprob)
    least = float(likely.min(initial=1.0)) if len(likely) else float(own)
    known = likely if _is_among(token) else np.append(likely, own)
    positive = known[known > 0]
    return (
        token.logprob,
        float(-(positive * np.log(positive)).sum()),
        least,
        max(0.0, 1.0 - float(known.sum())),
    )


def _known(token: Token) -> int:
    return len(token.alternatives) + (not _is_among(token))


def _is_among(token: Token) -> bool:
    """Tell whether the written token is one of the likeliest, as one likelier than their least must be."""
    own, likely = (token.text, token.logprob), token.alternatives
    return own in likely or any(logprob < token.logprob for _, logprob in likely)
