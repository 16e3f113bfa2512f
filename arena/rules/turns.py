"""Which turns of a conversation raters are asked about. Pure."""

from enum import StrEnum
from typing import Final

WHOLE: Final = 0
"""In place of the number of a turn: the whole conversation."""


class Rated(StrEnum):
    """What of a conversation a study has rated."""

    WHOLE = "whole"
    LAST = "last"
    EACH = "each"


def asked(rated: str, turns: int) -> tuple[int, ...]:
    """Return the turns that are rated of a prompt with so many, in order; a single one is the whole."""
    if rated == Rated.WHOLE or turns < 2:
        return (WHOLE,)
    return tuple(range(1, turns + 1)) if rated == Rated.EACH else (turns,)
