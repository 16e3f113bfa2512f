"""How long the texts of a study are, as a file of a bundle and back: counts without the texts."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.files.bundle.archive import BundleError, canonical
from leaderboard.files.bundle.arrays import AT_MOST, KIND
from leaderboard.snapshots.text_sizes import NO_AUTHOR, Texts
from leaderboard.stats.style import MEASURES

_OF_COMPLETIONS: Final = ("completions", "prompt", "contestant", "current", "empty")
_KINDS: Final = {
    **dict.fromkeys(("prompts", "completions", "references"), "f"),
    **dict.fromkeys(("completion", "prompt", "contestant", "reference_prompt"), "iu"),
    **dict.fromkeys(("current", "empty"), "b"),
}
"""NumPy's letters for the types of the arrays; those of decimal numbers have a column for each measure."""


def sizes_json(texts: Texts, ids: npt.NDArray[Any]) -> str:
    """The sizes, with completions numbered by their place in ``ids``, the sorted ids of texts."""
    given = replace(texts, completion=np.searchsorted(ids, texts.completion))
    return canonical({each.name: _written(getattr(given, each.name)) for each in fields(given)})


def sizes_from(content: bytes) -> Texts:
    """The sizes in a bundle. Raises BundleError where the file holds none."""
    try:
        found = Texts(**{name: _read(value) for name, value in json.loads(content).items()})
        _check_kinds(found)
        prompts, answers = len(found.prompts), len(found.completion)
        for name, last, first in (("prompt", prompts, 0), ("reference_prompt", prompts, 0)):
            _check_numbers(name, getattr(found, name), first, last)
        _check_numbers("contestant", found.contestant, NO_AUTHOR, len(found.contestants))
        if (
            len(found.category) != prompts
            or len(found.subset) != prompts
            or {len(getattr(found, name)) for name in _OF_COMPLETIONS} != {answers}
            or len(found.references) != len(found.reference_prompt)
        ):
            raise ValueError("columns differ in length")
        if answers and (np.diff(found.completion) <= 0).any():
            raise ValueError("completions are not in the order of their numbers")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        raise BundleError(f"The sizes of texts in the bundle make no sense: {str(error)[:200]}.") from error
    return found


def _check_kinds(found: Texts) -> None:
    """Raise ValueError, TypeError or AttributeError where something is not of its type."""
    for name, kinds in _KINDS.items():
        given = getattr(found, name)
        shape = (given.shape[0], len(MEASURES)) if kinds == "f" else given.shape[:1]
        if not isinstance(given, np.ndarray) or given.dtype.kind not in kinds or given.shape != shape:
            raise ValueError(f"{name} is not of its type")
    texts = (found.tokenizer, *found.category, *found.subset, *(name for name, _, _ in found.contestants))
    if not all(isinstance(text, str) for text in texts) or not isinstance(found.pairs, int):
        raise ValueError("a name is no text, or a number is none")


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
    if isinstance(value, list):
        return tuple(_read(each) for each in value)
    if not isinstance(value, dict):
        return value
    if not KIND.fullmatch(str(value["dtype"])) or len(value["values"]) > AT_MOST:
        raise ValueError("an array is of a type that sizes do not have")
    plain = [float("nan") if each is None else each for each in value["values"]]
    return np.array(plain, dtype=value["dtype"]).reshape([int(length) for length in value["shape"]])
