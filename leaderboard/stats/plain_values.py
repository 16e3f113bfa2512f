"""Results as plain values for JSON."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

DECIMALS: Final = 6


def rounded(value: Any, decimals: int = DECIMALS) -> Any:
    """The value with every number in it rounded, NaN as None and tuples as lists."""
    if isinstance(value, Mapping):
        return {name: rounded(each, decimals) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [rounded(each, decimals) for each in value]
    if not isinstance(value, float):
        return value
    # Adding zero turns -0.0 into 0.0.
    return None if math.isnan(value) else round(float(value), decimals) + 0.0


def plain(value: Any) -> float | None:
    """A number as Python's own, None for NaN."""
    found = float(value)
    return None if math.isnan(found) else found


@dataclass(frozen=True)
class Result:
    """A dataclass that JSON can hold; fields are None where a number does not exist."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, rounded to 1e-6."""
        return {name: rounded(value) for name, value in asdict(self).items()}
