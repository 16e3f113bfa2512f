"""Errors about input, and checks: whole numbers, levels, columns of numbers, labels."""

import operator
from typing import Any, Final

import numpy as np
import numpy.typing as npt


class StatsError(ValueError):
    """The base of all errors about what the statistics are given."""


class LengthMismatchError(StatsError):
    """Parallel arrays differ in length."""


class ContestantNumberError(StatsError):
    """A contestant number is no integer in 0..contestants-1."""


class SelfComparisonError(StatsError):
    """A contestant is compared with itself."""


class ScoreError(StatsError):
    """A score is not 0, 0.5 or 1."""


class RatingError(StatsError):
    """A rating lies outside its scale, or the scale does not exist."""


class ClusterError(StatsError):
    """A game has no cluster although clusters are given."""


class NoGamesError(StatsError):
    """There is no game to compute from."""


class ParameterError(StatsError):
    """A parameter is outside its range."""


class NotIdentifiedError(ParameterError):
    """``effects`` of a model cannot be told from other parameters."""

    def __init__(self, message: str, effects: tuple[str, ...]) -> None:
        super().__init__(message)
        self.effects = effects


BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
# Floats beyond it are not exact whole numbers.
_LARGEST_FLOAT: Final = 2.0**53


def whole_number(name: str, value: Any) -> int:
    """The value as an int; raises ParameterError for text, None and floats, even 3.0."""
    try:
        return operator.index(value)
    except TypeError as error:
        raise ParameterError(f"{name} is {value!r}; it must be a whole number") from error


def check_level(interval: float, name: str = "interval") -> float:
    """The level of a central interval in percent; raises ParameterError outside 0..100."""
    # What rounds to 0 or 100 is neither, here and where it is written.
    if not (0.0 < 1.0 - interval / 100.0 < 1.0 and 0.0 < float(f"{interval:g}") < 100.0):
        raise ParameterError(f"{name} is {interval}; it must be a percentage between 0 and 100")
    return float(interval)


def column(name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    """The values in one row, of any type."""
    try:
        return np.asarray(values).reshape(-1)
    except ValueError as error:
        raise LengthMismatchError(f"{name} holds lists of different lengths") from error


def whole_numbers(name: str, values: npt.ArrayLike) -> IntArray:
    """The column as integers; floats must be whole."""
    array = column(name, values)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iuf" or (array.dtype.kind == "f" and not _are_whole(array)):
        error = RatingError if name in ("rating", "points") else ContestantNumberError
        raise error(f"{name} must hold whole numbers")
    return array.astype(np.int64)


def number_column(name: str, values: npt.ArrayLike, beside: npt.NDArray[Any]) -> IntArray:
    """Whole numbers from 0, as many as ``beside``; a single one stands for all."""
    found = whole_numbers(name, values)
    if np.ndim(values) == 0:
        found = np.broadcast_to(found, beside.shape)
    check_length(name, found, "value", len(beside))
    if found.min(initial=0) < 0:
        raise ContestantNumberError(f"{name} must hold whole numbers from 0")
    return found


def _are_whole(array: npt.NDArray[Any]) -> bool:
    exact = np.abs(array) <= _LARGEST_FLOAT  # False for NaN
    return bool(exact.all()) and bool((array == np.floor(array)).all())


def numbers(name: str, values: npt.ArrayLike) -> FloatArray:
    """A copy of the column as floats; raises ScoreError for what is no number."""
    array = column(name, values)
    try:
        if array.dtype.kind in "USc":
            raise TypeError(f"{array.dtype} is no kind of real number")
        return np.array(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ScoreError(f"{name} must hold numbers") from error


def check_length(name: str, array: npt.NDArray[Any], other: str, length: int) -> None:
    """Raise LengthMismatchError unless the array is as long as the other one."""
    if len(array) != length:
        sizes = f"{other} has {length}, {name} has {len(array)}"
        raise LengthMismatchError(f"the arrays differ in length: {sizes}")


def labels_of(name: str, labels: npt.ArrayLike | None, other: str, length: int) -> IntArray | None:
    """``dense_labels`` as long as the other array, or None."""
    if labels is None:
        return None
    array = column(name, labels)
    check_length(name, array, other, length)
    return dense_labels(name, array)


def dense_labels(name: str, labels: npt.ArrayLike) -> IntArray:
    """Labels of any kind numbered 0, 1, ... in sorted order; raises ClusterError where one is missing."""
    array = column(name, labels)
    if array.dtype.kind == "f" and np.isnan(array).any():
        place = int(np.isnan(array).argmax())
        raise ClusterError(f"{name}[{place}] is NaN; where there are labels, none may be missing")
    try:
        return np.unique(array, return_inverse=True)[1].reshape(-1).astype(np.int64)
    except TypeError as error:
        raise ClusterError(f"{name} must hold labels of one kind, none of them missing") from error
