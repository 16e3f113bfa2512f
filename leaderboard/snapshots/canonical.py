"""A table of a snapshot and its canonical JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

FORM: Final = 14
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


Content = Mapping[str, Any]
