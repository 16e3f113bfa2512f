"""What a verdict may be where it is no number, and why there is none. Pure."""

from typing import Final, Literal, TypeAlias, get_args

Reason: TypeAlias = Literal[
    "empty", "out_of_range", "unparsable", "truncated", "refused", "undecided", "neither"
]
REASONS: Final = get_args(Reason)
"""Why there is no rating, score or answer."""

Value: TypeAlias = Literal["yes", "no", "unknown"]
ANSWERS: Final = get_args(Value)
"""Verdicts of checks."""
