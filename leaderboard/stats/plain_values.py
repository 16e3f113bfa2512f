"""Results as plain values for JSON."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple, Self

DECIMALS: Final = 6


class Estimate(NamedTuple):
    """A number and the ends of its interval; None for what is not known."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, found: Mapping[str, Any] | None, key: str) -> Self:
        """Read what contents keep under KEY, KEY_low and KEY_high."""
        return cls(*map((found or {}).get, _names(key)))

    @classmethod
    def bare(cls, found: Mapping[str, Any] | None, key: str = "value") -> Self:
        """Read what contents keep under KEY, low and high."""
        return cls(*map((found or {}).get, (key, "low", "high")))

    def side(self, middle: float = 0.0) -> int:
        """1 where its interval lies above the middle, -1 below, 0 where it holds it or is not known."""
        if self.low is None or self.high is None or self.low <= middle <= self.high:
            return 0
        return 1 if self.low > middle else -1

    def times(self, scale: float) -> Self:
        value, *ends = (None if each is None else scale * each for each in self)
        return type(self)(value, *ends[:: 1 if scale >= 0 else -1])


UNDEFINED: Final = Estimate()


def _names(key: str) -> tuple[str, str, str]:
    return key, f"{key}_low", f"{key}_high"


def _flat(name: str, value: Any) -> Iterable[tuple[str, Any]]:
    return zip(_names(name), value, strict=True) if isinstance(value, Estimate) else ((name, value),)


def rounded(value: Any, decimals: int = DECIMALS) -> Any:
    """The value with every number in it rounded, NaN as None and tuples as lists.

    An Estimate in a mapping is written as ``Estimate.of`` reads it.
    """
    if isinstance(value, Mapping):
        if Estimate in map(type, value.values()):
            value = dict(pair for name, each in value.items() for pair in _flat(name, each))
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
        return dict(rounded(asdict(self)))
