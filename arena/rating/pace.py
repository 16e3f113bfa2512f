"""How fast a pair can be read. Pure."""

from typing import Final

FLOOR: Final = 3.0
"""Seconds below which nobody has read both answers."""

FASTEST: Final = 100.0
"""Characters a second that nobody reads: about 1,000 words a minute."""


def least_seconds(characters: int) -> float:
    """Return the time below which nobody has read this much."""
    return max(FLOOR, characters / FASTEST)
