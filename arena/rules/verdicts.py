"""What a verdict may be where it is no number, and why there is none. Pure."""

from typing import Final, Literal, TypeAlias, get_args

TextReason: TypeAlias = Literal["empty", "out_of_range", "unparsable", "truncated", "refused", "undecided"]
TEXT_REASONS: Final = get_args(TextReason)
"""Why there is no score or answer, nor a rating by a criterion."""

NEITHER: Final = "neither"
Reason: TypeAlias = Literal[TextReason, "neither"]
REASONS: Final = (*TEXT_REASONS, NEITHER)
"""Why there is no rating of a pair."""

Value: TypeAlias = Literal["yes", "no", "unknown"]
ANSWERS: Final = get_args(Value)
"""Verdicts of checks."""
