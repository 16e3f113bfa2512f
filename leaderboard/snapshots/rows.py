"""Named columns of equal length. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, overload

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[Any]


class Rows:
    """``rows["rating"]`` is a column, ``rows[mask]`` are some of the rows, with the columns in their order.

    A column may be given as a function; it is made when it is first looked at, and so are those of some of
    the rows. This takes a fraction of the time and memory of a structured array. Columns are not changed in
    place.
    """

    def __init__(self, length: int, columns: Mapping[str, Column | Callable[[], Column]]) -> None:
        self._length, self._columns = length, dict(columns)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._columns)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, key: str) -> Column: ...
    @overload
    def __getitem__(self, key: npt.NDArray[Any] | np.bool_ | slice) -> Rows: ...
    def __getitem__(self, key: str | npt.NDArray[Any] | np.bool_ | slice) -> Column | Rows:
        if not isinstance(key, str):
            place = np.arange(self._length)[key]
            return Rows(len(place), {name: partial(self._some, name, place) for name in self._columns})
        column = self._columns[key]
        if callable(column):
            column = self._columns[key] = column()
        return column

    def _some(self, name: str, place: npt.NDArray[np.int64]) -> Column:
        return self[name][place]

    def replaced(self, **columns: Column) -> Rows:
        """The same rows, but for these columns."""
        own = {name: partial(self.__getitem__, name) for name in self._columns}
        return Rows(self._length, {**own, **columns})
