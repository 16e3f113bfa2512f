"""What readers and callers choose from. It imports nothing, so that pages can show it."""

from collections.abc import Mapping
from typing import Final

METHODS: Final = ("elo", "bradley-terry", "davidson", "ordinal", "elo-study")
"""elo is a mean over endless orders of play; elo-study has one order a round."""
SHARING: Final = ("elo", "bradley-terry")
"""Methods that take shares of a win, as expected ratings give them."""
INTERVALS: Final = ("bootstrap", "sandwich")
RATER_EFFECTS: Final = "raters"
"""In ``adjust``: every rater's own lean towards the completion shown first."""

PROMPTS_AND_RATERS: Final = "prompts-and-raters"
RESAMPLE: Final = ("prompts", "games", "raters", PROMPTS_AND_RATERS)
"""What a bootstrap may draw."""

LEVELS: Final = (50.0, 80.0, 90.0, 95.0, 99.0)
"""Percent. Standings keep what depends on the level for each of these."""

COEFFICIENTS: Final = ("pearson", "spearman", "kendall")

CLASS: Final = "class"
"""Of ties: right answers can be ties, and are a class of their own."""

RULES: Final[Mapping[str, tuple[str | None, ...]]] = {
    "unscored": ("exclude", "wrong", "random", "tie"),
    "ties": ("half", "tie", CLASS),
    "as_published": (None, "llmbar"),
}
"""How judges are held against right answers: the values of ``gold.Rule``, the usual one first."""
