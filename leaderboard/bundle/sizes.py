"""How long the texts of a study are, as a file of a bundle and back: counts without the texts."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from leaderboard.bundle.arrays import AT_MOST, KIND
from leaderboard.bundle.contents import BundleError, canonical

if TYPE_CHECKING:
    import numpy.typing as npt

    from leaderboard.reading.measures import Texts


def sizes_json(texts: Texts, ids: npt.NDArray[Any]) -> str:
    """The sizes, with completions numbered by their place in ``ids``, the sorted ids of texts."""
    import numpy as np

    given = replace(texts, completion=np.searchsorted(ids, texts.completion))
    return canonical({each.name: _written(getattr(given, each.name)) for each in fields(given)})


def sizes_from(content: bytes) -> Texts:
    """The sizes in a bundle. Raises BundleError where the file holds none."""
    import numpy as np

    from leaderboard.reading.measures import NO_AUTHOR, Texts

    try:
        found = Texts(**{name: _read(value) for name, value in json.loads(content).items()})
        prompts, answers = len(found.prompts), len(found.completion)
        for name, last, first in (("prompt", prompts, 0), ("reference_prompt", prompts, 0)):
            _check_numbers(name, getattr(found, name), first, last)
        _check_numbers("contestant", found.contestant, NO_AUTHOR, len(found.contestants))
        if (
            len(found.category) != prompts
            or len(found.subset) != prompts
            or len(found.completions) != answers
        ):
            raise ValueError("columns differ in length")
        if answers and (np.diff(found.completion) <= 0).any():
            raise ValueError("completions are not in the order of their numbers")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise BundleError(f"The sizes of texts in the bundle make no sense: {str(error)[:200]}.") from error
    return found


def _check_numbers(name: str, numbers: npt.NDArray[Any], first: int, last: int) -> None:
    if not ((numbers >= first) & (numbers < last)).all():
        raise ValueError(f"{name} points at something that is not there")


def _written(value: Any) -> Any:
    """An array with its type and shape, NaN as null; anything else as it is."""
    if not hasattr(value, "tolist"):
        return value
    flat = value.reshape(-1).tolist()
    values = [None if each != each else each for each in flat]
    return {"dtype": value.dtype.str, "shape": list(value.shape), "values": values}


def _read(value: Any) -> Any:
    import numpy as np

    if isinstance(value, list):
        return tuple(_read(each) for each in value)
    if not isinstance(value, dict):
        return value
    if not KIND.fullmatch(str(value["dtype"])) or len(value["values"]) > AT_MOST:
        raise ValueError("an array is of a type that sizes do not have")
    plain = [float("nan") if each is None else each for each in value["values"]]
    return np.array(plain, dtype=value["dtype"]).reshape([int(length) for length in value["shape"]])
