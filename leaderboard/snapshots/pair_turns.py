"""Numbers of what is rated: of a pair, or of a pair at a turn of its conversation. Pure."""

from typing import Any, Final

import numpy.typing as npt

AT_TURN: Final = 2**40
"""The number of a whole pair is its id; a pair at a turn has so much more for each turn."""


def pair_ids(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return numbers % AT_TURN


def turns(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The turns of pairs; 0 for whole conversations."""
    return numbers // AT_TURN
