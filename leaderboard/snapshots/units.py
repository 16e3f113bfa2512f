"""What is rated: a pair, or a pair at a turn of its conversation. Pure."""

from typing import Any, Final

import numpy.typing as npt

AT_TURN: Final = 2**40
"""A pair at a turn is a unit of its own: the pair's id and so much by turn. The whole pair is its id."""


def pair_ids(units: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return units % AT_TURN


def turns(units: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The turns of units; 0 for whole conversations."""
    return units // AT_TURN
