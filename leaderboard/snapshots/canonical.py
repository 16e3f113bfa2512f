"""A table of a snapshot and its canonical JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats import METHODOLOGY

FORM: Final = 8
"""Raised when stored tables or counts get other fields: after an upgrade, the others are made again."""


@dataclass(frozen=True)
class Table:
    """One table; ``payload`` is canonical JSON, ``inputs`` a digest of what it was computed from."""

    kind: str
    raters: str
    payload: str
    ties: str = ""
    category: str = ""
    method: str = ""
    inputs: str = ""


def canonical(content: Mapping[str, Any] | None) -> str:
    """One line of JSON with sorted keys; NaN is refused."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


Payloads = MutableMapping[str, str]
"""By digest of what they were computed from: those of an earlier snapshot, and those made since."""


def digest(words: Any, *arrays: npt.NDArray[Any]) -> str:
    """SHA-256 of what a table is computed from; ``words`` are told apart by their repr."""
    found = hashlib.sha256(repr([METHODOLOGY, FORM, words]).encode("utf-8", "surrogatepass"))
    for array in arrays:
        found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return found.hexdigest()


def kept(known: Payloads, inputs: str, make: Callable[[], Mapping[str, Any] | None]) -> str:
    """The payload of these inputs, made where it is not known yet."""
    if inputs not in known:
        known[inputs] = canonical(make())
    return known[inputs]


Content = Mapping[str, Any]
